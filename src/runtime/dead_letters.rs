//! Choosing among the dead letters.

use crate::broker::{Broker, BrokerResult, DeadEntry};
use crate::model::{EntryId, Micros};

/// Dead letters read per request.
const PAGE: usize = 500;
/// Dead letters taken per request.
const TAKE: usize = 500;

/// Which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// All.
    All,
    /// Given up before this instant.
    Before(Micros),
    /// By entry or task id; a task id names every letter of that task.
    Named(Vec<String>),
}

impl Choice {
    fn includes(&self, entry: &DeadEntry) -> bool {
        match self {
            Choice::All => true,
            Choice::Before(instant) => entry.letter.at_us < *instant,
            Choice::Named(names) => names.iter().any(|name| is_called(entry, name)),
        }
    }

    /// The names that none of `found` has.
    pub fn unmatched<'a>(&'a self, found: &[DeadEntry]) -> Vec<&'a str> {
        let Choice::Named(names) = self else { return Vec::new() };
        let missing = names.iter().filter(|name| !found.iter().any(|entry| is_called(entry, name)));
        missing.map(String::as_str).collect()
    }
}

fn is_called(entry: &DeadEntry, name: &str) -> bool {
    entry.letter.id == name || entry.entry.to_string() == name
}

/// The chosen ones, oldest first, at most `most`, and whether there are more.
///
/// # Errors
/// When the broker does not answer.
pub async fn select<B: Broker>(broker: &B, choice: &Choice, most: usize) -> BrokerResult<(Vec<DeadEntry>, bool)> {
    let mut chosen = Vec::new();
    let mut after = EntryId::ZERO;
    loop {
        let page = broker.dead(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok((chosen, false)) };
        after = last.entry;
        for entry in page.into_iter().filter(|entry| choice.includes(entry)) {
            if chosen.len() == most {
                return Ok((chosen, true));
            }
            chosen.push(entry);
        }
    }
}

/// Removes them, or sends them to ingress again; how many were still there.
///
/// # Errors
/// When the broker does not answer; what came before is done.
pub async fn take<B: Broker>(broker: &B, letters: &[DeadEntry], requeue: bool) -> BrokerResult<u64> {
    let mut taken = 0;
    for part in letters.chunks(TAKE) {
        let entries: Vec<EntryId> = part.iter().map(|letter| letter.entry).collect();
        taken += broker.dead_take(&entries, requeue).await?;
    }
    Ok(taken)
}
