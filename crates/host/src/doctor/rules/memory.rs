//! Memory: huge pages, merging, swap.

use super::{Finding, FindingLevel, Patient, Rule, TemporaryChange, echo, should_be_off};

pub(super) const RULES: [Rule; 3] = [huge_pages, merging, swap];

fn huge_pages(patient: &Patient) -> Option<Finding> {
    const ID: &str = "huge-pages";
    const FILE: &str = "sys/kernel/mm/transparent_hugepage/enabled";
    Some(match patient.facts.memory.huge_pages.as_deref() {
        None => Finding::not_known(ID, "whether huge pages are made behind a program's back"),
        Some("always") => Finding::new(
            ID,
            FindingLevel::Harmful,
            "transparent huge pages are made for every program (always)",
            "A page fault may have to clear 2 MB, or to move other pages away first; khugepaged does the same later, \
             under a lock that the program needs.",
        )
        .remedy(format!("as root: {}", echo("madvise", FILE)))
        .changes([TemporaryChange::set(FILE, "madvise")]),
        Some(mode) => Finding::good(ID, format!("transparent huge pages: {mode}")),
    })
}

fn merging(patient: &Patient) -> Option<Finding> {
    const FILE: &str = "sys/kernel/mm/ksm/run";
    let is = patient.facts.memory.same_page_merging;
    // A kernel without KSM has no such file.
    is?;
    should_be_off("same-page-merging", "same-page merging (KSM)", is, |what| {
        let why = "Its thread scans memory all the time, and writing to a merged page is a page fault that copies it.";
        Finding::new("same-page-merging", FindingLevel::Harmful, what, why)
            .remedy(format!("as root: {}", echo("0", FILE)))
            .changes([TemporaryChange::set(FILE, 0)])
    })
}

fn swap(patient: &Patient) -> Option<Finding> {
    const ID: &str = "swap";
    let Some(areas) = &patient.facts.memory.swap else {
        return Some(Finding::not_known(ID, "whether there is swap"));
    };
    let used_mb = areas.iter().map(|area| area.used_kb).sum::<u64>() / 1024;
    let why = "Memory that is not locked may have to be read back from the disk when it is touched: milliseconds.";
    let remedy = "as root: swapoff -a; in a program: mlockall";
    Some(match (areas.is_empty(), used_mb) {
        (true, _) => Finding::good(ID, "there is no swap"),
        (_, 0) => Finding::new(ID, FindingLevel::Notice, "there is swap, unused", why).remedy(remedy),
        _ => Finding::new(ID, FindingLevel::Harmful, format!("{used_mb} MB are swapped out"), why).remedy(remedy),
    })
}
