//! What share of the service each tenant is due.

use std::collections::BTreeMap;

/// Weights of tenants, relative to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Weight of each tenant named here.
    pub by_tenant: BTreeMap<String, f64>,
    /// Weight of the others.
    pub default: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { by_tenant: BTreeMap::new(), default: 1.0 }
    }
}

impl Weights {
    /// The weight of `tenant`. The configuration refuses weights that are not finite and positive; should one come
    /// through, the default stands in for it, and 1 for the default.
    pub fn of(&self, tenant: &str) -> f64 {
        let good = |weight: &f64| weight.is_finite() && *weight > 0.0;
        let default = if good(&self.default) { self.default } else { 1.0 };
        self.by_tenant.get(tenant).copied().filter(good).unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_weight_is_replaced_and_never_used() {
        let named = [("a", 3.0), ("b", 0.0), ("c", f64::NAN), ("d", f64::INFINITY), ("e", -1.0)];
        let by_tenant = named.map(|(tenant, weight)| (tenant.to_owned(), weight)).into();
        let weights = Weights { by_tenant, default: 2.0 };
        let of = ["a", "b", "c", "d", "e", "f"].map(|tenant| weights.of(tenant));
        assert_eq!(of, [3.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(Weights { default: 0.0, ..Weights::default() }.of("x"), 1.0);
    }
}
