//! Ground truth for every kind of cause: modules (crates/culprit/module) of which each keeps the probe waiting in one way. Who is
//! named and what is advised must be true of each, under each preemption model, and agree with the census of the same cell.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::{BreakdownAsJson, program, told_of};
use crate::planted_module::{added_modules, built, modules};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use worstcase_analysis::breakdown::cause::Mechanism::{self, *};

const MODULES: [&str; 4] = ["planted", "sections", "waits", "deferred"];
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

/// On one CPU, under PREEMPT_RT and under models that take the CPU from code of the kernel.
const ALONE: &[MustTell] = &[
    row(
        "planted timer",
        "full",
        &[OtherTimer],
        &["planted_timer"],
        &["shorten that function"],
    ),
    row(
        "planted tasklet",
        "full",
        &[SoftInterrupt],
        &["planted_tasklet"],
        &["threaded soft interrupts", "rt has a maximum of"],
    ),
    row(
        "planted preempt",
        "full",
        &[PreemptionOff],
        &["planted_preempt", "kept preemption off"],
        &[AS_LATE],
    ),
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
        // What rt's own maximum is hangs on the phase.
        &["not marked hard"],
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
        "deferred thread",
        "full",
        &[OtherThread],
        &["planted", "ran first"],
        &["higher priority of the two"],
    ),
    row(
        "waits between",
        "full",
        &[Waits],
        &[
            "for a mutex",
            "gave it back in planted_owns_between",
            "between",
            "kept that one from running",
        ],
        &["above the thread that kept it from running"],
    ),
    row(
        "waits exitwork",
        "full",
        &[ExitWork],
        &["planted_exitwork"],
        &["done by another thread"],
    ),
    row(
        "waits exitwork",
        "rt",
        &[ExitWork],
        &["planted_exitwork"],
        &["done by another thread"],
    ),
    row(
        "waits taskwork",
        "full",
        &[PreemptionOff],
        &["planted_taskwork", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "waits signal",
        "full",
        &[PreemptionOff],
        &["planted_signal", "held a spin lock"],
        &[AS_LATE],
    ),
    row(
        "waits signal",
        "rt",
        &[PreemptionOff],
        &["planted_signal", "held a spin lock"],
        &["under a raw spin lock"],
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

/// What delays only where code of the kernel keeps the CPU until it gives it away.
const UNTIL_GIVEN: &[MustTell] = &[
    row(
        "deferred work",
        "none",
        &[NoReschedulePoint],
        &["planted_item"],
        &["preempt=full takes the CPU"],
    ),
    row(
        "deferred call",
        "none",
        &[NoReschedulePoint],
        &["planted_long", "in close(2)"],
        &["preempt=full takes the CPU"],
    ),
];

#[test]
fn every_kind_of_delay_is_named_and_every_remedy_is_true() {
    let both = Planted::in_kernels(&[(GENERIC, modules().to_path_buf()), (RT, built(RT))]);
    both.check(ALONE, &format!("--kernel {GENERIC} --kernel {RT} --preempt full,rt"));
}

#[test]
fn what_other_cpus_do_is_named_and_every_remedy_is_true() {
    generic().check(BESIDE, &format!("--kernel {GENERIC} --preempt full --cpus 2"));
}

#[test]
fn what_keeps_the_cpu_until_it_gives_it_away_is_named() {
    generic().check(UNTIL_GIVEN, &format!("--kernel {GENERIC} --preempt none"));
}

/// The same on kernels whose modules were built elsewhere (`scripts/planted`): `KERNEL=FOLDER ...`.
#[test]
#[ignore = "scripts/planted builds the modules"]
fn every_kind_is_named_on_other_kernels() {
    let named = std::env::var("WORSTCASE_PLANTED").unwrap();
    let kernels: Vec<(&str, PathBuf)> = named
        .split_whitespace()
        .map(|one| one.split_once('=').unwrap())
        .map(|(kernel, folder)| (kernel, PathBuf::from(folder)))
        .collect();
    let preempt = std::env::var("WORSTCASE_PREEMPT").unwrap();
    let names: Vec<&str> = kernels.iter().map(|(kernel, _)| *kernel).collect();
    let subjects = format!("--kernel {} --preempt {preempt}", names.join(","));
    let planted = Planted::in_kernels(&kernels);
    let mut wrong = planted.contradictions(ALONE, &subjects);
    wrong.extend(planted.contradictions(BESIDE, &format!("{subjects} --cpus 2")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn load(planted: &str) -> String {
    let (module, work) = planted.split_once(' ').unwrap();
    format!("cmd:/culprit insmod /{module}.ko work={work} instructions={WORK}")
}

fn generic() -> Planted {
    Planted::in_kernels(&[(GENERIC, modules().to_path_buf())])
}

/// The words that put the program and the modules into a machine.
struct Planted(String);

impl Planted {
    fn in_kernels(kernels: &[(&str, PathBuf)]) -> Planted {
        let of_kernel = |(kernel, modules): &(&str, PathBuf)| added_modules(kernel, modules, &MODULES);
        let modules: String = kernels.iter().map(of_kernel).collect();
        Planted(format!("--add {}:/culprit{modules}", program().display()))
    }

    fn check(&self, rows: &[MustTell], subjects: &str) {
        let wrong = self.contradictions(rows, subjects);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// What is told otherwise than a row says, under each model to which it applies.
    fn contradictions(&self, rows: &[MustTell], subjects: &str) -> Vec<String> {
        let folder = folder();
        let run = folder.path().join("run");
        let add = &self.0;
        let mut measure = shared().run(&format!("{subjects} --samples 100 --seeds 1 {add}"), &run);
        let mut planted: Vec<&str> = rows.iter().map(|row| row.planted).collect();
        planted.dedup();
        for planted in planted {
            measure.arg("--load").arg(load(planted));
        }
        measure.assert().success();
        let told = told_of(&run, &format!("{add} --all -k {LATEST}"));
        assert!(told.len() >= LATEST * rows.len(), "{} breakdowns", told.len());
        let wrong = rows.iter().flat_map(|row| row.contradictions(&told)).collect();
        assert_agrees_with_census(&told, &run, add);
        wrong
    }
}

impl MustTell {
    /// What is said instead by each subject to which this applies, of more than one of its latest samples: one may be due
    /// between two of the planted delays.
    fn contradictions(&self, told: &[BreakdownAsJson]) -> Vec<String> {
        let load = load(self.planted);
        let is_rt = |preempt: &str| preempt.starts_with("rt");
        let own = told
            .iter()
            .filter(|b| b.sample.load == load && is_rt(&b.sample.preempt) == is_rt(self.preempt));
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
        // A small part of a sample is none of what was planted: planted_thread has short sections of its own.
        if 2 * length < sample.latency_ns.0 {
            continue;
        }
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
