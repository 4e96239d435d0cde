//! The status view as aligned text for people.

use super::status_view::StatusView;
use crate::model::Micros;

/// A span in the unit that suits it.
pub fn span(span: Micros) -> String {
    match span.0 {
        us if us < 1_000 => format!("{us} µs"),
        us if us < 1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        us if us < 120_000_000 => format!("{:.1} s", us as f64 / 1e6),
        us => format!("{:.1} min", us as f64 / 6e7),
    }
}

/// Columns as wide as their widest cell; numbers and spans to the right, texts to the left (the first row is the head). What
/// a producer chose may hold anything, so control characters are shown, not obeyed.
pub fn table(rows: &[Vec<String>]) -> String {
    let clean = |cell: &String| cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(clean).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |n: usize| rows.iter().filter_map(move |row| row.get(n));
    let widths: Vec<usize> = (0..columns).map(|n| cells(n).map(|c| c.chars().count()).max().unwrap_or(0)).collect();
    let quantity = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit()) && !cell.contains(['-', ':']);
    let right: Vec<bool> = (0..columns).map(|n| n > 0 && cells(n).skip(1).all(quantity)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(n, cell)| match (right[n], widths[n]) {
            (true, width) => format!("{cell:>width$}"),
            (false, width) => format!("{cell:<width$}"),
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// The whole view.
pub fn render(view: &StatusView) -> String {
    let mut text = match &view.leader {
        Some(leader) => {
            let left = span(leader.lease_left_us);
            let owner = table(&[vec![leader.owner.clone()]]);
            format!("leader  {}, epoch {}, lease left {left}\n", owner.trim(), leader.epoch.0)
        }
        None => format!("leader  nobody (last epoch {})\n", view.epoch.0),
    };
    let places = &view.places;
    text.push_str("\nplaces\n");
    let depth = |name: &str, n: u64| vec![name.to_owned(), n.to_string()];
    text.push_str(&table(&[
        depth("ingress", places.ingress),
        depth("pending", places.pending),
        depth("delayed", places.delayed),
        depth("in flight", places.in_flight),
        depth("completed", places.completed),
        depth("dead letters", places.dead),
    ]));
    let oldest = view.oldest_wait_us.map_or_else(|| "–".into(), span);
    text.push_str(&format!("\noldest wait  {oldest}\n"));
    tenants(view, &mut text);
    workers(view, &mut text);
    text
}

fn tenants(view: &StatusView, text: &mut String) {
    if view.tenants.is_empty() {
        return;
    }
    let mut rows = vec![row(["tenant", "pending", "in flight", "completed", "service", "missed"])];
    for (name, tenant) in &view.tenants {
        let counts = [tenant.pending, tenant.in_flight, tenant.completed].map(|n| n.to_string());
        let mut cells = vec![name.clone()];
        cells.extend(counts);
        cells.extend([span(tenant.service_us), tenant.deadline_missed.to_string()]);
        rows.push(cells);
    }
    text.push_str(if view.complete { "\ntenants\n" } else { "\ntenants (not all of pending was counted)\n" });
    text.push_str(&table(&rows));
}

fn workers(view: &StatusView, text: &mut String) {
    text.push_str(&format!("\nworkers ({} slots)\n", view.slots));
    let mut rows = vec![row(["worker", "busy", "slots", "last heartbeat"])];
    for worker in &view.workers {
        let beat = &worker.seen.beat;
        let ago = format!("{} ago", span(worker.silent_us));
        rows.push(vec![beat.worker.clone(), beat.busy.to_string(), beat.slots.to_string(), ago]);
    }
    text.push_str(&if view.workers.is_empty() { "  none\n".into() } else { table(&rows) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_control_characters_are_not_obeyed() {
        let rows = [row(["a", "bb"]), row(["ccc\u{1b}[2J", "1"])];
        let text = table(&rows);
        assert!(!text.contains('\u{1b}'), "{text}");
        let ends: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(ends[0], ends[1], "{text}");
    }

    #[test]
    fn spans_take_the_unit_that_suits_them() {
        let shown = [7, 1_500, 2_500_000, 600_000_000].map(|us| span(Micros(us)));
        assert_eq!(shown, ["7 µs", "1.5 ms", "2.5 s", "10.0 min"]);
    }
}
