//! The same cell gives the same samples, to the bit: forked or booted anew, on an idle controller or a busy one.

use crate::controller::{Controller, GENERIC, RT, entries, folder, shared};
use crate::failures::one_line;
use crate::smp::boot_and_measure_disturbed;
use std::fs;

/// The digest that `lab verify` found in all runs.
fn verified(controller: &Controller, words: &str) -> String {
    let assert = controller
        .worstcase("lab verify --runs 2")
        .args(words.split_whitespace())
        .assert();
    let out = String::from_utf8(assert.success().get_output().stdout.clone()).unwrap();
    let (_, digest) = out.split_once("2 runs, one digest: ").expect("what verify says");
    assert!(digest.starts_with("sha256:"), "{out}");
    digest.trim().to_string()
}

/// Of a machine of two CPUs none is kept.
#[test]
fn a_cell_goes_on_from_its_checkpoints() {
    for (cpus, checkpoints) in [("1", 4), ("2", 0)] {
        let verify = shared()
            .worstcase("lab verify --runs 1 --checkpoints --preempt full --load shm --samples 1000 --seed 1")
            .args(["--kernel", GENERIC, "--cpus", cpus])
            .assert();
        let out = String::from_utf8(verify.success().get_output().stdout.clone()).unwrap();
        let says = format!(": 1 runs, one digest, also on from {checkpoints} checkpoints: sha256:");
        assert!(out.contains(&says), "{out}");
    }
}

fn cell(kernel: &str, model: &str) -> String {
    format!("--kernel {kernel} --preempt {model} --load fork --samples 300 --seed 1")
}

/// QEMU is kicked and stopped while it boots anew and measures.
fn repeats_however_the_host_interferes(cell: &str) {
    let calm = shared().measure(cell);
    assert_eq!(boot_and_measure_disturbed(cell), calm);
    let other = shared().measure(&cell.replace("--seed 1", "--seed 2"));
    assert_ne!(other[0].digest, calm[0].digest, "another seed is another cell");
}

/// Every boot is held to the first one, whose state outlives its snapshot.
#[test]
fn a_boot_that_comes_to_something_else_is_an_error() {
    let (controller, folder) = (Controller::booted(), folder());
    let cell = |seed: u32| format!("--kernel {GENERIC} --preempt full --samples 200 --seed {seed}");
    let run = |seed: u32| controller.run(&cell(seed), &folder.path().join(seed.to_string()));
    run(1).assert().success();
    let snapshots = controller.cache().join("snapshots");

    let key = entries(&snapshots).remove(0);
    let path = controller.cache().join("boots").join(&key).join("boot.json");
    let mut state: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let instructions = state["instructions"].as_u64().unwrap();
    assert!(instructions > 100_000_000, "{instructions}");
    state["instructions"] = (instructions + 1).into();
    // A page of the BIOS, and the kernel's first.
    for page in ["240", "4096"] {
        let content = state["pages"][page].as_u64().unwrap();
        state["pages"][page] = (content ^ 1).into();
    }
    fs::write(&path, state.to_string()).unwrap();
    // It was so from the beginning, and is not damaged.
    worstcase_base::sealed::seal(path.parent().unwrap()).unwrap();

    let differs = format!("it stopped after {instructions} instructions, not {}", instructions + 1);
    let says = [
        "6.1",
        "this boot is not the same machine as the first",
        &differs,
        "pages of memory that differ: 2, the first at physical address 0xf0000",
        path.parent().unwrap().to_str().unwrap(),
    ];
    one_line(
        controller.worstcase(&format!("lab verify --runs 2 {}", cell(3))),
        4,
        &says,
    );
    fs::remove_dir_all(&snapshots).unwrap();
    one_line(run(4), 4, &says);
    assert!(entries(&snapshots).is_empty(), "no snapshot is kept of it");
}

#[test]
fn none_is_reproducible() {
    repeats_however_the_host_interferes(&cell(GENERIC, "none"));
}

#[test]
fn full_is_verified_on_a_busy_controller() {
    let cell = cell(GENERIC, "full");
    // The second of two runs has every CPU of the controller kept busy.
    let digest = verified(shared(), &cell);
    assert_eq!(
        shared().measure(&cell)[0].digest,
        digest,
        "'run' gives what 'verify' verifies"
    );
}

#[test]
fn rt_is_reproducible() {
    repeats_however_the_host_interferes(&cell(RT, "rt"));
}
