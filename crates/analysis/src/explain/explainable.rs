//! What of a record can be explained.

use worstcase_kernels::version;
use worstcase_results::record::Record;

/// Whether its samples are the lateness of a thread.
pub fn has_latency(record: &Record) -> bool {
    record.cell.probe_info().is_none_or(|info| info.is_latency)
}

/// Whether its samples can be explained.
pub fn can_be_explained(record: &Record) -> bool {
    let venue = record.subject.venue();
    record
        .cell
        .probe_info()
        .is_none_or(|info| info.explained.contains(&venue))
}

/// Whether asking why it was late leads anywhere, as far as its record tells.
pub fn is_worth_explaining(record: &Record) -> bool {
    can_be_explained(record) && !hides_tasks(record)
}

/// Whether its kernel does not show where it keeps its tasks: Debian's for arm64 before 6.12.
pub fn hides_tasks(record: &Record) -> bool {
    const SHOWS_TASKS: (u32, u32) = (6, 12);
    let subject = &record.subject;
    let is_pc = subject
        .virtual_machine()
        .is_none_or(|machine| machine.arch().is_usual());
    let series = version::series(&subject.kernel.release).map_or((0, 0), |series| version::series_numbers(&series));
    !is_pc && subject.kernel.name.starts_with("debian:") && series < SHOWS_TASKS
}
