//! The first cause of a late sample, in one sentence, and what would remove it.

use super::spans::{Kind, Place, Sample, Span};
use crate::report::format::micros;
use serde::{Deserialize, Serialize};
use worstcase_probe::Nanos;

/// Why a wake-up is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Interrupts are off.
    InterruptsOff,
    /// Preemption is off, by a spin lock or by itself.
    PreemptionOff,
    /// This kernel gives the CPU away only at certain points.
    NoReschedulePoint,
    /// Another thread runs first.
    OtherThread,
    /// Another thread holds a lock that ours needs.
    LockOwner,
    /// Soft interrupts run first.
    SoftInterrupt,
    /// Other interrupts run first.
    OtherInterrupt,
    /// The wake-up itself is deferred.
    NotWoken,
    /// Nothing but the way that every wake-up takes.
    WakeUpPath,
    /// The story does not tell.
    Unexplained,
}

/// A mechanism in words.
struct Words {
    title: &'static str,
    remedy: &'static str,
}

impl Mechanism {
    fn words(self) -> Words {
        let (title, remedy) = match self {
            Mechanism::InterruptsOff => (
                "interrupts off",
                "no preemption model ends a stretch with interrupts off; PREEMPT_RT has fewer of them, because spin_lock_irqsave leaves interrupts on there",
            ),
            Mechanism::PreemptionOff => (
                "preemption off",
                "PREEMPT_RT makes most spin locks preemptible; otherwise the section itself has to be shorter",
            ),
            Mechanism::NoReschedulePoint => (
                "no reschedule point",
                "preempt=full takes the CPU at any instruction where no lock is held",
            ),
            Mechanism::OtherThread => (
                "a thread that runs first",
                "give the waiting thread a priority above this one, if it may wait",
            ),
            Mechanism::LockOwner => (
                "a lock's owner",
                "shorten what the owner does under the lock, or do not share it",
            ),
            Mechanism::SoftInterrupt => (
                "soft interrupts",
                "threaded soft interrupts (PREEMPT_RT, or threadirqs for part of them) let a thread of higher priority pass",
            ),
            Mechanism::OtherInterrupt => (
                "other interrupts",
                "threaded interrupts (PREEMPT_RT, threadirqs), or the device's interrupts on another CPU",
            ),
            Mechanism::NotWoken => (
                "the wake-up is deferred",
                "look at what runs the timer's function: on PREEMPT_RT a thread may have to run first",
            ),
            Mechanism::WakeUpPath => (
                "the wake-up path itself",
                "nothing stands in the way: only a shorter path or a faster CPU is quicker",
            ),
            Mechanism::Unexplained => ("unexplained", "look with a finer instrument"),
        };
        Words { title, remedy }
    }

    /// As it is shown.
    pub fn title(self) -> &'static str {
        self.words().title
    }

    /// The mechanism that a kind of span is part of.
    pub fn of(kind: &Kind) -> Mechanism {
        match kind {
            Kind::IrqsOff { .. } => Mechanism::InterruptsOff,
            Kind::PreemptOff { .. } => Mechanism::PreemptionOff,
            Kind::NoReschedulePoint { .. } => Mechanism::NoReschedulePoint,
            Kind::OtherThread { owns_lock: true, .. } => Mechanism::LockOwner,
            Kind::OtherThread { .. } => Mechanism::OtherThread,
            Kind::SoftIrq => Mechanism::SoftInterrupt,
            Kind::OtherIrq { .. } => Mechanism::OtherInterrupt,
            Kind::RunsOn => Mechanism::NotWoken,
            Kind::Unexplained => Mechanism::Unexplained,
            _ => Mechanism::WakeUpPath,
        }
    }
}

/// The same load and probe on another subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The subject, for sentences: `6.1.0-50-amd64 full`.
    pub subject: String,
    /// Its preemption model.
    pub preempt: String,
    /// The highest latency of all its cells.
    pub maximum: Nanos,
}

/// The first cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// What kind of cause.
    pub mechanism: Mechanism,
    /// The function that is to blame.
    pub function: Option<String>,
    /// Who called it.
    pub caller: Option<String>,
    /// The system call in which it ran.
    pub system_call: Option<String>,
    /// Time of all spans of this mechanism.
    pub length_ns: Nanos,
    /// One sentence.
    pub sentence: String,
    /// What would remove it.
    pub remedy: String,
}

