//! `tq failover`: what it costs, and what it breaks, when the leader goes. Real scheduler processes, real signals, a real
//! Redis; outages are read from the dispatch stamps.

mod arm;
mod dispatches;
mod follower;
mod load;
mod row;
mod site;
mod table;
mod trial;

use super::harness::proxy::Link;
use super::manifest::machine;
use super::store::Store;
use crate::config::LeaderElectionConfig;
use crate::model::Micros;
use anyhow::{Context, bail};
pub use arm::Arm;
pub use row::Row;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;
use trial::Trial;

/// What is the same in every trial.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The lease.
    pub election: LeaderElectionConfig,
    /// Time between two submissions.
    pub spacing: Micros,
    /// Service time of a task.
    pub service: Micros,
    /// Slots of the worker.
    pub slots: u32,
    /// The executable of the processes.
    pub executable: PathBuf,
}

impl Settings {
    /// The lease as given; a task of 10 ms every 2.5 ms, for 16 slots.
    pub fn new(election: LeaderElectionConfig, executable: PathBuf) -> Self {
        let (spacing, service) = (Micros(2_500), Micros::from_millis(10));
        Settings { election, spacing, service, slots: 16, executable }
    }
}

/// A run of the experiment.
#[derive(Debug)]
pub struct Failover {
    /// What is the same in every trial.
    pub settings: Settings,
    /// Which arms.
    pub arms: Vec<Arm>,
    /// Trials of each (and of each mode).
    pub repetitions: u32,
    /// On what; memory cannot be shared among processes.
    pub store: Store,
    /// Name of the run; one that exists is continued.
    pub run_id: String,
    /// Where the run's directory goes.
    pub results_dir: PathBuf,
    /// What was typed.
    pub command: String,
}

/// What a run showed.
#[derive(Debug)]
pub struct Report {
    /// Every trial of the run, earlier ones of a continued run included.
    pub rows: Vec<Row>,
    /// The run's directory.
    pub directory: PathBuf,
    /// The summary table.
    pub table: String,
    /// Whether it was stopped before the last trial.
    pub interrupted: bool,
}

impl Failover {
    /// Runs the trials, repetition by repetition; files are written as each one ends. `progress` hears of each.
    ///
    /// # Errors
    /// When a trial cannot run or a file cannot be written.
    pub async fn run(self, stop: CancellationToken, mut progress: impl FnMut(&Row)) -> anyhow::Result<Report> {
        let Store::Redis { config: redis, .. } = &self.store else { bail!("processes cannot share memory") };
        let directory = self.results_dir.join(&self.run_id);
        std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let file = directory.join("failover.csv");
        let mut rows = row::read(&file)?;
        let mut commands = match rows.is_empty() {
            true => Vec::new(),
            false => self.earlier_commands(&directory)?,
        };
        commands.push(json!(self.command));
        let manifest = |rows: &[Row], interrupted| self.manifest(&directory, rows, &commands, interrupted);
        manifest(&rows, true)?;
        let mut interrupted = false;
        'trials: for repetition in 1..=self.repetitions {
            for &arm in &self.arms {
                for &mode in arm.modes() {
                    let phase = (f64::from(repetition) - 0.5) / f64::from(self.repetitions);
                    let (run_id, settings) = (self.run_id.as_str(), &self.settings);
                    let repetition = earlier(&rows, arm, mode) + 1;
                    let trial = Trial { run_id, settings, redis, arm, mode, repetition, phase };
                    let row = tokio::select! {
                        biased;
                        () = stop.cancelled() => {
                            interrupted = true;
                            break 'trials;
                        }
                        row = Box::pin(trial.run()) => row,
                    };
                    let row = row
                        .with_context(|| format!("{} {}, repetition {repetition}", arm.name(), arm::mode_name(mode)))?;
                    progress(&row);
                    rows.push(row);
                    row::write(&file, &rows)?;
                    manifest(&rows, true)?;
                }
            }
        }
        manifest(&rows, interrupted)?;
        let table = table::of(&rows);
        std::fs::write(directory.join("summary_table.md"), table.markdown())?;
        Ok(Report { table: table.text(), rows, directory, interrupted })
    }

    fn config(&self) -> Value {
        json!({ "leader_election": self.settings.election })
    }

    /// A run that is continued must mean the same; what was typed for it so far.
    fn earlier_commands(&self, directory: &Path) -> anyhow::Result<Vec<Value>> {
        let path = directory.join("manifest.json");
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Value = serde_json::from_slice(&text).with_context(|| format!("{}", path.display()))?;
        if manifest["config"] != self.config() || manifest["broker"] != self.store.name() {
            bail!("{} has other settings: choose another --run-id", directory.display());
        }
        Ok(manifest["commands"].as_array().cloned().unwrap_or_default())
    }

    fn manifest(&self, directory: &Path, rows: &[Row], commands: &[Value], interrupted: bool) -> anyhow::Result<()> {
        let Settings { spacing, service, slots, .. } = &self.settings;
        let document = json!({
            "experiment": "failover",
            "run_id": self.run_id,
            "tq_version": env!("CARGO_PKG_VERSION"),
            "commands": commands,
            "broker": self.store.name(),
            "redis_version": self.store.redis_version(),
            "machine": machine(),
            "config": self.config(),
            "load": { "spacing_us": spacing, "service_us": service, "slots": slots },
            "trials_done": rows.len(),
            "violations": rows.iter().filter(|row| row.is_violation()).count(),
            "interrupted": interrupted,
        });
        let (path, draft) = (directory.join("manifest.json"), directory.join("manifest.json.part"));
        std::fs::write(&draft, serde_json::to_vec_pretty(&document)?)
            .and_then(|()| std::fs::rename(&draft, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Trials of an arm and mode that the run has already.
fn earlier(rows: &[Row], arm: Arm, mode: Option<Link>) -> u32 {
    let same = |row: &&Row| row.arm == arm.name() && row.mode == arm::mode_name(mode);
    rows.iter().filter(same).map(|row| row.repetition).max().unwrap_or(0)
}
