//! `tq merge`: several runs of the same settings put together into one directory, or refused.
//!
//! Everything is checked before the first byte is written, and what is written appears as a whole or not at all.

mod accord;
mod manifest;
mod whole;

use super::results::{Row, Run};
use super::table;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Files with a row per cell or per part of a cell.
const ROWS: &str = "csv";
/// Written anew, not copied.
const SUMMARY: &str = "summary_table";

/// Runs that may be put together.
#[derive(Debug)]
pub struct Plan {
    runs: Vec<Run>,
    out: PathBuf,
}

/// Checks that the runs may be put together into `out`.
///
/// # Errors
/// When `out` is not free, a run is torn, two runs disagree in a setting, or they cover a cell twice.
pub fn plan(runs: Vec<Run>, out: &Path) -> anyhow::Result<Plan> {
    let free = !out.exists() || fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    if !free {
        bail!("{} exists and is not an empty directory", out.display());
    }
    for run in &runs {
        whole::check(run).with_context(|| format!("{} cannot be merged", run.directory.display()))?;
    }
    accord::check(&runs)?;
    Ok(Plan { runs, out: out.to_owned() })
}

impl Plan {
    /// How many cells the result has.
    pub fn cells(&self) -> usize {
        self.runs.iter().map(|run| run.cells.len()).sum()
    }

    /// Writes the directory; the summary table.
    ///
    /// # Errors
    /// When a file cannot be read or written; `out` is as it was then.
    pub fn write(&self) -> anyhow::Result<String> {
        let parent = self.out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        // Beside its place, so that it can be moved there in one step; removed if anything fails.
        let draft = tempfile::Builder::new()
            .prefix(".merge-")
            .tempdir_in(parent)
            .with_context(|| format!("cannot write in {}", parent.display()))?;
        self.rows(draft.path())?;
        for folder in ["raw", "dead_letters"] {
            self.folder(folder, draft.path())?;
        }
        let name = self.out.file_name().unwrap_or_default().to_string_lossy();
        let merged = manifest::of(&self.runs, &name);
        fs::write(draft.path().join("manifest.json"), serde_json::to_vec_pretty(&merged)?)?;
        let table = table::of(&Run::read(draft.path())?.cells);
        fs::write(draft.path().join(SUMMARY).with_extension("csv"), table.csv()?)?;
        fs::write(draft.path().join(SUMMARY).with_extension("md"), table.markdown())?;
        // A temporary directory is private; results are not.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(draft.path(), mode)?;
        fs::rename(draft.path(), &self.out).with_context(|| format!("cannot create {}", self.out.display()))?;
        Ok(table.text())
    }

    /// Every file of rows, one run's after the other's.
    fn rows(&self, draft: &Path) -> anyhow::Result<()> {
        for name in files_of_rows(&self.runs)? {
            let mut file = csv::Writer::from_path(draft.join(&name))?;
            let mut header: Option<csv::StringRecord> = None;
            for run in &self.runs {
                let path = run.directory.join(&name);
                let mut reader = csv::Reader::from_path(&path).with_context(|| format!("{}", path.display()))?;
                let own = reader.headers()?.clone();
                match &header {
                    None => {
                        file.write_record(&own)?;
                        header = Some(own);
                    }
                    Some(header) if *header != own => {
                        bail!("{}: other columns than in {}", path.display(), self.runs[0].directory.display())
                    }
                    Some(_) => {}
                }
                for row in reader.records() {
                    file.write_record(&row.with_context(|| format!("{}", path.display()))?)?;
                }
            }
            file.flush()?;
        }
        Ok(())
    }

    /// The files of a folder, which have the cells' names.
    fn folder(&self, folder: &str, draft: &Path) -> anyhow::Result<()> {
        for run in &self.runs {
            let Ok(entries) = fs::read_dir(run.directory.join(folder)) else { continue };
            fs::create_dir_all(draft.join(folder))?;
            for entry in entries {
                let entry = entry?;
                // Left behind by a cell that did not end: it has no row.
                let known = |row: &Row| {
                    let stem = entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
                    stem == Some(row.label(true)) || stem == Some(row.label(false))
                };
                if run.cells.iter().any(known) {
                    fs::copy(entry.path(), draft.join(folder).join(entry.file_name()))
                        .with_context(|| format!("{}", entry.path().display()))?;
                }
            }
        }
        Ok(())
    }
}

/// The names of the files that have rows of cells, in any of the runs.
fn files_of_rows(runs: &[Run]) -> anyhow::Result<Vec<String>> {
    let mut names = std::collections::BTreeSet::new();
    for run in runs {
        for entry in fs::read_dir(&run.directory)? {
            let path = entry?.path();
            let summary = path.file_stem().is_some_and(|stem| stem == SUMMARY);
            if path.extension().is_some_and(|extension| extension == ROWS) && !summary {
                names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
    }
    Ok(names.into_iter().collect())
}
