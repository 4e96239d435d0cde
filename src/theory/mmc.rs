//! M/M/c, first in first out (Erlang 1917; Gross & Harris, *Fundamentals of Queueing Theory*).

/// Erlang B, the blocking probability of c servers without a queue, by the recursion B₀ = 1, Bₖ = aBₖ₋₁/(k + aBₖ₋₁).
pub fn erlang_b(servers: u32, offered: f64) -> f64 {
    (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b))
}

/// Erlang C, the probability of waiting: B/(1 − ρ(1 − B)); 1 from ρ = 1 on.
pub fn erlang_c(servers: u32, offered: f64) -> f64 {
    let load = offered / f64::from(servers);
    let b = erlang_b(servers, offered);
    if load < 1.0 { b / (1.0 - load * (1.0 - b)) } else { 1.0 }
}

/// θ = cμ − λ, the rate at which the wait's tail falls.
fn spare(lambda: f64, mu: f64, servers: u32) -> f64 {
    (f64::from(servers) * mu - lambda).max(0.0)
}

/// Mean wait: C/θ.
pub fn wait_mean(lambda: f64, mu: f64, servers: u32) -> f64 {
    erlang_c(servers, lambda / mu) / spare(lambda, mu, servers)
}

/// Mean sojourn time: wait plus service.
pub fn sojourn_mean(lambda: f64, mu: f64, servers: u32) -> f64 {
    wait_mean(lambda, mu, servers) + 1.0 / mu
}

/// P(W > t) = Ce^{−θt}.
pub fn wait_tail(lambda: f64, mu: f64, servers: u32, t: f64) -> f64 {
    erlang_c(servers, lambda / mu) * (-spare(lambda, mu, servers) * t).exp()
}

/// The wait's quantile `p`: ln(C/(1−p))/θ, and exactly zero up to p = 1 − C.
pub fn wait_quantile(lambda: f64, mu: f64, servers: u32, p: f64) -> f64 {
    ((erlang_c(servers, lambda / mu) / (1.0 - p)).ln() / spare(lambda, mu, servers)).max(0.0)
}

/// P(T > t) = e^{−μt}[1 + C(1 − e^{−μ(c−1−a)t})/(c−1−a)], with the limit e^{−μt}(1 + Cμt) at a = c − 1.
pub fn sojourn_tail(lambda: f64, mu: f64, servers: u32, t: f64) -> f64 {
    let offered = lambda / mu;
    let c = erlang_c(servers, offered);
    let gap = f64::from(servers) - 1.0 - offered;
    let waiting = if gap.abs() < 1e-9 { mu * t } else { -(-mu * gap * t).exp_m1() / gap };
    (-mu * t).exp() * (1.0 + c * waiting)
}

/// The sojourn's quantile `p`, by bisection.
pub fn sojourn_quantile(lambda: f64, mu: f64, servers: u32, p: f64) -> f64 {
    if lambda >= f64::from(servers) * mu {
        return f64::NAN;
    }
    let above = |t| sojourn_tail(lambda, mu, servers, t) > 1.0 - p;
    let mut high = 1.0 / mu;
    while above(high) {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if above(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{assert_close, mm1};

    #[test]
    fn two_servers_with_one_erlang() {
        assert_close!(erlang_b(2, 1.0), 0.2);
        assert_close!(erlang_c(2, 1.0), 1.0 / 3.0);
        assert_close!(wait_mean(1.0, 1.0, 2), 1.0 / 3.0);
        assert_close!(sojourn_mean(1.0, 1.0, 2), 4.0 / 3.0);
        assert_eq!(wait_quantile(1.0, 1.0, 2, 0.5), 0.0, "two thirds do not wait");
        assert_close!(wait_quantile(1.0, 1.0, 2, 0.99), (100.0f64 / 3.0).ln());
        assert_close!(wait_tail(1.0, 1.0, 2, 1.0), (-1.0f64).exp() / 3.0);
        assert_eq!((erlang_c(2, 2.0), wait_mean(2.0, 1.0, 2)), (1.0, f64::INFINITY));
    }

    #[test]
    fn one_server_is_mm1() {
        assert_close!(wait_mean(0.8, 1.0, 1), mm1::wait_mean(0.8, 1.0));
        assert_close!(wait_quantile(0.8, 1.0, 1, 0.95), mm1::wait_quantile(0.8, 1.0, 0.95));
        assert_close!(sojourn_quantile(0.8, 1.0, 1, 0.95), mm1::sojourn_quantile(0.8, 1.0, 0.95));
    }

    #[test]
    fn the_sojourn_tail_integrates_to_the_mean() {
        // a = 3.2, 3 = c − 1 (the limit), and c = 16.
        for (lambda, servers) in [(3.2, 4), (3.0, 4), (14.4, 16)] {
            let step = 1e-3;
            let inner: f64 = (1..200_000).map(|n| sojourn_tail(lambda, 1.0, servers, f64::from(n) * step)).sum();
            assert_close!((inner + 0.5) * step, sojourn_mean(lambda, 1.0, servers), 1e-6);
            let p90 = sojourn_quantile(lambda, 1.0, servers, 0.9);
            assert_close!(sojourn_tail(lambda, 1.0, servers, p90), 0.1);
        }
    }
}
