//! A watch that is killed.

use super::{TestWatch, end, family, kill};
use crate::run::{processes_below, until};
use rustix::process::Signal;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::time::Duration;

/// How many times; `WORSTCASE_KILLS=50` for a longer trial.
fn kills() -> u64 {
    let asked = std::env::var("WORSTCASE_KILLS").ok();
    asked.map_or(6, |n| n.parse().expect("WORSTCASE_KILLS is a number"))
}

#[test]
fn what_was_written_is_kept_after_kill_9_at_any_instant_and_nothing_is_left() {
    let watch = TestWatch::new();
    for nth in 0..kills() {
        let mut child = watch.start(&["--resume", "--load", "fork"]);
        // At any instant: while it starts, measures, writes, goes to the next segment.
        let instant = RandomState::new().hash_one(nth) % 3_000;
        std::thread::sleep(Duration::from_millis(instant));
        family(child.id()).into_iter().for_each(|pid| kill(pid, Signal::KILL));
        child.wait().unwrap();
        until("all are gone", || processes_below(watch.0.path()).is_empty());
        watch.assert_readable();
        let kept = watch.records().len();
        println!(
            "killed after {instant} ms: {} segments, {kept} records",
            watch.segments().len()
        );
    }
    let before = watch.segments().len();
    let child = watch.start(&["--resume", "--load", "fork"]);
    until("another segment", || watch.segments().len() > before);
    end(child);
    watch.assert_readable();
    assert_eq!(watch.left(), Vec::<PathBuf>::new());
    let gaps = watch.json()["gaps"].as_array().unwrap().clone();
    assert!(gaps.iter().all(|gap| gap["why"] == "killed"), "{gaps:?}");
    // Who was killed before it had begun leaves no gap.
    assert!(gaps.len() as u64 <= kills());
    // All but the last end early, and say so, unless the kill fell between two segments.
    let early = watch
        .records()
        .iter()
        .filter(|r| r["environment"]["ended_early"] == "1")
        .count();
    assert!(early <= gaps.len() + 1, "{early} of {}", watch.records().len());
}

#[test]
fn a_killed_controller_leaves_no_process() {
    let watch = TestWatch::new();
    let mut child = watch.start(&["--load", "fork"]);
    until("a segment is begun", || !watch.segments().is_empty());
    kill(child.id(), Signal::KILL);
    child.wait().unwrap();
    until("all are gone", || processes_below(watch.0.path()).is_empty());
    until("the guard has cleaned up", || {
        !watch.left().iter().any(|p| p.starts_with(watch.path("state")))
    });
    watch.assert_readable();
    assert_eq!(watch.json().get("ended"), None);
}
