//! The real engine, worker and producer on the memory broker in virtual time, against queueing theory.
//!
//! On every run, start instants equal those of an independent reference (`reference.rs`) to the microsecond: if the system
//! dispatched late, early or in another order, even once, it would show. Over independent replications, means and tails
//! agree with the closed forms within their sampling error, which finds what system and reference could have in common
//! (load, units, the law of the service times): on the real stack with a standard error of up to 30 %, and on longer
//! runs of the reference with a few percent.

mod reference;
mod sampling;
mod system;

use reference::Job;
use sampling::Sample;
use system::{Service, System, Wait, reference_replications, replications};
use tq::policy::PolicyKind;
use tq::theory::{mg1, mm1, mmc, priority};

/// Mean service time in seconds, and its rate.
const SERVICE_S: f64 = 0.1;
const MU: f64 = 1.0 / SERVICE_S;

fn fifo(load: f64, slots: u32, service: Service) -> System {
    let lambda_per_s = load * f64::from(slots) * MU;
    System { policy: PolicyKind::Fifo, lambdas_per_s: vec![lambda_per_s], slots, service, service_s: SERVICE_S }
}

/// Compares mean wait and the shares of waits above 0 and above the 0.9 and 0.99 quantiles. Shares at the theoretical
/// quantile, unlike quantiles of a sample, have no bias.
fn check(system: &System, mean: f64, waiting: f64, quantile: impl Fn(f64) -> f64) {
    let shares = [(0.0, waiting), (quantile(0.9), 0.1), (quantile(0.99), 0.01)];
    let compare = |runs: &[Vec<Wait>], shares: &[(f64, f64)], error_max: f64| {
        let mut means = Sample::default();
        let mut samples: Vec<Sample> = shares.iter().map(|_| Sample::default()).collect();
        for waits in runs {
            let count = waits.len() as f64;
            means.add(waits.iter().map(|(_, wait)| wait).sum::<f64>() / count);
            for (sample, (above, _)) in samples.iter_mut().zip(shares) {
                sample.add(waits.iter().filter(|(_, wait)| wait > above).count() as f64 / count);
            }
        }
        means.assert_agrees("mean wait", mean, error_max);
        for (sample, (above, share)) in samples.iter().zip(shares) {
            sample.assert_agrees(&format!("P(W > {above:.3} s)"), *share, error_max);
        }
    };
    compare(&replications(system).collect::<Vec<_>>(), &shares[..2], 0.3);
    let long: Vec<_> = reference_replications(system).collect();
    compare(&long, &shares[..2], 0.05);
    // What lies above the 0.99 quantile comes in rare bursts: only the long runs hold enough of them.
    compare(&long, &shares[2..], 0.2);
}

#[test]
fn mm1() {
    let system = fifo(0.7, 1, Service::Exponential);
    let lambda = system.lambdas_per_s[0];
    check(&system, mm1::wait_mean(lambda, MU), 0.7, |p| mm1::wait_quantile(lambda, MU, p));
}

#[test]
fn mmc_on_4_and_16_slots() {
    for slots in [4, 16] {
        let system = fifo(0.8, slots, Service::Exponential);
        let lambda = system.lambdas_per_s[0];
        let waiting = mmc::erlang_c(slots, lambda / MU);
        check(&system, mmc::wait_mean(lambda, MU, slots), waiting, |p| mmc::wait_quantile(lambda, MU, slots, p));
    }
}

#[test]
fn md1() {
    let system = fifo(0.7, 1, Service::Constant);
    let lambda = system.lambdas_per_s[0];
    let mean = mg1::wait_mean(lambda, SERVICE_S, 0.0);
    check(&system, mean, 0.7, |p| mg1::md1_wait_quantile(lambda, SERVICE_S, p));
}

/// Strict priority, three classes, on one slot and on four: the mean wait of each class.
#[test]
fn cobham() {
    for slots in [1, 4] {
        let capacity = f64::from(slots) * MU;
        let lambdas_per_s: Vec<f64> = [0.2, 0.25, 0.25].map(|load| load * capacity).into();
        let expected = priority::cobham_mmc(&lambdas_per_s, MU, slots);
        if slots == 1 {
            let classes: Vec<_> = lambdas_per_s.iter().map(|l| priority::Class::exponential(*l, MU)).collect();
            let one = priority::cobham(&classes);
            assert!(one.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{one:?} {expected:?}");
        }
        let system = System {
            policy: PolicyKind::Priority,
            lambdas_per_s,
            slots,
            service: Service::Exponential,
            service_s: SERVICE_S,
        };
        let compare = |runs: &mut dyn Iterator<Item = Vec<Wait>>, error_max: f64| {
            let mut samples = [0; 3].map(|_| Sample::default());
            for waits in runs {
                for (class, sample) in samples.iter_mut().enumerate() {
                    let of_class = || waits.iter().filter(|(of, _)| *of == class).map(|(_, wait)| wait);
                    sample.add(of_class().sum::<f64>() / of_class().count() as f64);
                }
            }
            for (class, (sample, expected)) in samples.iter().zip(&expected).enumerate() {
                sample.assert_agrees(&format!("class {class} on {slots} slots"), *expected, error_max);
            }
        };
        compare(&mut replications(&system), 0.3);
        compare(&mut reference_replications(&system), 0.05);
    }
}

/// The reference itself, by hand: two slots, an urgent job passes the one that waits.
#[test]
fn the_reference_by_hand() {
    let job = |at, service, class| Job { at, service, class };
    let jobs = [job(0, 10, 1), job(1, 4, 1), job(2, 5, 1), job(3, 1, 0), job(30, 1, 0)];
    assert_eq!(reference::starts(&jobs, 2), [0, 1, 6, 5, 30]);
    assert_eq!(reference::starts(&jobs, 1), [0, 11, 15, 10, 30]);
    assert_eq!(reference::starts(&[job(7, 1, 0), job(7, 1, 0)], 2), [7, 7], "both come at one instant");
}
