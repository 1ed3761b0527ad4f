//! Takes the census of a recorded cell: runs it again to count, and a part of it once more to look at the longest sections.

use super::CensusTakeError;
use super::cell_census::{About, CellCensus, CensusCpu};
use super::choice::ChosenCell;
use super::findings::KINDS;
use super::owners::Replays;
use super::top::{self, TopList};
use crate::debuginfo::LineOrigin;
use std::time::Duration;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::Section;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::additions::Additions;
use worstcase_lab::again::RepeatableCell;
use worstcase_lab::qemu::Qemus;

/// The means beside the record that a census needs.
pub struct CensusMeans<'a> {
    /// The QEMU that measured the cell.
    pub qemus: &'a Qemus<'a>,
    /// The additions with which the cell was measured, if not those that its run names.
    pub additions: &'a Additions,
    /// The places of kernels and results.
    pub options: &'a ResolveOptions<'a>,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
    /// The CPU, if not the probe's.
    pub cpu: Option<u32>,
    /// Compare the tracked state with the true one at every block.
    pub audit: bool,
}

/// The census, and the longest sections of each of [`KINDS`] by owner. If not in detail, only sections that delay a wake-up
/// have owners.
pub fn take(
    chosen: &ChosenCell,
    how: &CensusMeans,
    in_detail: bool,
) -> Result<(CellCensus, Vec<TopList>), CensusTakeError> {
    let ChosenCell { record, additions } = chosen;
    if let Some(machine) = record
        .subject
        .virtual_machine()
        .filter(|machine| !machine.arch().is_usual())
    {
        let (what, arch) = (record.subject.id().to_string(), machine.arch());
        return Err(LabError::NoCensus { what, arch }.into());
    }
    let mut again = RepeatableCell::of(record, additions, how.qemus, how.options, how.limit)?;
    let cache = &how.options.cache;
    let about = About::of(record, how.cpu);
    if let Some(CensusCpu { cpu, has_probe: false }) = about.of {
        again.follow(cpu)?;
    }
    if about.is_program {
        again.leave_priorities();
    }
    let found = again.census(cache, how.audit)?;
    let moments = match about.has_samples() {
        true => again.moments()?,
        false => Vec::new(),
    };
    let taken = CellCensus {
        about,
        census: found.census,
        polls_known: found.polls_known,
        symbols: again.symbols().clone(),
        moments,
        shift: again.mips().shift(),
    };
    let replays = Replays::of(&again, cache, LineOrigin::of(record, &again, additions, None, cache)?);
    // What delays a wake-up comes first.
    let (looked_at, others) = KINDS.split_at(if in_detail { KINDS.len() } else { 1 });
    let mut lists = longest(&replays, &taken, looked_at)?;
    lists.extend(others.iter().map(|kind| top::unnamed(&taken, *kind)));
    Ok((taken, lists))
}

/// The longest sections of these kinds by owner, all from one replay.
fn longest(replays: &Replays, taken: &CellCensus, kinds: &[Kind]) -> Result<Vec<TopList>, CensusTakeError> {
    let longest: Vec<Vec<Section>> = kinds.iter().map(|kind| top::longest(taken, *kind)).collect();
    let mut owned = replays.owners(&longest.concat())?.into_iter();
    let list = |sections: Vec<Section>| {
        let of_kind = owned.by_ref().take(sections.len()).flatten().collect();
        top::list(of_kind, top::above(taken, &sections))
    };
    Ok(longest.into_iter().map(list).collect())
}
