//! Ground truth from inside the kernel: a module (crates/culprit/module) that delays the probe in ways that are known by
//! construction, built against the headers of the lab's kernel.

use crate::controller::{GENERIC, folder};
use crate::culprits::{BreakdownAsJson, explained, program};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_analysis::breakdown::spans::Kind;
use worstcase_kernels::{ResolveOptions, Silent, headers, resolve};

const WORK: u64 = 150_000;
/// The module's timer comes 1 us earlier from each of the probe's to the next, and so once at every phase of it.
const SAMPLES: u32 = 300;

/// The module, built once; none where it cannot be built, which is said.
fn module() -> Option<&'static Path> {
    static MODULE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = MODULE.get_or_init(|| match build() {
        Ok(module) => Some(module),
        Err(why) => {
            eprintln!("SKIPPED: the module for {GENERIC} cannot be built: {why}");
            None
        }
    });
    built.as_deref()
}

fn build() -> Result<PathBuf, String> {
    for tool in ["gcc", "make"] {
        let found = Command::new(tool).arg("--version").output();
        found.map_err(|e| format!("{tool}: {e}"))?;
    }
    let options = ResolveOptions::from_cache(&Silent).map_err(|e| e.to_string())?;
    let kernel = resolve(GENERIC, &options).map_err(|e| e.to_string())?;
    let headers = headers::get(&kernel, &options).map_err(|e| e.to_string())?;
    let module = Path::new(env!("CARGO_TARGET_TMPDIR")).join("module");
    std::fs::create_dir_all(&module).map_err(|e| e.to_string())?;
    for name in ["Kbuild", "planted.c"] {
        std::fs::copy(source().join(name), module.join(name)).map_err(|e| e.to_string())?;
    }
    let made = Command::new("make")
        .arg("-C")
        .arg(&headers)
        .arg(format!("M={}", module.display()))
        .arg("modules")
        .output()
        .map_err(|e| e.to_string())?;
    match made.status.success() {
        true => Ok(module.join("planted.ko")),
        false => Err(String::from_utf8_lossy(&made.stderr).into_owned()),
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../culprit/module")
}

/// The breakdowns of the latest samples while the module does its work; none where it cannot be built.
fn latest(preempt: &str, work: &str, latest: u32) -> Vec<BreakdownAsJson> {
    let Some(module) = module() else {
        return Vec::new();
    };
    let add = format!(
        "--add {}:/culprit --add {}:/planted.ko",
        program().display(),
        module.display()
    );
    let load = format!("cmd:/culprit insmod /planted.ko work={work} instructions={WORK}");
    let folder = folder();
    let cell = format!("--kernel {GENERIC} --preempt {preempt} --samples {SAMPLES} --seeds 1 {add}");
    explained(&cell, &load, &add, &format!("--all -k {latest}"), folder.path())
}

#[test]
fn a_timers_function_in_the_probes_interrupt_is_named() {
    for preempt in ["none", "full"] {
        let breakdowns = latest(preempt, "timer", 12);
        for breakdown in &breakdowns {
            breakdown.names_cause(Mechanism::OtherTimer, &["planted_timer"], WORK / 2..=WORK + 5_000);
        }
        let waits = |breakdown: &BreakdownAsJson, before: bool| {
            let at = |is: &dyn Fn(&Kind) -> bool| breakdown.spans.iter().position(|s| is(&s.what));
            let planted = at(&|kind| matches!(kind, Kind::OtherTimer { function } if function == "planted_timer"));
            planted
                .zip(at(&|kind| *kind == Kind::WakeUp))
                .is_some_and(|(p, w)| (p < w) == before)
        };
        if module().is_some() {
            for before in [true, false] {
                assert!(
                    breakdowns.iter().any(|b| waits(b, before)),
                    "{preempt}: none with before = {before}"
                );
            }
        }
    }
}

#[test]
fn a_tasklet_is_a_soft_interrupt() {
    for breakdown in latest("none", "tasklet", 3) {
        breakdown.names_cause(Mechanism::SoftInterrupt, &["planted_tasklet"], WORK / 2..=WORK + 2_000);
    }
}

/// Whatever the model, the probe waits for the section's end.
#[test]
fn a_section_with_preemption_off_is_one_under_every_model() {
    for (work, function) in [("spin", "planted_spin"), ("preempt", "planted_preempt")] {
        for preempt in ["none", "full"] {
            for breakdown in latest(preempt, work, 10) {
                breakdown.names_cause(Mechanism::PreemptionOff, &[function], WORK / 2..=WORK + 2_000);
                let remedy = &breakdown.cause.remedy;
                assert!(!remedy.contains("preempt=full takes the CPU"), "{preempt}: {remedy}");
            }
        }
    }
}
