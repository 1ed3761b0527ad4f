//! The boxes of a flame graph: functions, and the functions that they called. The page and [`super::flame`] draw
//! them.

use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// Boxes with less than this part of the time, in per cent, are left out: spires of a pixel's width hide the rest.
pub(crate) const NARROWEST: f64 = 0.25;

/// A function's box, and the boxes of the functions that it called.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Flame {
    /// The function; `all` for the box that holds every other.
    #[serde(rename = "n")]
    pub name: String,
    /// The time in the function and in the functions that it called.
    #[serde(rename = "v")]
    pub ns: u64,
    /// The functions that it called, by name.
    #[serde(rename = "c", skip_serializing_if = "Vec::is_empty")]
    pub(crate) called: Vec<Flame>,
}

impl Flame {
    /// Reads lines `outer;inner 123`.
    pub(crate) fn of(folded: &str) -> Flame {
        let mut chains: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
        for line in folded.lines() {
            if let Some((chain, ns)) = line.rsplit_once(' ') {
                *chains.entry(chain.split(';').collect()).or_default() += ns.parse::<u64>().unwrap_or(0);
            }
        }
        let mut root = Flame {
            name: "all".into(),
            ..Flame::default()
        };
        for (chain, ns) in chains {
            let mut at = &mut root;
            at.ns += ns;
            for name in chain {
                let place = at.called.iter().position(|f| f.name == name).unwrap_or_else(|| {
                    at.called.push(Flame {
                        name: name.to_string(),
                        ..Flame::default()
                    });
                    at.called.len() - 1
                });
                at = &mut at.called[place];
                at.ns += ns;
            }
        }
        root
    }

    /// Drops boxes that are too narrow to be seen.
    pub(crate) fn thin(mut self) -> Flame {
        let least = (self.ns as f64 * NARROWEST / 100.0) as u64;
        self.drop_below(Nanos(least.max(1)));
        self
    }

    fn drop_below(&mut self, least: Nanos) {
        self.called.retain(|f| f.ns >= least.0);
        self.called.iter_mut().for_each(|f| f.drop_below(least));
    }

    /// The box of a function that this one called.
    pub(crate) fn calls(&self, name: &str) -> Option<&Flame> {
        self.called.iter().find(|f| f.name == name)
    }

    /// The number of boxes that stand upon each other, this one included.
    pub fn height(&self) -> usize {
        1 + self.called.iter().map(Flame::height).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_what_they_called() {
        let root = Flame::of("a;b 600\na;c with space 390\na 9\nz 1\n").thin();
        assert_eq!((root.ns, root.called.len()), (1_000, 1), "z is too narrow");
        let a = &root.called[0];
        assert_eq!((a.name.as_str(), a.ns), ("a", 999));
        let called: Vec<(&str, u64)> = a.called.iter().map(|f| (f.name.as_str(), f.ns)).collect();
        assert_eq!(called, [("b", 600), ("c with space", 390)]);
        assert_eq!(root.height(), 3);
    }
}
