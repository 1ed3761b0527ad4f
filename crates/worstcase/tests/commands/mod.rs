//! The commands of README and docs, each in a small form: what it exits with, and one line that it tells.
//!
//! ```text
//! collected  the commands, as the documents have them
//! table      what becomes of each: where it is done, or why it cannot be done here
//! small      the small form of a measurement: a seed, a few samples, one kernel
//! ```

mod collected;
mod small;
mod table;

use assert_cmd::Command;
pub use collected::{DocumentedCommand, documented};
use std::fs;
use std::path::Path;
pub use table::Place;
use table::{ROWS, Row, Way};

impl Row {
    /// Whether the row is about this command: its words begin it.
    fn fits(&self, command: &DocumentedCommand) -> bool {
        let is_in_a_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let rest = command.text.strip_prefix(self.begins);
        rest.is_some_and(|rest| !is_in_a_word(rest.chars().next()) || !is_in_a_word(self.begins.chars().next_back()))
    }
}

/// The row with the most words that fit.
fn row(command: &DocumentedCommand) -> Option<&'static Row> {
    let fitting = ROWS.iter().filter(|row| row.fits(command));
    fitting.max_by_key(|row| row.begins.len())
}

/// Does all commands of a place in a folder that holds runs; `command` gives worstcase as the place's tests start it.
pub fn do_all(place: Place, folder: &Path, command: impl Fn() -> Command) {
    let mut wrong = Vec::new();
    let mut done = 0;
    let commands = documented();
    // In the order of the table, so that a run is there before somebody looks at it.
    for row_of in ROWS {
        for (number, documented) in commands.iter().enumerate() {
            let is_its_own = row(documented).is_some_and(|row| std::ptr::eq(row, row_of));
            let Way::Done { at, small, code, says } = &row_of.way else {
                continue;
            };
            if !is_its_own || *at != place {
                continue;
            }
            done += 1;
            let words = small::form(&documented.text, small, number);
            let begun = std::time::Instant::now();
            let output = command().args(&words[1..]).current_dir(folder).output().unwrap();
            let said = [&output.stdout, &output.stderr]
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .concat();
            eprintln!("{:6.1} s  {}", begun.elapsed().as_secs_f64(), words.join(" "));
            if output.status.code() != Some(*code) || !said.contains(says) {
                let document = &documented.document;
                wrong.push(format!(
                    "{document}: {}\n  as: {}\n  {:?} instead of {code}, without '{says}'?\n{said}",
                    documented.text,
                    words.join(" "),
                    output.status.code(),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {done}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(done > 1, "{done}");
}

/// Copies a run under the names that the documents give to theirs.
pub fn copy(folder: &Path, run: &str, names: &[&str]) {
    for name in names {
        let to = folder.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let status = std::process::Command::new("cp")
            .arg("-r")
            .arg(folder.join(run))
            .arg(&to)
            .status();
        assert!(status.unwrap().success(), "{name}");
    }
}

#[test]
fn every_command_of_the_documents_is_in_the_table() {
    let commands = documented();
    assert!(commands.len() > 150, "{}", commands.len());
    let missing: Vec<String> = commands
        .iter()
        .filter(|command| row(command).is_none())
        .map(|command| format!("{}: {}", command.document, command.text))
        .collect();
    assert!(
        missing.is_empty(),
        "in no row of tests/commands/table.rs:\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_row_is_about_a_command_of_the_documents() {
    let commands = documented();
    let is_used = |one: &&Row| {
        commands
            .iter()
            .any(|command| row(command).is_some_and(|row| std::ptr::eq(row, *one)))
    };
    let unused: Vec<&str> = ROWS.iter().filter(|one| !is_used(one)).map(|one| one.begins).collect();
    assert!(unused.is_empty(), "no document has: {unused:#?}");
    let reasons = ROWS.iter().filter_map(|one| match one.way {
        Way::Not(why) => Some(why),
        Way::Done { .. } => None,
    });
    assert!(reasons.clone().all(|why| !why.is_empty()));
    assert!(reasons.count() < ROWS.len() / 2, "more is not done than done");
}
