//! Whether what is told of a planted delay is what must be told.

use crate::culprits::BreakdownAsJson;
use std::collections::{BTreeMap, BTreeSet};
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_analysis::breakdown::spans::SpanKind;

/// What must be said of a planted delay.
pub(super) struct MustTell {
    /// Module and work.
    pub(super) planted: &'static str,
    pub(super) preempt: &'static str,
    /// One of these.
    pub(super) mechanisms: &'static [Mechanism],
    /// Words of the sentence.
    pub(super) names: &'static [&'static str],
    /// Words of the remedy.
    pub(super) helps: &'static [&'static str],
}

impl MustTell {
    /// What is said instead by each subject to which this applies, of more than one of its latest samples: one may be due
    /// between two of the planted delays.
    pub(super) fn contradictions(&self, told: &[BreakdownAsJson]) -> Vec<String> {
        let own = self.own(told);
        let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut subjects = BTreeSet::new();
        for breakdown in own {
            let (sample, cause) = (&breakdown.sample, &breakdown.cause);
            let subject = sample.subject.clone();
            if !self.is_told(breakdown) {
                let said = format!("{:?}: {} {}", cause.mechanism, cause.sentence, cause.remedy);
                wrong.entry(subject.clone()).or_default().push(said);
            }
            subjects.insert(subject);
        }
        assert!(!subjects.is_empty(), "{} {}: no sample", self.planted, self.preempt);
        let (names, helps) = (self.names, self.helps);
        let wanted = format!("{:?} with {names:?} and {helps:?}", self.mechanisms);
        let contradicted = wrong.into_iter().filter(|(_, said)| said.len() > 1);
        contradicted
            .map(|(subject, said)| format!("{} {subject}, not {wanted}: {}", self.planted, said.join("; ")))
            .collect()
    }

    /// What was measured under this delay and a model to which this applies.
    fn own<'t>(&self, told: &'t [BreakdownAsJson]) -> impl Iterator<Item = &'t BreakdownAsJson> {
        let load = super::load(self.planted);
        told.iter()
            .filter(move |b| b.sample.load == load && self.is_of(&b.sample.preempt))
    }

    /// Subjects whose longest cause is not as long as what was planted: the rest of its interrupt or stretch may be part of it.
    /// What of it ran before the sample was due is told by where it began.
    pub(super) fn wrong_lengths(&self, told: &[BreakdownAsJson]) -> Vec<String> {
        let mut longest: BTreeMap<&str, u64> = BTreeMap::new();
        for breakdown in self.own(told).filter(|b| self.is_told(b)) {
            let cause = &breakdown.cause;
            let of_cause = breakdown
                .spans
                .iter()
                .filter(|s| Mechanism::of(&s.what) == cause.mechanism);
            let before = of_cause.map(|s| before_due(&s.what)).max().unwrap_or_default();
            let longest = longest.entry(&breakdown.sample.subject).or_default();
            *longest = (cause.length_ns.0 + before).max(*longest);
        }
        let wrong = longest
            .into_iter()
            .filter(|(_, ns)| !(super::WORK * 9 / 10..=super::WORK * 3 / 2).contains(ns));
        wrong
            .map(|(subject, ns)| format!("{} {subject}: {ns} ns", self.planted))
            .collect()
    }

    /// Whether it holds under this model.
    fn is_of(&self, preempt: &str) -> bool {
        let kind = |preempt: &str| match preempt {
            // A kernel that knows no other says so.
            "none" | "voluntary" | "none or voluntary" => 0,
            rt if rt.starts_with("rt") => 2,
            _ => 1,
        };
        kind(preempt) == kind(self.preempt)
    }

    fn is_told(&self, breakdown: &BreakdownAsJson) -> bool {
        let cause = &breakdown.cause;
        let has = |text: &str, words: &[&str]| words.iter().all(|word| text.contains(word));
        self.mechanisms.contains(&cause.mechanism) && has(&cause.sentence, self.names) && has(&cause.remedy, self.helps)
    }
}

/// How long before the sample was due interrupts or preemption had been switched off.
fn before_due(what: &SpanKind) -> u64 {
    let switched_off = match what {
        SpanKind::IrqsOff { off, .. } => off.as_ref(),
        SpanKind::PreemptOff { lock, off, .. } => lock.as_ref().or(off.as_ref()),
        _ => None,
    };
    let began = switched_off.and_then(|place| place.offset_ns).unwrap_or_default();
    began.min(0).unsigned_abs()
}
