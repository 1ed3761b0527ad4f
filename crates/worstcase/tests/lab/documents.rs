//! The commands of README and docs that measure in the lab, or look at what was measured there.

use crate::commands::{Place, copy, do_all};
use crate::controller::{folder, shared};

/// The names that the documents give to runs.
const NAMES: [&str; 19] = [
    "RUN",
    "NEW",
    "demo-run",
    "BEFORE",
    "AFTER",
    "OLD-RUN",
    "found",
    "isolated",
    "isolation",
    "one",
    "lab",
    "with",
    "without",
    "flavours",
    "tried",
    "RUNS/a",
    "RUNS/b",
    "week",
    "why",
];

#[test]
fn the_documents_commands_do_in_the_lab_what_they_say() {
    let controller = shared();
    let folder = folder();
    let run = folder.path().join("mine");
    let words = "--kernel debian:6.1 --preempt full --load fork --samples 50 --seeds 2";
    controller.run(words, &run).assert().success();
    copy(folder.path(), "mine", &NAMES);
    do_all(Place::Lab, folder.path(), || controller.worstcase(""));
}
