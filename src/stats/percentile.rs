//! The one percentile function.

/// The `share` quantile (0.95: the 95th percentile) of ascending values by linear interpolation between closest ranks
/// (numpy's default; Hyndman and Fan 1996, definition 7). Not-a-number for no values.
pub fn percentile(ascending: &[f64], share: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    ascending[below] + (ascending[above] - ascending[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values() {
        // numpy.percentile([15, 20, 35, 40, 50], q)
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        for (share, value) in
            [(0.0, 15.0), (0.05, 16.0), (0.3, 23.0), (0.4, 29.0), (0.5, 35.0), (0.95, 48.0), (1.0, 50.0)]
        {
            assert!((percentile(&values, share) - value).abs() < 1e-9, "{share}");
        }
        assert_eq!(percentile(&[7.0], 0.99), 7.0);
        assert!(percentile(&[], 0.5).is_nan());
    }
}
