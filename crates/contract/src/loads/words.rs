//! What a load's name and parameter are, and where one load ends and the next begins.

use super::command_line;
use super::info::{LoadInfo, Takes};
use super::list::LOADS;
use crate::grammar::{NumberRange, ValueKind};
use crate::spec_error::SpecError;
use std::path::PathBuf;

pub(crate) const RATE: NumberRange = NumberRange {
    what: "operations a second",
    least: 1,
    most: 1_000_000,
};

/// What stands behind a load's colon.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum LoadParameter {
    None,
    Number(u32),
    Word(&'static str),
    Path(PathBuf),
    Command { text: String, words: Vec<String> },
}

/// The row of the load that `text` begins with.
pub(super) fn begins_with(text: &str) -> Option<&'static LoadInfo> {
    let end = text.find([':', '@', '+']).unwrap_or(text.len());
    let has_parameter = text[end..].starts_with(':');
    let named = |info: &&LoadInfo| info.name() == &text[..end];
    let word = text[end..].split([':', '@', '+']).nth(1).unwrap_or_default();
    // Loads of one name may differ in what they take: `compile` and `compile:PATH`, or two words.
    let fits = |info: &&LoadInfo| match info.takes {
        Takes::Nothing => !has_parameter,
        Takes::Usual(usual) => !has_parameter || word == usual,
        Takes::Word(own) => has_parameter && word == own,
        Takes::Number { .. } | Takes::Path(_) | Takes::Command(_) => has_parameter,
    };
    LOADS
        .iter()
        .find(|info| named(info) && fits(info))
        .or_else(|| LOADS.iter().find(named))
}

/// The parts between the `+` signs. What follows `cmd:` is the program's; in a path only a `+` with the name of a
/// load behind it separates.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let takes = begins_with(rest).map(|info| &info.takes);
        let separates = |at: usize| match takes {
            Some(Takes::Command(_)) => false,
            Some(Takes::Path(_)) => begins_with(&rest[at + 1..]).is_some(),
            _ => true,
        };
        let Some((end, _)) = rest.match_indices('+').find(|(at, _)| separates(*at)) else {
            parts.push(rest);
            return parts;
        };
        parts.push(&rest[..end]);
        rest = &rest[end + 1..];
    }
}

pub(super) fn parameter(info: &LoadInfo, text: Option<&str>) -> Result<LoadParameter, SpecError> {
    let name = info.name();
    let wrong = |what: String| Err(SpecError(what));
    match (&info.takes, text) {
        (Takes::Nothing | Takes::Usual(_) | Takes::Number { required: false, .. }, None) => Ok(LoadParameter::None),
        (Takes::Usual(word), Some(p)) if p == *word => Ok(LoadParameter::None),
        (Takes::Word(word), Some(p)) if p == *word => Ok(LoadParameter::Word(word)),
        (Takes::Nothing | Takes::Usual(_) | Takes::Word(_), Some(p)) if !words_of(name).is_empty() => wrong(format!(
            "load '{name}' takes {} or nothing, not ':{p}'",
            words_of(name).join(", ")
        )),
        (Takes::Nothing | Takes::Usual(_) | Takes::Word(_), Some(p)) => {
            wrong(format!("load '{name}' takes no parameter, not ':{p}'"))
        }
        (_, None) => wrong(format!("load '{name}' is written {}", info.usage())),
        (Takes::Number { range, .. }, Some(p)) => number(range, p)
            .map(LoadParameter::Number)
            .map_err(|why| SpecError(format!("load '{name}:{p}': {why}"))),
        (Takes::Path(what), Some("")) => wrong(format!("load '{name}:{what}' needs the folder of a Makefile")),
        (Takes::Path(_), Some(p)) => Ok(LoadParameter::Path(p.into())),
        (Takes::Command(_), Some(p)) => Ok(LoadParameter::Command {
            text: p.to_string(),
            words: command_line::split(p).map_err(|why| SpecError(format!("load '{name}:{p}': {why}")))?,
        }),
    }
}

/// The words that can follow this load name, as users type them.
fn words_of(name: &str) -> Vec<String> {
    let named = LOADS.iter().filter(|info| info.name() == name);
    let word = |info: &LoadInfo| match info.takes {
        Takes::Usual(word) | Takes::Word(word) => Some(format!("':{word}'")),
        _ => None,
    };
    named.filter_map(word).collect()
}

pub(super) fn rate(info: &LoadInfo, text: &str) -> Result<u32, SpecError> {
    let name = info.name();
    if info.rate.is_none() {
        return Err(SpecError(format!(
            "load '{name}' takes no rate, not '@{text}': only {} can be paced",
            paced().join(", ")
        )));
    }
    number(&RATE, text).map_err(|why| SpecError(format!("load '{name}@{text}': {why}")))
}

fn number(range: &NumberRange, text: &str) -> Result<u32, String> {
    let number = range.read(ValueKind::Number, text)?;
    Ok(u32::try_from(number).expect("the range of a load's number lies within its type"))
}

/// The loads that take a rate.
fn paced() -> Vec<&'static str> {
    let paced = LOADS.iter().filter(|info| info.rate.is_some());
    let mut names: Vec<&str> = paced.map(|info| info.name()).collect();
    names.dedup();
    names
}
