//! Breakdowns by cause, as tables.

use crate::table::terminal::figures_with;
use crate::table::{ColumnKind, Table, field};
use worstcase_analysis::breakdown::group::CauseGroup;

/// A table for each subject.
pub fn terminal(groups: &[CauseGroup]) -> String {
    let mut out = Vec::new();
    for of_subject in groups.chunk_by(|a, b| a.subject == b.subject) {
        let subject = &of_subject[0].subject;
        out.push(format!("What keeps {subject} from being better, the worst first (us)"));
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
        field(ColumnKind::Text, "cause", "cause", |g: &CauseGroup| {
            let function = g.function.as_ref().map_or(String::new(), |f| format!(": {f}"));
            let by = g.caller.as_ref().map_or(String::new(), |c| format!(" < {c}"));
            format!("{}{function}{by}", g.mechanism.title())
        }),
    ];
    Table::new("causes", "", &fields, groups)
}
