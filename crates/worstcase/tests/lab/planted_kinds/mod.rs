//! Ground truth for every kind of cause: modules (crates/culprit/module) of which each keeps the probe waiting in one way. Who is
//! named and what is advised must be true of each, under each preemption model, and agree with the census of the same cell.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::{BreakdownAsJson, program, program_of_arm64, told_of};
use crate::planted_module::{added_modules, built, modules};
use rows::{ALONE, BESIDE, UNTIL_GIVEN};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use told::MustTell;
use worstcase_analysis::breakdown::cause::Mechanism::{self, *};
use worstcase_plan::Arch;

mod boards;
mod rows;
mod told;

const MODULES: [&str; 4] = ["planted", "sections", "waits", "deferred"];
const WORK: u64 = 150_000;
/// So many samples of each cell are explained.
const LATEST: usize = 2;

#[test]
fn every_kind_of_delay_is_named_and_every_remedy_is_true() {
    let both = Planted::in_kernels(&[(GENERIC, modules().to_path_buf()), (RT, built(RT))]);
    both.check(
        &each(ALONE),
        &format!("--kernel {GENERIC} --kernel {RT} --preempt full,rt"),
    );
}

#[test]
fn what_other_cpus_do_is_named_and_every_remedy_is_true() {
    generic().check(&each(BESIDE), &format!("--kernel {GENERIC} --preempt full --cpus 2"));
}

#[test]
fn what_keeps_the_cpu_until_it_gives_it_away_is_named() {
    generic().check(&each(UNTIL_GIVEN), &format!("--kernel {GENERIC} --preempt none"));
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
    let mut wrong = Vec::new();
    let is_of_board = |kernel: &str| Arch::of_name(kernel) == Some(Arch::Arm64);
    let (boards, pcs): (Vec<_>, Vec<_>) = kernels.into_iter().partition(|(kernel, _)| is_of_board(kernel));
    if !pcs.is_empty() {
        let subjects = subjects(&pcs, "full,lazy,rt");
        let planted = Planted::in_kernels(&pcs);
        wrong.extend(planted.contradictions(&each(ALONE), &subjects));
        wrong.extend(planted.contradictions(&each(BESIDE), &format!("{subjects} --cpus 2")));
    }
    for of_series in boards.chunk_by(|a, b| series(a.0) == series(b.0)) {
        let planted = Planted::in_kernels(of_series);
        let subjects = subjects(of_series, boards::models(of_series[0].0));
        wrong.extend(planted.contradictions(&boards::rows(of_series[0].0), &subjects));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `debian:6.12` of `debian:6.12-rt/arm64`.
fn series(kernel: &str) -> &str {
    kernel.split(['-', '/', '@']).next().unwrap_or(kernel)
}

fn subjects(kernels: &[(&str, PathBuf)], preempt: &str) -> String {
    let names: Vec<&str> = kernels.iter().map(|(kernel, _)| *kernel).collect();
    format!("--kernel {} --preempt {preempt}", names.join(","))
}

fn each(rows: &'static [MustTell]) -> Vec<&'static MustTell> {
    rows.iter().collect()
}

fn load(planted: &str) -> String {
    let (module, work) = planted.split_once(' ').unwrap();
    format!("cmd:/culprit insmod /{module}.ko work={work} instructions={WORK}")
}

fn generic() -> Planted {
    Planted::in_kernels(&[(GENERIC, modules().to_path_buf())])
}

/// Programs and modules in machines of one architecture.
struct Planted {
    arch: Arch,
    /// The words that put them there.
    add: String,
}

impl Planted {
    fn in_kernels(kernels: &[(&str, PathBuf)]) -> Planted {
        let arch = Arch::of_name(kernels[0].0).unwrap_or_default();
        let program = match arch {
            Arch::X86 => program(),
            Arch::Arm64 => program_of_arm64(),
        };
        let of_kernel = |(kernel, modules): &(&str, PathBuf)| added_modules(kernel, modules, &MODULES);
        let modules: String = kernels.iter().map(of_kernel).collect();
        Planted {
            arch,
            add: format!("--add {}:/culprit{modules}", program.display()),
        }
    }

    fn check(&self, rows: &[&MustTell], subjects: &str) {
        let wrong = self.contradictions(rows, subjects);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// What is told otherwise than a row says, under each model to which it applies.
    fn contradictions(&self, rows: &[&MustTell], subjects: &str) -> Vec<String> {
        let folder = folder();
        let run = folder.path().join("run");
        let add = &self.add;
        let samples = match self.arch {
            Arch::X86 => 100,
            // A timer comes 1 us earlier from each sample to the next, and so once at every phase of it.
            Arch::Arm64 => 300,
        };
        let mut measure = shared().run(&format!("{subjects} --samples {samples} --seeds 1 {add}"), &run);
        let planted: BTreeSet<&str> = rows.iter().map(|row| row.planted).collect();
        for planted in planted {
            measure.arg("--load").arg(load(planted));
        }
        measure.assert().success();
        let told = told_of(&run, &format!("{add} --all -k {LATEST}"));
        assert!(told.len() >= LATEST * rows.len(), "{} breakdowns", told.len());
        let mut wrong: Vec<String> = rows.iter().flat_map(|row| row.contradictions(&told)).collect();
        match self.arch {
            Arch::X86 => assert_agrees_with_census(&told, &run, add),
            // Its census has tests of its own (census_arm64).
            Arch::Arm64 => wrong.extend(rows.iter().flat_map(|row| row.wrong_lengths(&told))),
        }
        wrong
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