/// Finds the first cause: the mechanism whose spans took most in all, unless the way that every wake-up takes
/// took more beyond `floor`, which is how long it takes in an ordinary sample. Its longest span gives the names.
pub fn blame(sample: &Sample, spans: &[Span], floor: Nanos, peers: &[Peer]) -> Blame {
    let total = |mechanism: Mechanism| -> u64 {
        let of = spans.iter().filter(|s| Mechanism::of(&s.what) == mechanism);
        of.map(|s| s.length_ns.0).sum()
    };
    let path = total(Mechanism::WakeUpPath);
    let delays = spans.iter().filter(|s| !s.what.name().is_path);
    // Of the delay that took most in all, the longest span.
    let delay = delays.max_by_key(|s| (total(Mechanism::of(&s.what)), s.length_ns));
    let delay = delay.filter(|s| total(Mechanism::of(&s.what)) > path.saturating_sub(floor.0));
    let ways = spans.iter().filter(|s| s.what.name().is_path);
    let Some(span) = delay.or(ways.max_by_key(|s| s.length_ns)) else {
        return nothing();
    };
    let mechanism = Mechanism::of(&span.what);
    let at = culprit(span);
    let length = Nanos(total(mechanism));
    let system_call = span
        .chain
        .iter()
        .rev()
        .find_map(|f| super::roles::system_call(&f.function).map(str::to_string));
    Blame {
        sentence: sentence(sample, span, mechanism, &at, length, system_call.as_deref()),
        remedy: remedy(sample, mechanism, peers),
        mechanism,
        function: Some(at.function).filter(|f| !f.is_empty()),
        caller: at.caller,
        system_call,
        length_ns: length,
    }
}

fn nothing() -> Blame {
    Blame {
        mechanism: Mechanism::Unexplained,
        function: None,
        caller: None,
        system_call: None,
        length_ns: Nanos(0),
        sentence: "The sample was not late.".into(),
        remedy: String::new(),
    }
}

/// The function to name: where interrupts or preemption were switched off, else the innermost common function.
fn culprit(span: &Span) -> Place {
    let named = match &span.what {
        Kind::IrqsOff { off, on } => off.clone().or(on.clone()),
        Kind::PreemptOff { lock, released } => lock.clone().or(released.clone()),
        _ => None,
    };
    let common = || {
        let mut frames = span.chain.iter().rev().map(|f| f.function.clone());
        Place {
            function: frames.next().unwrap_or_default(),
            caller: frames.next(),
            offset_ns: None,
        }
    };
    named.unwrap_or_else(common)
}

fn sentence(
    sample: &Sample,
    span: &Span,
    mechanism: Mechanism,
    at: &Place,
    length: Nanos,
    system_call: Option<&str>,
) -> String {
    let time = format!("{} of {} us", micros(length), micros(sample.latency_ns));
    let function = match &at.caller {
        Some(caller) => format!("{} (called by {caller})", at.function),
        None => at.function.clone(),
    };
    let who = match span.task.pid {
        0 => "the idle task".to_string(),
        pid => format!("{} ({pid})", span.task.comm),
    };
    let doing = system_call.map_or(who.clone(), |call| format!("{who} in {call}(2)"));
    let most = span.most.as_ref().filter(|f| f.function != at.function);
    let most = most.map_or(String::new(), |f| {
        format!(", most of it in {} ({} us)", f.function, micros(f.total_ns))
    });
    match mechanism {
        Mechanism::InterruptsOff => format!("{time}: {function} kept interrupts off, for {doing}{most}."),
        Mechanism::PreemptionOff => {
            let how = match &span.what {
                Kind::PreemptOff { lock: Some(_), .. } => "held a spin lock",
                _ => "kept preemption off",
            };
            format!("{time}: {function} {how}, for {doing}{most}.")
        }
        Mechanism::NoReschedulePoint => format!(
            "{time}: {doing} stayed in {function} without a reschedule point, and preempt={} does not take the CPU there{most}.",
            sample.preempt
        ),
        Mechanism::OtherThread => format!("{time}: {who} ran first, in {function}{most}."),
        Mechanism::LockOwner => format!("{time}: {who} held a lock that the wake-up needs, in {function}{most}."),
        Mechanism::SoftInterrupt => format!("{time}: soft interrupts ran first, in {function}{most}."),
        Mechanism::OtherInterrupt => format!("{time}: another interrupt ran first, in {function}{most}."),
        Mechanism::NotWoken => format!("{time}: {doing} ran on in {function} before the probe was woken{most}."),
        Mechanism::WakeUpPath => format!(
            "{time} are the wake-up path itself; its longest part is {} ({} us){most}.",
            span.what.name().title,
            micros(span.length_ns)
        ),
        Mechanism::Unexplained => format!("{time} are not explained."),
    }
}

/// What would remove it, with the maximum that was measured where it is removed, if it was measured.
fn remedy(sample: &Sample, mechanism: Mechanism, peers: &[Peer]) -> String {
    let helps = |peer: &&Peer| {
        peer.maximum < sample.latency_ns
            && match mechanism {
                Mechanism::NoReschedulePoint => !["none", "voluntary"].contains(&peer.preempt.as_str()),
                _ => peer.preempt != sample.preempt,
            }
    };
    let best = peers.iter().filter(helps).min_by_key(|p| p.maximum);
    let words = mechanism.words().remedy;
    match best {
        Some(peer) if mechanism != Mechanism::WakeUpPath => format!(
            "{words}: {} has a maximum of {} instead of {} us under this load",
            peer.subject,
            micros(peer.maximum),
            micros(sample.latency_ns)
        ),
        _ => words.to_string(),
    }
}
