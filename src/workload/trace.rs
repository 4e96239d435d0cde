//! Traces: CSV with the header `submit_ms,duration_ms,tenant,priority,deadline_ms,kind`, one task a row.
//!
//! | column | meaning |
//! | --- | --- |
//! | `submit_ms` | offset from the start; rows may come in any order |
//! | `duration_ms` | duration on one slot |
//! | `tenant` | empty: `default` |
//! | `priority` | 0 = most urgent, as the sources count; tq counts upwards, so it becomes 255 − priority; empty: 0 in tq, the least |
//! | `deadline_ms` | on the axis of `submit_ms`; empty: none |
//! | `kind` | empty: `sim` |
//!
//! Two ways to scale a trace, which exclude one another. *Speed X* divides instants, durations and deadlines by X: the
//! same load in less time. *Load ρ on N slots* stretches the arrivals alone, until Σ durations / (span × N) = ρ: the same
//! tasks at another load. Both are in [`super::load`].

use super::plan::Arrival;
use crate::model::wire::NAME_BYTES_MAX;
use crate::model::{Micros, TaskId};

const COLUMNS: [&str; 6] = ["submit_ms", "duration_ms", "tenant", "priority", "deadline_ms", "kind"];
/// Largest instant or duration, in ms: about 285 years in µs stay exact in a double.
const MS_MAX: f64 = 9e12;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A value, where it stands, and what is wrong with it.
    #[error("line {line}, column {column}: {why}")]
    Value {
        /// From 1, the header included.
        line: u64,
        /// Name of the column.
        column: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The header lacks columns or has others.
    #[error("line 1: the header must be `submit_ms,duration_ms,tenant,priority,deadline_ms,kind`, not `{0}`")]
    Header(String),
    /// It is not CSV, or reading failed.
    #[error("{0}")]
    Csv(#[from] csv::Error),
}

/// Reads a trace; the tasks in order of arrival (ties in the order of the file), with ids `trace-<row>`.
///
/// # Errors
/// The first fault, with line and column.
pub fn read(reader: impl std::io::Read) -> Result<Vec<Arrival>, TraceError> {
    let mut rows = csv::Reader::from_reader(reader);
    let header = rows.headers()?;
    if header.iter().ne(COLUMNS) {
        return Err(TraceError::Header(header.iter().collect::<Vec<_>>().join(",")));
    }
    let mut tasks = Vec::new();
    for (number, row) in rows.records().enumerate() {
        tasks.push(task(number, &row?)?);
    }
    tasks.sort_by_key(|task| task.at);
    Ok(tasks)
}

fn task(number: usize, row: &csv::StringRecord) -> Result<Arrival, TraceError> {
    let line = row.position().map_or(0, csv::Position::line);
    let text = |column: usize| row.get(column).unwrap_or_default().trim();
    let fault = |column: usize, why: String| TraceError::Value { line, column: COLUMNS[column], why };
    let span = |column: usize| {
        let ms: f64 = text(column).parse().map_err(|_| fault(column, format!("`{}` is not a number", text(column))))?;
        if (0.0..=MS_MAX).contains(&ms) {
            Ok(Micros((ms * 1_000.0).round() as i64))
        } else {
            Err(fault(column, format!("{ms} must be from 0 to {MS_MAX}")))
        }
    };
    let name = |column: usize, otherwise: &'static str| match text(column) {
        "" => Ok(otherwise.to_owned()),
        name if name.len() > NAME_BYTES_MAX => Err(fault(column, format!("has more than {NAME_BYTES_MAX} bytes"))),
        name if name.chars().any(char::is_control) => Err(fault(column, "has a control character".into())),
        name => Ok(name.to_owned()),
    };
    let at = span(0)?;
    let priority = match text(3) {
        "" => 0,
        text => 255 - text.parse::<u8>().map_err(|_| fault(3, format!("`{text}` is not an integer from 0 to 255")))?,
    };
    let deadline_in = match text(4) {
        "" => None,
        _ => Some(span(4)? - at).filter(|span| *span >= Micros::ZERO).map_or_else(
            || Err(fault(4, format!("{} is before submit_ms = {}", text(4), text(0)))),
            |span| Ok(Some(span)),
        )?,
    };
    Ok(Arrival {
        id: TaskId::from(format!("trace-{:06}", number + 1)),
        at,
        tenant: name(2, "default")?.into(),
        kind: name(5, "sim")?.into(),
        priority,
        service: span(1)?.max(Micros(1)),
        deadline_in,
        max_retries: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "submit_ms,duration_ms,tenant,priority,deadline_ms,kind\n";

    fn fault(rows: &str) -> String {
        read(format!("{HEADER}{rows}").as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn empty_fields_have_defaults_and_urgent_becomes_important() {
        let text = format!("{HEADER}10,7,,,,\n0,5.5,x,0,90,llm\n");
        let tasks = read(text.as_bytes()).unwrap();
        assert_eq!((tasks[0].at, tasks[0].service, tasks[0].priority), (Micros(0), Micros(5_500), 255));
        assert_eq!((tasks[0].deadline_in, &*tasks[0].kind), (Some(Micros(90_000)), "llm"));
        assert_eq!((tasks[1].id.as_str(), tasks[1].tenant.as_str()), ("trace-000001", "default"));
        assert_eq!((tasks[1].priority, tasks[1].deadline_in), (0, None));
    }

    #[test]
    fn faults_name_line_and_column() {
        assert_eq!(fault("0,1,,,,\nx,1,,,,\n"), "line 3, column submit_ms: `x` is not a number");
        assert_eq!(fault("0,-1,,,,\n"), "line 2, column duration_ms: -1 must be from 0 to 9000000000000");
        assert_eq!(fault("0,NaN,,,,\n"), "line 2, column duration_ms: NaN must be from 0 to 9000000000000");
        assert_eq!(fault("0,1,,256,,\n"), "line 2, column priority: `256` is not an integer from 0 to 255");
        assert_eq!(fault("9,1,,,5,\n"), "line 2, column deadline_ms: 5 is before submit_ms = 9");
        assert!(fault("0,1\n").contains("line"), "{}", fault("0,1\n"));
        assert!(read("a,b\n".as_bytes()).unwrap_err().to_string().contains("not `a,b`"));
    }
}
