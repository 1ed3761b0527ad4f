//! Breakdowns by cause, as tables.

use crate::table::terminal::figures_with;
use crate::table::{ColumnKind, Table, field};
use worstcase_analysis::breakdown::group::CauseGroup;

/// What is told of samples that were late.
pub fn obstacles(subject: &str) -> String {
    format!("What keeps {subject} from being better, the worst first (us)")
}

/// A table for each subject, with a title.
pub fn terminal(groups: &[CauseGroup], title: impl Fn(&str) -> String) -> String {
    let mut out = Vec::new();
    for of_subject in groups.chunk_by(|a, b| a.subject == b.subject) {
        out.push(title(&of_subject[0].subject));
        out.extend(figures_with(&table(of_subject), |_, _| Vec::new()));
    }
    out.push(String::new());
    out.join("\n")
}

fn table(groups: &[CauseGroup]) -> Table {
    let fields = [
        field(ColumnKind::Time, "worst_ns", "worst", |g: &CauseGroup| g.worst_ns),
        field(ColumnKind::Time, "cause_ns", "of it", |g: &CauseGroup| g.cause_ns),
        field(ColumnKind::Count, "samples", "samples", |g: &CauseGroup| g.samples),
        field(ColumnKind::Text, "load", "load", |g: &CauseGroup| g.load.clone()),
        field(ColumnKind::Text, "cause", "cause", |g: &CauseGroup| g.cause.clone()),
    ];
    Table::new("causes", "", &fields, groups)
}
