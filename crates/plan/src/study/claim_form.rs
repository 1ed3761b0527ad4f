//! `[[claim]]` in a study file: its form and its checks.

use super::Variants;
use super::checked::{Checked, Wrong, one_of, required_text};
use super::claim::{
    Claim, ClaimFigure, ClaimOrigin, Compare, NEAR, OurCell, PublishedValue, Relation, Term, nanoseconds,
};
use super::selector::{Cells, RawCell};
use crate::{Arch, NOT_ONE_UNIT, Venue};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// A claim as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClaim {
    says: Option<String>,
    compare: Option<Spanned<String>>,
    within: Option<Spanned<f64>>,
    source: Option<String>,
    predicted: Option<Spanned<String>>,
    why: Option<String>,
    because: Option<String>,
    doubt: Option<String>,
    /// The cell keys that all figures share.
    cell: Option<Spanned<RawCell>>,
    host: Option<Spanned<RawCell>>,
    #[serde(default)]
    figure: Vec<Spanned<RawFigure>>,
}

/// The article's words, and their meanings.
pub(super) type RawTerms = BTreeMap<String, String>;

/// Bounds of `within`.
const WITHIN: std::ops::RangeInclusive<f64> = 1.01..=10.0;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFigure {
    of: Option<String>,
    value: Option<Spanned<f64>>,
    unit: Option<Spanned<String>>,
    relation: Option<Spanned<String>>,
    rank: Option<Spanned<u32>>,
    words: Option<String>,
    cell: Option<Spanned<RawCell>>,
    host: Option<Spanned<RawCell>>,
}

/// The claims of a study of these experiments.
pub(super) fn claims(
    claims: Vec<Spanned<RawClaim>>,
    terms: &RawTerms,
    lab: &Variants,
    host: Option<&Variants>,
) -> Checked<Vec<Claim>> {
    let lab = Cells::of(Venue::Lab, &lab.full);
    let host = host.map(|host| Cells::of(Venue::Host, &host.full));
    let claim = |raw: Spanned<RawClaim>| {
        let claim = claim(raw.span(), raw.into_inner(), &lab, host.as_ref())?;
        Ok(Claim {
            terms: terms_of(&claim, terms),
            ..claim
        })
    };
    claims.into_iter().map(claim).collect()
}

/// The terms that stand in a claim, as whole words.
fn terms_of(claim: &Claim, terms: &RawTerms) -> Vec<Term> {
    let figures = claim
        .figures
        .iter()
        .flat_map(|figure| [figure.of.clone(), figure.said.to_string()]);
    let text = figures.fold(claim.says.clone(), |text, more| text + " " + &more);
    let is_of_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let stands = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            // A sentence ends with a dot.
            !before.is_some_and(is_of_word) && !after.is_some_and(|c| c != '.' && is_of_word(c))
        })
    };
    let found = terms.iter().filter(|(word, _)| stands(word));
    found
        .map(|(word, means)| Term {
            word: word.clone(),
            means: means.clone(),
        })
        .collect()
}

fn origin(at: &Range<usize>, raw: &mut RawClaim) -> Checked<ClaimOrigin> {
    match (raw.source.take(), raw.predicted.take()) {
        (Some(_), Some(predicted)) => Err(Wrong(
            predicted.span(),
            "a claim has a 'source' or is 'predicted', not both".into(),
        )),
        (None, Some(day)) => Ok(ClaimOrigin::Predicted(day.into_inner())),
        (source, None) => {
            let remedy = "name the article, and the table, figure or page if known; or predicted = \"2026-11-27\" if it is yours";
            required_text(source, at, "[[claim]]", "source", remedy).map(ClaimOrigin::Source)
        }
    }
}

fn within(raw: Option<&Spanned<f64>>) -> Checked<f64> {
    match raw {
        None => Ok(NEAR),
        Some(within) if WITHIN.contains(within.get_ref()) => Ok(*within.get_ref()),
        Some(within) => {
            let what = format!(
                "'within' is {} to {}, not {}",
                WITHIN.start(),
                WITHIN.end(),
                within.get_ref()
            );
            Err(Wrong(within.span(), what))
        }
    }
}

