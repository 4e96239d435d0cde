//! Mean, standard deviation and the 95 % confidence interval of few repetitions.

use serde::Serialize;

/// What repetitions say about one figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// How many values; not-a-number is left out.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1); not-a-number for fewer than two.
    pub sd: f64,
    /// Half of the 95 % confidence interval of the mean (Student's t); not-a-number for fewer than two.
    pub half_width: f64,
}

/// Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom.
const T95: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
    2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
    2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// The two-sided 95 % point of Student's t. Above 30 degrees of freedom by the expansion in 1/ν about the normal point
/// (Abramowitz and Stegun 26.7.5), exact to five digits there.
fn t95(freedom: usize) -> f64 {
    if let Some(point) = freedom.checked_sub(1).and_then(|index| T95.get(index)) {
        return *point;
    }
    let (z, v) = (1.959_964_f64, freedom as f64);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v * v * v)
}

/// Mean, deviation and 95 % interval.
pub fn interval95(values: &[f64]) -> Interval {
    let kept: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    let n = kept.len();
    let mean = kept.iter().sum::<f64>() / n as f64;
    if n < 2 {
        return Interval { n, mean, sd: f64::NAN, half_width: f64::NAN };
    }
    let sd = (kept.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1) as f64).sqrt();
    Interval { n, mean, sd, half_width: t95(n - 1) * sd / (n as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values() {
        // 2 4 4 4 5 5 7 9: mean 5, Σ(x−5)² = 32, sd = √(32/7), t₇ = 2.3646.
        let found = interval95(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((found.n, found.mean), (8, 5.0));
        assert!((found.sd - 2.138_090).abs() < 1e-6);
        assert!((found.half_width - 1.787_487).abs() < 1e-5, "{}", found.half_width);
        assert!((t95(40) - 2.021_075).abs() < 1e-5 && (t95(120) - 1.979_930).abs() < 1e-5);
        assert!(interval95(&[3.0]).half_width.is_nan() && interval95(&[]).mean.is_nan());
    }
}
