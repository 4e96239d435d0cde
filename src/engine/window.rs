//! The in-flight window: fixed, or the live slots plus the least prefetch that hides the round trip.

use crate::config::Window;
use crate::model::Micros;

/// What the leader knows of slots and round trips.
#[derive(Debug)]
pub(super) struct WindowSize {
    config: Window,
    slots: u64,
    round_trip: Micros,
    freed_per_s: f64,
    last: Option<(Micros, u64)>,
}

impl WindowSize {
    pub(super) fn new(config: Window) -> Self {
        WindowSize { config, slots: 0, round_trip: Micros::ZERO, freed_per_s: 0.0, last: None }
    }

    /// The live slots, and how many attempts have ended until `now`.
    pub(super) fn observe(&mut self, slots: u64, freed_total: u64, now: Micros) {
        self.slots = slots;
        if let Some((then, freed)) = self.last
            && now > then
        {
            self.freed_per_s = freed_total.saturating_sub(freed) as f64 / (now - then).as_secs_f64();
        }
        self.last = Some((now, freed_total));
    }

    /// How long a dispatch took; smoothed.
    pub(super) fn round_trip(&mut self, took: Micros) {
        self.round_trip = Micros((self.round_trip.0 * 7 + took.0) / 8);
    }

    /// The largest number in flight; `None`: unlimited.
    pub(super) fn size(&self) -> Option<u64> {
        match self.config {
            Window::Fixed(0) => None,
            Window::Fixed(n) => Some(n),
            Window::Auto => Some(self.slots + self.prefetch()),
        }
    }

    /// Little's law: what ends during the two round trips between an end and the start of the task that follows it
    /// (wake-up and dispatch, fetch) must wait beside the slots. Never more than the slots themselves.
    fn prefetch(&self) -> u64 {
        let during = self.freed_per_s * 2.0 * self.round_trip.as_secs_f64();
        (during.ceil() as u64).min(self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_follows_the_slots_and_adds_what_ends_during_two_round_trips() {
        let mut window = WindowSize::new(Window::Auto);
        assert_eq!(window.size(), Some(0));
        window.observe(16, 0, Micros(0));
        assert_eq!(window.size(), Some(16));
        for _ in 0..200 {
            window.round_trip(Micros(1_000));
        }
        window.observe(16, 3_200, Micros::from_secs(1));
        assert_eq!(window.size(), Some(16 + 7));
        window.observe(4, 1_000_000, Micros::from_secs(2));
        assert_eq!(window.size(), Some(8));
    }

    #[test]
    fn zero_is_unlimited() {
        assert_eq!(WindowSize::new(Window::Fixed(0)).size(), None);
        assert_eq!(WindowSize::new(Window::Fixed(7)).size(), Some(7));
    }
}
