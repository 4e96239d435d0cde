//! Seeded failures: whether an attempt fails is a function of seed, task and attempt, so it does not depend on which worker
//! runs it or when.

/// What an attempt is made to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injected {
    /// Nothing.
    Nothing,
    /// The handler's success is reported as an error.
    Fail,
    /// The attempt is abandoned after execution, before it is acknowledged.
    Abandon,
}

/// Draws for one attempt. `fail_rate` and `fail_before_ack_rate` are probabilities; the draws are independent, and abandoning
/// wins.
pub fn draw(seed: u64, id: &str, attempt: u32, fail_rate: f64, fail_before_ack_rate: f64) -> Injected {
    if lot(seed, id, attempt, 1) < fail_before_ack_rate {
        Injected::Abandon
    } else if lot(seed, id, attempt, 2) < fail_rate {
        Injected::Fail
    } else {
        Injected::Nothing
    }
}

/// A number in [0, 1): FNV-1a over the inputs, finished by SplitMix64's mixer.
fn lot(seed: u64, id: &str, attempt: u32, which: u8) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64 ^ seed;
    for byte in id.bytes().chain(attempt.to_le_bytes()).chain([which]) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((hash ^ (hash >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_hold_and_draws_repeat() {
        let mut counts = [0u32; 3];
        for n in 0..20_000 {
            let id = format!("task-{n}");
            let drawn = draw(7, &id, 1, 0.1, 0.2);
            assert_eq!(drawn, draw(7, &id, 1, 0.1, 0.2));
            counts[drawn as usize] += 1;
        }
        // Binomial: standard deviations are 42 (fail: 0.8·0.1) and 57 (abandon: 0.2); five of them is never.
        assert!(counts[Injected::Fail as usize].abs_diff(1_600) < 200, "{counts:?}");
        assert!(counts[Injected::Abandon as usize].abs_diff(4_000) < 285, "{counts:?}");
    }
}
