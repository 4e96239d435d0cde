//! One trial: steady load, a fault, what became of it.

use super::super::harness::proxy::Link;
use super::super::store::CellNamespace;
use super::arm::mode_name;
use super::dispatches::{self, Dispatch};
use super::follower::Follower;
use super::load::Load;
use super::row::Row;
use super::site::Site;
use super::{Arm, Settings};
use crate::broker::{Broker, ResultEntry};
use crate::config::RedisConfig;
use crate::model::{EntryId, Epoch, Micros};
use anyhow::{bail, ensure};
use nix::sys::signal::Signal;
use std::collections::BTreeSet;

/// Load before the fault, and after dispatch has come back.
const LEAD_IN: Micros = Micros::from_millis(1_500);
const LEAD_OUT: Micros = Micros::from_millis(1_500);
/// How long a leader that came back may misbehave.
const PROBATION: Micros = Micros::from_secs(3);
/// Beyond ttl and retry, before a trial without a standby is given up.
const CENSORED_AFTER: Micros = Micros::from_secs(3);
/// How long anything may take that must come about: far longer than it does.
const PATIENCE: Micros = Micros::from_secs(90);
const POLL: Micros = Micros::from_millis(10);
const PAGE: usize = 1_000;

pub(super) struct Trial<'a> {
    pub(super) run_id: &'a str,
    pub(super) settings: &'a Settings,
    pub(super) redis: &'a RedisConfig,
    pub(super) arm: Arm,
    pub(super) mode: Option<Link>,
    pub(super) repetition: u32,
    /// Where in the leader's interval of renewals the fault falls, 0 to 1.
    pub(super) phase: f64,
}

/// What came of the fault.
#[derive(Default)]
struct Aftermath {
    recovered: bool,
    pause: Option<Micros>,
    leaders_after: Option<u32>,
    fenced: Option<u64>,
}

