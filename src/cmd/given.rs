//! Tasks given as lines of JSON.

use crate::model::wire::{IngressEntry, read};
use crate::model::{EntryId, Micros};
use anyhow::Context;
use bytes::Bytes;
use std::io::Read;
use std::path::Path;

/// One task.
pub(super) struct Given {
    /// When it is due, from the start.
    pub(super) at: Micros,
    /// Its id, where it brings one.
    pub(super) id: Option<String>,
    /// As it is sent.
    pub(super) body: Bytes,
}

/// Reads all lines before the first is submitted: a fault in the last one must not leave half a file behind.
pub(super) fn given(from: &Path, rate_per_s: Option<f64>, bytes_max: usize) -> anyhow::Result<Vec<Given>> {
    let name = || format!("the tasks {}", from.display());
    let mut text = Vec::new();
    match from.to_str() {
        Some("-") => std::io::stdin().lock().read_to_end(&mut text).with_context(name)?,
        _ => std::fs::File::open(from).and_then(|mut file| file.read_to_end(&mut text)).with_context(name)?,
    };
    let text = Bytes::from(text);
    let mut tasks = Vec::new();
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let body = text.slice_ref(line);
        let entry = IngressEntry { id: EntryId::ZERO, task: Some(body.clone()) };
        let task = read(&entry, bytes_max, Micros::ZERO)
            .map_err(|dead| anyhow::anyhow!("{}, line {}: {}", name(), number + 1, dead.letter.detail))?;
        let at = rate_per_s.map_or(Micros::ZERO, |rate| Micros::from_secs_f64(tasks.len() as f64 / rate));
        // A task without an id is called like its entry, which does not exist yet.
        let id = Some(task.id.as_str()).filter(|id| *id != EntryId::ZERO.to_string()).map(str::to_owned);
        tasks.push(Given { at, id, body });
    }
    Ok(tasks)
}
