//! What is told of a followed program: text for people, and the document of `--json`.

use super::FollowArgs;
use serde_json::{Value, json};
use worstcase_analysis::breakdown::host::running_kernel;
use worstcase_base::format::{counted, grouped, micros, percent, plain};
use worstcase_contract::Nanos;
use worstcase_host::follow::{FollowSession, ProgramExit, ProgramFacts, SessionEnd, TraceCost};
use worstcase_host::spec::ThreadScheduling;
use worstcase_plan::SchedulingPolicy;
use worstcase_report::follow::{FollowReport, ThreadHabits, json, terminal};
use worstcase_report::terminal::{Style, wrapped};
use worstcase_results::record::Run;
use worstcase_results::verdict::{Criterion, Outcome, Verdict, verdicts};
use worstcase_traces::events::{PriorityClass, TracedThread};
use worstcase_traces::follow::MOST_CYCLES;

/// The names of the kernel's functions, found when they are asked for.
pub(super) struct KernelNames(Option<worstcase_lab::execution::Symbols>);

impl KernelNames {
    /// Of the running kernel; without the right to read them functions have no names.
    pub fn read() -> KernelNames {
        KernelNames(running_kernel().ok())
    }

    pub fn of(&self, address: u64) -> Option<String> {
        Some(self.0.as_ref()?.lookup(address)?.name.to_string())
    }
}

/// The report of a session; `names` gives the kernel's functions their names.
pub(super) fn report<'s>(
    args: &FollowArgs,
    session: &'s FollowSession,
    names: &'s dyn Fn(u64) -> Option<String>,
) -> FollowReport<'s> {
    let thread = session
        .followed
        .thread
        .and_then(|thread| session.program.thread(thread.tid));
    FollowReport {
        followed: &session.followed,
        names,
        facts: ThreadHabits {
            locked_kib: session.program.locked_kib,
            timer_slack: thread.and_then(|thread| thread.timer_slack_ns).map(Nanos),
        },
        deadline: args.deadline,
        shown: args.show,
        trace: Some(trace(&session.cost)),
        notes: notes(session),
    }
}

/// The document, without the verdict.
pub(super) fn document(report: &FollowReport<'_>, session: &FollowSession) -> Value {
    let mut document = json(report);
    document["program"] = json!(session.program);
    document["time_ns"] = json!(session.time.0);
    document["is_ended_early"] = json!(session.end == SessionEnd::Asked);
    document["cost"] = json!(session.cost);
    document
}

/// The text for people: the verdict's word before the answer, its reasons last.
pub(super) fn text(report: &FollowReport<'_>, verdict: Option<&DeadlineVerdict>, style: Style) -> String {
    let Some(verdict) = verdict else {
        return terminal(report, style);
    };
    let mut text = format!(
        "{}  {}\n",
        style.bold(&verdict.outcome.to_string()),
        terminal(report, style).trim_end()
    );
    let head = format!("Why {}: ", verdict.outcome);
    let reasons = wrapped(&head, &plain(&verdict.reasons.join("; ")));
    let but = verdict
        .reservations
        .iter()
        .flat_map(|reservation| wrapped("  but ", &plain(reservation)));
    for line in reasons.into_iter().chain(but) {
        text += &format!("{line}\n");
    }
    text
}

/// Whether the deadline was kept.
#[derive(serde::Serialize)]
pub(super) struct DeadlineVerdict {
    pub outcome: Outcome,
    reasons: Vec<String>,
    reservations: Vec<String>,
}

impl DeadlineVerdict {
    /// As `worstcase verdict` judges the run; without one nothing was seen.
    pub fn of(deadline: Nanos, run: Option<&Run>) -> Result<DeadlineVerdict, crate::cli::error::Error> {
        let Some(run) = run else {
            return Ok(DeadlineVerdict {
                outcome: Outcome::Inconclusive,
                reasons: vec!["no cycle was seen".into()],
                reservations: Vec::new(),
            });
        };
        let records = run.records()?;
        let criterion = Criterion::of(deadline, &records);
        let all = verdicts(&run.plan().cells, &records, &criterion);
        let Verdict {
            outcome,
            reasons,
            reservations,
            ..
        } = all
            .into_iter()
            .next()
            .unwrap_or_else(|| unreachable!("a run has a cell"));
        Ok(DeadlineVerdict {
            outcome,
            reasons,
            reservations,
        })
    }
}

