//! The names under which a namespace lives: one hash tag, so that all of it lies in one cluster slot.

use crate::model::Micros;
use fred::types::Value;

/// The consumer group of the execution stream (and of ingress, in the control arm).
pub(super) const GROUP: &str = "workers";

/// Key names of one namespace.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

macro_rules! keys {
    ($($name:ident)*) => {
        impl Keys {
            $(pub(super) fn $name(&self) -> Value { self.key(stringify!($name)) })*
        }
        /// Every fixed place of a namespace.
        pub(super) const PLACES: &[&str] = &[$(stringify!($name)),*];
    };
}

keys! { ingress pending tasks execution results dead delayed returned policy service counters leader epoch fence workers }

impl Keys {
    pub(super) fn new(namespace: &str) -> Self {
        Keys { prefix: format!("{{{namespace}}}:") }
    }

    pub(super) fn key(&self, place: &str) -> Value {
        Value::from(format!("{}{place}", self.prefix))
    }

    /// The wake-up channel.
    pub(super) fn wake(&self) -> String {
        format!("{}wake", self.prefix)
    }

    /// The channel that `owner` keeps open while it is here. Sharded: subscribers are counted by the node of our slot.
    pub(super) fn presence(&self, owner: &str) -> String {
        format!("{}alive:{owner}", self.prefix)
    }

    /// The set of ids that finished in the period of `now`; one for ever where `retention` is zero.
    pub(super) fn done(&self, now: Micros, retention: Micros) -> Value {
        self.key(&format!("done:{}", bucket(now, retention)))
    }

    /// The set of the period before.
    pub(super) fn done_before(&self, now: Micros, retention: Micros) -> Value {
        let bucket = bucket(now, retention);
        self.key(&format!("done:{}", if retention > Micros::ZERO { bucket - 1 } else { bucket }))
    }

    /// A pattern that matches exactly the sets of finished ids.
    pub(super) fn done_pattern(&self) -> String {
        let mut pattern = String::new();
        for letter in self.prefix.chars() {
            if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '^') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern + "done:*"
    }
}

/// Life of a bucket: two periods, in ms; zero for ever.
pub(super) fn done_life_ms(retention: Micros) -> i64 {
    if retention > Micros::ZERO { (2 * retention.as_millis()).max(2) } else { 0 }
}

fn bucket(now: Micros, retention: Micros) -> i64 {
    if retention > Micros::ZERO { now.0.div_euclid(retention.0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_id_is_found_for_at_least_the_retention() {
        let keys = Keys::new("n");
        let day = Micros::from_secs(86_400);
        let finished = Micros(day.0 * 5 - 1);
        let later = finished + day;
        assert_eq!(keys.done(finished, day), keys.done_before(later, day));
        assert_eq!(keys.done(finished, Micros::ZERO), keys.done_before(later, Micros::ZERO));
    }

    #[test]
    fn a_namespace_with_a_pattern_in_it_matches_only_itself() {
        assert_eq!(Keys::new("a*[b]").done_pattern(), r"{a\*\[b\]}:done:*");
    }
}
