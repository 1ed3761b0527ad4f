//! What the schedulers counted that were loaded into the lab's kernels.

use super::bench::list;
use super::terminal::{Style, distinct};
use worstcase_base::format::{grouped, plain};
use worstcase_results::record::{Record, SubjectId};

/// Two counters whose ratio is the length of a choice.
const PICKS: &str = "picks";
const LOOKED_AT: &str = "tasks_looked_at";
const A_PICK: &str = "looked at a pick";

/// The table; nothing where no scheduler counted.
pub fn lines(records: &[Record], style: Style) -> Vec<String> {
    let counted: Vec<Counted> = records.iter().filter_map(Counted::of).collect();
    let mut names = distinct(
        counted
            .iter()
            .flat_map(|c| c.record.scheduler.iter().flat_map(|s| s.counters.keys())),
    );
    // Always the same order; a column in which nothing ever happened says nothing.
    names.sort();
    names.retain(|name| counted.iter().any(|c| c.count(name) > 0));
    if names.is_empty() {
        return Vec::new();
    }
    let rows = distinct(counted.iter().map(Counted::place));
    let of = |place: &Place| counted.iter().filter(|c| c.place() == *place).collect::<Vec<_>>();
    let has_ratio = [PICKS, LOOKED_AT]
        .iter()
        .all(|wanted| names.iter().any(|name| name == wanted));
    let values = |place: &Place| {
        let cells = of(place);
        let mean = |name: &str| cells.iter().map(|c| c.count(name)).sum::<u64>() / cells.len() as u64;
        let mut row: Vec<String> = names.iter().map(|name| grouped(mean(name))).collect();
        row.extend(has_ratio.then(|| match mean(PICKS) {
            0 => "-".into(),
            picks => format!("{:.1}", mean(LOOKED_AT) as f64 / picks as f64),
        }));
        row
    };
    let columns: Vec<String> = names.iter().map(|name| plain(&name.replace('_', " "))).collect();
    let mut columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    columns.extend(has_ratio.then_some(A_PICK));
    let label = |(subject, load, probe): &Place| plain(&format!("{subject} {load}: {probe}"));
    let mut lines = vec![
        String::new(),
        style.bold("what the loaded scheduler counted, mean of a cell"),
    ];
    lines.extend(list(
        "subject, load, probe",
        rows.iter().map(label).collect(),
        &columns,
        rows.iter().map(values).collect(),
    ));
    lines
}

type Place = (SubjectId, String, String);

/// A cell whose scheduler counted.
struct Counted<'a> {
    record: &'a Record,
}

impl Counted<'_> {
    fn of(record: &Record) -> Option<Counted<'_>> {
        let counts = record.scheduler.as_ref().is_some_and(|s| !s.counters.is_empty());
        counts.then_some(Counted { record })
    }

    fn place(&self) -> Place {
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
        let lines = lines(&records, Style::PLAIN);
        let row = lines.last().unwrap();
        assert!(row.ends_with("20            2 000             100.0"), "{lines:#?}");
        assert!(
            lines[2].contains("tasks looked at") && !lines[2].contains("pulled"),
            "{lines:#?}"
        );
    }
}
