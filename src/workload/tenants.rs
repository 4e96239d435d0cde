//! Who submits.

use super::config::WorkloadConfig;
use super::rng::{Attribute, Draws};
use crate::model::TenantId;

/// Tenants drawn by their shares.
pub(super) struct Tenants {
    draws: Draws,
    names: Vec<TenantId>,
    shares: Vec<f64>,
}

impl Tenants {
    pub(super) fn new(config: &WorkloadConfig) -> Self {
        Tenants {
            draws: Draws::new(config.seed, Attribute::Tenant),
            names: config.shares().keys().map(|name| name.as_str().into()).collect(),
            shares: config.shares().values().copied().collect(),
        }
    }

    /// The tenant of the next task.
    pub(super) fn next(&mut self) -> TenantId {
        let index = self.draws.weighted(&self.shares);
        self.names.get(index).cloned().unwrap_or_else(|| "default".into())
    }
}
