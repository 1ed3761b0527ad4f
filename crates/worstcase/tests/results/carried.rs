//! What runs in a lab machine holds nothing that only a controller reads: no title, help text or grammar. Its bytes are part
//! of every result.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Each crate of the workspace with those of the workspace that it links.
fn links() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["metadata", "--format-version=1", "--locked", "--no-deps"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let name = |value: &Value| value["name"].as_str().unwrap().to_string();
    let own = |package: &Value| {
        let linked = list(&package["dependencies"]);
        let linked = linked.iter().filter(|d| d["path"].is_string() && d["kind"].is_null());
        linked.map(name).collect()
    };
    list(&metadata["packages"]).iter().map(|p| (name(p), own(p))).collect()
}

/// A crate of the workspace and all that it links there.
fn closure(of: &str) -> BTreeSet<String> {
    let links = links();
    let (mut found, mut left) = (BTreeSet::new(), vec![of.to_string()]);
    while let Some(next) = left.pop() {
        left.extend(links[&next].iter().cloned());
        found.insert(next);
    }
    found
}

fn expect(of: &str, crates: &[&str]) {
    let wanted: BTreeSet<String> = crates.iter().map(|name| format!("worstcase-{name}")).collect();
    assert_eq!(
        closure(of),
        wanted,
        "{of} is part of every lab result: docs/lab.md says what its bytes depend on"
    );
}

#[test]
fn the_guest_and_the_plugin_link_nothing_that_only_a_controller_reads() {
    expect(
        "worstcase-guest",
        &["guest", "cell", "io", "wires", "instruments", "disk", "logs"],
    );
    expect("worstcase-plugin", &["plugin", "logs", "costs"]);
    expect("worstcase-policy-loader", &["policy-loader"]);
    assert!(closure("worstcase-lab").contains("worstcase-contract"));
}
