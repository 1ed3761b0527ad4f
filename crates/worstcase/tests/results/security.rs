//! docs/security.md names the test that shows each promise: there is such a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = "## Who tries what";

fn tests_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            // A test is what stands below its attribute.
            let names = lines.windows(2).filter(|pair| pair[0] == "#[test]");
            found.extend(names.filter_map(|pair| Some(pair[1].strip_prefix("fn ")?.split_once('(')?.0.to_string())));
        }
    }
}

#[test]
fn every_promise_names_a_test_that_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tests = BTreeSet::new();
    tests_below(&root.join("crates"), &mut tests);
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let table = page.split(TABLE).nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test: {row}");
        for name in named {
            assert!(tests.contains(name), "there is no test {name}: {row}");
        }
    }
}
