//! What was found while a program of the user's own was followed: kept beside its record.

use super::breakdown_files::ShowBreakdownError;
use super::error::Error;
use serde::Deserialize;
use worstcase_base::format::plain;
use worstcase_results::record::{FOLLOW_FILE, Record, Run};

/// The part of the file that is for people.
#[derive(Deserialize)]
struct FoundSentences {
    sentences: Vec<String>,
}

/// It in sentences, or the file as it is.
pub fn told(run: &Run, record: &Record, json: bool) -> Result<String, Error> {
    let bytes = run.beside(&record.id, FOLLOW_FILE)?;
    let bytes = bytes.ok_or_else(|| ShowBreakdownError::NothingFound(record.id.clone()))?;
    let other = |what: String| Error::from(run.other_version(&record.id, FOLLOW_FILE, what));
    if json {
        return String::from_utf8(bytes).map_err(|e| other(e.to_string()));
    }
    let found: FoundSentences = serde_json::from_slice(&bytes).map_err(|e| other(e.to_string()))?;
    let name = record.followed.as_ref().map(|followed| followed.named());
    let lines = name.into_iter().chain(found.sentences);
    let text: Vec<String> = lines.map(|line| plain(&line)).collect();
    let file = run.cell_dir(&record.id).join(FOLLOW_FILE);
    Ok(format!(
        "{}\n\nall of it: {}\n",
        text.join("\n"),
        plain(&file.display().to_string())
    ))
}
