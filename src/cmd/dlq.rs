//! `tq dlq`: dead letters.

use super::output::{print, print_json};
use super::session::{Session, with_session};
use super::{Usage, configured};
use crate::broker::DeadEntry;
use crate::cli::{DlqArgs, DlqCommand, GlobalArgs};
use crate::model::Micros;
use crate::model::units::parse_span;
use crate::runtime::dead_letters::{Choice, select, take};
use crate::runtime::status_table::table;
use crate::runtime::utc::utc;
use serde_json::{Value, json};

pub(super) fn run(global: &GlobalArgs, args: &DlqArgs) -> anyhow::Result<()> {
    let config = configured(global, &())?.config;
    // Before connecting: a wrong argument is exit code 2 whether Redis answers or not.
    let age = match &args.command {
        DlqCommand::Purge { older_than: Some(text), .. } => Some(parse_span(text).map_err(Usage)?),
        _ => None,
    };
    with_session(config, async |session| match &args.command {
        DlqCommand::List { limit, json } => list(&session, *limit, *json).await,
        DlqCommand::Show { ids } => show(&session, &Choice::Named(ids.clone())).await,
        DlqCommand::Requeue { ids, .. } => remove(&session, &choice(&session, ids, None), true).await,
        DlqCommand::Purge { ids, .. } => remove(&session, &choice(&session, ids, age), false).await,
    })
}

/// What the arguments choose; clap has seen to it that they choose something, and in one way only.
fn choice(session: &Session, ids: &[String], age: Option<Micros>) -> Choice {
    match age {
        Some(age) => Choice::Before(session.clock.now() - age),
        None if ids.is_empty() => Choice::All,
        None => Choice::Named(ids.to_vec()),
    }
}

async fn list(session: &Session, limit: usize, json: bool) -> anyhow::Result<()> {
    let most = if limit == 0 { usize::MAX } else { limit };
    let (letters, more) = select(&session.broker, &Choice::All, most).await?;
    if json {
        return print_json(&letters.iter().map(document).collect::<Vec<_>>());
    }
    if letters.is_empty() {
        return print("no dead letters\n");
    }
    let head = ["entry", "id", "tenant", "reason", "attempts", "given up", "why"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    rows.extend(letters.iter().map(|dead| {
        let (entry, letter) = (dead.entry.to_string(), &dead.letter);
        let reason = serde_json::to_value(letter.reason).ok();
        let reason = reason.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        let attempts = letter.attempts.to_string();
        let texts = [&letter.id, &letter.tenant, &reason, &attempts, &utc(letter.at_us), &letter.detail];
        std::iter::once(entry).chain(texts.map(String::clone)).collect()
    }));
    let more =
        if more { format!("  … and more: --limit {} or --limit 0 for all\n", limit * 10) } else { String::new() };
    print(&format!("{}{more}", table(&rows)))
}

async fn show(session: &Session, choice: &Choice) -> anyhow::Result<()> {
    let (letters, _) = select(&session.broker, choice, usize::MAX).await?;
    for letter in &letters {
        print_json(&document(letter))?;
    }
    all_found(choice, &letters)
}

async fn remove(session: &Session, choice: &Choice, requeue: bool) -> anyhow::Result<()> {
    let (letters, _) = select(&session.broker, choice, usize::MAX).await?;
    let taken = take(&session.broker, &letters, requeue).await?;
    print(&format!("{} {taken} dead letters\n", if requeue { "requeued" } else { "purged" }))?;
    all_found(choice, &letters)
}

fn all_found(choice: &Choice, letters: &[DeadEntry]) -> anyhow::Result<()> {
    let missing = choice.unmatched(letters);
    anyhow::ensure!(missing.is_empty(), "no dead letter has the entry or task id {}", missing.join(", "));
    Ok(())
}

/// A letter as one document; the task as JSON where it is JSON, else as text.
fn document(dead: &DeadEntry) -> Value {
    let task =
        serde_json::from_slice(&dead.raw).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&dead.raw).as_ref()));
    json!({ "entry": dead.entry, "letter": dead.letter, "task": task })
}
