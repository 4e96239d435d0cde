//! The dispatch log of a trial, and what it says. Pure.

use crate::model::{Epoch, Micros};

/// One dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dispatch {
    /// Its stamp, by the clock of Redis.
    pub(super) at: Micros,
    /// Under which term.
    pub(super) epoch: Epoch,
}

/// From the last dispatch of terms up to `before` to the first one of a later term. `None`: there was none.
pub(super) fn outage(log: &[Dispatch], before: Epoch) -> Option<Micros> {
    let first = log.iter().filter(|dispatch| dispatch.epoch > before).map(|dispatch| dispatch.at).min()?;
    let older = log.iter().filter(|dispatch| dispatch.epoch <= before && dispatch.at <= first);
    let last = older.map(|dispatch| dispatch.at).max()?;
    Some(first - last)
}

/// The longest time between two dispatches that follow each other.
pub(super) fn gap_max(log: &[Dispatch]) -> Micros {
    let mut stamps: Vec<Micros> = log.iter().map(|dispatch| dispatch.at).collect();
    stamps.sort_unstable();
    stamps.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(Micros::ZERO)
}

/// Dispatches, in the order of the store, whose term is older than one before them: there must be none.
pub(super) fn inversions(log: &[Dispatch]) -> u64 {
    let mut highest = Epoch::NONE;
    let mut found = 0;
    for dispatch in log {
        found += u64::from(dispatch.epoch < highest);
        highest = highest.max(dispatch.epoch);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(entries: &[(i64, u64)]) -> Vec<Dispatch> {
        entries.iter().map(|(at, epoch)| Dispatch { at: Micros(*at), epoch: Epoch(*epoch) }).collect()
    }

    #[test]
    fn worked_values() {
        let smooth = log(&[(0, 1), (5, 1), (12, 1), (400, 2), (404, 2)]);
        assert_eq!(outage(&smooth, Epoch(1)), Some(Micros(388)));
        assert_eq!((gap_max(&smooth), inversions(&smooth)), (Micros(388), 0));
        assert_eq!(outage(&smooth[..3], Epoch(1)), None, "censored");
        // A stale write after the takeover: it does not end the outage, and it is an inversion.
        let stale = log(&[(0, 1), (5, 1), (400, 2), (401, 1), (404, 2)]);
        assert_eq!((outage(&stale, Epoch(1)), inversions(&stale)), (Some(Micros(395)), 1));
    }
}
