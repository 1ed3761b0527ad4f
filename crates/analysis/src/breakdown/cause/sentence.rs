//! A cause in one sentence.

use super::remedy::is_long_path;
use crate::breakdown::roles;
use crate::breakdown::spans::{
    CodePlace, ExplainedSample, LockWait, Mechanism, OffBy, OtherCpu, Since, Span, SpanKind, in_call,
};
use std::collections::BTreeMap;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;

/// The parts of a sentence.
pub struct CauseParts<'a> {
    /// The sample to explain.
    pub sample: &'a ExplainedSample,
    /// The mechanism of the cause.
    pub mechanism: Mechanism,
    /// The longest of its spans, which gives the names.
    pub longest: &'a Span,
    /// The number of its spans.
    pub parts: usize,
    /// The time of its spans together.
    pub total: Nanos,
    /// The quickest sample.
    pub floor: Nanos,
    /// The function to name.
    pub at: CodePlace,
    /// The system call in which the cause ran.
    pub system_call: Option<&'a str>,
}

/// The sentence for a cause that took most of the time.
pub(crate) fn sentence(cause: &CauseParts, words: &dyn Fn(&CauseParts) -> String) -> String {
    let time = format!("{} of {} us", micros(cause.total), micros(cause.sample.latency_ns));
    if cause.mechanism == Mechanism::WakeUpPath {
        let quickest = match is_long_path(cause.floor, cause.total) {
            true => format!(", which took {} us in the quickest sample", micros(cause.floor)),
            false => String::new(),
        };
        return format!(
            "{time} are {}{quickest}; its longest part is {} ({} us){}.",
            path_of(cause.sample),
            cause.longest.what.name().title,
            micros(cause.longest.length_ns),
            most(cause)
        );
    }
    let parts = match cause.parts {
        1 => String::new(),
        n => format!(", in {n} parts (the longest {} us)", micros(cause.longest.length_ns)),
    };
    format!("{time}{parts}: {}.", words(cause))
}

/// The way that every sample of this kind takes.
fn path_of(sample: &ExplainedSample) -> &'static str {
    match sample.since {
        Since::Called => "the system call itself",
        _ => "the wake-up path itself",
    }
}

/// The sentence for a sample that is late by many small causes: it names all of them, the one that took most first.
pub(crate) fn several(cause: &CauseParts, spans: &[Span], words: &dyn Fn(&CauseParts) -> String) -> String {
    let mut sums: BTreeMap<Mechanism, (u64, usize)> = BTreeMap::new();
    for span in spans.iter().filter(|s| !s.what.name().is_path) {
        let sum = sums.entry(Mechanism::of(&span.what)).or_default();
        *sum = (sum.0 + span.length_ns.0, sum.1 + 1);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (ns, _))| std::cmp::Reverse(*ns));
    let each = sums.iter().map(|(mechanism, (ns, parts))| {
        let times = match parts {
            1 => String::new(),
            n => format!(" in {n} parts"),
        };
        format!("{} {} us{times}", mechanism.title(), micros(Nanos(*ns)))
    });
    let path = spans.iter().filter(|s| s.what.name().is_path);
    let path = Nanos(path.map(|s| s.length_ns.0).sum());
    format!(
        "No single cause for {} us: {}; the rest, {} us, is {}. The longest of the first is {} us: {}.",
        micros(cause.sample.latency_ns),
        each.collect::<Vec<_>>().join(", "),
        micros(path),
        path_of(cause.sample),
        micros(cause.longest.length_ns),
        words(cause)
    )
}

/// The longest choice of a loaded scheduler meanwhile; empty for the kernel's own scheduler.
pub(crate) fn choice(sample: &ExplainedSample, spans: &[Span]) -> String {
    let choices = spans.iter().filter(|s| s.what == SpanKind::Schedule);
    let (Some(scheduler), Some(longest)) = (&sample.scheduler, choices.max_by_key(|s| s.length_ns)) else {
        return String::new();
    };
    let most = longest.functions.first().map(|share| {
        let caller = share.caller.as_ref().map(|caller| format!(" (called by {caller})"));
        format!(
            ", {} us of that in {}{}",
            micros(share.self_ns),
            share.function,
            caller.unwrap_or_default()
        )
    });
    format!(
        " The longest choice by {scheduler} took {} us{}.",
        micros(longest.length_ns),
        most.unwrap_or_default()
    )
}

