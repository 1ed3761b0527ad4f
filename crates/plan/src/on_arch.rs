//! What machines of an architecture do not have, and a study asked of another one.

use crate::study::claim::OurCell;
use crate::{Arch, Experiment, ExperimentPlan, Part, PlannedSubject, Problem, Subjects, Venue, grammar};
use worstcase_base::distinct;
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::{Device, Probe};

fn is_of_pcs(device: &Device) -> bool {
    *device != Device::Virtio
}

/// Why machines of an architecture cannot have a load.
fn lacking_for_load(arch: Arch, load: &LoadSpec) -> Option<String> {
    let device = load.devices().filter(|_| !arch.is_usual()).find(is_of_pcs)?;
    Some(format!("'{load}' needs {}, which PCs alone have", device.title()))
}

/// Why machines of an architecture cannot have a probe.
fn lacking_for_probe(arch: Arch, probe: &Probe) -> Option<String> {
    if arch.is_usual() {
        return None;
    }
    if probe.info().ticks_as_rtc_in_lab {
        return Some(format!("{probe} is for x86-64 as yet"));
    }
    let device = probe.device().filter(is_of_pcs)?;
    Some(format!("{probe} needs {}, which PCs alone have", device.title()))
}

/// Why machines of an architecture cannot be a subject's.
fn lacking_for_subject(subject: &PlannedSubject) -> Option<String> {
    let scheduler = subject.machine.scheduler.as_ref().filter(|s| s.is_loaded())?;
    let is_other = !subject.machine.arch().is_usual();
    is_other.then(|| format!("{scheduler} is loaded on x86-64 alone"))
}

impl Part {
    /// An error for what one of these kernels' machines does not have.
    pub(crate) fn check_arch(&self, kernels: &[PlannedSubject]) -> Result<(), Problem> {
        let Some(subject) = kernels.iter().find(|subject| !subject.machine.arch().is_usual()) else {
            return Ok(());
        };
        let arch = subject.machine.arch();
        let refuse = |key, lacking: Option<String>| match lacking {
            Some(what) => Err(Problem::new(
                key,
                format!("{what}, and {} is for {arch}", subject.kernel),
            )),
            None => Ok(()),
        };
        refuse("loads", self.loads.iter().find_map(|load| lacking_for_load(arch, load)))?;
        let probes = self.probes(Venue::Lab)?;
        refuse("probes", probes.iter().find_map(|probe| lacking_for_probe(arch, probe)))?;
        refuse("scheduler", kernels.iter().find_map(lacking_for_subject))
    }
}

impl ExperimentPlan {
    /// Asks a study of the archive's kernels of the same names for another architecture. What its machines do not have is left
    /// out, and told. The causes that the study knows are those of its own kernels.
    pub fn ask_of(&mut self, arch: Arch) -> Result<Vec<String>, Problem> {
        let mut left_out: Vec<String> = Vec::new();
        for part in &mut self.experiment.parts {
            left_out.extend(part.ask_of(arch));
        }
        self.experiment.parts.retain(Part::has_cells);
        if self.experiment.parts.is_empty() {
            let why = distinct(left_out.into_iter()).join("; ");
            let what = format!("machines of {arch} can do nothing of this study ({why}); leave --arch out");
            return Err(Problem::new("arch", what));
        }
        for claim in &mut self.claims {
            claim.because = None;
            let cells = claim.figures.iter_mut().filter_map(|figure| figure.cell.as_mut());
            cells
                .filter_map(|cell: &mut OurCell| cell.subject.as_mut())
                .for_each(|subject| subject.ask_of(arch));
        }
        if let Some(study) = &mut self.study {
            study.arch = arch;
        }
        let told = left_out.into_iter().map(|what| format!("{what}: left out on {arch}"));
        Ok(distinct(told))
    }
}

impl Part {
    fn ask_of(&mut self, arch: Arch) -> Vec<String> {
        let mut left_out = Vec::new();
        let mut is_possible = |lacking: Option<String>| {
            let is_possible = lacking.is_none();
            left_out.extend(lacking);
            is_possible
        };
        if let Subjects::Kernels(kernels) = &mut self.subjects {
            kernels.iter_mut().for_each(|subject| subject.ask_of(arch));
            kernels.retain(|subject| is_possible(lacking_for_subject(subject)));
            *kernels = distinct(kernels.drain(..));
        }
        self.loads.retain(|load| is_possible(lacking_for_load(arch, load)));
        self.probes.retain(|word| {
            let probes = grammar::probes(Venue::Lab, word).unwrap_or_default();
            is_possible(probes.iter().find_map(|probe| lacking_for_probe(arch, probe)))
        });
        left_out
    }

    fn has_cells(&self) -> bool {
        let has_subjects = !matches!(&self.subjects, Subjects::Kernels(kernels) if kernels.is_empty());
        has_subjects && !self.loads.is_empty() && !self.probes.is_empty()
    }
}

impl PlannedSubject {
    fn ask_of(&mut self, arch: Arch) {
        self.machine.set_arch(arch);
        self.kernel = arch.in_name(&self.kernel);
    }
}

impl Experiment {
    /// Leaves out the subjects that `has` does not have, and the parts that have none then.
    pub fn keep_subjects(&mut self, mut has: impl FnMut(&PlannedSubject) -> bool) {
        for part in &mut self.parts {
            if let Subjects::Kernels(kernels) = &mut part.subjects {
                kernels.retain(&mut has);
            }
        }
        self.parts.retain(Part::has_cells);
    }
}
