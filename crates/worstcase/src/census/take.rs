//! Takes the census of a recorded cell: runs it again to count, and once more to see what the longest sections are.

use super::findings::KINDS;
use super::taken::{About, Taken};
use super::top::{self, Owned, TopList};
use crate::cache::Cache;
use crate::digest::Digest;
use crate::kernels::ResolveOptions;
use crate::lab::LabError;
use crate::lab::added::Added;
use crate::lab::again::Again;
use crate::lab::qemu::Qemu;
use crate::record::Record;
use std::time::Duration;
use worstcase_probe::Instructions;
use worstcase_probe::census::Kind;
use worstcase_probe::census::log::Section;

/// Where the owners of a cell's longest sections are in the cache.
const AREA: &str = "census-owners";

/// So much is replayed around a section, for what returns reveal of its callers.
const AROUND: Instructions = Instructions(20_000);

/// What taking needs beside the record.
pub struct How<'a> {
    /// The QEMU that measured the cell.
    pub qemu: &'a Qemu,
    /// Programs that were added when it was measured.
    pub added: &'a [Added],
    /// Where kernels and results are.
    pub options: &'a ResolveOptions<'a>,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
    /// Compare the tracked state with the true one at every block.
    pub audit: bool,
    /// Name the owners of all kinds of section, not only of those that delay a wake-up: one more replay.
    pub in_detail: bool,
}

/// The census, and the longest sections of each of [`KINDS`] by owner.
pub fn take(record: &Record, how: &How) -> Result<(Taken, Vec<TopList>), LabError> {
    let again = Again::of(record, how.added, how.qemu, how.options, how.limit)?;
    let cache = &how.options.cache;
    let found = again.census(cache, how.audit)?;
    let taken = Taken {
        about: About::of(record),
        census: found.census,
        polls_known: found.polls_known,
        symbols: again.symbols().clone(),
        moments: again.moments()?,
        shift: again.mips().shift(),
    };
    let (delays, others) = KINDS.split_at(1);
    let mut lists = longest(&again, cache, &taken, delays)?;
    lists.extend(match how.in_detail {
        true => longest(&again, cache, &taken, others)?,
        false => others.iter().map(|kind| top::unnamed(&taken, *kind)).collect(),
    });
    Ok((taken, lists))
}

/// The longest sections of these kinds, all from one replay.
fn longest(again: &Again, cache: &Cache, taken: &Taken, kinds: &[Kind]) -> Result<Vec<TopList>, LabError> {
    let longest: Vec<Vec<Section>> = kinds.iter().map(|kind| top::longest(taken, *kind)).collect();
    let mut owned = owners(again, cache, &longest.concat())?.into_iter();
    let list = |sections: Vec<Section>| {
        let of_kind = owned.by_ref().take(sections.len()).flatten().collect();
        top::list(of_kind, top::above(taken, &sections))
    };
    Ok(longest.into_iter().map(list).collect())
}

/// What a replay shows of each of these sections, in their order; kept in the cache.
fn owners(again: &Again, cache: &Cache, sections: &[Section]) -> Result<Vec<Option<Owned>>, LabError> {
    if sections.is_empty() {
        return Ok(Vec::new());
    }
    let mut key = Digest::new("worstcase-census-owners/1");
    key.text(&again.key()?);
    for section in sections {
        key.text(&format!("{section:?}"));
    }
    let folder = cache.publish(AREA, &key.hex(), |building| {
        let path = building.join("owners.json");
        let owned = replay(again, cache, sections)?;
        let json = serde_json::to_vec(&owned).expect("owners are plain data");
        std::fs::write(&path, json).map_err(LabError::io(&path))
    })?;
    let path = folder.join("owners.json");
    let json = std::fs::read(&path).map_err(LabError::io(&path))?;
    serde_json::from_slice(&json).map_err(|e| LabError::Damaged {
        folder,
        reason: e.to_string(),
        again: "the sections are replayed again",
    })
}

fn replay(again: &Again, cache: &Cache, sections: &[Section]) -> Result<Vec<Option<Owned>>, LabError> {
    let stretch = |s: &Section| s.start..Instructions(s.start.0 + s.length);
    let stretches: Vec<_> = sections.iter().map(stretch).collect();
    let mut owned: Vec<Option<Owned>> = vec![None; sections.len()];
    again.replay_stretches(cache, &stretches, AROUND, |index, execution| {
        owned[index] = top::owned(execution, again.symbols(), &sections[index]);
    })?;
    Ok(owned)
}
