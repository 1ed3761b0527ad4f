//! The first cause of a late sample, in one sentence, and the change that would remove it.

mod remedy;
mod sentence;

pub use super::spans::{Cause, Mechanism, Peer};
use super::spans::{CodePlace, ExplainedSample, OffBy, Span, SpanKind};
use super::stacks::FrameKind;
pub use sentence::CauseParts;
pub(crate) use sentence::held_back;
use worstcase_contract::Nanos;

/// What takes a fifth of a sample is told beside the wake-up's own way.
const BESIDE: u64 = 5;

/// Finds the first cause: the mechanism whose spans took most in all. The common way of every wake-up counts only
/// if it took more beyond `floor`, its duration in an ordinary sample. The mechanism's longest span gives the
/// names.
pub fn cause(sample: &ExplainedSample, spans: &[Span], floor: Nanos, peers: &[Peer]) -> Cause {
    cause_in_words(sample, spans, floor, peers, &sentence::words)
}

/// Like `cause`, with other words for the event.
pub(crate) fn cause_in_words<'a>(
    sample: &'a ExplainedSample,
    spans: &'a [Span],
    floor: Nanos,
    peers: &[Peer],
    words: &dyn Fn(&CauseParts) -> String,
) -> Cause {
    let total = |mechanism: Mechanism| -> u64 {
        let of = spans.iter().filter(|s| Mechanism::of(&s.what) == mechanism);
        of.map(|s| s.length_ns.0).sum()
    };
    let path = total(Mechanism::WakeUpPath);
    let delays = spans.iter().filter(|s| !s.what.name().is_path);
    // The longest span of the delay that took most in all.
    let delay = delays.max_by_key(|s| (total(Mechanism::of(&s.what)), s.length_ns));
    let decides = |s: &&Span| total(Mechanism::of(&s.what)) > path.saturating_sub(floor.0);
    let ways = spans.iter().filter(|s| s.what.name().is_path);
    let Some(span) = delay.filter(decides).or(ways.max_by_key(|s| s.length_ns)) else {
        return nothing();
    };
    let parts = |longest: &'a Span| {
        let mechanism = Mechanism::of(&longest.what);
        CauseParts {
            sample,
            mechanism,
            longest,
            parts: spans.iter().filter(|s| Mechanism::of(&s.what) == mechanism).count(),
            total: Nanos(total(mechanism)),
            floor,
            at: culprit(longest),
            system_call: call_of(longest),
        }
    };
    let cause = parts(span);
    let is_path = cause.mechanism == Mechanism::WakeUpPath;
    let beyond = sample.latency_ns.saturating_sub(floor);
    let beside = delay.filter(|_| is_path).map(parts);
    let beside = beside.filter(|beside| beside.total.0 * BESIDE >= sample.latency_ns.0);
    let mut said = match is_path || cause.total.0 * 2 >= beyond.0 {
        true => sentence::sentence(&cause, words),
        false => sentence::several(&cause, spans, words),
    };
    if let Some(beside) = &beside {
        said += &format!(" {}", sentence::sentence(beside, words));
    }
    let to_mend = beside.as_ref().unwrap_or(&cause);
    let times = (floor, to_mend.total);
    Cause {
        sentence: said + &sentence::choice(sample, spans),
        remedy: remedy::remedy(sample, to_mend.mechanism, to_mend.longest, times, peers),
        mechanism: cause.mechanism,
        function: Some(cause.at.function).filter(|f| !f.is_empty()),
        caller: cause.at.caller,
        source: cause.at.source,
        system_call: cause.system_call.map(str::to_string),
        length_ns: cause.total,
    }
}

/// The system call that a span ran in.
fn call_of(span: &Span) -> Option<&str> {
    let in_chain = || super::roles::innermost_call(span.chain.iter().rev().map(|f| f.function.as_str()));
    span.system_call.as_deref().or_else(in_chain)
}

