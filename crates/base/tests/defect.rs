//! What a defect looks like from outside: this file runs itself, and the run panics.

use std::process::Command;
use worstcase_base::{ExitKind, defect};

/// Set to where the panic is to happen.
const ASKED: &str = "WORSTCASE_TEST_PANIC";

#[test]
#[ignore = "the other test runs it, in a process of its own"]
fn panics() {
    let place = std::env::var(ASKED).unwrap();
    let ended = defect::run_reporting_panics(|| match place.as_str() {
        "here" => panic!("line 1\nline 2\x1b[31m"),
        "in threads" => std::thread::scope(|scope| {
            for nth in [1, 2, 3] {
                scope.spawn(move || panic!("thread {nth}"));
            }
        }),
        _ => assert!(defect::guarded(|| panic!("an answer")).is_err()),
    });
    std::process::exit(ended.map_or_else(|exit| exit as i32, |()| 0));
}

#[test]
fn one_line_and_an_exit_code_of_its_own() {
    for (place, code) in [("here", 6), ("in threads", 6), ("guarded", 0)] {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "panics", "--ignored", "--nocapture", "--test-threads=1"]);
        let out = again.env(ASKED, place).env("RUST_BACKTRACE", "1").output().unwrap();
        let told = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(code), "{place}: {told}");
        assert_eq!(told.lines().count(), usize::from(code != 0), "{place}: {told}");
        if code != 0 {
            assert_eq!(code, ExitKind::Defect as i32);
            assert!(told.starts_with("worstcase: defect in worstcase "), "{told}");
            assert!(
                told.contains("tests/defect.rs:") && told.contains("please report it with this line"),
                "{told}"
            );
            assert!(!told.contains('\x1b'), "{told}");
        }
    }
}
