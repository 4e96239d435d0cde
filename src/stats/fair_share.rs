//! Demand-capped max-min fairness: whether each tenant got what fairness would have given it, when it asked for it.

use crate::model::Micros;
use crate::model::outcome::TaskResult;
use std::collections::BTreeMap;

/// One task as a claim on service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// Who asks.
    pub tenant: &'a str,
    /// From when on.
    pub submitted: Micros,
    /// When it was served; `None`: never.
    pub served: Option<(Micros, Micros)>,
    /// How much it asks for.
    pub service: Micros,
    /// When it went: served, given up, or the cell's end.
    pub until: Micros,
}

impl<'a> From<&'a TaskResult> for Claim<'a> {
    fn from(result: &'a TaskResult) -> Self {
        Claim {
            tenant: result.tenant.as_str(),
            submitted: result.submitted_us,
            served: Some((result.started_us, result.finished_us)),
            service: result.measured_service_us,
            until: result.finished_us,
        }
    }
}

impl Claim<'_> {
    /// Submission to service, or to the end of hoping for it.
    pub(super) fn waited(&self) -> Micros {
        self.served.map_or(self.until, |(start, _)| start).since(self.submitted)
    }

    /// Service received between `from` and `to`.
    fn received(&self, from: Micros, to: Micros) -> Micros {
        self.served.map_or(Micros::ZERO, |(start, end)| end.min(to).since(start.max(from)))
    }

    /// The most it could have received between `from` and `to`, had it been served from the beginning (or its submission) on.
    fn demand(&self, from: Micros, to: Micros) -> Micros {
        let there = self.submitted.max(from);
        let left = self.served.map_or(self.service, |(start, end)| end.since(start.max(there)));
        left.min(to.min(self.until).since(there))
    }
}

/// Divides `capacity` among demands max-min fairly: nobody gets more than it asks for, and what one leaves is divided among the
/// others in proportion to their weights (water filling; Bertsekas and Gallager, *Data Networks*, 2nd ed., §6.5.2). The shares
/// add up to the smaller one of capacity and total demand.
pub fn max_min_shares(capacity: f64, demands: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by(|a, b| (demands[*a] / weights[*a]).total_cmp(&(demands[*b] / weights[*b])));
    let mut shares = vec![0.0; demands.len()];
    let (mut left, mut weight_left) = (capacity, weights.iter().sum::<f64>());
    for index in order {
        let fair = left * weights[index] / weight_left;
        shares[index] = demands[index].min(fair).max(0.0);
        left -= shares[index];
        weight_left -= weights[index];
    }
    shares
}

/// Each tenant's fair-share satisfaction, between 0 and 1, from `from` to `to`: the span while work arrives, since in a run to
/// completion everybody has got all that it asked for at the end, whatever the policy.
///
/// The span is divided into equal windows of about `window`. In each one the service that was given is the capacity. A tenant's
/// demand is the most that its tasks could have received in the window, had each been served from the window's beginning or
/// from its submission on: so neither a backlog nor a late submission counts as more than could have been done. Its fair share is
/// the max-min share of the capacity with that demand as the cap ([`max_min_shares`]), and satisfied is what it received, up to
/// that share. Satisfaction is the sum of the satisfied over the sum of the shares: service that comes in a later window does not
/// make up for its absence in an earlier one. Not-a-number for a tenant that asked for nothing.
///
/// Windows should be long against a single task, or they measure that a slot is indivisible.
pub fn fair_share_satisfaction<'a>(
    claims: &[Claim<'a>],
    weights: &BTreeMap<&'a str, f64>,
    (from, to): (Micros, Micros),
    window: Micros,
) -> BTreeMap<&'a str, f64> {
    let names: Vec<&str> = weights.keys().copied().collect();
    let by_name: BTreeMap<&str, usize> = names.iter().enumerate().map(|(index, name)| (*name, index)).collect();
    let weight: Vec<f64> = weights.values().copied().collect();
    let span = to.since(from);
    let windows = if span > Micros::ZERO { span.0.div_euclid(window.0.max(1)).clamp(1, WINDOWS_MAX) } else { 0 };
    let edge = |n: i64| from + Micros((i128::from(span.0) * i128::from(n) / i128::from(windows)) as i64);
    let mut demand = vec![vec![0.0; names.len()]; windows as usize];
    let mut received = demand.clone();
    for claim in claims {
        let Some(tenant) = by_name.get(claim.tenant) else { continue };
        let first = (claim.submitted.since(from).0 as i128 * i128::from(windows) / i128::from(span.0.max(1))) as i64;
        for n in (first - 1).max(0)..windows {
            let (start, end) = (edge(n), edge(n + 1));
            if start >= claim.until {
                break;
            }
            demand[n as usize][*tenant] += claim.demand(start, end).as_secs_f64();
            received[n as usize][*tenant] += claim.received(start, end).as_secs_f64();
        }
    }
    let (mut fair, mut satisfied) = (vec![0.0; names.len()], vec![0.0; names.len()]);
    for (demand, received) in demand.iter().zip(&received) {
        for (tenant, share) in max_min_shares(received.iter().sum(), demand, &weight).into_iter().enumerate() {
            fair[tenant] += share;
            satisfied[tenant] += received[tenant].min(share);
        }
    }
    names.iter().enumerate().map(|(tenant, name)| (*name, satisfied[tenant] / fair[tenant])).collect()
}

