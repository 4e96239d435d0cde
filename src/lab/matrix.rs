//! `tq bench --matrix`: every cell of a profile, one after the other (side by side in virtual time), with its files.

use super::cell::{self, Outcome};
use super::manifest::{self, Header};
use super::plan::Cell;
use super::profile::Profile;
use super::progress::Progress;
pub use super::records::Measured;
use super::records::Records;
use super::results::Run;
use super::store::{CellNamespace, Store};
use super::table;
use super::warnings;
use crate::broker::memory::MemoryBroker;
use crate::clock::Clock;
use anyhow::Context;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A run of the matrix.
#[derive(Debug)]
pub struct Matrix {
    /// Settings.
    pub profile: Profile,
    /// What to run, in this order.
    pub cells: Vec<Cell>,
    /// On what.
    pub store: Store,
    /// Name of the run.
    pub run_id: String,
    /// Where the run's directory goes.
    pub results_dir: PathBuf,
    /// Whether to show no progress.
    pub quiet: bool,
}

/// What a run of the matrix showed.
#[derive(Debug)]
pub struct Report {
    /// Every finished cell, in order.
    pub cells: Vec<Measured>,
    /// The run's directory.
    pub directory: PathBuf,
    /// The summary table.
    pub table: String,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// Whether it was stopped before the last cell.
    pub interrupted: bool,
}

impl Report {
    /// Whether every planned task of every cell ended, and none was recorded twice.
    pub fn is_complete(&self) -> bool {
        let whole = |m: &Measured| !m.outcome.timed_out && m.outcome.recorded_twice == 0;
        !self.interrupted && self.cells.iter().all(whole)
    }
}

type Ended = (usize, anyhow::Result<Option<Outcome>>);

impl Matrix {
    /// Runs the cells; files are written as each one ends. Cancelling `stop` ends the run after what has been written.
    ///
    /// # Errors
    /// When a cell cannot run or a file cannot be written.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<Report> {
        let directory = self.results_dir.join(&self.run_id);
        let mut records = Records::create(&directory, &self.run_id, self.store.name())?;
        let Matrix { profile, cells, store, run_id, quiet, .. } = self;
        let (profile, cells) = (Arc::new(profile), Arc::new(cells));
        let is_virtual = matches!(store, Store::Memory { is_virtual: true });
        let header = Header {
            run_id: &run_id,
            broker: store.name(),
            redis_version: store.redis_version(),
            is_virtual,
            profile: &profile,
            planned: cells.len(),
        };
        let mut warnings = warnings::of_settings(&profile, manifest::cores());
        manifest::write(&directory, &header, &[], &warnings, true)?;
        let tasks = cells.iter().map(|cell| cell.tasks.len() as u64).sum();
        let progress = Progress::start(tasks, cells.len(), quiet);
        let mut side_by_side = is_virtual.then(|| spawn_virtual(&cells, &profile, &stop, &progress));
        let mut early: BTreeMap<usize, Option<Outcome>> = BTreeMap::new();
        let mut done: Vec<Measured> = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            let outcome = match &mut side_by_side {
                None => one(&store, &run_id, cell, &profile, &stop, &progress).await,
                Some(ended) => in_turn(index, ended, &mut early).await,
            };
            let Some(outcome) = outcome.with_context(|| format!("cell {}", cell.label()))? else { break };
            let measured = Measured::new(cell.clone(), outcome, &profile);
            records.write(&measured, &profile)?;
            warnings.extend(warnings::of_cell(&measured));
            let (completed, rate) = (measured.summary.completed, measured.summary.throughput_per_s);
            let line = format!("{}: {completed}/{} completed, {rate:.1}/s", cell.label(), cell.tasks.len());
            done.push(measured);
            progress.cell_done(done.len(), &line);
            manifest::write(&directory, &header, &done, &warnings, done.len() < cells.len())?;
        }
        progress.end();
        let interrupted = done.len() < cells.len();
        let table = table::of(&Run::read(&directory)?.cells);
        fs::write(directory.join("summary_table.csv"), table.csv()?)?;
        fs::write(directory.join("summary_table.md"), table.markdown())?;
        Ok(Report { cells: done, directory, table: table.text(), warnings, interrupted })
    }
}

/// One cell in real time.
async fn one(
    store: &Store,
    run_id: &str,
    cell: &Cell,
    profile: &Profile,
    stop: &CancellationToken,
    progress: &Progress,
) -> anyhow::Result<Option<Outcome>> {
    if stop.is_cancelled() {
        return Ok(None);
    }
    match store {
        Store::Memory { .. } => {
            let clock = Clock::real();
            Box::pin(cell::run(MemoryBroker::new(clock.clone()), clock, cell, profile, stop, progress.of_cell())).await
        }
        Store::Redis { config, .. } => {
            let space = CellNamespace::open(config, format!("tq-bench-{run_id}-{}", cell.label())).await?;
            let (broker, clock) = (space.broker.clone(), space.clock.clone());
            let outcome = Box::pin(cell::run(broker, clock, cell, profile, stop, progress.of_cell())).await;
            space.delete().await?;
            outcome
        }
    }
}

/// Cells in virtual time, each on a thread of its own, as many at once as there are cores: they share nothing, so what comes
/// out does not depend on who runs beside whom.
fn spawn_virtual(
    cells: &Arc<Vec<Cell>>,
    profile: &Arc<Profile>,
    stop: &CancellationToken,
    progress: &Progress,
) -> mpsc::UnboundedReceiver<Ended> {
    let (ended, receiver) = mpsc::unbounded_channel();
    let next = Arc::new(AtomicUsize::new(0));
    for _ in 0..manifest::cores().min(cells.len()) {
        let (cells, profile, stop, progress) = (cells.clone(), profile.clone(), stop.clone(), progress.clone());
        let (ended, next) = (ended.clone(), next.clone());
        std::thread::spawn(move || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(cell) = cells.get(index).filter(|_| !stop.is_cancelled()) else { return };
                let outcome = Clock::run_virtual(async |clock| {
                    let broker = MemoryBroker::new(clock.clone());
                    Box::pin(cell::run(broker, clock, cell, &profile, &stop, progress.of_cell())).await
                });
                if ended.send((index, outcome)).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

/// The outcome of cell `index`; those that end before their turn wait in `early`. `None`: it was stopped, or its thread is
/// gone.
async fn in_turn(
    index: usize,
    ended: &mut mpsc::UnboundedReceiver<Ended>,
    early: &mut BTreeMap<usize, Option<Outcome>>,
) -> anyhow::Result<Option<Outcome>> {
    loop {
        if let Some(outcome) = early.remove(&index) {
            return Ok(outcome);
        }
        let Some((other, outcome)) = ended.recv().await else { return Ok(None) };
        early.insert(other, outcome?);
    }
}
