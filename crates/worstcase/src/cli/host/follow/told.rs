//! What is told of a followed program: text for people, and the document of `--json`.

use serde::Serialize;
use worstcase_base::duration;
use worstcase_base::format::{counted, grouped, micros, percent, plain};
use worstcase_contract::Nanos;
use worstcase_host::follow::{FollowSession, ProgramExit, ProgramFacts, SessionEnd, TraceCost};
use worstcase_report::terminal::{Style, wrapped};
use worstcase_results::stats::{Distribution, Percentile};
use worstcase_results::verdict::{Criterion, Outcome};
use worstcase_traces::events::TracedThread;
use worstcase_traces::follow::{CycleTimes, Followed};

/// The form of the document.
const SCHEMA: &str = "worstcase-follow/1";

/// All that is told.
#[derive(Serialize)]
pub(super) struct ToldSession {
    schema: &'static str,
    program: ProgramFacts,
    thread: Option<ToldThread>,
    time_ns: u64,
    is_ended_early: bool,
    period_ns: Option<u64>,
    cycles: u64,
    missed: u64,
    response: Option<TimeFigures>,
    start: Option<TimeFigures>,
    worst: Vec<ToldCycle>,
    cost: TraceCost,
    notes: Vec<String>,
    /// Of `--deadline`.
    pub verdict: Option<DeadlineVerdict>,
}

/// The thread whose cycles these are.
#[derive(Serialize)]
struct ToldThread {
    tid: u32,
    name: String,
    /// `fifo:80`, `other, nice 0`, `deadline`.
    scheduling: String,
}

/// Times in ns.
#[derive(Clone, Copy, Serialize)]
struct TimeFigures {
    median: u64,
    p99: Option<u64>,
    max: u64,
}

/// A cycle; times in ns, from its release on where nothing else is said.
#[derive(Serialize)]
struct ToldCycle {
    index: u32,
    /// On CLOCK_MONOTONIC.
    release: u64,
    start: u64,
    response: u64,
    execution: u64,
    interference: u64,
    blocked: u64,
    unexplained: u64,
}

/// Whether the deadline was kept.
#[derive(Serialize)]
pub(super) struct DeadlineVerdict {
    deadline_ns: u64,
    pub outcome: Outcome,
    late: u64,
    why: String,
}

impl ToldSession {
    /// With so many of the worst cycles.
    pub fn of(session: &FollowSession, deadline: Option<Nanos>, worst: usize) -> ToldSession {
        let followed = &session.followed;
        let figures = |of: fn(&CycleTimes) -> Nanos| TimeFigures::of(followed.cycles.iter().map(of));
        ToldSession {
            schema: SCHEMA,
            thread: followed.thread.map(|thread| ToldThread::of(&thread, &session.program)),
            program: session.program.clone(),
            time_ns: session.time.0,
            is_ended_early: session.end == SessionEnd::Asked,
            period_ns: followed.period.map(|period| period.0),
            cycles: followed.cycles.len() as u64,
            missed: followed.missed,
            response: figures(CycleTimes::response),
            start: figures(|cycle| cycle.start.saturating_sub(cycle.release)),
            worst: worst_of(&followed.cycles, worst),
            cost: session.cost,
            notes: notes(session),
            verdict: deadline.map(|deadline| DeadlineVerdict::of(deadline, session)),
        }
    }

