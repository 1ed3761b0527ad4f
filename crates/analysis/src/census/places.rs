//! Sections by the functions that began and ended them.

use super::cell_census::{CellCensus, name};
use crate::breakdown::{frames, roles};
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::Site;
use worstcase_lab::execution::Symbols;

/// Code below this address has no symbols: user addresses are the lower half.
const KERNEL: u64 = 1 << 63;

/// All sections of a kind that began in one function and ended in one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionGroup {
    /// What was off: `interrupts-off`, `preemption-off`, `non-preemptible`.
    pub kind: &'static str,
    /// The function that began them.
    pub from: String,
    /// The function that ended them.
    pub to: String,
    /// Whether the first function is a lock's or the scheduler's own: then its caller is the owner.
    pub in_helper: bool,
    /// The number of sections.
    pub count: u64,
    /// All of them together.
    pub total_ns: Nanos,
    /// The longest.
    pub longest_ns: Nanos,
    /// The longest, net of interrupts and soft interrupts in it; not always the same section.
    pub longest_net_ns: Nanos,
    /// Part of all time in sections of this kind.
    pub share: f64,
}

/// The function at an address.
pub fn function(symbols: &Symbols, address: u64) -> String {
    match symbols.lookup(address) {
        _ if address < KERNEL => "[user]".into(),
        Some(symbol) => {
            let routine = frames::routine(&symbol.name, address - symbol.address);
            roles::whole(routine.unwrap_or(&symbol.name)).to_string()
        }
        None => format!("[{address:#x}]"),
    }
}

/// The places of one kind, by their longest section.
pub fn places(taken: &CellCensus, kind: Kind) -> Vec<SectionGroup> {
    let sites = taken.census.sites.iter().filter(|s| s.kind == kind);
    let mut by_name: BTreeMap<(String, String), Site> = BTreeMap::new();
    let mut all = 0;
    for site in sites {
        all += site.total;
        let names = (function(&taken.symbols, site.from), function(&taken.symbols, site.to));
        by_name
            .entry(names)
            .and_modify(|sum| {
                sum.count += site.count;
                sum.total += site.total;
                sum.longest = sum.longest.max(site.longest);
                sum.longest_net = sum.longest_net.max(site.longest_net);
            })
            .or_insert(*site);
    }
    let mut places: Vec<SectionGroup> = by_name
        .into_iter()
        .map(|((from, to), site)| SectionGroup {
            kind: name(kind),
            in_helper: roles::is_helper(&from),
            from,
            to,
            count: site.count,
            total_ns: taken.time_of(site.total),
            longest_ns: taken.time_of(site.longest),
            longest_net_ns: taken.time_of(site.longest_net),
            share: site.total as f64 / all.max(1) as f64,
        })
        .collect();
    places.sort_by_key(|p| std::cmp::Reverse((p.longest_ns, p.total_ns)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::testing::{A, B, LOCK, site, taken};
    use worstcase_lab::execution::Symbol;

    #[test]
    fn sites_of_the_same_functions_are_one_place() {
        let mut taken = taken();
        taken.shift = 1;
        taken.census.sites = vec![
            site(Kind::NonPreemptible, A, B, 2, 300, 200, 90),
            site(Kind::NonPreemptible, A + 8, B + 4, 1, 500, 500, 70),
            site(Kind::NonPreemptible, LOCK, B, 4, 200, 80, 80),
            site(Kind::InterruptsOff, A, B, 9, 9_000, 3_000, 3_000),
            site(Kind::NonPreemptible, 0x40_0000, A, 1, 600, 600, 600),
        ];
        let found = places(&taken, Kind::NonPreemptible);
        let names: Vec<_> = found.iter().map(|p| (p.from.as_str(), p.to.as_str())).collect();
        assert_eq!(names, [("[user]", "a"), ("a", "b"), ("_raw_spin_lock", "b")]);
        let merged = &found[1];
        assert_eq!(
            (merged.count, merged.total_ns, merged.longest_ns, merged.longest_net_ns),
            (3, Nanos(1_600), Nanos(1_000), Nanos(180))
        );
        assert_eq!(merged.share, 0.5);
        assert!(found[2].in_helper && !merged.in_helper);
    }

    #[test]
    fn arm64_s_entries_have_the_names_of_their_routines() {
        let code = Symbol {
            address: A,
            name: "vectors".into(),
            module: None,
        };
        assert_eq!(function(&Symbols::new(vec![code]), A + 0x280), "el1h_64_irq");
    }

    #[test]
    fn no_section_no_place() {
        assert!(places(&taken(), Kind::PreemptionOff).is_empty());
    }
}
