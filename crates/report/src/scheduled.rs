//! The counts of the schedulers that were loaded into the lab's kernels.

use super::table::{ColumnKind, Table, field, name};
use worstcase_base::distinct;
use worstcase_results::record::{Record, SubjectId};

/// Two counters whose ratio is the length of a choice.
const PICKS: &str = "picks";
const LOOKED_AT: &str = "tasks_looked_at";

/// The table; none where no scheduler counted.
pub fn table(records: &[Record]) -> Option<Table> {
    let counted: Vec<CountedCell> = records.iter().filter_map(CountedCell::of).collect();
    let mut names = distinct(
        counted
            .iter()
            .flat_map(|c| c.record.scheduler.iter().flat_map(|s| s.counters.keys().cloned())),
    );
    // The order is always the same; a column of zeros alone says nothing.
    names.sort();
    names.retain(|name| counted.iter().any(|c| c.count(name) > 0));
    if names.is_empty() {
        return None;
    }
    let cells = |place: &ScheduledPlace| CellsOfPlace {
        cells: counted.iter().filter(|c| c.place() == *place).collect(),
    };
    let rows: Vec<CellsOfPlace> = distinct(counted.iter().map(CountedCell::place))
        .iter()
        .map(cells)
        .collect();
    let has_ratio = [PICKS, LOOKED_AT]
        .iter()
        .all(|wanted| names.iter().any(|name| name == wanted));
    let mut fields = vec![
        name("subject", "subject", |row: &CellsOfPlace| {
            row.cells[0].place().0.to_string()
        }),
        name("load", "load", |row: &CellsOfPlace| row.cells[0].place().1),
        name("probe", "probe", |row: &CellsOfPlace| row.cells[0].place().2),
    ];
    fields.extend(names.into_iter().map(|counter| {
        let heading = counter.replace('_', " ");
        field(
            ColumnKind::Count,
            counter.clone(),
            heading,
            move |row: &CellsOfPlace| row.mean(&counter),
        )
    }));
    fields.extend(has_ratio.then(|| {
        field(
            ColumnKind::Number(1),
            "looked_at_a_pick",
            "looked at a pick",
            |row: &CellsOfPlace| {
                let picks = row.mean(PICKS);
                (picks > 0).then(|| row.mean(LOOKED_AT) as f64 / picks as f64)
            },
        )
    }));
    let title = "what the loaded scheduler counted, mean of a cell";
    Some(Table::new("schedulers", title, &fields, &rows))
}

/// The cells of one subject, load and probe; never none.
struct CellsOfPlace<'a> {
    cells: Vec<&'a CountedCell<'a>>,
}

impl CellsOfPlace<'_> {
    fn mean(&self, counter: &str) -> u64 {
        self.cells.iter().map(|c| c.count(counter)).sum::<u64>() / self.cells.len() as u64
    }
}

type ScheduledPlace = (SubjectId, String, String);

/// A cell whose scheduler counted.
struct CountedCell<'a> {
    record: &'a Record,
}

impl CountedCell<'_> {
    fn of(record: &Record) -> Option<CountedCell<'_>> {
        let counts = record.scheduler.as_ref().is_some_and(|s| !s.counters.is_empty());
        counts.then_some(CountedCell { record })
    }

    fn place(&self) -> ScheduledPlace {
        let cell = &self.record.cell;
        (self.record.subject.id(), cell.load.clone(), cell.probe.clone())
    }

    fn count(&self, name: &str) -> u64 {
        let scheduler = self.record.scheduler.as_ref();
        scheduler.and_then(|s| s.counters.get(name)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::testing;
    use crate::table;
    use worstcase_results::record::LoadedScheduler;

    #[test]
    fn the_length_of_a_choice_is_shown() {
        let scheduled = |seed: u64, picks: u64, looked: u64| {
            let subject = testing::subject("6.18", "full");
            let mut record = testing::cell(subject, "idle", seed, 1, &[(0, 1_000)]).record;
            record.scheduler = Some(LoadedScheduler {
                name: "o_n".into(),
                digest: "sha256:0".into(),
                counters: [(PICKS, picks), (LOOKED_AT, looked), ("pulled", 0)]
                    .map(|(name, count)| (name.to_string(), count))
                    .into(),
            });
            record
        };
        let records = [scheduled(1, 10, 1_000), scheduled(2, 30, 3_000)];
        let table = super::table(&records).unwrap();
        assert_eq!(
            table::csv::text(&table).unwrap(),
            "subject,load,probe,picks,tasks_looked_at,looked_at_a_pick\n6.18.full,idle,wakeup,20,2000,100\n"
        );
    }
}