    /// For people.
    pub fn text(&self, followed: &Followed, style: Style) -> String {
        let mut lines = vec![style.bold(&plain(&self.sentence()))];
        for (name, figures) in [
            ("response, release to end", self.response),
            ("start, release to start", self.start),
        ] {
            lines.extend(figures.map(|figures| format!("  {name:<26}{}", figures.text())));
        }
        lines.extend(causes(followed, &self.worst));
        lines.push(String::new());
        lines.push(self.trace());
        lines.extend(self.notes.iter().flat_map(|note| wrapped("note: ", &plain(note))));
        lines.extend(self.verdict.iter().map(|verdict| {
            let words = format!("{} {}", verdict.outcome, verdict.why);
            style.bold(&words)
        }));
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn sentence(&self) -> String {
        let program = match self.program.name.as_str() {
            "" => "the program".to_string(),
            name => format!("{name} ({})", self.program.pid),
        };
        let time = duration::about(Nanos(self.time_ns));
        let Some(thread) = &self.thread else {
            return format!("no thread of {program} waited again and again in {time}");
        };
        let every = match self.period_ns {
            Some(period) => format!(
                "every {}, {} missed",
                duration::about(Nanos(period)),
                grouped(self.missed)
            ),
            None => "without a period".to_string(),
        };
        format!(
            "{} ({}, {}) of {program}: {} in {time}, {every}",
            thread.name,
            thread.tid,
            thread.scheduling,
            counted(self.cycles, "cycle")
        )
    }

    /// What the trace took.
    fn trace(&self) -> String {
        let lost = match self.cost.lost {
            0 => "none lost".to_string(),
            lost => format!("{} lost", grouped(lost)),
        };
        format!(
            "the trace: {} events/s, {:.1} MB/s, {lost}; worstcase itself used {} of a CPU",
            grouped(self.cost.events_a_second() as u64),
            self.cost.bytes_a_second() / 1e6,
            percent(self.cost.cpu_share())
        )
    }
}

/// Why cycles were late, below the figures.
fn causes(_followed: &Followed, worst: &[ToldCycle]) -> Vec<String> {
    worst.iter().flat_map(ToldCycle::lines).collect()
}

impl ToldThread {
    fn of(thread: &TracedThread, program: &ProgramFacts) -> ToldThread {
        let known = program.thread(thread.tid);
        ToldThread {
            tid: thread.tid,
            name: thread.comm.to_string(),
            scheduling: match thread.priority {
                ..0 => "deadline".into(),
                priority @ 0..99 => format!(
                    "{}:{}",
                    known
                        .and_then(|known| known.policy)
                        .filter(|policy| *policy == "rr")
                        .unwrap_or("fifo"),
                    99 - priority
                ),
                priority => format!(
                    "{}, nice {}",
                    known
                        .and_then(|known| known.policy)
                        .filter(|policy| !REAL_TIME.contains(policy))
                        .unwrap_or("other"),
                    priority - NICE_0
                ),
            },
        }
    }
}

/// Policies that are not those of a thread whose events say otherwise: it changed its policy meanwhile.
const REAL_TIME: [&str; 3] = ["fifo", "rr", "deadline"];
/// The kernel's priority of an ordinary thread whose nice value is 0.
const NICE_0: i32 = 120;

impl TimeFigures {
    fn of(times: impl Iterator<Item = Nanos>) -> Option<TimeFigures> {
        let all = Distribution::new(times)?;
        Some(TimeFigures {
            median: all.median().0,
            p99: all.percentile(Percentile::P99).map(|time| time.0),
            max: all.max().0,
        })
    }

    fn text(&self) -> String {
        let p99 = self
            .p99
            .map_or(String::new(), |p99| format!("p99 {} us, ", micros(Nanos(p99))));
        format!(
            "median {} us, {p99}max {} us",
            micros(Nanos(self.median)),
            micros(Nanos(self.max))
        )
    }
}

fn worst_of(cycles: &[CycleTimes], most: usize) -> Vec<ToldCycle> {
    let mut worst: Vec<&CycleTimes> = cycles.iter().collect();
    worst.sort_by_key(|cycle| std::cmp::Reverse(cycle.response()));
    worst.truncate(most);
    worst.into_iter().map(ToldCycle::of).collect()
}

impl ToldCycle {
    fn of(cycle: &CycleTimes) -> ToldCycle {
        ToldCycle {
            index: cycle.index,
            release: cycle.release.0,
            start: cycle.start.saturating_sub(cycle.release).0,
            response: cycle.response().0,
            execution: cycle.execution.0,
            interference: cycle.interference.0,
            blocked: cycle.blocked.0,
            unexplained: cycle.unexplained.0,
        }
    }

