//! A program of the user's own, for people.

use super::table::{ColumnKind, TableField, field};
use serde_json::{Value, json};
use worstcase_base::duration;
use worstcase_base::format::{plain, shell};
use worstcase_contract::Nanos;
use worstcase_plan::CpuList;
use worstcase_results::record::{FollowedProgram, Quantity, Record, SampleRow, SubjectKernel};

/// The rows of the table of parts: those that add up, the whole, and when the work began.
pub(crate) const PARTS: [Quantity; 6] = [
    Quantity::Execution,
    Quantity::Interference,
    Quantity::Blocked,
    Quantity::Unexplained,
    Quantity::Latency,
    Quantity::Start,
];

/// The parts of a cycle that add up, for a table of the longest ones.
pub(crate) fn worst_columns() -> Vec<TableField<SampleRow>> {
    let part = |quantity: &'static Quantity| {
        let key = format!("{quantity}_ns");
        field(ColumnKind::ExactTime, key, quantity.name(), |row: &SampleRow| {
            row.value(*quantity)
        })
    };
    let added_up = PARTS.iter().take_while(|quantity| **quantity != Quantity::Latency);
    added_up.map(part).collect()
}

/// Names and values.
pub(crate) fn facts(followed: &FollowedProgram) -> Vec<(&'static str, String)> {
    let mut facts = vec![("program", plain(&followed.named()))];
    if !followed.command.is_empty() {
        facts.push(("its command", plain(&shell(&followed.command))));
    }
    facts
}

/// Which program each cell is of, for programs.
pub(crate) fn json(records: &[Record]) -> Vec<Value> {
    let of = |record: &Record| {
        let mut told = json!(record.followed.as_ref()?);
        told["cell"] = json!(record.id);
        Some(told)
    };
    records.iter().filter_map(of).collect()
}

/// `motion, thread servo (4243): 60 s, every 1 ms, fifo:80, on CPUs 2-3`; nothing for an instrument of ours.
pub(crate) fn heading(load: &str, records: &[&Record]) -> Option<String> {
    let record = records.iter().find(|r| r.followed.is_some())?;
    let (followed, method) = (record.followed.as_ref()?, record.cell.method.as_ref()?);
    let every = match record.cell.period_ns {
        0 => "no period".to_string(),
        period => format!("every {}", duration::show(Nanos(period))),
    };
    let cpus: CpuList = method.cpus.iter().copied().collect();
    let on = match method.cpus.len() {
        0 => String::new(),
        1 => format!(", on CPU {cpus}"),
        _ => format!(", on CPUs {cpus}"),
    };
    let beside = match load {
        SubjectKernel::UNKNOWN => String::new(),
        load => format!(" beside {load}"),
    };
    Some(plain(&format!(
        "{}{beside}: {}, {every}, {}{on}",
        followed.named(),
        duration::about(record.observation_time()),
        method.policy
    )))
}
