//! A table with a label column and titled groups of number columns, which general table crates cannot do:
//! titles span their group, and groups that do not fit the width go below.

/// Between two groups.
const GROUP_GAP: &str = "   ";
/// Between two columns of a group.
const COLUMN_GAP: &str = "  ";

/// A group of columns under one title.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnGroup {
    /// Its title.
    pub title: String,
    /// The texts of each row of the table, one for each column; none of a row that the group does not have.
    pub cells: Vec<Vec<String>>,
}

/// In the place of what a group does not have.
const ABSENT: &str = "-";

/// The table.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableGrid {
    /// Heading of the label column.
    pub heading: String,
    /// The rows' labels.
    pub labels: Vec<String>,
    /// Headings of the columns of every group.
    pub columns: Vec<String>,
    /// For each column, whether it is aligned left; numbers are not.
    pub(crate) is_left: Vec<bool>,
    /// The groups.
    pub groups: Vec<ColumnGroup>,
}

impl TableGrid {
    /// The table as lines, at most `width` characters wide if one column fits. Without titles the first line is empty.
    pub fn render(&self, width: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for part in self.split(width) {
            let is_further = !lines.is_empty();
            let untitled = part.groups.iter().all(|group| group.title.is_empty());
            lines.extend(is_further.then(String::new));
            lines.extend(
                part.render_groups(width)
                    .into_iter()
                    .skip((is_further && untitled).into()),
            );
        }
        lines
    }

    /// Tables of fewer columns, where not even one group fits.
    fn split(&self, width: usize) -> Vec<TableGrid> {
        let room = width.saturating_sub(widest(self.labels.iter().chain([&self.heading])) + GROUP_GAP.len());
        let part = |from: usize, to: usize| TableGrid {
            columns: self.columns[from..to].to_vec(),
            is_left: self.is_left[from..to].to_vec(),
            groups: self
                .groups
                .iter()
                .map(|group| ColumnGroup {
                    title: group.title.clone(),
                    cells: group
                        .cells
                        .iter()
                        .map(|row| row.get(from..to).unwrap_or_default().to_vec())
                        .collect(),
                })
                .collect(),
            heading: self.heading.clone(),
            labels: self.labels.clone(),
        };
        let fits = |part: &TableGrid| part.groups.iter().all(|group| part.group_width(group) <= room);
        let (mut parts, mut from) = (Vec::new(), 0);
        while from < self.columns.len() {
            let mut to = self.columns.len();
            while to > from + 1 && !fits(&part(from, to)) {
                to -= 1;
            }
            parts.push(part(from, to));
            from = to;
        }
        parts
    }

    /// All columns.
    fn render_groups(&self, width: usize) -> Vec<String> {
        let label_width = widest(self.labels.iter().chain([&self.heading]));
        let mut lines = Vec::new();
        let mut rest = self.groups.as_slice();
        while !rest.is_empty() {
            let mut used = label_width;
            let fitting = rest.iter().take_while(|group| {
                used += GROUP_GAP.len() + self.group_width(group);
                used <= width
            });
            // A group wider than the width still has to go somewhere.
            let (block, below) = rest.split_at(fitting.count().max(1));
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(self.block(block, label_width));
            rest = below;
        }
        lines
    }

    fn block(&self, groups: &[ColumnGroup], label_width: usize) -> Vec<String> {
        let line = |label: &str, parts: Vec<String>| {
            let mut line = format!("{label:label_width$}");
            for part in parts {
                line += GROUP_GAP;
                line += &part;
            }
            line.trim_end().to_string()
        };
        let titles = groups.iter().map(|g| rule(&g.title, self.group_width(g))).collect();
        let headings = groups.iter().map(|g| self.join(g, &self.columns)).collect();
        let mut lines = vec![line("", titles), line(&self.heading, headings)];
        let is_there = |row: usize| groups.iter().any(|group| !group.cells[row].is_empty());
        for (row, label) in self.labels.iter().enumerate().filter(|(row, _)| is_there(*row)) {
            lines.push(line(
                label,
                groups.iter().map(|g| self.join(g, &g.cells[row])).collect(),
            ));
        }
        lines
    }

