//! Replays that begin at a checkpoint tell what those of a whole cell tell.

use crate::controller::{Controller, GENERIC, folder};
use std::fs;
use std::path::Path;

fn explained(controller: &Controller, run: &Path, words: &str) -> String {
    let mut command = controller.worstcase("explain");
    let assert = command.arg(run).args(words.split(' ')).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

#[test]
fn a_sample_is_explained_the_same_from_the_warm_snapshot_a_checkpoint_and_what_was_kept() {
    let controller = Controller::booted();
    let folder = folder();
    let run = folder.path().join("run");
    let words = format!("--kernel {GENERIC} --preempt full --load fork --samples 500 --seed 1");
    controller.run(&words, &run).assert().success();
    let kept = |area: &str| fs::read_dir(controller.cache().join(area)).map_or(0, Iterator::count);
    // Of files every replay is a new one. The first begins at the warm snapshot.
    let [first, part] = ["first", "part"].map(|name| folder.path().join(name));
    let late = |stacks: &Path| format!("--sample 400 --folded {}", stacks.display());
    let told = explained(&controller, &run, &late(&first));
    let checkpoints = kept("checkpoints");
    assert!(checkpoints > 0);
    assert_eq!(explained(&controller, &run, &late(&part)), told);
    assert!(fs::read(&first).unwrap() == fs::read(&part).unwrap());
    let first = explained(&controller, &run, "--sample worst");
    let breakdowns = kept("breakdowns");
    // Nothing is left to be replayed.
    fs::remove_dir_all(controller.cache().join("checkpoints")).unwrap();
    assert_eq!(explained(&controller, &run, "--sample worst"), first);
    assert_eq!((kept("checkpoints"), kept("breakdowns")), (0, breakdowns));
    // Nor is its machine made again; a sample that was not explained yet needs one.
    let without_qemu = |sample: &str| {
        let mut command = controller.worstcase("explain");
        command.arg(&run).args(["--sample", sample]).env("PATH", "");
        command
    };
    without_qemu("worst").assert().success().stdout(first.clone());
    without_qemu("p90").assert().code(3);
    // A QEMU that is named is looked at each time.
    let mut with_another = without_qemu("worst");
    with_another.args(["--qemu", "/no/qemu"]).assert().code(2);
    // What ran on the way to another sample is kept, and the rest when it is needed.
    explained(&controller, &run, "--sample 0 --folded /dev/null");
    assert_eq!(kept("checkpoints"), 0);
    assert_eq!(explained(&controller, &run, &late(&part)), told);
    assert_eq!(kept("checkpoints"), checkpoints);
    // A checkpoint that is damaged is none.
    for entry in fs::read_dir(controller.cache().join("checkpoints")).unwrap() {
        fs::write(entry.unwrap().path().join("pages"), "none").unwrap();
    }
    assert_eq!(explained(&controller, &run, &late(&part)), told);
}

/// From the machine in the middle of a cell, from one that a replay left, and from nothing.
#[test]
fn a_census_names_the_same_owners_wherever_its_replays_begin() {
    let (controller, folder) = (Controller::booted(), folder());
    let run = folder.path().join("run");
    let words = format!("--kernel {GENERIC} --preempt full --load shm --samples 600 --seed 1");
    controller.run(&words, &run).assert().success();
    let census = || {
        let assert = controller
            .worstcase("census --json --cell shm")
            .arg(&run)
            .assert()
            .success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    let first = census();
    assert!(first.contains("free_unref_page_list"), "{first}");
    fs::remove_dir_all(controller.cache().join("census-owners")).unwrap();
    assert_eq!(census(), first);
    for area in ["census", "census-owners", "checkpoints"] {
        fs::remove_dir_all(controller.cache().join(area)).unwrap();
    }
    assert_eq!(census(), first, "from nothing");
}
