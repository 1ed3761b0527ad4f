//! One moment of a line: one record of a machine, or all seeds of a kernel in the lab.

use crate::record::{Quantity, Record, SubjectMachine, Venue, judged};
use crate::stats::{Percentile, median};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;

/// The key with which a loader names its file; the kernel's release says the same.
const BOOT_IMAGE: &str = "BOOT_IMAGE=";

/// The figures of a moment, and its time or its kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// The folder of its run.
    pub run: PathBuf,
    /// When it began; in the lab there is no date.
    pub began: Option<Utc>,
    /// The kernel's release, as it is told.
    pub kernel: String,
    /// Circumstances that may differ within a line beside kernel and time.
    pub circumstances: BTreeMap<&'static str, String>,
    /// Seeds, in order, and the digest of each one's samples.
    pub seeds: Vec<(u64, String)>,
    /// Samples or gaps.
    pub samples: u64,
    /// The observation time.
    #[serde(rename = "observation_ns")]
    pub observation: Nanos,
    /// Percentiles that the samples bear; in the lab the median over the seeds.
    pub percentiles_ns: BTreeMap<Percentile, u64>,
    /// The median; in the lab over the seeds.
    pub median_ns: Option<u64>,
    /// The maximum; in the lab of all seeds.
    pub max_ns: Option<u64>,
    /// `noise`: time in gaps, of a second of observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_ns_a_second: Option<u64>,
    /// Periods that were due.
    pub expected: u64,
    /// Missed periods, if they are known.
    pub missed: Option<u64>,
    /// Lost samples or gaps.
    pub lost: u64,
}

impl HistoryPoint {
    /// Whether a record can be put in order: by its date, or in the lab by its kernel.
    pub(crate) fn has_place(record: &Record) -> bool {
        record.origin.is_some() || record.subject.venue() == Venue::Lab
    }

    /// The point of one moment's records, of which there is at least one.
    pub(super) fn of(run: PathBuf, records: &[&Record]) -> HistoryPoint {
        let first = records[0];
        let summaries: Vec<_> = records.iter().filter_map(|r| r.summary(quantity(r))).collect();
        let middle = |values: Option<Vec<u64>>| {
            let values = values.filter(|v| v.len() == records.len())?;
            median::of(values)
        };
        let of = |p: Percentile| {
            let values = summaries.iter().map(|s| s.percentile(p).map(|n| n.0));
            Some((p, middle(values.collect())?))
        };
        let gaps = records
            .iter()
            .map(|r| r.accounting.gaps().map(|g| g.noise_ns_a_second()));
        let is_noise = first.accounting.gaps().is_some();
        let longest = records
            .iter()
            .filter_map(|r| r.accounting.gaps())
            .map(|g| g.max_single_ns);
        let mut seeds: Vec<(u64, String)> = records.iter().map(|r| (r.cell.seed, r.digest.clone())).collect();
        seeds.sort();
        HistoryPoint {
            run,
            began: first.origin.as_ref().map(|o| o.began),
            kernel: first.subject.kernel.release.clone(),
            circumstances: circumstances(first),
            seeds,
            samples: records.iter().map(|r| r.accounting.rows()).sum(),
            observation: Nanos(records.iter().map(|r| r.observation_time().0).sum()),
            // The distribution of gaps depends on the threshold.
            percentiles_ns: match is_noise {
                true => BTreeMap::new(),
                false => Percentile::ALL.into_iter().filter_map(of).collect(),
            },
            median_ns: middle(summaries.iter().map(|s| s.median().map(|n| n.0)).collect()).filter(|_| !is_noise),
            max_ns: summaries.iter().map(|s| s.max_ns).chain(longest).max(),
            noise_ns_a_second: middle(gaps.collect()),
            expected: records.iter().map(|r| r.accounting.expected()).sum(),
            missed: records.iter().map(|r| r.missed()).sum(),
            lost: records.iter().map(|r| r.accounting.lost()).sum(),
        }
    }

    /// The differences from the point before, as text; the kernel first.
    pub(crate) fn differs_from(&self, before: &HistoryPoint) -> Vec<String> {
        let mut all = Vec::new();
        if self.kernel != before.kernel {
            all.push(format!("kernel {} → {}", before.kernel, self.kernel));
        }
        let names = before.circumstances.keys().chain(self.circumstances.keys());
        for name in worstcase_base::distinct(names.copied()) {
            let of = |point: &HistoryPoint| point.circumstances.get(name).cloned().unwrap_or_else(|| "none".into());
            if of(self) != of(before) {
                all.push(format!("{name} {} → {}", of(before), of(self)));
            }
        }
        all
    }
}

/// The quantity by which a record is judged here: the whole latency, even if it has parts.
fn quantity(record: &Record) -> Quantity {
    match judged(&record.cell.probe, std::slice::from_ref(record)) {
        [only] => *only,
        _ => Quantity::Latency,
    }
}

fn circumstances(record: &Record) -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::new();
    let mut add = |name, value: String| {
        if !value.is_empty() {
            all.insert(name, value);
        }
    };
    add("build of the kernel", record.subject.kernel.version.clone());
    if let SubjectMachine::Lab(lab) = &record.subject.machine {
        let modules: Vec<String> = lab.modules.iter().map(ToString::to_string).collect();
        add("modules", modules.join(", "));
    }
    if let SubjectMachine::Host(host) = &record.subject.machine {
        let words = host.command_line.split_whitespace();
        let words: Vec<&str> = words.filter(|w| !w.starts_with(BOOT_IMAGE)).collect();
        add("boot parameters", words.join(" "));
        add("memory", format!("{} MB", host.memory_mb));
    }
    if let Some(origin) = &record.origin {
        add("firmware", origin.firmware.clone().unwrap_or_default());
        let governors = origin
            .governors
            .iter()
            .map(|(name, cpus)| format!("{name} (CPUs {cpus})"));
        add("governor", governors.collect::<Vec<_>>().join(", "));
        let set = origin.applied.iter().flatten().map(|set| set.id.clone());
        add("--apply", set.collect::<Vec<_>>().join(", "));
    }
    all
}
