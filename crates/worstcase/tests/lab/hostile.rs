//! Kernels, modules and programs that do their worst to what is outside of their machine, while they run: the command ends
//! with one line or a result, other cells and their snapshots stay what they are, and QEMU's memory is bounded.

use crate::controller::{Controller, GENERIC, entries, folder, shared, tree};
use crate::culprits::added;
use crate::failures::{Failure, failure};
use crate::images::{boot, image_that_begins};
use assert_cmd::Command;
use std::path::Path;
use worstcase_base::sealed;

core::arch::global_asm!(include_str!("hostile.s"), options(att_syntax));

unsafe extern "C" {
    static worstcase_hostile_memory: u8;
    static worstcase_hostile_pci: u8;
    static worstcase_hostile_exit: u8;
    static worstcase_hostile_reset: u8;
    static worstcase_hostile_record: u8;
    static worstcase_hostile_flood: u8;
    static worstcase_hostile_end: u8;
}

/// The code between two labels of hostile.s.
fn code(from: *const u8, to: *const u8) -> &'static [u8] {
    // SAFETY: both labels are in one constant object of this executable, in this order.
    unsafe { std::slice::from_raw_parts(from, to.offset_from_unsigned(from)) }
}

/// It ended as a machine that gave nothing ends: with one line, behind which only the console's lines may stand.
fn gave_nothing(failed: &Failure, what: &str) {
    let Failure { line, console } = failed;
    assert!(line.starts_with("worstcase: "), "{what}: {line}");
    assert!(
        console.is_empty() || line.ends_with("; last console lines:"),
        "{what}: {line}\n{console}"
    );
}

#[test]
fn what_a_kernel_does_to_its_machine_stays_there() {
    let kernels = [
        (
            "memory",
            &raw const worstcase_hostile_memory,
            &raw const worstcase_hostile_pci,
            "time limit of 5 s",
        ),
        (
            "pci",
            &raw const worstcase_hostile_pci,
            &raw const worstcase_hostile_exit,
            "",
        ),
        (
            "exit",
            &raw const worstcase_hostile_exit,
            &raw const worstcase_hostile_reset,
            "QEMU ended unexpectedly",
        ),
        (
            "reset",
            &raw const worstcase_hostile_reset,
            &raw const worstcase_hostile_record,
            "QEMU ended unexpectedly",
        ),
        (
            "record",
            &raw const worstcase_hostile_record,
            &raw const worstcase_hostile_flood,
            "QEMU ended unexpectedly",
        ),
        (
            "flood",
            &raw const worstcase_hostile_flood,
            &raw const worstcase_hostile_end,
            "time limit of 5 s",
        ),
    ];
    for (name, from, to, says) in kernels {
        let (controller, folder) = (Controller::fresh(), folder());
        let image = image_that_begins(code(from, to), folder.path());
        let beside = tree(folder.path());
        let mut command = boot(&controller, &image, &folder.path().join("run"));
        // The default limits of one that stands still are in images.rs.
        if ["memory", "pci", "flood"].contains(&name) {
            command.args(["--timeout", "5"]);
        }
        let failed = failure(command, 4);
        gave_nothing(&failed, name);
        assert!(failed.line.contains(says), "{name}: {}", failed.line);
        let mut left = tree(folder.path());
        left.retain(|path, _| !path.starts_with("run"));
        assert_eq!(left, beside, "{name}: files beside the machine");
        assert!(
            !controller.cache().join("snapshots").exists() || tree(&controller.cache().join("snapshots")).len() == 1
        );
    }
}

fn cell(controller: &Controller, load: &str, added: &str, run: &Path) -> Command {
    let words = format!("--kernel {GENERIC} --preempt none --samples 200 --seeds 1 {added}");
    let mut command = controller.run(&words, run);
    command.arg("--load").arg(load);
    command
}

/// The digest of an idle cell's samples.
fn idle(controller: &Controller, added: &str) -> String {
    let folder = folder();
    let run = folder.path().join("run");
    cell(controller, "idle", added, &run).assert().success();
    let records = worstcase_results::record::Run::open(&run).unwrap().records().unwrap();
    records[0].digest.clone()
}

/// Each in a cell that is a fork of the snapshot of the others.
#[test]
fn what_a_module_does_to_its_machine_stays_there() {
    let added = added();
    let before = idle(shared(), &added);
    let controller = Controller::on_shared_snapshots();
    let snapshots = controller.cache().join("snapshots");
    let all = entries(&snapshots);
    for attack in ["memory", "record", "flood", "pci", "exit", "reset"] {
        let folder = folder();
        let load = format!("cmd:/culprit insmod /hostile.ko attack={attack}");
        let mut command = cell(&controller, &load, &added, &folder.path().join("run"));
        command.args(["--timeout", "10"]);
        gave_nothing(&failure(command, 4), attack);
        for key in &all {
            assert_eq!(sealed::check(&snapshots.join(key)), Ok(()), "{attack}");
        }
    }
    assert_eq!(entries(&snapshots), all);
    assert_eq!(idle(&controller, &added), before, "the snapshot is what it was");
}

/// They take all that the machine has, which is what it was given. Whether the probe lives on is the kernel's business.
#[test]
fn bombs_in_the_machine_end_in_it() {
    let added = added();
    for bomb in ["forks 30", "memory 16"] {
        let folder = folder();
        let output = cell(
            shared(),
            &format!("cmd:/culprit {bomb}"),
            &added,
            &folder.path().join("run"),
        )
        .args(["--timeout", "120"])
        .output()
        .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(4) => assert!(
                said.starts_with("worstcase: ") && !said.contains("panicked at src"),
                "{bomb}: {said}"
            ),
            other => panic!("{bomb}: {other:?}: {said}"),
        }
    }
}
