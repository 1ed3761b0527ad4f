//! A census of machines of arm64: on real kernels, through the command line.

use crate::arm64::{KERNEL, PACKAGE, controller, missing};
use crate::census::{number, output};
use crate::controller::{entries, folder, link_kernel};
use serde_json::Value;
use worstcase_skips::skip;

const RT: &str = "debian:6.12-rt/arm64";

/// The state that the plugin follows is the true one at every block, and samples are what its sections let expect.
#[test]
fn audited_under_the_models_of_arm64() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    link_kernel(controller.cache(), RT);
    let run = folder.path().join("run");
    let words = format!("--kernel {KERNEL},{RT} --load fork --seeds 1 --samples 150");
    controller.run(&words, &run).assert().success();
    let cells = entries(&run.join("cells"));
    assert_eq!(cells.len(), 2);
    for id in &cells {
        let told = output(&controller, &format!("--cell {id} --audit --json"), &run);
        let cell: Value = serde_json::from_str(&told).unwrap();
        assert!(number(&cell, "/audited_blocks") > 500_000, "{id}");
        assert_eq!(cell["polls_known"], true, "{id}");
        let kinds = cell["kinds"].as_array().unwrap();
        let counted = kinds.iter().filter(|kind| number(kind, "/count") > 100);
        assert!(counted.count() >= 3, "{id}");
        let longest = ["longest", "sampled"].map(|name| number(&cell, &format!("/longest_of_run/{name}_ns")));
        assert!(longest[0] >= longest[1], "{id}: {longest:?}");
    }
}

/// Reading /proc holds a kernel that is not preempted for some hundred microseconds.
#[test]
fn a_long_section_of_arm64_is_named() {
    if let Some(why) = missing() {
        skip!(why, PACKAGE);
    }
    let (controller, folder) = (controller(KERNEL), folder());
    let run = folder.path().join("run");
    let words = format!("--kernel {KERNEL} --load procread --seeds 1 --samples 200");
    controller.run(&words, &run).assert().success();
    let voluntary = &entries(&run.join("cells"))[0];
    let told = output(&controller, &format!("--cell {voluntary} --audit --json"), &run);
    let cell: Value = serde_json::from_str(&told).unwrap();
    let longest = &cell["kinds"][0]["longest"]["owners"][0];
    let chain = longest["longest"]["common"].as_array().unwrap();
    assert!(
        chain.iter().any(|frame| frame["function"] == "seq_read_iter"),
        "{longest}"
    );
    assert!(number(longest, "/longest/length_ns") > 100_000);
    assert!(number(&cell, "/path/in_sections/max_ns") < 10_000);
    assert_eq!(cell["tail"]["agrees"], true, "{}", cell["tail"]);
}
