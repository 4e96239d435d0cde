//! Closed forms of queueing theory, against which the system is tested. Pure.
//!
//! Notation: arrival rate λ, service rate μ = 1/E\[S\], c servers, a = λE\[S\] offered work, ρ = a/c offered load. Times are
//! in seconds if rates are per second; any one unit will do. Every function wants ρ < 1 where a mean exists only then, and
//! gives +∞ (or a NaN for quantiles) otherwise.

pub mod little;
pub mod mg1;
pub mod mm1;
pub mod mmc;
pub mod priority;

/// Fails unless two numbers agree to a relative error of 10⁻⁹ (or `within`).
#[cfg(test)]
macro_rules! assert_close {
    ($left:expr, $right:expr) => {
        $crate::theory::assert_close!($left, $right, 1e-9)
    };
    ($left:expr, $right:expr, $within:expr) => {{
        let (left, right): (f64, f64) = ($left, $right);
        assert!((left - right).abs() <= $within * right.abs().max(1.0), "{left} is not {right}");
    }};
}
#[cfg(test)]
pub(crate) use assert_close;
