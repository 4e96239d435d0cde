//! Little's law on a finite run (Little 1961; sample-path form Stidham 1974).

use crate::model::Micros;

/// ∫N(t)dt over all time, in task-microseconds, from the instants at which each task entered and left: by counting how
/// many are inside between one event and the next.
///
/// On a run that starts and ends empty it equals the sum of the sojourn times exactly, whatever the order.
pub fn number_in_system_integral(stays: impl IntoIterator<Item = (Micros, Micros)>) -> i128 {
    let mut events: Vec<(i64, i64)> = stays.into_iter().flat_map(|(from, to)| [(from.0, 1), (to.0, -1)]).collect();
    events.sort_unstable();
    let (mut area, mut inside, mut since) = (0i128, 0i64, 0i64);
    for (at, step) in events {
        area += i128::from(inside) * (i128::from(at) - i128::from(since));
        inside += step;
        since = at;
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_tasks_by_hand() {
        let stays = [(0, 10), (4, 6), (20, 25)].map(|(from, to)| (Micros(from), Micros(to)));
        assert_eq!(number_in_system_integral(stays), 10 + 2 + 5);
    }

    proptest! {
        #[test]
        fn it_is_the_sum_of_the_stays(stays in prop::collection::vec((0i64..1_000_000, 0i64..1_000), 0..60)) {
            let sum: i64 = stays.iter().map(|(_, stay)| stay).sum();
            let stays = stays.into_iter().map(|(from, stay)| (Micros(from), Micros(from + stay)));
            prop_assert_eq!(number_in_system_integral(stays), i128::from(sum));
        }
    }
}