fn nothing() -> Cause {
    Cause {
        mechanism: Mechanism::Unexplained,
        function: None,
        caller: None,
        source: None,
        system_call: None,
        length_ns: Nanos(0),
        sentence: "The sample was not late.".into(),
        remedy: String::new(),
    }
}

/// Whether a function is in a span's chain, and calls another one in it.
fn calls_for_all(span: &Span, place: &CodePlace) -> bool {
    let own = span.chain.iter().filter(|f| !super::roles::is_helper(&f.function));
    let mut inner = own.skip_while(|f| f.function != place.function);
    inner.next().is_some() && inner.next().is_some()
}

/// The function to name: where interrupts or preemption were switched off, else the innermost common function that
/// is not the mechanism's own helper.
fn culprit(span: &Span) -> CodePlace {
    let named = match &span.what {
        // Who switched them on may have been in one function of its own all the time.
        SpanKind::IrqsOff { off, on, .. } => off.clone().or_else(|| on.clone().filter(|on| !calls_for_all(span, on))),
        SpanKind::SpinsFor { at } => Some(at.clone()),
        SpanKind::Waits { at, .. } => Some(at.clone()),
        // Who gives an earlier lock back need not have taken it.
        SpanKind::PreemptOff {
            by: OffBy::EarlierLock, ..
        } => None,
        SpanKind::PreemptOff {
            lock, off, released, ..
        } => lock.clone().or(off.clone()).or(released.clone()),
        SpanKind::OtherTimer { function } => Some(CodePlace {
            function: function.clone(),
            ..CodePlace::default()
        }),
        SpanKind::TimersHeldBack { .. } => Some(CodePlace {
            function: "hrtimer_interrupt".into(),
            ..CodePlace::default()
        }),
        _ => None,
    };
    // A lock function stands for its caller, if that is known.
    let named = named.filter(|place| !super::roles::is_helper(&place.function));
    // Without a common frame: the function that took most.
    let most = || span.functions.first().map(|f| f.function.clone());
    let common = || {
        let seen = || span.chain.iter().rev().filter(|f| f.kind != FrameKind::Unknown);
        let is_helper = match span.what {
            SpanKind::CallsCpus => super::roles::is_way_to_cpus,
            _ => super::roles::is_helper,
        };
        let mut frames = seen().filter(|f| !is_helper(&f.function));
        // If all frames are helpers: the innermost one.
        let function = frames.next().or_else(|| seen().next());
        CodePlace {
            function: function.map(|f| f.function.clone()).or_else(most).unwrap_or_default(),
            caller: frames.next().map(|f| f.function.clone()),
            offset_ns: None,
            source: function.and_then(|f| f.source.clone()),
        }
    };
    named.unwrap_or_else(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::testing::sample;

    fn span(what: SpanKind, from: u64, length: u64) -> Span {
        Span {
            what,
            ..Span::unexplained(Nanos(from), Nanos(length), None)
        }
    }

    #[test]
    fn what_takes_a_fifth_is_told_beside_the_path_with_its_own_remedy() {
        let of = |delay: u64| {
            let late = sample("voluntary", 100_000 + delay);
            let spans = [
                span(SpanKind::Schedule, 0, 100_000),
                span(SpanKind::NoReschedulePoint, 100_000, delay),
            ];
            cause(&late, &spans, Nanos(0), &[])
        };
        let told = of(35_000);
        assert!(
            told.sentence.starts_with("100 of 135 us are the wake-up path itself"),
            "{}",
            told.sentence
        );
        assert!(told.sentence.contains(" 35.0 of 135 us: "), "{}", told.sentence);
        assert!(told.remedy.contains("preempt=full"), "{}", told.remedy);
        assert_eq!(
            (told.mechanism, told.length_ns),
            (Mechanism::WakeUpPath, Nanos(100_000))
        );
        let small = of(20_000);
        assert!(!small.sentence.contains("20.0 of"), "{}", small.sentence);
        assert!(small.remedy.contains("nothing stands in the way"), "{}", small.remedy);
    }
}
