//! The names of rows and tables: subjects, clocks, CPUs, and the observation time of a table.

use std::collections::BTreeSet;
use worstcase_base::duration;
use worstcase_base::format::{grouped, plain, range};
use worstcase_results::record::{Record, Subject};
use worstcase_results::stats::Ensemble;

/// Kernel and preemption model, and the machine if it is not the default one.
pub(super) fn row_label(subject: &Subject) -> String {
    let id = subject.id();
    let label = &subject.kernel.label;
    plain(&match id.as_str().strip_prefix(&format!("{label}.")) {
        Some(rest) => format!("{label} {}", rest.replace('.', " ")),
        None => id.to_string(),
    })
}

/// The clocks of these subjects.
pub(super) fn units<'a>(subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
    let units: BTreeSet<String> = subjects.map(Subject::time_unit).collect();
    units.into_iter().collect()
}

/// The observation time behind the numbers of a table.
pub(super) fn observation_time(all: &[Ensemble]) -> String {
    fn span<T: Ord + Copy>(all: &[Ensemble], of: fn(&Ensemble) -> T, show: fn(T) -> String) -> String {
        let values: BTreeSet<T> = all.iter().map(of).collect();
        let ends = values.first().zip(values.last());
        ends.map_or(String::new(), |(low, high)| range(*low, *high, show))
    }
    format!(
        "each figure rests on: seeds {}; samples {}; observation time {}",
        span(all, |e| e.seeds.len(), |n| n.to_string()),
        span(all, Ensemble::taken, grouped),
        span(all, Ensemble::observation_time, duration::show)
    )
}

/// The name of a row: the CPU, and the seed where there are several.
pub(super) fn row_name(record: &Record, seeds: bool) -> String {
    let cpu = record.cell.cpu.map_or("-".to_string(), |cpu| format!("CPU {cpu}"));
    match seeds {
        true => format!("{cpu}, seed {}", record.cell.seed),
        false => cpu,
    }
}
