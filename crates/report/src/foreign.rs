//! The section on records that another tool measured: the tool, the file, and what the file does not contain.

use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::{Foreign, Quantity, Record, SubjectKernel};

/// The heading of a table of such records; nothing for records that worstcase measured.
pub(super) fn heading(probe: &str, load: &str, records: &[&Record]) -> Option<String> {
    let first = records.first()?;
    let tool = first.foreign.as_ref()?.tool();
    let observed = records.iter().map(|r| r.observation_time()).max().unwrap_or_default();
    let observed = match observed {
        Nanos(0) => String::new(),
        observed => format!(", {}", duration::about(observed)),
    };
    let every = match first.cell.period_ns {
        0 => String::new(),
        period => format!(", every {}", duration::show(Nanos(period))),
    };
    let load = match load {
        "unknown" => "an unknown load",
        load => load,
    };
    let kernel = &first.subject.kernel.label;
    let preempt = match first.subject.preempt.in_force.as_str() {
        SubjectKernel::UNKNOWN => String::new(),
        known => format!(" {known}"),
    };
    Some(plain(&format!(
        "{probe} under {load}: {kernel}{preempt}, by {tool}{observed}{every}"
    )))
}

/// The lines about what the files do not contain, and their notes; none for records that worstcase measured.
pub(super) fn lines(records: &[Record]) -> Vec<String> {
    let all = || records.iter().filter_map(|r| Some((r, r.foreign.as_ref()?)));
    let mut lines = Vec::new();
    for file in distinct(all().map(|(_, f)| f.file.as_str())) {
        let of = || all().filter(|(_, f)| f.file == file);
        lines.push(String::new());
        let Some((_, first)) = of().next() else { continue };
        lines.push(plain(&format!("{file}, of {}: {}", first.tool(), first.resolution())));
        for lack in distinct(of().flat_map(|(_, f)| f.lacks.iter().map(String::as_str))) {
            lines.push(plain(&format!("  not in the file: {lack}")));
        }
        lines.extend(of().flat_map(|(record, f)| beyond(record, f)));
        for note in distinct(of().flat_map(|(_, f)| f.notes.iter().map(String::as_str))) {
            lines.push(plain(&format!("  | {note}")));
        }
    }
    lines
}

/// The samples outside the tool's histogram.
fn beyond(record: &Record, foreign: &Foreign) -> Vec<String> {
    let cpu = record.cell.cpu.map_or(String::new(), |cpu| format!("CPU {cpu}: "));
    let line = |(quantity, beyond): (&Quantity, &worstcase_results::record::Beyond)| {
        let of = record.summary(*quantity).map_or(0, |s| s.count);
        format!(
            "  {cpu}{} of {} fell out of its histogram: {quantity} from {} us up, the largest of them is the maximum",
            counted(beyond.count, "sample"),
            grouped(of),
            micros(Nanos(beyond.from_ns))
        )
    };
    foreign.beyond.iter().map(line).collect()
}
