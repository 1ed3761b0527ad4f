//! What machines of an architecture do not have, and a study asked of another one.

use crate::study::claim::OurCell;
use crate::{
    Arch, Experiment, ExperimentPlan, Part, PlannedSubject, PreemptChoice, PreemptName, Problem, Subjects, Venue,
    grammar,
};
use std::collections::BTreeMap;
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
        refuse("probes", probes.iter().find_map(|probe| lacking_for_probe(arch, probe)))
    }
}

impl ExperimentPlan {
    /// Asks a study of the archive's kernels of the same names for another architecture. What its machines do not have is left
    /// out, and told. The causes that the study knows are those of its own kernels, and reasons say whose they are.
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
            let is_asked = claim.figures.iter().any(|figure| figure.cell.is_some());
            if is_asked && !arch.is_usual() {
                claim.why = format!("Of {}: {}", Arch::default(), claim.why);
            }
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

/// The model that a kernel can boot, in place of the one that a study asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInPlace {
    /// The kernel's name.
    pub kernel: String,
    /// The model that the study asks of it.
    pub asked: PreemptName,
    /// The model that it is booted with.
    pub taken: PreemptName,
}

impl ExperimentPlan {
    /// Where a study asks one model of a kernel, it is about something else than models: has a kernel that can boot another one
    /// alone (`only` gives it) be booted with that.
    pub fn take_only_models(&mut self, only: impl Fn(&str) -> Option<PreemptName>) -> Vec<ModelInPlace> {
        let mut asked: BTreeMap<String, Vec<PreemptChoice>> = BTreeMap::new();
        for subject in self.experiment.kernels() {
            let of_kernel = asked.entry(subject.kernel.clone()).or_default();
            if !of_kernel.contains(&subject.preempt) {
                of_kernel.push(subject.preempt);
            }
        }
        let in_place = |(kernel, asked): (String, Vec<PreemptChoice>)| {
            let ([PreemptChoice::One(asked)], Some(taken)) = (&asked[..], only(&kernel)) else {
                return None;
            };
            let asked = *asked;
            (asked != taken).then_some(ModelInPlace { kernel, asked, taken })
        };
        let in_place: Vec<ModelInPlace> = asked.into_iter().filter_map(in_place).collect();
        let figures = self.claims.iter_mut().flat_map(|claim| &mut claim.figures);
        let of_claims = figures.filter_map(|figure| figure.cell.as_mut()?.subject.as_mut());
        for subject in self.experiment.kernels_mut().chain(of_claims) {
            let other = |model: &&ModelInPlace| {
                subject.kernel == model.kernel && subject.preempt == PreemptChoice::One(model.asked)
            };
            if let Some(model) = in_place.iter().find(other) {
                subject.preempt = PreemptChoice::One(model.taken);
            }
        }
        in_place
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StudyVariant;
    use crate::study::plan;

    fn models(plan: &ExperimentPlan, kernel: &str) -> Vec<String> {
        let of_kernel = plan.experiment.kernels().filter(|subject| subject.kernel == kernel);
        of_kernel.map(|subject| subject.preempt.to_string()).collect()
    }

    #[test]
    fn a_kernel_that_is_asked_for_one_model_is_booted_with_the_one_it_has() {
        let voluntary = |kernel: &str| kernel.starts_with("debian:6.1/").then_some(PreemptName::Voluntary);
        let mut isolation = plan("isolation", Venue::Lab, StudyVariant::Quick).unwrap();
        isolation.ask_of(Arch::Arm64).unwrap();
        let told = isolation.take_only_models(voluntary);
        let expected = ModelInPlace {
            kernel: "debian:6.1/arm64".into(),
            asked: PreemptName::Full,
            taken: PreemptName::Voluntary,
        };
        assert_eq!(told, [expected]);
        assert_eq!(
            models(&isolation, "debian:6.1/arm64"),
            ["voluntary"; 3],
            "one a line of boot parameters"
        );
        assert!(isolation.take_only_models(voluntary).is_empty(), "once");
        let of_another = |claim: &crate::Claim| claim.why.starts_with("Of x86-64: ");
        let asked = |claim: &crate::Claim| claim.figures.iter().any(|figure| figure.cell.is_some());
        assert!(isolation.claims.iter().all(|claim| of_another(claim) == asked(claim)));

        let mut of_models = plan("preemption-models", Venue::Lab, StudyVariant::Full).unwrap();
        of_models.ask_of(Arch::Arm64).unwrap();
        let asked = models(&of_models, "debian:6.1/arm64");
        assert!(of_models.take_only_models(voluntary).is_empty(), "it is about models");
        assert_eq!(models(&of_models, "debian:6.1/arm64"), asked);
    }
}