    /// One row of a group.
    fn join(&self, group: &ColumnGroup, cells: &[String]) -> String {
        let widths = self.column_widths(group);
        let texts = (0..self.columns.len()).map(|at| cells.get(at).map_or(ABSENT, String::as_str));
        let padded: Vec<String> = texts
            .zip(widths)
            .zip(&self.is_left)
            .map(|((text, w), is_left)| match is_left {
                true => format!("{text:w$}"),
                false => format!("{text:>w$}"),
            })
            .collect();
        padded.join(COLUMN_GAP)
    }

    fn column_widths(&self, group: &ColumnGroup) -> Vec<usize> {
        let of_column = |(i, heading)| widest(group.cells.iter().filter_map(|row| row.get(i)).chain([heading]));
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(of_column).collect();
        // A title with a space on either side.
        let needed = group.title.chars().count() + 2;
        let have: usize = widths.iter().sum::<usize>() + COLUMN_GAP.len() * (widths.len() - 1);
        widths[0] += needed.saturating_sub(have);
        widths
    }

    fn group_width(&self, group: &ColumnGroup) -> usize {
        let widths = self.column_widths(group);
        widths.iter().sum::<usize>() + COLUMN_GAP.len() * (widths.len() - 1)
    }
}

fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|t| t.chars().count()).max().unwrap_or(0)
}

/// A title in the middle of a line over its group.
fn rule(title: &str, width: usize) -> String {
    format!("{:-^width$}", format!(" {title} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> TableGrid {
        let group = |title: &str| ColumnGroup {
            title: title.into(),
            cells: vec![vec!["1.00".into(), "2".into()], vec!["10.0".into(), "-".into()]],
        };
        TableGrid {
            heading: "subject".into(),
            labels: vec!["none".into(), "rt".into()],
            columns: vec!["median".into(), "max".into()],
            is_left: vec![false; 2],
            groups: vec![group("shm"), group("a long load's name")],
        }
    }

    #[test]
    fn titles_span_their_columns() {
        insta::assert_snapshot!(grid().render(100).join("\n"), @r#"
                  --- shm ---    a long load's name
        subject   median  max            median  max
        none        1.00    2              1.00    2
        rt          10.0    -              10.0    -
        "#);
    }

    #[test]
    fn columns_that_do_not_fit_go_below() {
        let one = TableGrid {
            groups: vec![ColumnGroup {
                title: String::new(),
                cells: vec![vec!["1.00".into(), "2".into(), "33333".into()]],
            }],
            labels: vec!["none".into()],
            columns: ["median", "max", "samples"].map(String::from).to_vec(),
            is_left: vec![false; 3],
            heading: String::new(),
        };
        let lines = one.render(20);
        assert!(lines.iter().all(|l| l.chars().count() <= 20), "{lines:#?}");
        insta::assert_snapshot!(lines[1..].join("\n"), @r#"
               median  max
        none     1.00    2

               samples
        none     33333
        "#);
        assert_eq!(one.render(120).len(), 3);
    }

    #[test]
    fn a_row_stands_where_a_group_has_it() {
        let mut uneven = grid();
        uneven.groups[0].cells[1].clear();
        let beside = uneven.render(100);
        assert_eq!(
            beside[3].split_whitespace().collect::<Vec<_>>(),
            ["rt", "-", "-", "10.0", "-"]
        );
        let below = uneven.render(30);
        assert_eq!(
            below.iter().filter(|line| line.starts_with("rt")).count(),
            1,
            "{below:#?}"
        );
    }

    #[test]
    fn groups_that_do_not_fit_go_below() {
        let lines = grid().render(30);
        assert!(lines.iter().all(|l| l.chars().count() <= 30), "{lines:#?}");
        insta::assert_snapshot!(lines.join("\n"), @r#"
                  --- shm ---
        subject   median  max
        none        1.00    2
        rt          10.0    -

                   a long load's name
        subject            median  max
        none                 1.00    2
        rt                   10.0    -
        "#);
    }
}
