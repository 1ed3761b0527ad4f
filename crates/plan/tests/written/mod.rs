//! Study files as a user writes them, right and wrong.

use std::fs;
use worstcase_plan::study::load;
use worstcase_plan::{Study, StudyError};

pub fn read(text: &str) -> Result<Study, StudyError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.toml");
    fs::write(&path, text).unwrap();
    load(path.to_str().unwrap())
}

/// What is said of the study with one text changed, from the line on.
pub fn said_of(study: &str, from: &str, to: &str) -> String {
    assert!(study.contains(from), "{from}");
    let error = read(&study.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    let (_, said) = error.split_once("mine.toml, ").unwrap();
    said.to_string()
}
