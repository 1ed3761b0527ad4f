//! What still enters a CPU under the last of the boot parameters: who takes it, how often, and who sends it.

use super::ReportView;
use super::table::{ColumnKind, Table, field, name};
use worstcase_base::distinct;
use worstcase_results::record::explanations::{EnteredCell, EntryCause};

/// A cause, or that there is none.
struct EntryRow<'a> {
    cell: &'a EnteredCell,
    cause: Option<&'a EntryCause>,
}

impl EntryRow<'_> {
    fn words(&self) -> String {
        match self.cause {
            None => "nothing".into(),
            Some(EntryCause {
                cause,
                sent_by: Some(sender),
                ..
            }) => format!("{cause}, sent by {sender}"),
            Some(EntryCause { cause, .. }) => cause.clone(),
        }
    }
}

/// A table for each kernel, if it was explained.
pub(crate) fn tables(view: &ReportView) -> Vec<Table> {
    let entered = &view.explanations.entered;
    let subject = |cell: &EnteredCell| view.records.iter().find(|r| r.id == cell.cell).map(|r| r.subject.id());
    let subjects = distinct(entered.iter().filter_map(subject));
    subjects
        .iter()
        .map(|of| {
            let cells: Vec<&EnteredCell> = entered
                .iter()
                .filter(|cell| subject(cell).as_ref() == Some(of))
                .collect();
            table(of.as_str(), &cells)
        })
        .collect()
}

fn table(subject: &str, cells: &[&EnteredCell]) -> Table {
    let rows: Vec<EntryRow> = cells
        .iter()
        .flat_map(|cell| {
            let causes = cell.causes.iter().map(|cause| EntryRow {
                cell,
                cause: Some(cause),
            });
            let none = cell.causes.is_empty().then_some(EntryRow { cell, cause: None });
            causes.chain(none).collect::<Vec<_>>()
        })
        .collect();
    let fields = [
        name("load", "load", |row: &EntryRow| row.cell.load.clone()),
        field(ColumnKind::Number(0), "a_second", "a second", |row: &EntryRow| {
            row.cause.map_or(0.0, |cause| cause.a_second)
        }),
        field(ColumnKind::Words, "cause", "what enters", |row: &EntryRow| row.words()),
    ];
    let append = cells.first().map_or("", |cell| cell.append.as_str());
    let title = match append.is_empty() {
        true => format!("what enters the CPU of {subject}"),
        false => format!("what still enters the CPU with {append} ({subject})"),
    };
    Table::new("still_enters", title, &fields, &rows)
}
