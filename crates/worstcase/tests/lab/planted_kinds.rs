//! Ground truth for every kind of cause: modules (crates/culprit/module) of which each keeps the probe waiting in one way. Who is
//! named and what is advised must be true of each, under each preemption model, and agree with the census of the same cell.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::{BreakdownAsJson, program, told_of};
use crate::planted_module::{modules, modules_for_rt};
use std::collections::HashSet;
use std::path::Path;
use worstcase_analysis::breakdown::cause::Mechanism::{self, *};

const WORK: u64 = 150_000;
/// So many samples of each cell are explained.
const LATEST: usize = 3;

/// What must be said of a planted delay.
struct MustTell {
    /// Module and work.
    planted: &'static str,
    preempt: &'static str,
    /// One of these.
    mechanisms: &'static [Mechanism],
    /// Words of the sentence.
    names: &'static [&'static str],
    /// Words of the remedy.
    helps: &'static [&'static str],
}

const fn row(
    planted: &'static str,
    preempt: &'static str,
    mechanisms: &'static [Mechanism],
    names: &'static [&'static str],
    helps: &'static [&'static str],
) -> MustTell {
    MustTell {
        planted,
        preempt,
        mechanisms,
        names,
        helps,
    }
}

const AS_LATE: &str = "rt is as late under this load";

