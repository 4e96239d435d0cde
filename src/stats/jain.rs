//! Jain's fairness index.

/// J = (Σx)²/(n·Σx²), zeros included: 1 when all are equal, 1/n when one has everything (Jain, Chiu and Hawe 1984). All
/// zero: 1, since nobody is better off. No values: not-a-number.
pub fn jain(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (values.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert!((jain(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-12);
        assert!((jain(&[90.0, 3.0, 3.0, 2.0, 2.0]) - 10_000.0 / (5.0 * 8_126.0)).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), 1.0);
        assert!(jain(&[]).is_nan());
    }
}
