//! The form of a study file and its checks. Every error names the file, the line, and what is allowed.

use super::cells::{RawCells, experiment, quick_of};
use super::demand::{RawDemand, demands};
use super::figures::{RawPublished, published};
use super::{Study, StudyError, Variants};
use crate::Venue;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use worstcase_base::duration;
use worstcase_probe::Nanos;

/// The form of the file.
const SCHEMA: &str = "worstcase-study/3";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStudy {
    /// Checked before ([`Head`]).
    #[serde(rename = "schema")]
    _schema: String,
    name: Spanned<String>,
    title: String,
    question: String,
    source: String,
    criterion: Option<Spanned<String>>,
    full: Spanned<RawCells>,
    quick: Option<RawCells>,
    host: Option<Spanned<RawCells>>,
    #[serde(default)]
    published: Vec<Spanned<RawPublished>>,
    #[serde(default)]
    demand: Vec<Spanned<RawDemand>>,
}

/// Something wrong, and where in the text.
pub(super) struct Wrong(pub Range<usize>, pub String);

pub(super) type Checked<T> = Result<T, Wrong>;

/// Reads a study's text; `file` is its name in errors.
pub fn parse(file: &str, text: &str) -> Result<Study, StudyError> {
    let invalid = |Wrong(at, what): Wrong| StudyError::Invalid {
        file: file.to_string(),
        line: 1 + text.bytes().take(at.start).filter(|b| *b == b'\n').count(),
        what,
    };
    // Told before anything else that an older form has and this one has not.
    if let Ok(Head { schema }) = toml::from_str::<Head>(text)
        && schema.get_ref() != SCHEMA
    {
        let what = format!(
            "the schema is '{}', this worstcase reads '{SCHEMA}'; write that, and the rest as docs/studies.md has it",
            schema.get_ref().escape_debug()
        );
        return Err(invalid(Wrong(schema.span(), what)));
    }
    let raw: RawStudy = toml::from_str(text).map_err(|e| {
        // The parser's own text quotes lines of the file; one line is what an error is here.
        let what = e.message().lines().collect::<Vec<_>>().join("; ");
        invalid(Wrong(e.span().unwrap_or(0..0), what))
    })?;
    check(raw).map_err(invalid)
}

/// What every form has.
#[derive(Deserialize)]
struct Head {
    schema: Spanned<String>,
}

fn check(raw: RawStudy) -> Checked<Study> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if raw.name.get_ref().is_empty() || !raw.name.get_ref().chars().all(plain) {
        let what = format!(
            "the name '{}' may have lower-case letters, digits and '-'",
            raw.name.get_ref().escape_debug()
        );
        return Err(Wrong(raw.name.span(), what));
    }
    let criterion = raw.criterion.as_ref().map(time).transpose()?;
    let variants = |whole: Spanned<RawCells>, quick: Option<RawCells>, venue: Venue| {
        let section = whole.span();
        let quick = quick_of(quick.unwrap_or_default(), whole.get_ref());
        Ok(Variants {
            quick: experiment(quick, venue, criterion, &section)?,
            full: experiment(whole.into_inner(), venue, criterion, &section)?,
        })
    };
    let host = raw.host.map(|mut host| {
        let quick = host.get_mut().quick.take().map(|quick| *quick);
        variants(host, quick, Venue::Host)
    });
    let (lab, host) = (variants(raw.full, raw.quick, Venue::Lab)?, host.transpose()?);
    Ok(Study {
        published: published(raw.published, &lab, host.as_ref())?,
        demands: demands(raw.demand)?,
        name: raw.name.into_inner(),
        title: raw.title,
        question: raw.question,
        source: raw.source,
        lab,
        host,
    })
}

pub(super) fn time(raw: &Spanned<String>) -> Checked<Nanos> {
    duration::parse(raw.get_ref()).map_err(|e| Wrong(raw.span(), e.to_string()))
}
