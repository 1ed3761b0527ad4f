//! What work is going to take is told before it begins, and without measuring.

use assert_cmd::Command;
use worstcase_plan::study;

/// Nothing is known of the machine: the cache is empty.
fn study(cache: &std::path::Path, words: &[&str]) -> String {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.arg("study").args(words).env("WORSTCASE_CACHE", cache);
    let said = command.assert().success().stderr("");
    String::from_utf8(said.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_study_tells_its_time_download_and_disk() {
    let cache = tempfile::tempdir().unwrap();
    let list = study(cache.path(), &["list"]);
    for one in study::built_in() {
        let line = list
            .lines()
            .find(|line| line.starts_with(&format!("{} ", one.name)))
            .unwrap();
        assert!(line.contains("(about: quick ") && line.contains(", full "), "{line}");
        let shown = study(cache.path(), &["show", &one.name]);
        let told: Vec<&str> = shown.lines().filter(|line| line.starts_with("  takes ")).collect();
        // Quick and full, each with what it takes and what has to be fetched.
        assert_eq!(told.len(), 4, "{shown}");
        for pair in told.chunks(2) {
            assert!(
                pair[0].contains(" cells to measure, ") && pair[0].contains("to boot: about "),
                "{}",
                pair[0]
            );
            assert!(
                pair[1].contains("to fetch: ") && pair[1].ends_with("on the disk"),
                "{}",
                pair[1]
            );
        }
        assert!(!shown.contains(" 0 ns"), "{shown}");
    }
    assert_eq!(
        std::fs::read_dir(cache.path()).unwrap().count(),
        0,
        "nothing was written"
    );
}