impl Trial<'_> {
    pub(super) async fn run(&self) -> anyhow::Result<Row> {
        let mode = mode_name(self.mode);
        let label = format!("tq-failover-{}-{}{mode}-{}", self.run_id, self.arm.name(), self.repetition);
        let space = CellNamespace::open(self.redis, label.clone()).await?;
        let row = Box::pin(self.measure(&space, &label)).await;
        space.delete().await?;
        row
    }

    async fn measure(&self, space: &CellNamespace, namespace: &str) -> anyhow::Result<Row> {
        let (broker, clock, settings) = (&space.broker, &space.clock, self.settings);
        let follower = Follower::start(broker.clone(), clock.clone());
        let mut site = Site::start(settings, self.arm, self.redis, namespace).await?;
        let leader = site.ready(broker, clock, settings.slots).await?;
        let load = Load::start(broker, clock, settings.spacing, settings.service);
        let phase = (settings.election.renew_interval.0 as f64 * self.phase) as i64;
        clock.sleep(LEAD_IN + Micros(phase)).await;
        let leaders_before_kill = site.leaders().await?;
        let before = broker.snapshot(clock.now()).await?;
        ensure!(site.leader(&before) == Some(leader), "the leader changed before the fault");
        let aftermath = self.strike(space, &mut site, leader, before.epoch, &follower).await?;
        let submitted = load.end().await?;
        let unfinished = self.drain(space, submitted).await?;
        let results = results(broker).await?;
        let after = broker.snapshot(clock.now()).await?;
        let ids: BTreeSet<&str> = results.iter().map(|entry| entry.result.id.as_str()).collect();
        let twice = (results.len() - ids.len()) as u64 + after.counter("duplicate_completions");
        let log = follower.log();
        let unseen = after.counter("dispatched").saturating_sub(log.len() as u64);
        if unseen > 0 {
            tracing::warn!(unseen, "dispatches went by unseen; the stamps of the results stand in for them");
        }
        let stamps = stamps(&log, &results);
        let gap_max = dispatches::gap_max(&stamps);
        let outage = match self.arm {
            Arm::None => Some(gap_max),
            _ => dispatches::outage(&stamps, before.epoch).filter(|_| aftermath.recovered),
        };
        Ok(Row {
            run_id: self.run_id.into(),
            repetition: self.repetition,
            arm: self.arm.name().into(),
            mode: mode_name(self.mode).into(),
            outage_ms: outage.map_or(-1.0, ms),
            recovered: outage.is_some(),
            max_gap_ms: ms(gap_max),
            leaders_before_kill,
            duplicate_completions: twice,
            epoch_inversions: dispatches::inversions(&log).max(dispatches::inversions(&stamps)),
            pause_ms: aftermath.pause.map(ms),
            leaders_after_resume: aftermath.leaders_after,
            fenced_operations: aftermath.fenced,
            unfinished,
            submitted,
            terms: after.epoch.0 - before.epoch.0,
        })
    }

    /// The fault, and the time until dispatch has come back or is given up.
    async fn strike(
        &self,
        space: &CellNamespace,
        site: &mut Site,
        leader: usize,
        epoch: Epoch,
        follower: &Follower,
    ) -> anyhow::Result<Aftermath> {
        let (clock, election) = (&space.clock, &self.settings.election);
        let struck = clock.now();
        let process = &site.schedulers[leader];
        match self.arm {
            Arm::None => {
                clock.sleep(LEAD_OUT).await;
                return Ok(Aftermath { recovered: true, ..Aftermath::default() });
            }
            Arm::Graceful => process.signal(Signal::SIGTERM)?,
            Arm::Crash | Arm::CrashTtl | Arm::Single => process.signal(Signal::SIGKILL)?,
            Arm::Pause => process.signal(Signal::SIGSTOP)?,
            Arm::Partition => site.proxies[leader].set(self.mode.unwrap_or(Link::Reset)),
        }
        let limit = match self.arm {
            Arm::Single => election.ttl + election.retry_interval + CENSORED_AFTER,
            _ => PATIENCE,
        };
        while !follower.has_term_after(epoch) {
            if clock.now() > struck + limit {
                return Ok(Aftermath::default());
            }
            clock.sleep(POLL).await;
        }
        let mut aftermath = Aftermath { recovered: true, ..Aftermath::default() };
        if self.arm.comes_back() {
            self.resume(space, site, leader, struck, &mut aftermath).await?;
        } else {
            clock.sleep(LEAD_OUT).await;
        }
        Ok(aftermath)
    }

    /// Lets the old leader come back, when its lease is over for certain, and watches what it does.
    async fn resume(
        &self,
        space: &CellNamespace,
        site: &mut Site,
        leader: usize,
        struck: Micros,
        aftermath: &mut Aftermath,
    ) -> anyhow::Result<()> {
        let clock = &space.clock;
        clock.sleep_until(struck + self.settings.election.ttl * 2).await;
        if self.arm == Arm::Pause {
            ensure!(site.schedulers[leader].is_stopped(), "the leader was not stopped any more when it was to resume");
        }
        let seen = space.broker.snapshot(clock.now()).await?;
        ensure!(site.leader(&seen).is_some_and(|other| other != leader), "the old leader still holds the lease");
        aftermath.pause = Some(clock.now() - struck);
        match self.arm {
            Arm::Pause => site.schedulers[leader].signal(Signal::SIGCONT)?,
            _ => site.proxies[leader].set(Link::Whole),
        }
        clock.sleep(PROBATION).await;
        aftermath.leaders_after = Some(site.leaders().await?);
        let fenced = site.schedulers[leader].metric("tq_scheduler_fenced_operations_total").await?;
        aftermath.fenced = Some(fenced as u64);
        Ok(())
    }

    /// Waits until every submitted task has ended; how many did not. Without a standby nobody waits.
    async fn drain(&self, space: &CellNamespace, submitted: u64) -> anyhow::Result<u64> {
        let until = space.clock.now() + PATIENCE;
        loop {
            let seen = space.broker.snapshot(space.clock.now()).await?;
            let left = submitted.saturating_sub(seen.counter("completed") + seen.dead);
            if left == 0 || self.arm == Arm::Single || space.clock.now() > until {
                return Ok(left);
            }
            space.clock.sleep(POLL).await;
        }
    }
}

fn ms(span: Micros) -> f64 {
    span.0 as f64 / 1_000.0
}

/// The dispatches that were seen, and those of the results that were not, in the order of their stamps.
fn stamps(log: &[Dispatch], results: &[ResultEntry]) -> Vec<Dispatch> {
    let of_result = |entry: &ResultEntry| Dispatch { at: entry.result.dispatched_us, epoch: entry.result.epoch };
    let mut stamps: Vec<Dispatch> = log.to_vec();
    stamps.extend(results.iter().map(of_result));
    stamps.sort_by_key(|dispatch| (dispatch.at, dispatch.epoch));
    stamps.dedup();
    stamps
}

async fn results<B: Broker>(broker: &B) -> anyhow::Result<Vec<ResultEntry>> {
    let (mut all, mut after) = (Vec::new(), EntryId::ZERO);
    loop {
        let page = broker.results(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(all) };
        if last.entry <= after {
            bail!("results do not end");
        }
        after = last.entry;
        all.extend(page);
    }
}
