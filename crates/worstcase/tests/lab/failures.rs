//! How a failure must look: an exit code, one clear first line, and behind it only what the machine said.

use assert_cmd::Command;

/// What a failed command said.
pub struct Failure {
    /// The line for a person.
    pub line: String,
    /// What follows: the console's last lines.
    pub console: String,
}

/// Runs a command that must fail with this code; nothing may stand on standard output.
pub fn failure(mut command: Command, code: i32) -> Failure {
    let assert = command.assert().code(code).stdout("");
    let said = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(!said.contains("panicked at"), "worstcase itself panicked: {said}");
    let (line, console) = said.split_once('\n').expect("a line on standard error");
    Failure {
        line: line.into(),
        console: console.into(),
    }
}

/// As [`failure`], and the line is all that is said.
pub fn one_line(command: Command, code: i32, says: &[&str]) {
    let Failure { line, console } = failure(command, code);
    assert!(line.starts_with("worstcase: "), "{line}");
    assert_eq!(console, "", "after {line}");
    for words in says {
        assert!(line.contains(words), "'{words}' is not in: {line}");
    }
}

/// As [`failure`], for a machine that failed: the line says how, and the console's lines follow it.
pub fn machine_failed(command: Command, says: &[&str], console_says: &str) {
    let Failure { line, console } = failure(command, 4);
    assert!(line.starts_with("worstcase: "), "{line}");
    assert!(line.ends_with("; last console lines:"), "{line}");
    for words in says {
        assert!(line.contains(words), "'{words}' is not in: {line}");
    }
    assert!(
        console.contains(console_says),
        "'{console_says}' is not in the console:\n{console}"
    );
}
