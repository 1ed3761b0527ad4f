//! A program of the user's own that ran in the machine: its trace, its cycles, and what is kept of them.

use super::cell::RawResult;
use super::prepared::Prepared;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use worstcase_base::duration;
use worstcase_base::format::counted;
use worstcase_cell::followed::{RawTrace, TraceStream};
use worstcase_contract::{CellSpec, Instructions, Nanos};
use worstcase_results::record::cycles::LabCycles;
use worstcase_results::record::{AskedTime, CellResult, FollowedProgram, LOST_EVENTS, Subject};
use worstcase_traces::events::{CpuContext, CpuEvent, PriorityClass, ShortName, TracedChange, TracedThread};
use worstcase_traces::follow::{ExplainedCycle, FollowRequest, Followed, Follower};
use worstcase_traces::pages::PageReader;
use worstcase_traces::table::{FollowInstance, TracePointRow, VECTORS, followed_in_lab};

/// Events that are fed at once.
const CHUNK: usize = 50_000;

/// The handler of the timer's interrupt on arm64, where no vector has a tracepoint.
const ARM64_TIMER: &str = "arch_timer";

/// How what was found of a program is told.
#[derive(Clone, Copy)]
pub struct FollowTelling {
    /// A cycle that takes longer is late; without it one that takes longer than the period.
    pub deadline: Option<Nanos>,
    /// Makes the text of the file beside the record.
    pub tell: fn(&Followed, Option<Nanos>) -> String,
}

/// The tracepoints that the machine is to enable, a line each.
pub(crate) fn points() -> String {
    let lines = followed_in_lab().map(|(instance, row)| format!("{} {}\n", instance.name(), row.name));
    lines
        .chain([format!("{} {VECTORS}/\n", FollowInstance::All.name())])
        .collect()
}

/// The result of a cell whose probe is a program; an error in words if there are no cycles.
pub(crate) fn result(
    prepared: &Prepared,
    subject: Subject,
    raw: &RawResult,
    trace: &RawTrace,
    instructions: Instructions,
    telling: Option<&FollowTelling>,
) -> Result<CellResult, String> {
    let spec: CellSpec = raw.record.spec.parse().map_err(|e| format!("{e}"))?;
    let command = &prepared.subject.additions.followed;
    let deadline = telling.and_then(|telling| telling.deadline);
    let followed = follow(trace, &events(trace)?, deadline, None);
    let program = command.first().and_then(|path| Path::new(path).file_name());
    let program = program.unwrap_or_default().to_string_lossy().into_owned();
    let Some(thread) = followed.thread.filter(|_| !followed.cycles.is_empty()) else {
        return Err(format!(
            "no thread of {program} waited again and again in {}, so it has no cycles{}",
            duration::show(trace.ended.saturating_sub(trace.began)),
            said(trace)
        ));
    };
    let mut facts = BTreeMap::from([("measured_ns".to_string(), followed.length.0.to_string())]);
    if followed.lost > 0 {
        facts.insert(LOST_EVENTS.to_string(), followed.lost.to_string());
    }
    let cycles = LabCycles {
        program: FollowedProgram {
            program,
            command: command.clone(),
            pid: trace.pid,
            tid: thread.tid,
            thread: thread.comm.to_string(),
            observed_ns: trace.ended.saturating_sub(trace.began).0,
            asked: Some(AskedTime {
                period_ns: spec.period.0,
                periods: spec.periods,
            }),
        },
        scheduling: scheduling(&thread),
        cpus: followed.cpus.clone(),
        period: followed.wait.and_then(|wait| wait.period),
        cycles: &followed.cycles,
        missed: followed.missed,
        warnings: full(trace, &followed).into_iter().collect(),
        facts,
        found: telling.map(|telling| (telling.tell)(&followed, telling.deadline)),
    };
    let mut result = CellResult::of_cycles(subject, &raw.record, instructions, cycles).map_err(|e| e.to_string())?;
    result.record.console = trace.output.lines().map(str::to_string).collect();
    Ok(result)
}

/// As records name it, and a user's real-time priority. To the trace FIFO and RR are one.
fn scheduling(thread: &TracedThread) -> (String, u8) {
    match thread.class() {
        PriorityClass::Deadline => ("deadline".into(), 0),
        PriorityClass::RealTime(priority) => (format!("rt:{priority}"), priority),
        PriorityClass::Ordinary { nice: 0 } => ("other".into(), 0),
        PriorityClass::Ordinary { nice } => (format!("other:{nice}"), 0),
    }
}

fn said(trace: &RawTrace) -> String {
    match trace.output.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("; its last line: {line}"),
        None => String::new(),
    }
}

/// The doubt where events found no room.
fn full(trace: &RawTrace, followed: &Followed) -> Option<String> {
    let dropped: u64 = trace.streams.iter().map(|stream| stream.dropped).sum();
    let last = followed.cycles.last()?.end;
    (dropped > 0).then(|| {
        format!(
            "the trace was full: {} found no room, and nothing is known of the last {}; ask for a shorter --time, or give the \
             machine more memory",
            counted(dropped, "event"),
            duration::about(trace.ended.saturating_sub(last))
        )
    })
}

