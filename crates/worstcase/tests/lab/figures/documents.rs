//! The blocks of docs/ that say which command they are from:
//!
//!     <!-- lab run --kernel debian:6.1 --preempt full --load idle | show -->
//!
//! stands above the block. What one line measures, another one with the same words reads.

use super::{blocks, is_written, of_another_machine, root};
use crate::controller::{folder, shared};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

const MARK: &str = "<!-- lab run ";
const FENCE: &str = "```\n";

/// A block that says where it is from.
struct MeasuredBlock<'a> {
    lab_run: &'a str,
    shown_by: &'a str,
    text: &'a str,
}

fn measured_blocks(page: &str) -> impl Iterator<Item = MeasuredBlock<'_>> {
    page.split(MARK).skip(1).map(|behind| {
        let (command, rest) = behind.split_once(" -->").expect("the end of a mark");
        let (lab_run, shown_by) = command.split_once(" | ").expect("'lab run ... | show'");
        let text = rest
            .trim_start()
            .strip_prefix(FENCE)
            .and_then(|rest| rest.split_once("\n```"));
        let (text, _) = text.unwrap_or_else(|| panic!("no block behind '{command}'"));
        MeasuredBlock {
            lab_run,
            shown_by,
            text,
        }
    })
}

/// The words of a command, of which those with a space stand between quotes.
fn words(command: &str) -> Vec<String> {
    let quoted = command.split('"').enumerate();
    let split = |(at, part): (usize, &str)| match at % 2 {
        0 => part.split_whitespace().map(str::to_string).collect(),
        _ => vec![part.to_string()],
    };
    quoted.flat_map(split).collect()
}

fn shown(words: &[String], run: &Path) -> String {
    let output = shared()
        .worstcase("")
        .args(&words[..1])
        .arg(run)
        .args(&words[1..])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_documents_are_of_this_version() {
    let folder = folder();
    let mut runs: HashMap<String, PathBuf> = HashMap::new();
    let pages = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = pages
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    let (mut differences, mut others) = (Vec::new(), BTreeSet::new());
    for path in pages {
        let page = fs::read_to_string(&path).unwrap();
        let mut now = page.clone();
        for block in measured_blocks(&page) {
            let names_cell = ["--cell", "--compare"]
                .iter()
                .any(|option| block.shown_by.contains(option));
            assert!(
                !names_cell,
                "'{}' would name no cell of another release",
                block.shown_by
            );
            let next = folder.path().join(runs.len().to_string());
            let run = runs.entry(block.lab_run.into()).or_insert_with(|| {
                let mut command = shared().run("--jobs 2", &next);
                command.args(words(block.lab_run)).assert().success();
                next
            });
            if let Some(why) = of_another_machine(run, block.text) {
                others.insert(why);
                continue;
            }
            let place = format!("{}, '{} | {}'", path.display(), block.lab_run, block.shown_by);
            match blocks::renewed(block.text, &shown(&words(block.shown_by), run)) {
                Ok(renewed) if renewed == block.text => (),
                Ok(renewed) if is_written() => now = now.replace(block.text, &renewed),
                Ok(renewed) => differences.push(format!("{place}:\n{}\nis now\n{renewed}", block.text)),
                Err(why) => differences.push(format!("{place}: {why}")),
            }
        }
        if now != page {
            fs::write(&path, now).unwrap();
        }
    }
    assert!(runs.len() > 3, "few blocks say where they are from");
    assert!(
        differences.is_empty(),
        "scripts/figures writes the documents' figures anew:\n{}",
        differences.join("\n\n")
    );
    others.iter().for_each(|why| worstcase_skips::skipped(why, None));
}
