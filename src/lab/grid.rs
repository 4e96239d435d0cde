//! Cells of text in rows under a header, as aligned text, Markdown or CSV.

/// A header and its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    header: Vec<String>,
    /// Columns of words: aligned to the left. The others hold figures.
    words: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without rows yet; `words` are the places of the columns that are aligned to the left.
    pub fn new(header: &[&str], words: &[usize]) -> Self {
        let header = header.iter().map(|&name| name.to_owned()).collect();
        Grid { header, words: words.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; what it lacks to the header's length stays empty.
    pub fn push(&mut self, mut row: Vec<String>) {
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.header).chain(&self.rows)
    }

    /// Columns aligned with spaces.
    pub fn text(&self) -> String {
        let width = |column: usize| self.lines().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if self.words.contains(&column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        self.lines().map(line).collect()
    }

    /// A Markdown table; figures to the right.
    pub fn markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let rule = |column| if self.words.contains(&column) { " --- |" } else { " ---: |" };
        let rules: String = (0..self.header.len()).map(rule).collect();
        format!("{}|{rules}\n{}", line(&self.header), self.rows.iter().map(line).collect::<String>())
    }

    /// CSV.
    ///
    /// # Errors
    /// Never in practice: it is written to memory.
    pub fn csv(&self) -> anyhow::Result<Vec<u8>> {
        let mut file = csv::Writer::from_writer(Vec::new());
        for row in self.lines() {
            file.write_record(row)?;
        }
        Ok(file.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_grid_in_three_forms() {
        let mut grid = Grid::new(&["policy", "p95 s"], &[0]);
        assert!(grid.is_empty());
        grid.push(vec!["fifo".into(), "12.5".into()]);
        grid.push(vec!["wfq, fair".into()]);
        assert_eq!(grid.text(), "policy     p95 s\nfifo        12.5\nwfq, fair\n");
        assert_eq!(grid.markdown(), "| policy | p95 s |\n| --- | ---: |\n| fifo | 12.5 |\n| wfq, fair |  |\n");
        assert_eq!(grid.csv().unwrap(), b"policy,p95 s\nfifo,12.5\n\"wfq, fair\",\n");
    }
}