fn claim(at: Range<usize>, mut raw: RawClaim, lab: &Cells, host: Option<&Cells>) -> Checked<Claim> {
    let origin = origin(&at, &mut raw)?;
    let within = within(raw.within.as_ref())?;
    let text = |value: Option<String>, key: &str, remedy: &str| required_text(value, &at, "[[claim]]", key, remedy);
    let says = text(raw.says, "says", "write the claim as a sentence")?;
    let why = text(
        raw.why,
        "why",
        "say which statistic tests it and why that one, or why it cannot be asked",
    )?;
    let compare = match &raw.compare {
        None => Compare::Rank,
        Some(word) => one_of(word, "compare", Compare::ALL, Compare::name)?,
    };
    if raw.figure.len() < 2 {
        let what = "a claim has two figures or more: one alone has no rank and no factor; add a [[claim.figure]]";
        return Err(Wrong(at, what.into()));
    }
    let figure = |figure: Spanned<RawFigure>| {
        let (at, figure) = (figure.span(), figure.into_inner());
        let of = required_text(figure.of.clone(), &at, "[[claim.figure]]", "of", "say what it is of")?;
        Ok(ClaimFigure {
            of,
            cell: cell(figure.cell.clone(), raw.cell.as_ref(), Some(lab))?,
            host: cell(figure.host.clone(), raw.host.as_ref(), host)?,
            said: what_is_said(&at, figure, compare)?,
        })
    };
    let places: Vec<Range<usize>> = raw.figure.iter().map(Spanned::span).collect();
    let units: Vec<Option<Range<usize>>> = raw
        .figure
        .iter()
        .map(|f| f.get_ref().unit.as_ref().map(Spanned::span))
        .collect();
    let figures = raw
        .figure
        .into_iter()
        .map(figure)
        .collect::<Checked<Vec<ClaimFigure>>>()?;
    all_or_none(&figures, &places, "cell", |figure| figure.cell.as_ref())?;
    all_or_none(&figures, &places, "host", |figure| figure.host.as_ref())?;
    one_kind(&figures, &places)?;
    one_arch(&figures, &places)?;
    units_fit(&figures, &units)?;
    let is_ranked = figures
        .iter()
        .filter(|f| matches!(f.said, PublishedValue::Rank { .. }))
        .count();
    if compare.needs_values() && is_ranked != 0 && is_ranked != figures.len() {
        let what = "some of these figures have a 'value', some a 'rank'; give all of them the same";
        return Err(Wrong(at, what.into()));
    }
    if let (Some(word), Compare::Factor) = (&raw.compare, compare)
        && is_ranked > 0
    {
        let what = "ranks have no factor; compare = \"rank\", or give the figures values";
        return Err(Wrong(word.span(), what.into()));
    }
    let claim = Claim {
        says,
        origin,
        compare,
        within,
        why,
        because: raw.because,
        doubt: raw.doubt,
        terms: Vec::new(),
        figures,
    };
    if claim.pairs().is_empty() {
        let what = "these figures are too near each other for a rank; compare = \"factor\"";
        return Err(Wrong(at, what.into()));
    }
    Ok(claim)
}

/// A share and a time do not compare.
fn one_kind(figures: &[ClaimFigure], places: &[Range<usize>]) -> Checked<()> {
    for venue in [Venue::Lab, Venue::Host] {
        let cells = figures.iter().filter_map(|figure| figure.cell(venue));
        let kinds: Vec<bool> = cells.map(|cell| cell.statistic.is_share()).collect();
        if let Some(nth) = kinds.iter().position(|kind| *kind != kinds[0]) {
            let what = "some cells of this claim have a share ('above'), some a time; give all of them the same";
            return Err(Wrong(places[nth].clone(), what.into()));
        }
    }
    Ok(())
}

/// Path lengths of two architectures do not compare.
fn one_arch(figures: &[ClaimFigure], places: &[Range<usize>]) -> Checked<()> {
    let archs = figures
        .iter()
        .map(|figure| Some(figure.cell.as_ref()?.subject.as_ref()?.machine.arch()));
    let archs: Vec<Option<Arch>> = archs.collect();
    match archs.iter().position(|arch| *arch != archs[0]) {
        Some(nth) => Err(Wrong(
            places[nth].clone(),
            format!("{NOT_ONE_UNIT}; make a claim of each"),
        )),
        None => Ok(()),
    }
}

/// A figure's cell: its own keys, and those that all figures share.
fn cell(
    own: Option<Spanned<RawCell>>,
    shared: Option<&Spanned<RawCell>>,
    cells: Option<&Cells>,
) -> Checked<Option<OurCell>> {
    let Some(at) = own.as_ref().or(shared).map(Spanned::span) else {
        return Ok(None);
    };
    let no_host = "'host' needs a section [host] in this study; add one or leave it out";
    let cells = cells.ok_or_else(|| Wrong(at.clone(), no_host.into()))?;
    // Errors in shared keys are reported at their own place.
    shared.map_or(Ok(()), |shared| cells.check(shared))?;
    let raw = match (own.map(Spanned::into_inner), shared.map(Spanned::get_ref)) {
        (Some(own), Some(shared)) => own.merged(shared),
        (Some(own), None) => own,
        (None, Some(shared)) => shared.clone(),
        (None, None) => return Ok(None),
    };
    cells.resolve(&Spanned::new(at, raw)).map(Some)
}