/// The cycle that is released at this instant, with its parts.
pub(crate) fn cycle(trace: &RawTrace, events: &[CpuEvent<'_>], release: Nanos) -> Option<ExplainedCycle> {
    follow(trace, events, None, Some(release)).wanted
}

/// The trace's events in order of time.
pub(crate) fn events(trace: &RawTrace) -> Result<Vec<CpuEvent<'static>>, String> {
    let has = |name: &str| trace.formats.iter().any(|format| format.name == name);
    let has_vectors = trace.formats.iter().any(|format| format.name.starts_with(VECTORS));
    let is_needed = |row: &TracePointRow| row.needed && (has_vectors || !row.name.starts_with(VECTORS));
    if let Some((_, row)) = followed_in_lab().find(|(_, row)| is_needed(row) && !has(row.name)) {
        return Err(format!("this kernel has no tracepoint {}", row.name));
    }
    let formats = trace.formats.iter().map(|f| (f.name.as_str(), f.text.as_str()));
    let reader = PageReader::new(formats).map_err(|e| e.to_string())?;
    let mut events = Vec::new();
    for stream in &trace.streams {
        read(&reader, stream, trace.ended, &mut events)?;
    }
    // Stable, so that the events of one CPU and instance stay in order.
    events.sort_by_key(|event| event.at);
    if !has_vectors {
        tell_timer(&mut events);
    }
    Ok(events)
}

/// Makes the timer's interrupts of what arm64 traces as a device's.
fn tell_timer(events: &mut [CpuEvent<'_>]) {
    let name = ShortName::from(ARM64_TIMER);
    let mut timers = BTreeSet::new();
    for event in events {
        match event.what {
            TracedChange::Enter(CpuContext::Device { irq, name: own }) if own == name => {
                timers.insert(irq);
                event.what = TracedChange::Enter(CpuContext::Timer);
            }
            TracedChange::Exit(CpuContext::Device { irq, .. }) if timers.contains(&irq) => {
                event.what = TracedChange::Exit(CpuContext::Timer);
            }
            _ => {}
        }
    }
}

/// Follows the program through its trace.
fn follow(trace: &RawTrace, events: &[CpuEvent<'_>], deadline: Option<Nanos>, cycle: Option<Nanos>) -> Followed {
    let mut follower = Follower::new(FollowRequest {
        program: vec![trace.pid],
        deadline,
        cycle,
        ..FollowRequest::default()
    });
    for chunk in events.chunks(CHUNK) {
        chunk.iter().for_each(|event| follower.feed(event));
        if let Some(last) = chunk.last() {
            follower.complete(last.at);
        }
    }
    follower.finish()
}

fn read(
    reader: &PageReader,
    stream: &TraceStream,
    ended: Nanos,
    events: &mut Vec<CpuEvent<'static>>,
) -> Result<(), String> {
    let first = events.len();
    let read = reader.read(stream.cpu, &stream.pages()?, |event| events.push(event));
    read.map_err(|e| e.to_string())?;
    if stream.dropped > 0 {
        let since = events[first..].last().map_or(Nanos(1), |last| last.at);
        events.push(CpuEvent {
            at: ended.max(since),
            cpu: stream.cpu,
            tid: 0,
            what: TracedChange::Lost {
                since,
                count: stream.dropped,
            },
            chain: &[],
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_of_the_program_do_is_asked_for_of_them_alone() {
        let points = points();
        for line in [
            "all sched/sched_switch",
            "all timer/hrtimer_start",
            "all irq_vectors/",
            "program raw_syscalls/sys_enter",
            "program exceptions/page_fault_user",
        ] {
            assert!(points.lines().any(|own| own == line), "{line} in {points}");
        }
        assert!(!points.contains("workqueue"), "{points}");
    }

    #[test]
    fn the_timer_of_arm64_is_no_device() {
        let device = |irq, name: &str| CpuContext::Device { irq, name: name.into() };
        let event = |what| CpuEvent {
            at: Nanos(1),
            cpu: 0,
            tid: 0,
            what,
            chain: &[],
        };
        let mut events = [
            TracedChange::Enter(device(3, "uart-pl011")),
            TracedChange::Exit(device(3, "")),
            TracedChange::Enter(device(11, "arch_timer")),
            TracedChange::Exit(device(11, "")),
        ]
        .map(event);
        tell_timer(&mut events);
        let told = events.map(|event| event.what);
        assert_eq!(told[0], TracedChange::Enter(device(3, "uart-pl011")));
        assert_eq!(told[1], TracedChange::Exit(device(3, "")));
        assert_eq!(told[2], TracedChange::Enter(CpuContext::Timer));
        assert_eq!(told[3], TracedChange::Exit(CpuContext::Timer));
    }
}
