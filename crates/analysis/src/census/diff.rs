//! Changes between two cells: sections that appeared, grew, shrank or vanished, by the functions that began and ended
//! them.
//!
//! Both cells name the owners of their longest sections. A section that a cell does not name is there at most as long
//! as the shortest section that the cell looked at; that length stands for it. If the other cell's section is no
//! longer than that either, nothing can be said, and the section is left out.

use super::top::{Top, TopList};
use crate::breakdown::roles::in_source;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// The change of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SectionChange {
    /// Only the second cell has it among its longest.
    Appeared,
    /// The section is longer in the second cell.
    Grew,
    /// The section is as long in both.
    Same,
    /// The section is shorter in the second cell.
    Shrank,
    /// Only the first cell has it among its longest sections.
    Vanished,
}

/// An owner in both cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionDifference {
    /// The change of the section.
    pub change: SectionChange,
    /// The function that began the section.
    pub from: String,
    /// The function that ended the section.
    pub to: String,
    /// What the section did, if it began where the kernel was entered.
    pub inside: Option<String>,
    /// The longest section in the first cell; if it is not named there, the length that it did not exceed.
    pub before_ns: Nanos,
    /// The section's length in the second cell.
    pub after_ns: Nanos,
    /// The section in the first cell, if it is named there.
    pub before: Option<Top>,
    /// The section in the second cell.
    pub after: Option<Top>,
}

impl SectionDifference {
    /// The least change of the longest section.
    pub fn size(&self) -> Nanos {
        Nanos(self.before_ns.0.abs_diff(self.after_ns.0))
    }
}

/// A section's name, as [`Top::name`] gives it.
type SectionName = (String, String, Option<String>);

/// All owners of both, the largest change first.
pub fn diff(before: &TopList, after: &TopList) -> Vec<SectionDifference> {
    let (first, second) = (by_name(before), by_name(after));
    let mut names: Vec<&SectionName> = first.keys().chain(second.keys()).collect();
    names.sort();
    names.dedup();
    let above = (before.above_ns, after.above_ns);
    let mut all: Vec<SectionDifference> = names
        .into_iter()
        .filter_map(|name| difference(name, first.get(name), second.get(name), above))
        .collect();
    all.sort_by_key(|d| Reverse((d.size(), d.before_ns.max(d.after_ns))));
    all
}

fn difference(
    name: &SectionName,
    before: Option<&Top>,
    after: Option<&Top>,
    above: (Nanos, Nanos),
) -> Option<SectionDifference> {
    let length = |top: Option<&Top>, above| top.map_or(above, |t: &Top| t.longest.length_ns);
    let (before_ns, after_ns) = (length(before, above.0), length(after, above.1));
    let change = match (before, after) {
        (None, _) if after_ns > before_ns => SectionChange::Appeared,
        (_, None) if before_ns > after_ns => SectionChange::Vanished,
        (Some(_), Some(_)) if after_ns > before_ns => SectionChange::Grew,
        (Some(_), Some(_)) if after_ns < before_ns => SectionChange::Shrank,
        (Some(_), Some(_)) => SectionChange::Same,
        _ => return None,
    };
    Some(SectionDifference {
        change,
        from: name.0.clone(),
        to: name.1.clone(),
        inside: name.2.clone(),
        before_ns,
        after_ns,
        before: before.cloned(),
        after: after.cloned(),
    })
}

/// Compilers number the parts and clones of a function (`.isra.0`, `.part.0`), each in its own way.
fn by_name(list: &TopList) -> BTreeMap<SectionName, Top> {
    let plain = |name: &str| in_source(name).to_string();
    let mut found: BTreeMap<SectionName, Top> = BTreeMap::new();
    for top in &list.owners {
        let (from, to, inside) = top.name();
        let entry = found.entry((plain(from), plain(to), inside.map(plain)));
        entry.and_modify(|sum| sum.add(top)).or_insert_with(|| top.clone());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::testing::owned;
    use crate::census::top::list;

    #[test]
    fn the_largest_change_comes_first() {
        let before = list(
            vec![
                owned("same", "x", 4_000),
                owned("grown.isra.0", "x", 5_000),
                owned("gone", "x", 90_000),
            ],
            Nanos(999),
        );
        let after = list(
            vec![
                owned("grown", "x", 65_000),
                owned("same", "x", 4_000),
                owned("new", "x", 8_000),
            ],
            Nanos(999),
        );
        let found: Vec<_> = diff(&before, &after)
            .into_iter()
            .map(|d| (d.from.clone(), d.change, d.size().0))
            .collect();
        let expected = [
            ("gone", SectionChange::Vanished, 89_001),
            ("grown", SectionChange::Grew, 60_000),
            ("new", SectionChange::Appeared, 7_001),
            ("same", SectionChange::Same, 0),
        ];
        assert_eq!(
            found,
            expected.map(|(name, change, size)| (name.to_string(), change, size))
        );
    }

    #[test]
    fn what_is_not_named_is_as_long_as_the_shortest_that_is_at_most() {
        let before = list(vec![owned("a", "x", 9_000), owned("b", "x", 6_000)], Nanos(6_000));
        let after = list(
            vec![owned("a", "x", 9_000), owned("c", "x", 20_000), owned("d", "x", 5_000)],
            Nanos(999),
        );
        let found = diff(&before, &after);
        let of = |name: &str| found.iter().find(|d| d.from == name).unwrap();
        assert_eq!((of("c").before_ns, of("c").size()), (Nanos(6_000), Nanos(14_000)));
        assert!(
            !found.iter().any(|d| d.from == "d"),
            "it may have been there, just as long"
        );
        assert_eq!(
            (of("b").change, of("b").after_ns),
            (SectionChange::Vanished, Nanos(999))
        );
    }
}
