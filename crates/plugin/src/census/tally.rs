//! What was found: long sections one by one, all of them by place and by length.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use worstcase_logs::census::Kind;
use worstcase_logs::census::log::{LONG, Length, Row, Section, Site};
use worstcase_logs::units::Instructions;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<rustc_hash::FxHasher>>;

/// See the module.
#[derive(Default)]
pub(crate) struct Tally {
    /// Rows not handed over yet: long sections, and when the probe gave the CPU away.
    fresh: Vec<Row>,
    sites: Map<(Kind, u64, u64), Site>,
    lengths: Map<(Kind, u64), u64>,
}

impl Tally {
    /// Takes one in; one without an instruction is none.
    pub(crate) fn add(&mut self, section: Section) {
        let Section {
            kind,
            length,
            nested,
            from,
            to,
            ..
        } = section;
        if length == 0 {
            return;
        }
        let site = self.sites.entry((kind, from, to)).or_insert(Site {
            kind,
            from,
            to,
            count: 0,
            total: 0,
            longest: 0,
            longest_net: 0,
        });
        site.count += 1;
        site.total += length;
        site.longest = site.longest.max(length);
        site.longest_net = site.longest_net.max(length - nested);
        *self.lengths.entry((kind, length)).or_insert(0) += 1;
        if length >= LONG {
            self.fresh.push(Row::Section(section));
        }
    }

    /// The probe gives the CPU away.
    pub(crate) fn asleep(&mut self, now: u64) {
        self.fresh.push(Row::Asleep(Instructions(now)));
    }

    /// Rows since the last call.
    pub(crate) fn take_fresh(&mut self) -> impl Iterator<Item = Row> {
        std::mem::take(&mut self.fresh).into_iter()
    }

    /// Everything by place and by length.
    pub(crate) fn summary(&self) -> impl Iterator<Item = Row> {
        let mut sites: Vec<&Site> = self.sites.values().collect();
        sites.sort_by_key(|s| (s.kind, s.from, s.to));
        let mut lengths: Vec<_> = self.lengths.iter().collect();
        lengths.sort();
        let sites: Vec<Row> = sites.into_iter().map(|s| Row::Site(*s)).collect();
        let lengths = lengths.into_iter().map(|((kind, length), count)| {
            Row::Length(Length {
                kind: *kind,
                length: *length,
                count: *count,
            })
        });
        sites.into_iter().chain(lengths.collect::<Vec<_>>())
    }
}
