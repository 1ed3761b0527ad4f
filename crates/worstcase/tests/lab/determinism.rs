//! The same cell gives the same samples, to the bit: forked or booted anew, on an idle desk or a busy one.

use crate::desk::{Desk, GENERIC, RT, shared};

/// The digest that `lab verify` found in all runs.
fn verified(desk: &Desk, words: &str) -> String {
    let assert = desk.worstcase("lab verify --runs 2").args(words.split(' ')).assert();
    let out = String::from_utf8(assert.success().get_output().stdout.clone()).unwrap();
    let (_, digest) = out.split_once("2 runs, one digest: ").expect("what verify says");
    assert!(digest.starts_with("sha256:"), "{out}");
    digest.trim().to_string()
}

/// The second of two runs has every CPU of the desk kept busy.
fn is_reproducible(kernel: &str, model: &str) {
    let cell = format!("--kernel {kernel} --preempt {model} --load fork --samples 300 --seed 1");
    let digest = verified(shared(), &cell);
    assert_eq!(verified(shared(), &format!("{cell} --fresh-boots")), digest);
    let kept = shared().measure(&cell);
    assert_eq!(kept[0].digest, digest, "'run' gives what 'verify' verifies");
    let other = shared().measure(&cell.replace("--seed 1", "--seed 2"));
    assert_ne!(other[0].digest, digest, "another seed is another cell");
}

#[test]
fn none_is_reproducible() {
    is_reproducible(GENERIC, "none");
}

#[test]
fn full_is_reproducible() {
    is_reproducible(GENERIC, "full");
}

#[test]
fn rt_is_reproducible() {
    is_reproducible(RT, "rt");
}
