//! What others ask to be told with their code: `worstcase licences` has it of everything that is linked, and of nothing else.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process;

/// Linked into the executable, or carried by it.
const CARRIED: [&str; 4] = [
    "worstcase",
    "worstcase-guest",
    "worstcase-plugin",
    "worstcase-policy-loader",
];

fn printed(args: &[&str]) -> String {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let output = command.arg("licences").args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// `NAME VERSION` of each package of others that Cargo links. Macros run in the compiler.
fn linked() -> BTreeSet<String> {
    let output = process::Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["metadata", "--format-version=1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let id = |value: &Value| value["id"].as_str().unwrap().to_string();
    let packages: BTreeMap<String, Value> = list(&metadata["packages"]).into_iter().map(|p| (id(&p), p)).collect();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let nodes: BTreeMap<String, Value> = nodes.into_iter().map(|n| (id(&n), n)).collect();
    let is_carried = |p: &&Value| p["source"].is_null() && CARRIED.contains(&p["name"].as_str().unwrap());
    let mut left: Vec<String> = packages.values().filter(is_carried).map(id).collect();
    assert_eq!(left.len(), CARRIED.len());
    let mut found = BTreeSet::new();
    while let Some(next) = left.pop() {
        let targets = list(&packages[&next]["targets"]);
        let is_macro = targets
            .iter()
            .any(|t| list(&t["kind"]).iter().any(|k| k == "proc-macro"));
        if is_macro || !found.insert(next.clone()) {
            continue;
        }
        let is_linked = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|k| k["kind"].is_null());
        let needs = list(&nodes[&next]["deps"]);
        left.extend(
            needs
                .iter()
                .filter(is_linked)
                .map(|dep| dep["pkg"].as_str().unwrap().to_string()),
        );
    }
    let packages = found.iter().map(|id| &packages[id]).filter(|p| !p["source"].is_null());
    packages
        .map(|p| format!("{} {}", p["name"].as_str().unwrap(), p["version"].as_str().unwrap()))
        .collect()
}

#[test]
fn every_linked_crate_is_told_with_its_notice_and_no_other() {
    let list = printed(&["--list"]);
    let listed: BTreeSet<String> = list
        .lines()
        .map(|line| line.split('\t').next().unwrap().to_string())
        .collect();
    let linked = linked();
    let remedy = "run scripts/notices";
    let missing: Vec<&String> = linked.difference(&listed).collect();
    assert!(missing.is_empty(), "{remedy}: not told: {missing:?}");
    // Not of Cargo.
    let others = [
        "worstcase",
        "ECharts 5.5.1",
        "Rust's standard library",
        "glibc",
        "libelf (elfutils)",
        "zlib",
        "zstd",
    ];
    let needless: Vec<&String> = listed
        .difference(&linked)
        .filter(|name| !others.contains(&name.as_str()))
        .collect();
    assert!(needless.is_empty(), "{remedy}: no longer linked: {needless:?}");

    let all = printed(&[]);
    let line = format!("\n{}\n", "=".repeat(100));
    let headings = all.split(&line).skip(1);
    let have_text: BTreeSet<&str> = headings
        .flat_map(|part| part.lines().next().unwrap().split(", "))
        .collect();
    let silent: Vec<&String> = listed
        .iter()
        .filter(|name| !have_text.contains(name.as_str()))
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
    for text in [
        "Copyright",
        "Apache License",
        "GNU Lesser General Public",
        "THE SOFTWARE IS PROVIDED \"AS IS\"",
    ] {
        assert!(all.contains(text), "{text}");
    }
}

#[test]
fn a_licence_that_does_not_fit_the_gpl_is_not_linked() {
    for line in printed(&["--list"]).lines() {
        let licence = line.split('\t').nth(1).unwrap();
        assert!(!licence.is_empty() && !licence.contains("CDDL"), "{line}");
    }
}