/// More windows than this tell nothing more.
const WINDOWS_MAX: i64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_filling() {
        // Worked in Bertsekas and Gallager's manner: 10 among 2, 2.6, 4, 5 → 2, 2.6, 2.7, 2.7.
        let shares = max_min_shares(10.0, &[5.0, 2.0, 4.0, 2.6], &[1.0; 4]);
        for (share, expected) in shares.iter().zip([2.7, 2.0, 2.7, 2.6]) {
            assert!((share - expected).abs() < 1e-12, "{shares:?}");
        }
        assert_eq!(max_min_shares(9.0, &[10.0, 10.0], &[2.0, 1.0]), [6.0, 3.0]);
        assert_eq!(max_min_shares(9.0, &[1.0, 2.0], &[1.0, 1.0]), [1.0, 2.0]);
    }

    fn claim(tenant: &str, submitted: i64, started: i64, finished: i64) -> Claim<'_> {
        let service = Micros(finished - started);
        let (served, until) = (Some((Micros(started), Micros(finished))), Micros(finished));
        Claim { tenant, submitted: Micros(submitted), served, service, until }
    }

    /// One server, tasks of 10, a window of 100: `a` sends ten at 0, `b` one every 20 from 0 on.
    fn satisfaction(order: &[&'static str]) -> BTreeMap<&'static str, f64> {
        let (mut a, mut b) = (0, 0);
        let mut claims: Vec<Claim<'static>> = Vec::new();
        for (n, tenant) in order.iter().enumerate() {
            let number = if *tenant == "a" { &mut a } else { &mut b };
            let submitted = if *tenant == "a" { 0 } else { *number * 20 };
            *number += 1;
            claims.push(claim(tenant, submitted, n as i64 * 10, n as i64 * 10 + 10));
        }
        fair_share_satisfaction(&claims, &[("a", 1.0), ("b", 1.0)].into(), (Micros(0), Micros(100)), Micros(100))
    }

    #[test]
    fn in_turn_is_satisfied_and_a_flood_in_front_is_not() {
        let fair = satisfaction(&["b", "a", "b", "a", "b", "a", "b", "a", "b", "a", "a", "a", "a", "a", "a"]);
        assert_eq!(fair, [("a", 1.0), ("b", 1.0)].into());
        let flooded = satisfaction(&["a", "a", "a", "a", "a", "a", "a", "a", "b", "a", "a", "b", "b", "b", "b"]);
        // b received 10 of its fair 50; that the rest came later is no excuse.
        assert_eq!(flooded, [("a", 1.0), ("b", 0.2)].into());
    }

    #[test]
    fn a_demand_is_no_more_than_could_have_been_done() {
        // Served at once, though the window ends in the middle.
        let claims = [claim("a", 95, 95, 105)];
        let weights = [("a", 1.0), ("idle", 1.0)].into();
        let found = fair_share_satisfaction(&claims, &weights, (Micros(0), Micros(100)), Micros(50));
        assert!(found["a"] == 1.0 && found["idle"].is_nan(), "{found:?}");
        // Never served: the capacity that the other one used is what it should have had a part of.
        let never =
            Claim { tenant: "b", submitted: Micros(0), served: None, service: Micros(80), until: Micros(1_000) };
        let claims = [claim("a", 0, 0, 100), never];
        let found =
            fair_share_satisfaction(&claims, &[("a", 1.0), ("b", 1.0)].into(), (Micros(0), Micros(100)), Micros(100));
        assert_eq!(found, [("a", 1.0), ("b", 0.0)].into());
        assert!(fair_share_satisfaction(&claims, &weights, (Micros(5), Micros(5)), Micros(1))["a"].is_nan());
    }
}
