//! An experiment multiplied out.

use crate::virtual_machine::needed_devices;
use crate::{
    CellLength, DiskSpec, Experiment, Part, PlannedSubject, Problem, SchedulingPolicy, Seeds, Subjects, Venue,
    VirtualMachine, grammar,
};
use std::collections::{BTreeSet, HashSet};
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::policy::ProbePolicy;
use worstcase_contract::{CellSpec, Device, Nanos, Probe};

/// One load with one probe and one seed: a cell of every subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The load.
    pub load: LoadSpec,
    /// The probe.
    pub probe: Probe,
    /// The seed.
    pub seed: u64,
    /// The interval; 0 for a probe that has none.
    pub interval: Nanos,
    /// Periods, or repetitions.
    pub periods: u32,
}

/// A cell of the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCell {
    /// Kernel, as the experiment names it.
    pub kernel: String,
    /// Preemption model.
    pub preempt: String,
    /// The machine.
    pub machine: VirtualMachine,
    /// The measurement that runs on it.
    pub spec: CellSpec,
}

impl Part {
    /// Every probe that its words stand for.
    pub fn probes(&self, venue: Venue) -> Result<Vec<Probe>, Problem> {
        let each = self.probes.iter().enumerate().map(|(nth, word)| {
            let probes = grammar::probes(venue, word);
            probes.map_err(|e| Problem::new("probes", e.0).at(nth))
        });
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The number of its cells, computed without making them; nothing if the number is too large to be counted. A kernel with
    /// all its preemption models counts once, and so does a host, whose CPUs are measured at once.
    pub(crate) fn count(&self, venue: Venue) -> Result<Option<u64>, Problem> {
        let subjects = match &self.subjects {
            Subjects::Kernels(kernels) => kernels.len(),
            Subjects::Cpus(_) => 1,
        };
        let lengths = [subjects, self.loads.len(), self.probes(venue)?.len()];
        let mut factors = lengths.into_iter().map(|length| length as u64);
        let seeds = self.seeds.count();
        Ok(factors.try_fold(seeds, |product, factor| product.checked_mul(factor)))
    }

    /// Every load with every probe and seed.
    pub fn combinations(&self, venue: Venue) -> Result<Vec<Combination>, Problem> {
        let probes = self.probes(venue)?;
        let mut all = Vec::new();
        for load in &self.loads {
            for probe in probes.iter().copied() {
                let (interval, periods) = (self.interval_of(venue, probe), self.periods_of(venue, probe));
                all.extend(self.seeds.iter().map(|seed| Combination {
                    load: load.clone(),
                    probe,
                    seed,
                    interval,
                    periods,
                }));
            }
        }
        Ok(all)
    }

    fn periods_of(&self, venue: Venue, probe: Probe) -> u32 {
        let usual = grammar::usual_length(venue, probe);
        match (
            self.timing.length.unwrap_or(usual),
            usual,
            self.interval_of(venue, probe),
        ) {
            (CellLength::Samples(n), ..) => n,
            // The number of samples that fit is not known beforehand.
            (CellLength::Time(_), CellLength::Samples(n), Nanos(0)) => n,
            (CellLength::Time(time), _, interval) => u32::try_from(time.0 / interval.0.max(1)).unwrap_or(u32::MAX),
        }
    }

    /// The measurements that run on every subject of the lab.
    pub(crate) fn specs(&self) -> Result<Vec<CellSpec>, Problem> {
        self.specs_of(self.seeds)
    }

    /// Refuses a load that is, together with the rest, too long for the lab's machine. The last seed's text is the longest.
    pub(crate) fn check_specs(&self) -> Result<(), Problem> {
        self.specs_of(Seeds::one(self.seeds.last)).map(drop)
    }

    fn specs_of(&self, seeds: Seeds) -> Result<Vec<CellSpec>, Problem> {
        let spec = |c: Combination| {
            let spec = CellSpec {
                probe: c.probe,
                load: c.load.to_string(),
                period: c.interval,
                periods: c.periods,
                seed: c.seed,
                warmup: self.timing.warmup,
                priority: match self.method.policy {
                    Some(SchedulingPolicy::Other) => 0,
                    None if c.probe.is_ordinary_unasked() => 0,
                    _ => self.method.priority,
                },
            };
            let spec = spec.for_probe();
            spec.to_text().map_err(|e| Problem::new("loads", e.0))?;
            Ok(spec)
        };
        let part = Part { seeds, ..self.clone() };
        part.combinations(Venue::Lab)?.into_iter().map(spec).collect()
    }
}

impl PlannedSubject {
    /// Adds the devices that a cell needs, and the probe's policy if the subject's name is to tell it; work with files is on a
    /// disk.
    fn with_needs(mut self, devices: BTreeSet<Device>, probe: Probe, policy: Option<ProbePolicy>) -> PlannedSubject {
        self.machine.devices = devices;
        self.machine.policy = policy.filter(|policy| !policy.is_usual() || probe.is_ordinary_unasked());
        if probe.needs_disk() {
            self.machine.disk.get_or_insert_with(DiskSpec::usual);
        }
        self
    }
}

impl Experiment {
    /// Every cell of the lab, by part, subject, load, probe, seed. A cell that an earlier part has is left out; a cell that
    /// one part has twice is there twice, and refused when the run begins.
    pub fn lab_cells(&self) -> Result<Vec<(PlannedSubject, CellSpec)>, Problem> {
        let mut cells: Vec<(PlannedSubject, CellSpec)> = Vec::new();
        // Equal cells have equal texts. A single part has no earlier one.
        let mut known: HashSet<String> = HashSet::new();
        let text = |cell: &(PlannedSubject, CellSpec)| format!("{cell:?}");
        for part in &self.parts {
            let specs: Vec<(CellSpec, BTreeSet<Device>)> = part
                .specs()?
                .into_iter()
                .map(|spec| (spec.clone(), needed_devices(spec.probe, &spec.load)))
                .collect();
            let earlier = cells.len();
            let Subjects::Kernels(subjects) = &part.subjects else {
                continue;
            };
            for subject in subjects {
                for (spec, devices) in &specs {
                    let subject = subject
                        .clone()
                        .with_needs(devices.clone(), spec.probe, part.method.of_lab());
                    let cell = (subject, spec.clone());
                    if known.is_empty() || !known.contains(&text(&cell)) {
                        cells.push(cell);
                    }
                }
            }
            if self.parts.len() > 1 {
                known.extend(cells[earlier..].iter().map(text));
            }
        }
        Ok(cells)
    }
}