/// On one CPU.
const ALONE: &[MustTell] = &[
    row(
        "sections raw",
        "full",
        &[PreemptionOff],
        &["planted_raw", "held a spin lock"],
        &["if its lock is no raw one", AS_LATE],
    ),
    row(
        "sections raw",
        "rt",
        &[PreemptionOff],
        &["planted_raw", "held a spin lock"],
        &["under a raw spin lock"],
    ),
    row(
        "sections lock",
        "full",
        &[PreemptionOff],
        &["planted_lock", "held a spin lock"],
        &["PREEMPT_RT", "rt has a maximum of"],
    ),
    row(
        "sections rwlock",
        "full",
        &[PreemptionOff],
        &["planted_rwlock", "held a spin lock"],
        &["rt has a maximum of"],
    ),
    row(
        "sections irqsave",
        "full",
        &[InterruptsOff],
        &["planted_irqsave"],
        &["not under a raw lock", AS_LATE],
    ),
    row(
        "sections irqsave",
        "rt",
        &[InterruptsOff],
        &["planted_irqsave"],
        &["this is PREEMPT_RT already"],
    ),
    row(
        "sections irqsoff",
        "full",
        &[InterruptsOff],
        &["planted_irqsoff"],
        &["only if a local lock", AS_LATE],
    ),
    row(
        "sections irqsoff",
        "rt",
        &[InterruptsOff],
        &["planted_irqsoff"],
        &["this is PREEMPT_RT already"],
    ),
    row(
        "sections bh",
        "full",
        &[PreemptionOff],
        &["planted_bh"],
        &["local_bh_disable()", "rt has a maximum of"],
    ),
    row(
        "sections trylock",
        "full",
        &[PreemptionOff],
        &["planted_trylock", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "sections hand",
        "full",
        &[PreemptionOff],
        &["planted_after", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "sections hand",
        "rt",
        &[PreemptionOff],
        &["planted_after", "held a spin lock"],
        &["has to be shorter"],
    ),
    row(
        "waits mutex",
        "full",
        &[Waits],
        &[
            "planted_needs_mutex",
            "for a mutex",
            "gave it back in planted_owns_mutex",
        ],
        &["lends its owner no priority"],
    ),
    row(
        "waits mutex",
        "rt",
        &[LockOwner],
        &["planted_needs_mutex", "inherited", "planted_owns_mutex"],
        &["shorten what the owner does"],
    ),
    row(
        "waits rtmutex",
        "full",
        &[LockOwner],
        &["planted_needs_rtmutex", "inherited", "planted_owns_rtmutex"],
        &["shorten what the owner does"],
    ),
    row(
        "waits rwsem",
        "full",
        &[Waits],
        &["reader-writer semaphore", "gave it back in planted_owns_rwsem"],
        &["lends its owner no priority"],
    ),
    row(
        "waits completion",
        "full",
        &[Waits],
        &[
            "planted_needs_completion",
            "for a completion",
            "in planted_owns_completion",
        ],
        &["who completes it"],
    ),
    row(
        "deferred irqwork",
        "full",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        &["not marked hard", "rt has a maximum of"],
    ),
    row(
        "deferred hardwork",
        "full",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        &["not marked hard", AS_LATE],
    ),
    row(
        "deferred hardwork",
        "rt",
        &[OtherInterrupt],
        &["irq_work", "planted_work"],
        &["marked hard"],
    ),
    row(
        "deferred rcu",
        "full",
        &[SoftInterrupt],
        &["rcu_do_batch", "planted_work"],
        &["threaded soft interrupts", "rt has a maximum of"],
    ),
    row(
        "deferred release",
        "full",
        &[PreemptionOff],
        &["planted_release", "held a spin lock", "in close(2)"],
        &[AS_LATE],
    ),
    row(
        "deferred release",
        "rt",
        &[PreemptionOff],
        &["planted_release", "held a spin lock", "in close(2)"],
        &["under a raw spin lock"],
    ),
];

/// On two, of which the probe has the second.
const BESIDE: &[MustTell] = &[
    row(
        "deferred ipi",
        "full",
        &[OtherInterrupt],
        &["call_function", "planted_work", "planted_caller"],
        &["called from another CPU"],
    ),
    row(
        "deferred stop",
        "full",
        &[OtherThread, InterruptsOff],
        &["migration/1", "planted_work"],
        &["no priority is above"],
    ),
    row(
        "sections spins",
        "full",
        &[SpinsForLock],
        &["planted_spins", "another CPU held", "meanwhile CPU 0", "planted_work"],
        &["hold the lock more briefly"],
    ),
];

#[test]
fn every_kind_of_delay_is_named_and_every_remedy_is_true() {
    check(ALONE, &format!("--kernel {GENERIC} --kernel {RT} --preempt full,rt"));
}

#[test]
fn what_other_cpus_do_is_named_and_every_remedy_is_true() {
    check(BESIDE, &format!("--kernel {GENERIC} --preempt full --cpus 2"));
}

fn load(planted: &str) -> String {
    let (module, work) = planted.split_once(' ').unwrap();
    format!("cmd:/culprit insmod /{module}.ko work={work} instructions={WORK}")
}

fn check(rows: &[MustTell], subjects: &str) {
    let folder = folder();
    let run = folder.path().join("run");
    let add = added();
    let mut measure = shared().run(&format!("{subjects} --samples 100 --seeds 1 {add}"), &run);
    let mut planted: Vec<&str> = rows.iter().map(|row| row.planted).collect();
    planted.dedup();
    for planted in planted {
        measure.arg("--load").arg(load(planted));
    }
    measure.assert().success();
    let told = told_of(&run, &format!("{add} --all -k {LATEST}"));
    assert!(told.len() >= LATEST * rows.len(), "{} breakdowns", told.len());
    let wrong: Vec<String> = rows.iter().filter_map(|row| row.contradiction(&told)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_agrees_with_census(&told, &run, &add);
}

impl MustTell {
    /// What is said instead, of more than one of the latest samples: one may be due between two of the planted delays.
    fn contradiction(&self, told: &[BreakdownAsJson]) -> Option<String> {
        let load = load(self.planted);
        let own = told
            .iter()
            .filter(|b| b.sample.load == load && b.sample.preempt == self.preempt);
        let wrong: Vec<&BreakdownAsJson> = own.filter(|breakdown| !self.is_told(breakdown)).collect();
        let said = wrong
            .iter()
            .map(|b| format!("{:?}: {} {}", b.cause.mechanism, b.cause.sentence, b.cause.remedy));
        (wrong.len() > 1).then(|| {
            let (names, helps) = (self.names, self.helps);
            let wanted = format!("{:?} with {names:?} and {helps:?}", self.mechanisms);
            format!(
                "{} {}, not {wanted}: {}",
                self.planted,
                self.preempt,
                said.collect::<Vec<_>>().join("; ")
            )
        })
    }

    fn is_told(&self, breakdown: &BreakdownAsJson) -> bool {
        let cause = &breakdown.cause;
        let has = |text: &str, words: &[&str]| words.iter().all(|word| text.contains(word));
        self.mechanisms.contains(&cause.mechanism) && has(&cause.sentence, self.names) && has(&cause.remedy, self.helps)
    }
}

/// A section that a breakdown names is in the census of its cell, and as long there.
fn assert_agrees_with_census(told: &[BreakdownAsJson], run: &Path, add: &str) {
    let mut seen = HashSet::new();
    for breakdown in told {
        let (sample, cause) = (&breakdown.sample, &breakdown.cause);
        let is_latest = seen.insert(&sample.cell);
        let is_section = matches!(cause.mechanism, InterruptsOff | PreemptionOff);
        let is_planted = cause
            .function
            .as_deref()
            .is_some_and(|name| name.starts_with("planted_"));
        if !is_latest || !is_section || !is_planted {
            continue;
        }
        let of_cause = breakdown
            .spans
            .iter()
            .filter(|s| Mechanism::of(&s.what) == cause.mechanism);
        let length = of_cause.map(|s| s.length_ns.0).max().unwrap();
        let mut census = shared().worstcase(&format!("census --json {add}"));
        census.arg(run).args(["--cell", &sample.cell]);
        let output = census.assert().success().get_output().stdout.clone();
        let census: serde_json::Value = serde_json::from_slice(&output).unwrap();
        let kinds = census["kinds"].as_array().unwrap().iter();
        let mut owners = kinds.flat_map(|kind| kind["longest"]["owners"].as_array().unwrap());
        let is_same = |owner: &serde_json::Value| {
            let is_planted = |place: &str| owner[place].as_str().is_some_and(|name| name.starts_with("planted_"));
            let is_long = owner["longest"]["length_ns"].as_u64().unwrap() >= length;
            is_long && ["from", "to", "inside"].into_iter().any(is_planted)
        };
        assert!(
            owners.any(is_same),
            "not in the census of {}: {}",
            sample.cell,
            cause.sentence
        );
    }
}

/// The words that put the program and the modules for both kernels into a machine.
fn added() -> String {
    let name = |module: &str| format!("{module}.ko");
    let mut words = format!("--add {}:/culprit", program().display());
    for module in ["sections", "waits", "deferred"].map(name) {
        let (own, rt) = (modules().join(&module), modules_for_rt().join(&module));
        words += &format!(" --add {}:/{module} --add {}:/{module}.rt", own.display(), rt.display());
    }
    words
}
