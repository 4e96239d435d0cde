//! From a failed attempt to what `retry` is asked to do with it; recovery and workers share it.

use super::{Fate, Retry};
use crate::model::outcome::{Dead, DeadLetter, DeadReason, Delivery};
use crate::model::retry::{Backoff, Failure, Next, decide};
use crate::model::{Micros, Rank};

/// The retry that `failure` of `delivery`, which `worker` held, calls for at `now`. `min_idle`: see [`Retry::min_idle`].
pub fn retry_of(
    delivery: &Delivery,
    failure: &Failure,
    worker: &str,
    backoff: &Backoff,
    now: Micros,
    min_idle: Option<Micros>,
) -> Retry {
    let member = delivery.member();
    let same_score = |member| Rank::new(delivery.rank.score, member);
    let fate = match decide(member, delivery.record.max_retries, failure, backoff, now) {
        Next::Again(member) => Fate::Pending(same_score(member)),
        Next::Later(member, due) => Fate::Delayed(same_score(member), due),
        Next::GiveUp => Fate::Dead(Box::new(dead(delivery, failure, worker, now))),
    };
    Retry {
        entry: delivery.entry,
        id: member.id().into(),
        fate,
        min_idle,
        handler_failed: matches!(failure, Failure::Handler(_)),
        spent: *failure != Failure::Interrupted,
    }
}

fn dead(delivery: &Delivery, failure: &Failure, worker: &str, now: Micros) -> Dead {
    let member = delivery.member();
    let attempts = member.attempt();
    let (reason, detail) = match failure {
        Failure::Handler(error) => (DeadReason::HandlerFailed, format!("attempt {attempts} failed: {error}")),
        Failure::WorkerLost => {
            (DeadReason::WorkerLost, format!("the worker of attempt {attempts} fell silent before it reported"))
        }
        Failure::Interrupted => {
            (DeadReason::Interrupted, format!("{} shutdowns interrupted it", member.interruptions() + 1))
        }
    };
    let letter = DeadLetter {
        id: member.id().to_owned(),
        tenant: member.tenant().to_owned(),
        reason,
        detail,
        attempts,
        at_us: now,
        submitted_us: Some(member.submitted()),
        arrival: member.arrival(),
        last_attempt: Some(delivery.entry),
        last_worker: Some(worker.to_owned()),
    };
    Dead { letter, raw: delivery.record.body.clone() }
}