    fn lines(&self) -> Vec<String> {
        let us = |ns| micros(Nanos(ns));
        vec![
            String::new(),
            format!(
                "cycle {}: {} us, of these",
                grouped(self.index.into()),
                us(self.response)
            ),
            format!("  {:<26}{} us", "execution", us(self.execution)),
            format!("  {:<26}{} us", "interference", us(self.interference)),
            format!("  {:<26}{} us", "blocked", us(self.blocked)),
            format!("  {:<26}{} us", "unexplained", us(self.unexplained)),
        ]
    }
}

fn notes(session: &FollowSession) -> Vec<String> {
    let mut notes = session.notes.clone();
    match session.end {
        SessionEnd::Asked => notes.push("it was ended early".into()),
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

impl DeadlineVerdict {
    fn of(deadline: Nanos, session: &FollowSession) -> DeadlineVerdict {
        let followed = &session.followed;
        let cycles = followed.cycles.len() as u64;
        let late = followed
            .cycles
            .iter()
            .filter(|cycle| cycle.response() > deadline)
            .count() as u64;
        let within = duration::about(deadline);
        let needs = Criterion::of_host(deadline);
        let (outcome, why) = if late > 0 {
            let all = counted(cycles, "cycle");
            (
                Outcome::Fail,
                format!("{} of {all} ended more than {within} after the release", grouped(late)),
            )
        } else if followed.missed > 0 {
            let missed = counted(followed.missed, "period");
            (Outcome::Fail, format!("{missed} passed without a cycle"))
        } else if cycles == 0 {
            (Outcome::Inconclusive, "no cycle was seen".to_string())
        } else if session.cost.lost > 0 {
            let why = "no cycle was late, but events were lost, so cycles may be missing";
            (Outcome::Inconclusive, why.to_string())
        } else if cycles < needs.min_samples || session.time < needs.min_time {
            let why = format!(
                "no cycle was late, but a PASS needs {} in {}: {} in {}",
                counted(needs.min_samples, "cycle"),
                duration::show(needs.min_time),
                grouped(cycles),
                duration::about(session.time)
            );
            (Outcome::Inconclusive, why)
        } else {
            (
                Outcome::Pass,
                format!("every cycle ended within {within} of its release"),
            )
        };
        DeadlineVerdict {
            deadline_ns: deadline.0,
            outcome,
            late,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(cycles: u64, response: u64) -> FollowSession {
        let cycle = |index: u64| CycleTimes {
            index: index as u32,
            release: Nanos(index * 1_000_000),
            start: Nanos(index * 1_000_000 + 5_000),
            end: Nanos(index * 1_000_000 + response),
            execution: Nanos(response - 5_000),
            interference: Nanos(5_000),
            blocked: Nanos(0),
            unexplained: Nanos(0),
        };
        FollowSession {
            followed: Followed {
                thread: Some(TracedThread {
                    tid: 7,
                    priority: 19,
                    comm: "control".into(),
                }),
                cycles: (0..cycles).map(cycle).collect(),
                period: Some(Nanos(1_000_000)),
                missed: 0,
            },
            program: ProgramFacts {
                pid: 6,
                name: "motion".into(),
                ..ProgramFacts::default()
            },
            cost: TraceCost::default(),
            time: Nanos(cycles * 1_000_000),
            end: SessionEnd::Time,
            notes: Vec::new(),
        }
    }

    fn judged(session: &FollowSession) -> (Outcome, String) {
        let verdict = DeadlineVerdict::of(Nanos(100_000), session);
        (verdict.outcome, verdict.why)
    }

    #[test]
    fn a_pass_needs_what_a_run_s_needs() {
        assert_eq!(judged(&session(60_000, 100_000)).0, Outcome::Pass);
        let (outcome, why) = judged(&session(59_000, 100_000));
        assert_eq!(outcome, Outcome::Inconclusive);
        assert!(
            why.ends_with("a PASS needs 10 000 cycles in 60 s: 59 000 in 59 s"),
            "{why}"
        );
        let (outcome, why) = judged(&session(10, 100_001));
        assert_eq!(outcome, Outcome::Fail);
        assert_eq!(why, "10 of 10 cycles ended more than 100 us after the release");
        let mut missed = session(60_000, 100_000);
        missed.followed.missed = 1;
        assert_eq!(
            judged(&missed),
            (Outcome::Fail, "1 period passed without a cycle".into())
        );
        let mut lost = session(60_000, 100_000);
        lost.cost.lost = 1;
        assert_eq!(judged(&lost).0, Outcome::Inconclusive);
        let none = (Outcome::Inconclusive, "no cycle was seen".into());
        assert_eq!(judged(&session(0, 5_000)), none);
    }

    #[test]
    fn the_figures_are_told() {
        let session = session(1_000, 80_000);
        let told = ToldSession::of(&session, None, 1);
        let text = told.text(&session.followed, Style::PLAIN);
        assert!(
            text.starts_with("control (7, fifo:80) of motion (6): 1 000 cycles in 1 s, every 1 ms, 0 missed\n"),
            "{text}"
        );
        assert!(
            text.contains("response, release to end  median 80.0 us, p99 80.0 us, max 80.0 us"),
            "{text}"
        );
        assert!(text.contains("start, release to start   median 5.00 us"), "{text}");
        let json = serde_json::to_value(&told).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        assert_eq!(json["response"]["max"], 80_000);
        assert_eq!(json["worst"][0]["execution"], 75_000);
    }

    #[test]
    fn a_thread_is_told_with_its_policy() {
        let scheduling = |priority| {
            let thread = TracedThread {
                tid: 7,
                priority,
                comm: "control".into(),
            };
            ToldThread::of(&thread, &ProgramFacts::default()).scheduling
        };
        let told: Vec<String> = [-1, 0, 98, 120, 139].into_iter().map(scheduling).collect();
        assert_eq!(
            told,
            ["deadline", "fifo:99", "fifo:1", "other, nice 0", "other, nice 19"]
        );
    }
}
