//! The form of a study file and its checks. Every error names the file, the line, and what is allowed.

use super::cells::{RawCells, check_sections, experiment, quick_of};
use super::checked::{Checked, Wrong, time};
use super::claim_form::{RawClaim, RawTerms, claims};
use super::demand::{RawDemand, demands};
use super::{Study, StudyError, Variants};
use crate::Venue;
use serde::Deserialize;
use toml::Spanned;
use worstcase_base::format::without_types;

/// The form of the file.
const SCHEMA: &str = "worstcase-study/4";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStudy {
    /// Checked before ([`StudyHead`]).
    #[serde(rename = "schema")]
    _schema: String,
    name: Spanned<String>,
    title: Spanned<String>,
    question: String,
    source: String,
    criterion: Option<Spanned<String>>,
    full: Spanned<RawCells>,
    quick: Option<RawCells>,
    host: Option<Spanned<RawCells>>,
    #[serde(default)]
    terms: RawTerms,
    #[serde(default)]
    claim: Vec<Spanned<RawClaim>>,
    #[serde(default)]
    demand: Vec<Spanned<RawDemand>>,
}

/// Longest study, in bytes; ours have some 20 000.
const LONGEST: usize = 1 << 20;

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;

/// Longest title, in characters: it is a line.
const LONGEST_TITLE: usize = 1_000;

/// Reads a study's text; `file` is its name in errors.
pub fn parse(file: &str, text: &str) -> Result<Study, StudyError> {
    let invalid = |Wrong(at, what): Wrong| StudyError::Invalid {
        file: file.to_string(),
        line: 1 + text.bytes().take(at.start).filter(|b| *b == b'\n').count(),
        what,
    };
    if text.len() > LONGEST {
        let what = format!("it is {} bytes long, and a study has at most {LONGEST}", text.len());
        return Err(invalid(Wrong(0..0, what)));
    }
    // Reported before any other difference between the older form and this one.
    if let Ok(StudyHead { schema }) = toml::from_str::<StudyHead>(text)
        && schema.get_ref() != SCHEMA
    {
        let what = format!(
            "the schema is '{}', this worstcase reads '{SCHEMA}'; write that, and the rest as docs/studies.md has it",
            schema.get_ref().escape_debug()
        );
        return Err(invalid(Wrong(schema.span(), what)));
    }
    let raw: RawStudy = toml::from_str(text).map_err(|e| {
        // The parser's own text quotes lines of the file; an error here is one line.
        let what = without_types(&e.message().lines().collect::<Vec<_>>().join("; "));
        invalid(Wrong(e.span().unwrap_or(0..0), what))
    })?;
    check(raw).map_err(invalid)
}

/// The fields of every form.
#[derive(Deserialize)]
struct StudyHead {
    schema: Spanned<String>,
}

fn check(raw: RawStudy) -> Checked<Study> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if raw.name.get_ref().is_empty()
        || raw.name.get_ref().len() > LONGEST_NAME
        || !raw.name.get_ref().chars().all(plain)
    {
        let what = format!(
            "the name '{}' may have at most {LONGEST_NAME} characters: lower-case letters, digits and '-'",
            raw.name
                .get_ref()
                .chars()
                .take(LONGEST_NAME + 1)
                .collect::<String>()
                .escape_debug()
        );
        return Err(Wrong(raw.name.span(), what));
    }
    let title = raw.title.get_ref().chars().count();
    if title > LONGEST_TITLE {
        let what =
            format!("a title of {title} characters, more than {LONGEST_TITLE}; the rest belongs into 'question'");
        return Err(Wrong(raw.title.span(), what));
    }
    let criterion = raw.criterion.as_ref().map(time).transpose()?;
    let variants = |whole: Spanned<RawCells>, quick: Option<RawCells>, venue: Venue| {
        let section = whole.span();
        check_sections(whole.get_ref(), quick.as_ref(), venue, &section)?;
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
        claims: claims(raw.claim, &raw.terms, &lab, host.as_ref())?,
        demands: demands(raw.demand)?,
        name: raw.name.into_inner(),
        title: raw.title.into_inner(),
        question: raw.question,
        source: raw.source,
        lab,
        host,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::MOST_CELLS;

    fn built_in() -> &'static str {
        include_str!("built_in/preemption-models.toml")
    }

    fn refused(text: &str) -> String {
        let error = parse("mine.toml", text).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    }

    /// `[full]` with another list of loads, and the lines that follow it.
    fn with_loads(loads: &str, rest: &str) -> String {
        let text = built_in();
        let (before, after) = text.split_once("\nloads = ").unwrap();
        let after = after.split_once('\n').unwrap().1;
        let section = after.find("\n[").unwrap();
        let (section, others) = after.split_at(section);
        format!("{before}\nloads = [{loads}]\n{section}\n{rest}{others}")
    }

    /// Cells are counted before they are made: some of these studies would have more cells than fit into memory.
    #[test]
    fn a_study_of_too_many_cells_is_refused_before_they_are_made() {
        let many = "\"shm\",".repeat(20_000);
        let error = refused(&with_loads(&many, ""));
        assert!(
            error.contains("cells, and an experiment has at most 100 000: ask for fewer"),
            "{error}"
        );
        // A list that each of many parts would copy.
        let parts = "[[full.part]]\nseeds = 2\n".repeat(9_000);
        let error = refused(&with_loads(&many, &parts));
        assert!(error.contains("at most 100 000"), "{error}");
        // Lists that are multiplied with each other.
        let list = |key: &str| format!("{key} = [{}]\n", "\"\",".repeat(20_000));
        let error = refused(&with_loads(
            "\"shm\"",
            &["append", "chrt", "scheduler", "disk"].map(list).concat(),
        ));
        assert!(
            error.contains("more cells than can be counted") || error.contains("at most 100 000"),
            "{error}"
        );
        // A list beside one that is empty.
        let error = refused(&with_loads(&many, "[[full.part]]\nprobes = []\n"));
        assert!(error.contains("at most 100 000"), "{error}");
        // Words that double the probes, each of them.
        let word = format!("switch:2{}", "+spin1us/2us".repeat(60));
        let text = built_in().replacen("probes = [", &format!("probes = [\"{word}\", "), 1);
        let error = refused(&text);
        assert!(error.contains("stands for more than 4096 probes"), "{error}");
    }

    #[test]
    fn texts_of_a_study_have_an_end() {
        let title = format!("title = \"{}\"", "x".repeat(1_001));
        let text = built_in().replacen(
            "title = \"How late is a periodic process under each preemption model?\"",
            &title,
            1,
        );
        let error = refused(&text);
        assert!(error.contains("a title of 1001 characters, more than 1000"), "{error}");
        let error = refused(&format!("{}\n# {}", built_in(), "x".repeat(1 << 20)));
        assert!(error.contains("a study has at most 1048576"), "{error}");
        let load = format!("\"cmd:{}\"", "x".repeat(4_100));
        let error = refused(&with_loads(&load, ""));
        assert!(error.contains("a load of 4104 bytes, more than 4096"), "{error}");
    }

    #[test]
    fn the_largest_study_is_taken() {
        let whole = built_in();
        let words = (0..MOST_CELLS / 1_000).map(|n| format!("\"cmd:true {n}\", "));
        let text = whole.replacen("\nloads = [", &format!("\nloads = [{}", words.collect::<String>()), 1);
        // The built-in study's other lists multiply these loads.
        parse("mine.toml", &text).map(drop).map_err(|e| e.to_string()).unwrap();
    }
}