/// The event and its place.
pub(crate) fn words(cause: &CauseParts) -> String {
    format!("{}{}{}", mechanism_text(cause), most(cause), meanwhile(cause))
}

/// What the other CPUs did while this one waited for them. CPUs that waited in the same way are left out.
fn meanwhile(cause: &CauseParts) -> String {
    let own = cause.longest.most.as_ref().map(|share| &share.function);
    let others = cause.longest.waited_for.iter();
    let told = others.filter_map(|other| {
        let most = other.most.as_ref().filter(|most| Some(&most.function) != own)?;
        Some(format!(
            "; meanwhile CPU {}, {}, was in {} ({} us)",
            other.cpu,
            other.task.within(None),
            most.function,
            micros(most.total_ns)
        ))
    });
    told.collect()
}

/// The function further down in which most of the time went.
fn most(cause: &CauseParts) -> String {
    // The probe does not wait for the functions that ran meanwhile.
    let is_for_these = !matches!(cause.mechanism, Mechanism::Waits | Mechanism::TimersHeldBack);
    let below = cause.longest.most.as_ref().filter(|_| is_for_these);
    let below = below.filter(|f| f.function != cause.at.function && !roles::is_helper(&f.function));
    below.map_or(String::new(), |f| {
        format!(", most of it in {} ({} us)", f.function, micros(f.total_ns))
    })
}

/// A function with its line and its caller, as far as they are known.
fn named(place: &CodePlace) -> String {
    let line = place.source.as_ref().map(|source| source.to_string());
    let caller = place.caller.as_ref().map(|caller| format!("called by {caller}"));
    let known: Vec<String> = line.into_iter().chain(caller).collect();
    match known.is_empty() {
        true => place.function.clone(),
        false => format!("{} ({})", place.function, known.join(", ")),
    }
}

fn mechanism_text(cause: &CauseParts) -> String {
    let span = cause.longest;
    let function = named(&cause.at);
    let who = match span.task.pid {
        0 => "the idle task".to_string(),
        _ => span.task.within(None),
    };
    let place = span.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
    let doing = in_call(who.clone(), cause.system_call) + &place;
    match cause.mechanism {
        Mechanism::InterruptsOff => format!("{function} kept interrupts off, for {doing}"),
        Mechanism::PreemptionOff => match &span.what {
            SpanKind::PreemptOff {
                by: OffBy::SpinLock, ..
            } => format!("{function} held a spin lock, for {doing}"),
            SpanKind::PreemptOff {
                by: OffBy::EarlierLock, ..
            } => format!("{doing} was in {function}, under a spin lock that was taken before what was looked at"),
            SpanKind::PreemptOff {
                by: OffBy::BottomHalves,
                ..
            } => format!("{function} kept bottom halves off, and preemption with them, for {doing}"),
            _ => format!("{function} kept preemption off, for {doing}"),
        },
        Mechanism::NoReschedulePoint => format!(
            "{doing} stayed in {function} without a reschedule point, and preempt={} does not take the CPU there",
            cause.sample.preempt
        ),
        Mechanism::SpinsForLock => format!("{function} waited for a spin lock that another CPU held, for {doing}"),
        Mechanism::ExitWork => {
            format!("the probe did work on its way out of the kernel that was put off until then, in {function}")
        }
        Mechanism::OtherThread => other_thread(&span.what, &who, &function),
        Mechanism::Waits => waits(&span.what, &function),
        Mechanism::LockOwner => lock_owner(&span.what, &who, &function),
        Mechanism::SoftInterrupt => format!("soft interrupts ran first, in {function}"),
        Mechanism::OtherTimer => format!("{function}, another timer's function, ran first"),
        Mechanism::TimersHeldBack => held_back(&span.what),
        Mechanism::OtherInterrupt => match &span.what {
            SpanKind::OtherIrq { entry } => {
                let sender = span.sender.as_ref().map_or(String::new(), sent_by);
                let name = entry_name(entry);
                format!("{name} ran first, in {}{sender}", cause.at.function)
            }
            _ => format!("another interrupt ran first, in {}", cause.at.function),
        },
        Mechanism::NotWoken => format!("{doing} ran on in {function} before the probe was woken"),
        Mechanism::OtherCpus => format!("{function} called other CPUs and waited for them, for {doing}"),
        Mechanism::WakeUpPath => path_of(cause.sample).to_string(),
        Mechanism::Unexplained => "it is not explained".to_string(),
    }
}

