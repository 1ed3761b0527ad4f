//! What a real-time thread should not do, seen while it ran.
//!
//! The rules are those of the kernel's runtime monitors rtapp (Documentation/trace/rv/monitor_rtapp.rst), with the time
//! that each costs.

use worstcase_base::format::{counted, micros};
use worstcase_contract::Nanos;
use worstcase_traces::follow::{Behind, CallKind, Doing, Followed, PartCause, UsualPart};

/// What is known of the thread besides the trace.
#[derive(Clone, Debug, Default)]
pub struct ThreadHabits {
    /// Memory of its process that is locked; none if it is not known.
    pub locked_kib: Option<u64>,
    /// The slack of its timers.
    pub timer_slack: Option<Nanos>,
}

/// The first priority that is not real-time.
const ORDINARY: i32 = 100;
/// CLOCK_REALTIME.
const REALTIME: u64 = 0;

/// Each habit, with the line to change.
pub fn habits(followed: &Followed, facts: &ThreadHabits) -> Vec<String> {
    let Some(thread) = followed.thread else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if thread.priority >= ORDINARY {
        found.push(format!(
            "{} is an ordinary thread (SCHED_OTHER), which waits for others: chrt -f -p 50 {}",
            thread.comm, thread.tid
        ));
    }
    if facts.locked_kib == Some(0) {
        found.push("its memory is not locked: mlockall(MCL_CURRENT | MCL_FUTURE)".into());
    }
    if let Some(slack) = facts
        .timer_slack
        .filter(|slack| slack.0 > 1 && thread.priority >= ORDINARY)
    {
        found.push(format!(
            "its timers may expire {} us late, so that they come together with others: prctl(PR_SET_TIMERSLACK, 1)",
            micros(slack)
        ));
    }
    if let Some(wait) = followed.wait {
        if wait.is_relative {
            found.push(format!(
                "it sleeps for a time ({}), so each cycle's length is added to the period: clock_nanosleep with TIMER_ABSTIME",
                wait.call
            ));
        }
        if wait.clock == Some(REALTIME) {
            found.push("it sleeps by CLOCK_REALTIME, which jumps when the time is set: CLOCK_MONOTONIC".into());
        }
    }
    let parts = &followed.usual;
    found.extend(told(
        parts,
        |cause| own(cause) && cause.what == Doing::Fault,
        |_, cycles, time| format!("page faults in {cycles} ({time}): lock and touch all memory before the loop"),
    ));
    found.extend(told(
        parts,
        |cause| blocked_in(cause).is_some_and(|call| call.is_plain_mutex()),
        |call, cycles, time| {
            format!(
                "it waited in {cycles} ({time}) for a mutex without priority inheritance, {call}: PTHREAD_PRIO_INHERIT"
            )
        },
    ));
    found.extend(told(
        parts,
        |cause| {
            let next = cause.via.get(1).map_or(&cause.thread, |next| &next.thread);
            cause
                .via
                .first()
                .is_some_and(|blocked| blocked.thread.priority < ORDINARY && next.priority >= ORDINARY)
        },
        |call, cycles, time| {
            format!("it waited in {cycles} ({time}) for a thread without real-time priority, in {call}")
        },
    ));
    let cycle_call = followed.wait.map(|wait| wait.call);
    found.extend(told(
        parts,
        |cause| {
            let waits = match &cause.what {
                Doing::Sleeps(call) | Doing::Device { call, .. } | Doing::WokenBy { call, .. } => *call,
                _ => None,
            };
            own(cause) && waits.is_some_and(|call| Some(call) != cycle_call && !call.name().contains("futex"))
        },
        |call, cycles, time| format!("it slept in {cycles} ({time}) within the cycle, in {call}"),
    ));
    found.extend(told(
        parts,
        |cause| {
            own(cause)
                && matches!(
                    &cause.what,
                    Doing::Interrupted(worstcase_traces::events::CpuContext::Device { .. })
                        | Doing::Ready {
                            behind: Behind::Context(worstcase_traces::events::CpuContext::Device { .. }),
                            ..
                        }
                )
        },
        |_, cycles, time| {
            format!(
                "interrupts of devices took its CPU in {cycles} ({time}): keep them elsewhere (worstcase host doctor)"
            )
        },
    ));
    found
}

fn own(cause: &PartCause) -> bool {
    cause.via.is_empty()
}

/// The call in which the followed thread was blocked, or waited.
fn blocked_in(cause: &PartCause) -> Option<CallKind> {
    match (cause.via.first(), &cause.what) {
        (Some(blocked), _) => blocked.call,
        (None, Doing::WokenBy { call, .. } | Doing::Device { call, .. } | Doing::Sleeps(call)) => *call,
        _ => None,
    }
}

/// All parts of one habit, as one line: the call of the largest, in how many cycles at least, and the time of all.
fn told(
    parts: &[UsualPart],
    is: impl Fn(&PartCause) -> bool,
    words: impl Fn(String, String, String) -> String,
) -> Option<String> {
    let of_it: Vec<&UsualPart> = parts.iter().filter(|part| is(&part.cause)).collect();
    let cycles = of_it.iter().map(|part| part.cycles).max()?;
    let sum = Nanos(of_it.iter().map(|part| part.sum.0).sum());
    let call = of_it.iter().find_map(|part| blocked_in(&part.cause));
    Some(words(
        call.map_or_else(|| "a call that is not traced".into(), |call| call.to_string()),
        counted(cycles, "cycle"),
        format!("{} us in all", micros(sum)),
    ))
}
