//! `[[published]]` in a study file: its form and its checks.

use super::Variants;
use super::checked::{Checked, Wrong, one_of, required_text};
use super::published::{Compare, OurCell, Published, PublishedFigure, PublishedValue, Relation, nanoseconds};
use super::selector::{Cells, RawCell};
use crate::Venue;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// A group as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPublished {
    what: Option<String>,
    compare: Option<Spanned<String>>,
    source: Option<String>,
    why: Option<String>,
    /// The cell keys that all figures share.
    cell: Option<Spanned<RawCell>>,
    host: Option<Spanned<RawCell>>,
    #[serde(default)]
    figure: Vec<Spanned<RawFigure>>,
}

#[derive(Deserialize)]
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

/// The groups of a study of these experiments.
pub(super) fn published(
    groups: Vec<Spanned<RawPublished>>,
    lab: &Variants,
    host: Option<&Variants>,
) -> Checked<Vec<Published>> {
    let lab = Cells::of(Venue::Lab, &lab.full);
    let host = host.map(|host| Cells::of(Venue::Host, &host.full));
    let group = |raw: Spanned<RawPublished>| group(raw.span(), raw.into_inner(), &lab, host.as_ref());
    groups.into_iter().map(group).collect()
}

fn group(at: Range<usize>, raw: RawPublished, lab: &Cells, host: Option<&Cells>) -> Checked<Published> {
    let text = |value: Option<String>, key: &str, remedy: &str| required_text(value, &at, "[[published]]", key, remedy);
    let what = text(raw.what, "what", "say what was measured")?;
    let source = text(
        raw.source,
        "source",
        "name the article, and the table, figure or page if known",
    )?;
    let why = text(
        raw.why,
        "why",
        "say in a sentence what to know of the comparison, or why there is none",
    )?;
    if raw.figure.len() < 2 {
        let what = "a group has two figures or more: one alone has no rank and no factor; add a [[published.figure]]";
        return Err(Wrong(at, what.into()));
    }
    let figure = |figure: Spanned<RawFigure>| {
        let (at, figure) = (figure.span(), figure.into_inner());
        let said_of = |key: &str, value: Option<String>| {
            required_text(value, &at, "[[published.figure]]", key, "say what it is of")
        };
        Ok(PublishedFigure {
            of: said_of("of", figure.of)?,
            cell: cell(figure.cell, raw.cell.as_ref(), Some(lab))?,
            host: cell(figure.host, raw.host.as_ref(), host)?,
            said: what_is_said(
                &at,
                figure.value,
                figure.unit,
                figure.relation,
                figure.rank,
                figure.words,
            )?,
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
        .collect::<Checked<Vec<PublishedFigure>>>()?;
    all_or_none(&figures, &places, "cell", |figure| figure.cell.as_ref())?;
    all_or_none(&figures, &places, "host", |figure| figure.host.as_ref())?;
    units_fit(&figures, &units)?;
    let is_ranked = figures
        .iter()
        .filter(|f| matches!(f.said, PublishedValue::Rank { .. }))
        .count();
    if is_ranked != 0 && is_ranked != figures.len() {
        let what = "some of these figures have a 'value', some a 'rank'; give all of them the same";
        return Err(Wrong(at, what.into()));
    }
    let compare = match &raw.compare {
        None => Compare::Rank,
        Some(word) => one_of(word, "compare", Compare::ALL, Compare::name)?,
    };
    if let (Some(word), Compare::Factor) = (&raw.compare, compare)
        && is_ranked > 0
    {
        let what = "ranks have no factor; compare = \"rank\", or give the figures values";
        return Err(Wrong(word.span(), what.into()));
    }
    let group = Published {
        what,
        compare,
        source,
        why,
        figures,
    };
    if compare == Compare::Rank && group.orders().is_empty() {
        let what = "these figures are too near each other for a rank; compare = \"factor\"";
        return Err(Wrong(at, what.into()));
    }
    Ok(group)
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

fn what_is_said(
    at: &Range<usize>,
    value: Option<Spanned<f64>>,
    unit: Option<Spanned<String>>,
    relation: Option<Spanned<String>>,
    rank: Option<Spanned<u32>>,
    words: Option<String>,
) -> Checked<PublishedValue> {
    let wrong = |what: &str| Err(Wrong(at.clone(), what.into()));
    match (value, rank) {
        (Some(_), Some(rank)) => Err(Wrong(rank.span(), "a figure has 'value' or 'rank', not both".into())),
        (None, None) => wrong("a figure has a 'value' with its 'unit', or where only the order is known a 'rank'"),
        (None, Some(rank)) => match (
            unit,
            relation.as_ref().map(|word| word.get_ref().as_str()),
            *rank.get_ref(),
        ) {
            (None, None | Some("at least"), 1..) => Ok(PublishedValue::Rank {
                rank: rank.into_inner(),
                or_later: relation.is_some(),
                words: words.unwrap_or_default(),
            }),
            (None, None, 0) => Err(Wrong(rank.span(), "a rank is 1 or more; 1 is the least".into())),
            _ => wrong("a 'rank' has no 'unit', and no 'relation' but \"at least\": this place or a later one"),
        },
        (Some(value), None) => {
            if words.is_some() {
                return wrong("'words' belong to a 'rank'; leave them out");
            }
            let Some(unit) = unit else {
                return wrong("a 'value' has a 'unit': ns, us, ms or s");
            };
            let number = *value.get_ref();
            if !(number.is_finite() && number > 0.0) {
                return Err(Wrong(
                    value.span(),
                    format!("a value is a number above 0, not {number}"),
                ));
            }
            let relation = relation
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

/// Half of a group says nothing.
fn all_or_none(
    figures: &[PublishedFigure],
    places: &[Range<usize>],
    key: &str,
    of: fn(&PublishedFigure) -> Option<&OurCell>,
) -> Checked<()> {
    let lacking = figures.iter().position(|figure| of(figure).is_none());
    match lacking {
        Some(nth) if figures.iter().any(|figure| of(figure).is_some()) => {
            let what =
                format!("this figure has no '{key}' and others of its group have one; give it to all or to none");
            Err(Wrong(places[nth].clone(), what))
        }
        _ => Ok(()),
    }
}

/// Our cells are times; figures without a cell need only fit each other.
fn units_fit(figures: &[PublishedFigure], places: &[Option<Range<usize>>]) -> Checked<()> {
    let units: Vec<(&str, &PublishedFigure, Range<usize>)> = figures
        .iter()
        .zip(places)
        .filter_map(|(figure, at)| match &figure.said {
            PublishedValue::Value { unit, .. } => Some((unit.as_str(), figure, at.clone().unwrap_or_default())),
            PublishedValue::Rank { .. } => None,
        })
        .collect();
    for (unit, figure, at) in &units {
        let has_cell = figure.cell.is_some() || figure.host.is_some();
        if has_cell && nanoseconds(unit).is_none() {
            let what = format!(
                "the unit '{}' does not fit our cell, which is a time; write ns, us, ms or s",
                unit.escape_debug()
            );
            return Err(Wrong(at.clone(), what));
        }
        let fits = |other: &str| *unit == other || (nanoseconds(unit).is_some() && nanoseconds(other).is_some());
        if let Some((other, ..)) = units.iter().find(|(other, ..)| !fits(other)) {
            let what = format!(
                "the unit '{}' does not fit '{}' of the same group; write all in one unit",
                unit.escape_debug(),
                other.escape_debug()
            );
            return Err(Wrong(at.clone(), what));
        }
    }
    Ok(())
}
