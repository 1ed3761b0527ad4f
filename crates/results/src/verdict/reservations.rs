//! What limits an answer, whichever it is: how the subject was measured, where, and what was not tried.

use super::Outcome;
use super::doubts::{another_model, interference, lost, warnings};
use super::evidence::latency;
use crate::record::{NOT_REAL_TIME, Record, TRACE_COST, Venue};
use worstcase_base::format::micros;
use worstcase_contract::Nanos;

/// The load that is none.
const IDLE: &str = "idle";
/// Policies by which a thread comes before every ordinary one.
const REAL_TIME: [&str; 4] = ["fifo", "rr", "rt", "deadline"];

/// A sentence for each.
pub(super) fn of(records: &[&Record], outcome: Outcome, limit: Nanos) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    all.extend(not_real_time(records, outcome));
    all.extend(idle_alone(records));
    all.extend(guest(records));
    all.extend(busy(records));
    all.extend(traced(records, outcome, limit));
    // Of a PASS there is no doubt; those of INCONCLUSIVE are its reasons.
    if outcome == Outcome::Fail {
        all.extend(records.iter().filter_map(|r| lost(r)));
        all.extend(interference(records));
        let others = warnings(records).into_iter();
        all.extend(others.filter(|warning| !warning.contains(NOT_REAL_TIME)));
        all.extend(another_model(records));
    }
    all
}

/// Whether a cell's samples hold the waiting for ordinary processes: its probe was one.
pub(super) fn is_ordinary(record: &Record) -> bool {
    let asked = record.cell.method.as_ref().map(|method| method.policy.as_str());
    let is_real_time = asked.is_none_or(|policy| REAL_TIME.iter().any(|real| policy.starts_with(real)));
    record.awaits_timer() && record.foreign.is_none() && (record.is_refused_real_time() || !is_real_time)
}

fn not_real_time(records: &[&Record], outcome: Outcome) -> Option<String> {
    let first = records.iter().find(|r| is_ordinary(r))?;
    let late = match outcome {
        Outcome::Fail => "late, but not as a real-time thread",
        _ => "not measured as a real-time thread",
    };
    let why = match (first.is_refused_real_time(), &first.cell.method) {
        (false, Some(method)) => format!("its policy was {}", method.policy),
        _ => "the right to be one was missing; run as root, or give CAP_SYS_NICE".to_string(),
    };
    Some(format!("{late}: {why}"))
}

fn idle_alone(records: &[&Record]) -> Option<String> {
    let mut loaded = records
        .iter()
        .filter(|r| r.details.is_none() && r.foreign.is_none())
        .peekable();
    let idle = loaded.peek().is_some() && loaded.all(|r| r.cell.load == IDLE);
    idle.then(|| "measured without a load alone (idle): what disturbs a machine at work was not tried".into())
}

/// Whether others worked on the measured CPUs when it began.
fn busy(records: &[&Record]) -> Option<String> {
    let busy = records.iter().filter_map(|r| r.origin.as_ref()?.found("busy"));
    busy.max().map(|what| format!("when it began: {what}"))
}

/// Whether the latest sample may be above the limit only for the trace that ran beside it.
fn traced(records: &[&Record], outcome: Outcome, limit: Nanos) -> Option<String> {
    let worst = records
        .iter()
        .max_by_key(|r| latency(r))
        .filter(|_| outcome == Outcome::Fail)?;
    let cost = Nanos(worst.environment.get(TRACE_COST)?.parse().ok()?);
    let without = Nanos(latency(worst)).saturating_sub(cost);
    (without <= limit).then(|| {
        let later = format!("the trace beside it makes a wake-up {} us later", micros(cost));
        match worst.followed {
            Some(_) => format!("{later}: without it, the latest cycle may have kept the limit"),
            None => format!("{later}: measure with --captures 0, too"),
        }
    })
}

fn guest(records: &[&Record]) -> Option<String> {
    let host = records.iter().filter(|r| r.subject.venue() == Venue::Host);
    let found = host.filter_map(|r| r.origin.as_ref()?.guest_of()).next()?;
    Some(format!("{found}: what its host adds is in the figures"))
}
