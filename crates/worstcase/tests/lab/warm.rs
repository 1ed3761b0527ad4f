//! A load is set up and warmed up once for all seeds.

use crate::controller::{Controller, GENERIC, entries};
use std::fs;
use std::path::Path;
use worstcase_results::record::Record;

fn digests(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.digest.as_str()).collect()
}

fn forget(controller: &Controller, area: &str) {
    fs::remove_dir_all(controller.cache().join(area)).unwrap();
}

#[test]
fn the_cells_of_all_seeds_begin_where_the_load_is_warm() {
    let controller = Controller::booted();
    let warm = controller.cache().join("warm");
    let cells = |seeds: &str| controller.measure(&format!("--kernel {GENERIC} --preempt full --samples 100 {seeds}"));
    let first = cells("--load fork,timers --seeds 2");
    assert_eq!(entries(&warm).len(), 2, "one a load");
    let mut others = digests(&first);
    others.dedup();
    assert_eq!(others.len(), 4, "each seed is another cell: {others:?}");
    let more = cells("--load fork,timers --seeds 3");
    assert_eq!(entries(&warm).len(), 2);
    for record in &first {
        let same = more.iter().find(|other| other.id == record.id).unwrap();
        assert_eq!(same.digest, record.digest);
    }

    // What is damaged, or gone, is made again, and is the same.
    for key in entries(&warm) {
        fs::write(warm.join(key).join("pages"), "none").unwrap();
    }
    forget(&controller, "cells");
    assert_eq!(digests(&cells("--load fork,timers --seeds 3")), digests(&more));
    forget(&controller, "cells");
    forget(&controller, "warm");
    assert_eq!(digests(&cells("--load fork,timers --seeds 3")), digests(&more));

    // Another probe, or another warm-up, is another machine.
    cells("--load fork --seeds 1 --probe jitter");
    cells("--load fork --seeds 1 --warmup 50ms");
    assert_eq!(entries(&warm).len(), 4);
}

#[test]
fn a_load_that_fails_before_it_is_warm_is_told_and_nothing_is_kept() {
    let controller = Controller::booted();
    let words = format!("lab run --kernel {GENERIC} --preempt full --load cmd:/none --samples 10 --seeds 2");
    let folder = crate::controller::folder();
    let mut command = controller.worstcase(&words);
    command.arg("--output").arg(folder.path().join("run"));
    crate::failures::one_line(command, 4, &["load 'cmd' ended", "/none"]);
    let warm = controller.cache().join("warm");
    assert!(!Path::exists(&warm) || entries(&warm).is_empty());
}
