//! Reading the directory of a run: what charts, comparisons and resumed runs start from. Files, not memory, are the interface:
//! what can be drawn of a run now can be drawn of it in a year, by a newer tq too.

mod row;
mod settings;
mod task;

pub use row::Row;
pub use settings::{Difference, differences};
pub use task::Task;

use anyhow::{Context, bail};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What a run left behind.
#[derive(Debug, Clone)]
pub struct Run {
    /// Where it lies.
    pub directory: PathBuf,
    /// `manifest.json`.
    pub manifest: Value,
    /// A row per cell, of `aggregate.csv`, in the order of the file.
    pub cells: Vec<Row>,
    /// A row per cell and tenant, of `tenants.csv`.
    pub tenants: Vec<Row>,
    /// A row per cell and priority, of `priorities.csv`; none where an older tq wrote no such file.
    pub priorities: Vec<Row>,
}

impl Run {
    /// Reads a directory; raw files are read when they are asked for.
    ///
    /// # Errors
    /// When it is no result directory, or a row of it cannot be read.
    pub fn read(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join("manifest.json");
        let text = fs::read_to_string(&path).with_context(|| {
            format!("{} is no result directory: cannot read {}", directory.display(), path.display())
        })?;
        let manifest = serde_json::from_str(&text).with_context(|| format!("{}", path.display()))?;
        Ok(Run {
            directory: directory.to_owned(),
            manifest,
            cells: rows(&directory.join("aggregate.csv"))?,
            tenants: rows(&directory.join("tenants.csv"))?,
            priorities: match directory.join("priorities.csv") {
                path if path.exists() => rows(&path)?,
                _ => Vec::new(),
            },
        })
    }

    /// Its name.
    pub fn id(&self) -> &str {
        self.manifest["run_id"].as_str().unwrap_or_default()
    }

    /// The tasks of one cell, in the order of the plan.
    ///
    /// # Errors
    /// When the file is missing or a row cannot be read.
    pub fn tasks(&self, cell: &Row) -> anyhow::Result<Vec<Task>> {
        let named = |given: bool| self.directory.join("raw").join(cell.label(given)).with_extension("csv");
        let path = [named(true), named(false)].into_iter().find(|path| path.exists());
        let Some(path) = path else { bail!("{} is missing", named(false).display()) };
        let mut reader = csv::Reader::from_reader(open(&path)?);
        let tasks: Result<_, _> = reader.deserialize().collect();
        tasks.with_context(|| format!("{}", path.display()))
    }
}

fn open(path: &Path) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Every row of a file.
fn rows(path: &Path) -> anyhow::Result<Vec<Row>> {
    let mut reader = csv::Reader::from_reader(open(path)?);
    let header = reader.headers()?.clone();
    let row = |record: Result<csv::StringRecord, csv::Error>| Row::read(&header, &record?);
    reader.records().map(row).collect::<anyhow::Result<_>>().with_context(|| format!("{}", path.display()))
}