/// What the trace took.
fn trace(cost: &TraceCost) -> String {
    let mut text = format!(
        "The trace, by {}: {} events/s, {:.1} MB/s; worstcase itself used {} of a CPU",
        cost.recorder,
        grouped(cost.events_a_second() as u64),
        cost.bytes_a_second() / 1e6,
        percent(cost.cpu_share())
    );
    if let (Some(call), Some(cycle), 1..) = (cost.call_ns, cost.a_cycle(), cost.events_a_cycle) {
        text += &format!(
            "; a system call of the program took {} us more, a cycle with its {} about {} us",
            micros(call),
            counted(cost.events_a_cycle, "event"),
            micros(cycle)
        );
    }
    text + "."
}

fn notes(session: &FollowSession) -> Vec<String> {
    let mut notes = session.notes.clone();
    match session.end {
        SessionEnd::Asked => notes.push("it was ended early".into()),
        SessionEnd::Full => notes.push(format!(
            "it ended after {} cycles, the most that are kept",
            grouped(MOST_CYCLES as u64)
        )),
        SessionEnd::Late => notes.push("it ended with the first late cycle (--break)".into()),
        SessionEnd::Program(Some(ProgramExit::Code(0))) if session.followed.thread.is_none() => {
            notes.push("the program ended before a loop was seen: follow one that runs longer".into());
        }
        SessionEnd::Time | SessionEnd::Program(Some(ProgramExit::Code(0))) => {}
        SessionEnd::Program(None) => notes.push("the program ended".into()),
        SessionEnd::Program(Some(ProgramExit::Code(code))) => {
            notes.push(format!("the program ended with exit code {code}"));
        }
        SessionEnd::Program(Some(ProgramExit::Signal(signal))) => {
            notes.push(format!("signal {signal} ended the program"));
        }
    }
    if session.cost.lost > 0 {
        notes.push(format!(
            "{} lost: the trace's memory was full, so cycles may be missing and parts of others are unexplained",
            counted(session.cost.lost, "event")
        ));
    }
    notes
}

/// How a thread was scheduled while it was followed: its events tell the priority, the process whether it is rr.
pub(super) fn scheduling(thread: &TracedThread, program: &ProgramFacts) -> ThreadScheduling {
    let policy = program.thread(thread.tid).and_then(|known| known.policy);
    match thread.class() {
        PriorityClass::Deadline => ThreadScheduling::new(SchedulingPolicy::Deadline, 0),
        PriorityClass::RealTime(priority) if policy == Some("rr") => {
            ThreadScheduling::new(SchedulingPolicy::Rr, priority)
        }
        PriorityClass::RealTime(priority) => ThreadScheduling::new(SchedulingPolicy::Fifo, priority),
        PriorityClass::Ordinary { nice } => ThreadScheduling::new(SchedulingPolicy::Other, 0).at_nice(nice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_told_with_its_policy() {
        let scheduling = |priority| {
            let thread = TracedThread {
                tid: 7,
                priority,
                comm: "control".into(),
            };
            scheduling(&thread, &ProgramFacts::default()).to_string()
        };
        let told: Vec<String> = [-1, 0, 98, 120, 139].into_iter().map(scheduling).collect();
        assert_eq!(told, ["deadline", "fifo:99", "fifo:1", "other", "other:19"]);
    }

    #[test]
    fn without_a_cycle_nothing_is_decided() {
        let verdict = DeadlineVerdict::of(Nanos(1), None).unwrap();
        assert_eq!(verdict.outcome, Outcome::Inconclusive);
    }
}