fn what_is_said(at: &Range<usize>, figure: RawFigure, compare: Compare) -> Checked<PublishedValue> {
    let wrong = |what: &str| Err(Wrong(at.clone(), what.into()));
    let words = figure.words.unwrap_or_default();
    match (figure.value, figure.rank) {
        (Some(_), Some(rank)) => Err(Wrong(rank.span(), "a figure has 'value' or 'rank', not both".into())),
        (None, None) if compare.needs_values() => {
            wrong("a figure has a 'value' with its 'unit', or where only the order is known a 'rank'")
        }
        (None, None) if figure.unit.is_some() || figure.relation.is_some() => {
            wrong("'unit' and 'relation' belong to a 'value'; leave them out, or give one")
        }
        (None, None) => Ok(PublishedValue::Words { words }),
        (None, Some(rank)) => rank_said(at, &rank, figure.unit.is_some(), figure.relation.as_ref(), words),
        (Some(value), None) => {
            if !words.is_empty() {
                return wrong("'words' belong to a 'rank'; leave them out");
            }
            let Some(unit) = figure.unit else {
                return wrong("a 'value' has a 'unit': ns, us, ms or s");
            };
            let number = *value.get_ref();
            if !(number.is_finite() && number > 0.0) {
                return Err(Wrong(
                    value.span(),
                    format!("a value is a number above 0, not {number}"),
                ));
            }
            let relation = figure
                .relation
                .map(|word| one_of(&word, "relation", Relation::ALL, Relation::name))
                .transpose()?;
            Ok(PublishedValue::Value {
                value: number,
                unit: unit.into_inner(),
                relation: relation.unwrap_or_default(),
            })
        }
    }
}

fn rank_said(
    at: &Range<usize>,
    rank: &Spanned<u32>,
    has_unit: bool,
    relation: Option<&Spanned<String>>,
    words: String,
) -> Checked<PublishedValue> {
    match (has_unit, relation.map(|word| word.get_ref().as_str()), *rank.get_ref()) {
        (false, None | Some("at least"), 1..) => Ok(PublishedValue::Rank {
            rank: *rank.get_ref(),
            or_later: relation.is_some(),
            words,
        }),
        (false, None, 0) => Err(Wrong(rank.span(), "a rank is 1 or more; 1 is the least".into())),
        _ => Err(Wrong(
            at.clone(),
            "a 'rank' has no 'unit', and no 'relation' but \"at least\": this place or a later one".into(),
        )),
    }
}

/// Half of a claim says nothing.
fn all_or_none(
    figures: &[ClaimFigure],
    places: &[Range<usize>],
    key: &str,
    of: fn(&ClaimFigure) -> Option<&OurCell>,
) -> Checked<()> {
    let lacking = figures.iter().position(|figure| of(figure).is_none());
    match lacking {
        Some(nth) if figures.iter().any(|figure| of(figure).is_some()) => {
            let what =
                format!("this figure has no '{key}' and others of its claim have one; give it to all or to none");
            Err(Wrong(places[nth].clone(), what))
        }
        _ => Ok(()),
    }
}

/// Our cells are times; figures without a cell need only fit each other.
fn units_fit(figures: &[ClaimFigure], places: &[Option<Range<usize>>]) -> Checked<()> {
    let units: Vec<(&str, &ClaimFigure, Range<usize>)> = figures
        .iter()
        .zip(places)
        .filter_map(|(figure, at)| match &figure.said {
            PublishedValue::Value { unit, .. } => Some((unit.as_str(), figure, at.clone().unwrap_or_default())),
            PublishedValue::Rank { .. } | PublishedValue::Words { .. } => None,
        })
        .collect();
    for (unit, figure, at) in &units {
        let mut cells = [&figure.cell, &figure.host].into_iter().flatten();
        if cells.any(|cell| !cell.statistic.is_share()) && nanoseconds(unit).is_none() {
            let what = format!(
                "the unit '{}' does not fit our cell, which is a time; write ns, us, ms or s",
                unit.escape_debug()
            );
            return Err(Wrong(at.clone(), what));
        }
        let fits = |other: &str| *unit == other || (nanoseconds(unit).is_some() && nanoseconds(other).is_some());
        if let Some((other, ..)) = units.iter().find(|(other, ..)| !fits(other)) {
            let what = format!(
                "the unit '{}' does not fit '{}' of the same claim; write all in one unit",
                unit.escape_debug(),
                other.escape_debug()
            );
            return Err(Wrong(at.clone(), what));
        }
    }
    Ok(())
}
