//! No test of the workspace ends early without a word: where one cannot be done, it is skipped, with why.

use std::fs;
use std::path::{Path, PathBuf};

/// All files of Rust below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Numbers of the lines on which a test returns. A test ends with a brace that stands below its attribute.
fn returns(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut end = None;
    for (number, line) in text.lines().enumerate() {
        let written = line.trim_start();
        if written == "#[test]" {
            end = Some(format!("{}}}", &line[..line.len() - written.len()]));
        } else if end.as_deref() == Some(line) {
            end = None;
        }
        let bare = written.ends_with("return;") || written.ends_with("=> return,") || written.contains("{ return }");
        if end.is_some() && bare {
            found.push(number + 1);
        }
    }
    found
}

#[test]
fn no_test_returns_early() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    assert!(files.len() > 500, "{}", files.len());
    let mut early = Vec::new();
    for file in files {
        let lines = returns(&fs::read_to_string(&file).unwrap());
        early.extend(lines.iter().map(|line| format!("{}:{line}", file.display())));
    }
    assert!(
        early.is_empty(),
        "a test that cannot be done ends with skip!: {early:#?}"
    );
}

/// `@` for the attribute, or this would be a test.
const EARLY: &str = "fn helper() {
    return;
}
@
fn one() {
    if no() {
        return;
    }
    let Some(it) = it() else { return };
}
fn another() {
    return;
}
";

#[test]
fn an_early_return_is_found() {
    assert_eq!(returns(&EARLY.replace('@', "#[test]")), [7, 9]);
}
