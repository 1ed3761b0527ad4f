//! `worstcase host check`, and what a FAIL ends with: the cause that was planted.

use super::run::{MeasuringController, until};
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use worstcase_instruments::sys::affinity;
use worstcase_instruments::sys::sched::Policy;

/// The planted thread's name, as the kernel knows it.
const CULPRIT: &str = "planted-culprit";
/// It comes before every probe, for longer than anything else on a machine that others share.
const SPIN: Duration = Duration::from_millis(250);
const REST: Duration = Duration::from_millis(400);

struct Planted {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Planted {
    fn on_cpu_0() -> Planted {
        let end = Arc::new(AtomicBool::new(false));
        let ends = end.clone();
        let spin = move || {
            affinity::set(&[0]).unwrap();
            Policy::fifo(97).apply().unwrap();
            while !ends.load(Ordering::Relaxed) {
                let begun = Instant::now();
                while begun.elapsed() < SPIN {}
                std::thread::sleep(REST);
            }
        };
        let thread = Builder::new().name(CULPRIT.into()).spawn(spin).unwrap();
        Planted {
            end,
            thread: Some(thread),
        }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn a_fail_ends_with_the_cause_that_was_planted_and_the_next_step() {
    worstcase_skips::needs_root!();
    let controller = MeasuringController::new();
    let planted = Planted::on_cpu_0();
    let output = controller.run(&["--criterion", "20ms", "--cpus", "0", "--time", "2s"]);
    drop(planted);
    let said = String::from_utf8_lossy(&output.stdout);
    let (_, why) = said.split_once("\nWhy\n").unwrap_or_else(|| panic!("no cause: {said}"));
    assert!(said.contains("FAIL") && why.contains(CULPRIT), "{said}");
    assert!(why.contains("\nNext\n"), "{said}");
    let page = controller.path("page.html");
    let run = controller.path("run");
    let report = Command::new(cargo_bin("worstcase"))
        .arg("report")
        .arg(&run)
        .arg("-o")
        .arg(&page)
        .output()
        .unwrap();
    assert!(report.status.success());
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Why: ") && page.contains(CULPRIT));
}

#[test]
fn a_check_names_its_loads_judges_and_leaves_a_page() {
    worstcase_skips::needs_root!();
    let controller = MeasuringController::new();
    let mut check = Command::new(cargo_bin("worstcase"));
    check.args([
        "host",
        "check",
        "--period",
        "1ms",
        "--deadline",
        "100s",
        "--cpus",
        "0",
        "--time",
        "500ms",
    ]);
    check
        .arg("-o")
        .arg(controller.path("run"))
        .env("WORSTCASE_STATE", controller.path("state"));
    let output = check.output().unwrap();
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    // Half a second is not enough for a PASS.
    assert_eq!(output.status.code(), Some(10), "{said}{told}");
    assert!(said.contains("INCONCLUSIVE") && said.contains("a PASS needs"), "{said}");
    assert!(told.contains("  fork ") && told.contains("about "), "{told}");
    assert!(
        fs::read_to_string(controller.path("run.html"))
            .unwrap()
            .contains("cannot be said")
    );
    let again = check.output().unwrap();
    let told = String::from_utf8_lossy(&again.stderr);
    assert!(
        again.status.code() == Some(2) && told.lines().last().unwrap().contains("holds"),
        "{told}"
    );
}

#[test]
fn two_runs_at_once_notice_each_other() {
    let controller = MeasuringController::new();
    let other = controller.path("other");
    let mut first = controller.command(&["--time", "3s", "--cpus", "0"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the first measures", || controller.path("state/measuring").exists());
    let second = controller.run_elsewhere(&["--time", "500ms", "--cpus", "0", "-o", other.to_str().unwrap()]);
    assert!(first.wait().unwrap().success() && second.status.success());
    let beside = |folder: &str| {
        let cells = fs::read_dir(controller.path(folder).join("cells")).unwrap().flatten();
        let mut records = cells.map(|cell| fs::read_to_string(cell.path().join("record.json")).unwrap());
        records.all(|record| record.contains("another measurement of worstcase ran on this machine"))
    };
    assert!(beside("run") && beside("other"));
}
