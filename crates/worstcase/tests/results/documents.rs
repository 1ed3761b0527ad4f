//! Tables of documents that stand in the code as well: they say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::probe::PROBES;
use worstcase_contract::{Probe, Venue};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table with this heading, as cells without emphasis, links and blanks.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let lines = text.lines().skip_while(|line| *line != heading).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_string())
            .collect()
    };
    rows.map(cells).collect()
}

/// The word in backquotes.
fn word(cell: &str) -> &str {
    cell.split('`').nth(1).unwrap_or_else(|| panic!("no name: {cell}"))
}

#[test]
fn every_probe_stands_in_the_documents_with_its_venues() {
    let rows = table("docs/probes.md", "| probe | one sample is | where | limits, in short |");
    let named: BTreeSet<&str> = rows.iter().map(|row| word(&row[0])).collect();
    assert_eq!(named, PROBES.iter().map(|probe| probe.name).collect());
    for row in &rows {
        for (venue, what) in [(Venue::Lab, "lab"), (Venue::Host, "host")] {
            let has = Probe::names(venue).any(|name| name == word(&row[0]));
            assert_eq!(row[2].contains(what), has, "{row:?}: {what}");
        }
    }
    let host = table("docs/host.md", "| probe | one sample is | usual settings |");
    let named: BTreeSet<&str> = host.iter().map(|row| word(&row[0])).collect();
    assert_eq!(named, Probe::names(Venue::Host).collect());
}

#[test]
fn every_crate_stands_in_the_drawing_of_the_house() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let section = text
        .split("## The crates")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let words = section.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        assert!(words.into_iter().any(|word| word == name), "{name}");
    }
}

/// A list at a module's head, `name  what it is for`, names modules that there are.
#[test]
fn lists_of_modules_name_what_is_there() {
    let mut listed = 0;
    for head in heads(&root().join("crates")) {
        let text = fs::read_to_string(&head).unwrap();
        let mut in_list = false;
        for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
            if line.trim().starts_with("```") {
                in_list = line.trim() == "```text";
                continue;
            }
            let Some((name, about)) = line.strip_prefix(' ').and_then(|line| line.split_once("  ")) else {
                continue;
            };
            let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !name.is_empty();
            if in_list && is_name && !about.trim().is_empty() {
                listed += 1;
                let beside = head.with_file_name(name);
                let there = beside.is_dir() || beside.with_extension("rs").exists();
                assert!(there, "{}: there is no module {name}", head.display());
            }
        }
    }
    assert!(listed > 50, "{listed}");
}

fn heads(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(heads(&path));
        } else if path.ends_with("lib.rs") || path.ends_with("mod.rs") {
            found.push(path);
        }
    }
    found
}