/// Why the kernel puts a timer's interrupt off.
pub(crate) fn held_back(what: &SpanKind) -> String {
    let took = match what {
        SpanKind::TimersHeldBack { took_ns } => format!(" for {} us", micros(*took_ns)),
        _ => String::new(),
    };
    format!(
        "the timer interrupt before had been at timers{took}, and hrtimer_interrupt puts the next one off by as much"
    )
}

/// `asm_sysvec_apic_timer_interrupt` is another `apic_timer_interrupt`: the probe has one, too.
fn entry_name(entry: &str) -> String {
    let name = entry.trim_start_matches("asm_").trim_start_matches("sysvec_");
    match roles::is_from_cpu(entry) {
        true => name.to_string(),
        false if roles::is_entry_of_all(entry) => "another interrupt".into(),
        false => format!("another {name}"),
    }
}

fn sent_by(sender: &OtherCpu) -> String {
    let by = sender.by().map(|function| format!(", from {function}"));
    format!(
        ", sent by {} on CPU {}{}",
        sender.thread(),
        sender.cpu,
        by.unwrap_or_default()
    )
}

fn waits(kind: &SpanKind, function: &str) -> String {
    let SpanKind::Waits {
        woken,
        what,
        fault,
        waker,
        ran,
        kept,
        ..
    } = kind
    else {
        return format!("the probe waited in {function}");
    };
    let state = match woken {
        true => "the probe was awake and then",
        false => "the probe was not asleep but",
    };
    let mut words = format!("{state} waited in {function}{}", what.words());
    if *fault {
        words += ", in a page fault";
    }
    if let Some(waker) = waker {
        let ended = match what.is_lock() {
            true => "gave it back",
            false => "ended that",
        };
        words += &format!(", until {} {ended} in {}", waker.task.named(), named(&waker.at));
    }
    let meanwhile = match (kept, ran) {
        (Some(kept), _) => format!(
            "{} kept that one from running for {} us",
            kept.task.named(),
            micros(kept.length_ns)
        ),
        (None, Some(ran)) => format!("{} ran longest ({} us)", ran.task.named(), micros(ran.length_ns)),
        (None, None) => return words,
    };
    words += &format!("; meanwhile {meanwhile}");
    words
}

fn other_thread(kind: &SpanKind, who: &str, function: &str) -> String {
    match kind {
        SpanKind::OtherThread {
            server: Some(server), ..
        } => format!(
            "{who}, an ordinary thread, ran first, in {function}: the kernel's fair server let it run before real-time threads, in {}",
            named(server)
        ),
        _ => format!("{who} ran first, in {function}"),
    }
}

fn lock_owner(kind: &SpanKind, who: &str, function: &str) -> String {
    let SpanKind::OtherThread {
        wait: Some(LockWait { at, inherits }),
        ..
    } = kind
    else {
        return format!("{who} held a lock that the wake-up needs, in {function}");
    };
    let waits = named(at);
    let how = match inherits {
        true => "with the probe's priority, which it inherited",
        false => "at its own priority",
    };
    format!("the probe waited in {waits} for a lock that {who} held, which ran {how}, in {function}")
}
