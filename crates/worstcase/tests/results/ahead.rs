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
        // Quick and full, each with what it takes and what has to be fetched; a kernel that is built is not.
        let is_built = shown.contains("kernels  ./linux+CONFIG_");
        let lines = if is_built { 1 } else { 2 };
        assert_eq!(told.len(), 2 * lines, "{shown}");
        for form in told.chunks(lines) {
            let measured = form[0];
            assert!(
                measured.contains(" cells to measure, ") && measured.contains("to boot: about "),
                "{measured}"
            );
            for fetched in &form[1..] {
                assert!(
                    fetched.contains("to fetch: ") && fetched.ends_with("on the disk"),
                    "{fetched}"
                );
            }
        }
        assert!(!shown.contains(" 0 ns"), "{shown}");
    }
    assert_eq!(
        std::fs::read_dir(cache.path()).unwrap().count(),
        0,
        "nothing was written"
    );
}
