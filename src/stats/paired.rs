//! Paired differences: what the same repetitions under two conditions say about the difference of the conditions.

use super::interval95;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of paired differences with its interval and its test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Paired {
    /// How many pairs; not-a-number is left out.
    pub n: usize,
    /// Mean difference.
    pub mean: f64,
    /// Half of its 95 % confidence interval (Student's t, n − 1 degrees of freedom); not-a-number for fewer than two pairs.
    pub half_width: f64,
    /// Two-sided probability of a mean at least so far from 0 if there were no difference (the paired t-test, Student
    /// 1908). Not-a-number for fewer than two pairs. Differences that are all equal leave no doubt: 1 if they are 0,
    /// else 0, the limit for a vanishing spread.
    pub p: f64,
}

/// Tests differences (of two figures, or of their logarithms) against 0, in any unit.
pub fn paired(differences: &[f64]) -> Paired {
    let found = interval95(differences);
    let p = match (found.n, found.sd) {
        (0 | 1, _) => f64::NAN,
        (_, 0.0) => f64::from(u8::from(found.mean == 0.0)),
        (n, sd) => {
            let t = found.mean * (n as f64).sqrt() / sd;
            StudentsT::new(0.0, 1.0, (n - 1) as f64).map_or(f64::NAN, |law| 2.0 * law.cdf(-t.abs()))
        }
    };
    Paired { n: found.n, mean: found.mean, half_width: found.half_width, p }
}

/// Probabilities adjusted for having asked as many questions at once (Holm 1979, step-down): with those below 0.05 called
/// differences, the chance of even one false call among them all is at most 5 %. Not-a-number stays and counts as no
/// question.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|index| !p[*index].is_nan()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![f64::NAN; p.len()];
    let mut largest = 0f64;
    for (place, index) in order.iter().enumerate() {
        largest = largest.max((p[*index] * (order.len() - place) as f64).min(1.0));
        adjusted[*index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Made by `tests/reference/paired.py` with scipy.
    fn reference() -> Value {
        serde_json::from_str(include_str!("../../tests/reference/paired.json")).unwrap()
    }

    fn numbers(of: &Value) -> Vec<f64> {
        of.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    #[test]
    fn equal_to_scipy_on_random_samples() {
        let reference = reference();
        let cases = reference["paired"].as_array().unwrap();
        assert!(cases.len() > 40);
        for case in cases {
            let figure = |name: &str| case[name].as_f64().unwrap();
            let found = paired(&numbers(&case["differences"]));
            let close = |a: f64, b: f64| (a - b).abs() <= 2e-5 * b.abs().max(1e-9);
            assert!(close(found.mean, figure("mean")), "{found:?} {case}");
            assert!(close(2.0 * found.half_width, figure("high") - figure("low")), "{found:?} {case}");
            assert!(close(found.p, figure("p")), "{found:?} {case}");
        }
    }

    #[test]
    fn holm_by_its_definition() {
        for family in reference()["holm"].as_array().unwrap() {
            let (found, wanted) = (holm(&numbers(&family["p"])), numbers(&family["holm"]));
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {wanted:?}");
        }
        let found = holm(&[0.04, f64::NAN, 0.02]);
        assert!(found[1].is_nan() && (found[0], found[2]) == (0.04, 0.04), "{found:?}");
    }

    #[test]
    fn too_few_pairs_and_equal_ones() {
        assert!(paired(&[]).p.is_nan() && paired(&[0.3]).p.is_nan());
        assert_eq!(paired(&[0.0, 0.0, 0.0]).p, 1.0);
        assert_eq!(paired(&[0.5, 0.5]).p, 0.0);
        assert_eq!(paired(&[0.1, f64::NAN, -0.1]).n, 2);
    }
}
