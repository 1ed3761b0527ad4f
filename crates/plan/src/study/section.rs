//! The keys of a section that are parameters, with where each of them stands in the file.

use super::checked::{Checked, Wrong};
use crate::Venue;
use crate::parameters::{self, GivenValues};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use worstcase_base::near::unknown;

/// The parameters that a section gives.
#[derive(Clone, Default)]
pub(super) struct StudySection(BTreeMap<&'static str, Value>);

#[derive(Clone)]
struct Value {
    at: Range<usize>,
    texts: Vec<(String, Range<usize>)>,
    /// The factor by which it multiplies the cells; counted once, for many parts may share it.
    factor: u64,
}

/// Reads a key: one of these, or a parameter's.
pub(super) struct SectionKey(pub &'static [&'static str]);

/// A value as it is written: a word, a number, or a list of them.
pub(super) struct Texts(Vec<Spanned<Scalar>>);

pub(super) struct Scalar(pub String);

impl StudySection {
    pub(super) fn insert(&mut self, key: &'static str, value: Spanned<Texts>) {
        let at = value.span();
        let texts = value.into_inner().0.into_iter();
        // A word alone has no place of its own.
        let place = |text: &Spanned<Scalar>| match text.span() {
            none if none.is_empty() => at.clone(),
            own => own,
        };
        let texts: Vec<_> = texts
            .map(|text| (place(&text), text))
            .map(|(at, text)| (text.into_inner().0, at))
            .collect();
        // Numbers of the lab: a host has its CPUs at once.
        let values = values(Venue::Lab, key, &texts);
        let factor = parameters::factor(key, &values.into_iter().map(|(value, _)| value).collect::<Vec<_>>());
        self.0.insert(key, Value { at, texts, factor });
    }

    /// This section, with missing values from another; a value is not missing if an alternative is given.
    pub(super) fn or(mut self, other: &StudySection) -> StudySection {
        let is_said = |key: &str| {
            let rows = [Venue::Lab, Venue::Host]
                .into_iter()
                .filter_map(|venue| parameters::find(venue, key));
            let excluded = rows.filter_map(|parameter| parameter.excludes);
            excluded.chain([key]).any(|key| self.0.contains_key(key))
        };
        let more = other.0.iter().filter(|(key, _)| !is_said(key));
        let more: Vec<(&'static str, Value)> = more.map(|(key, value)| (*key, value.clone())).collect();
        self.0.extend(more);
        self
    }

    /// The place of a key's value.
    pub(super) fn at(&self, key: &str) -> Option<Range<usize>> {
        self.0.get(key).map(|value| value.at.clone())
    }

    /// The place of one of several values.
    pub(super) fn at_value(&self, key: &'static str, nth: usize) -> Option<Range<usize>> {
        let value = self.0.get(key)?;
        let of_venue = |venue| values(venue, key, &value.texts).into_iter().nth(nth).map(|(_, at)| at);
        of_venue(Venue::Lab)
            .or_else(|| of_venue(Venue::Host))
            .or(Some(value.at.clone()))
    }

    /// The values that are given for a venue.
    pub(super) fn given(&self, venue: Venue) -> Checked<GivenValues> {
        let mut given = GivenValues::default();
        for (key, value) in &self.0 {
            parameters::check_key(venue, key).map_err(|problem| Wrong(value.at.clone(), problem.what))?;
            let values = values(venue, key, &value.texts).into_iter().map(|(value, _)| value);
            if let Some(parameter) = parameters::find(venue, key) {
                given.insert(parameter, values.collect());
            }
        }
        Ok(given)
    }

    /// The factor by which the parameters multiply the cells; each parameter has the value of the first of these sections that
    /// gives it. CPUs of a host, which has no kernels, are measured at once.
    pub(super) fn factors<'a>(
        sections: impl Iterator<Item = &'a StudySection>,
        has_kernels: bool,
    ) -> impl Iterator<Item = u64> {
        let mut factors: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, value) in sections.flat_map(|section| &section.0) {
            if has_kernels || *key != "cpus" {
                factors.entry(key).or_insert(value.factor);
            }
        }
        factors.into_values()
    }
}

/// Every value that the texts hold, with where it stands.
fn values(venue: Venue, key: &str, texts: &[(String, Range<usize>)]) -> Vec<(String, Range<usize>)> {
    let Some(parameter) = parameters::find(venue, key) else {
        return texts.to_vec();
    };
    let each = texts
        .iter()
        .flat_map(|(text, at)| parameter.split(text).into_iter().map(|value| (value, at.clone())));
    each.collect()
}

impl<'de> DeserializeSeed<'de> for SectionKey {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for SectionKey {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<&'static str, E> {
        let own = self.0.iter().find(|own| **own == key).copied();
        own.or_else(|| parameters::known_key(key)).ok_or_else(|| {
            let parameters = [Venue::Lab, Venue::Host]
                .into_iter()
                .flat_map(parameters::all)
                .map(|p| p.key);
            let known = worstcase_base::distinct(self.0.iter().copied().chain(parameters));
            E::custom(unknown("key", key, known, "docs/studies.md has all"))
        })
    }
}

impl<'de> serde::Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

impl<'de> serde::Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar(text.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a whole number, or a list of them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
        ScalarVisitor.visit_str(text).map(alone)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Texts, E> {
        ScalarVisitor.visit_i64(number).map(alone)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Texts, E> {
        ScalarVisitor.visit_u64(number).map(alone)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = list.next_element()? {
            texts.push(text);
        }
        Ok(Texts(texts))
    }
}

fn alone(text: Scalar) -> Texts {
    Texts(vec![Spanned::new(0..0, text)])
}
