//! The cells that an experiment asks of the lab, once it is known which models its kernels can boot.

use super::LabError;
use std::collections::BTreeMap;
use worstcase_kernels::preempt::{self, Model};
use worstcase_kernels::{self as kernels, Kernel, KernelError, ResolveOptions, needs};
use worstcase_plan::{Experiment, PlannedCell, Preempt, Subject};

/// Every cell, a subject's together.
pub fn planned(experiment: &Experiment, options: &ResolveOptions<'_>) -> Result<Vec<PlannedCell>, LabError> {
    let cells = experiment
        .lab_cells()
        .map_err(|problem| LabError::Request(problem.to_string()))?;
    let mut kernels = BTreeMap::new();
    for (subject, _) in &cells {
        if !kernels.contains_key(&subject.kernel) {
            let kernel = kernels::resolve(&subject.kernel, options)?;
            needs::check(&kernel)?;
            let models: Vec<Model> = preempt::models(&kernel)?.iter().map(|m| m.model).collect();
            let of_kernel = cells.iter().filter(|(other, _)| other.kernel == subject.kernel);
            refuse_unknown_scheduler(&kernel, of_kernel.map(|(subject, _)| subject))?;
            kernels.insert(subject.kernel.clone(), (kernel, models));
        }
    }
    let mut all = Vec::new();
    // A subject's cells stand together: it is booted once.
    for group in cells.chunk_by(|a, b| a.0 == b.0) {
        let subject = &group[0].0;
        for model in booted(subject, &kernels[&subject.kernel].1) {
            all.extend(group.iter().map(|(subject, spec)| PlannedCell {
                kernel: subject.kernel.clone(),
                preempt: model.to_string(),
                machine: subject.machine.clone(),
                spec: spec.clone(),
            }));
        }
    }
    let subjects: Vec<&Subject> = cells.iter().map(|(subject, _)| subject).collect();
    refuse_unused(&subjects, &kernels)?;
    Ok(all)
}

/// A scheduler that the kernel's configuration does not have is told before anything boots.
fn refuse_unknown_scheduler<'a>(
    kernel: &Kernel,
    mut subjects: impl Iterator<Item = &'a Subject>,
) -> Result<(), LabError> {
    let config = kernel.read_config()?;
    let unknown = |subject: &'a Subject| {
        let name = &subject.machine.io_scheduler.as_ref()?.name;
        (!config.has_io_scheduler(name)).then_some(name)
    };
    match subjects.find_map(unknown) {
        None => Ok(()),
        Some(name) => {
            let has: Vec<&str> = config.features().io_schedulers.iter().map(|s| s.name).collect();
            Err(LabError::Request(format!(
                "--io-scheduler: {} has no '{name}'; it has {}",
                kernel.label,
                has.join(", ")
            )))
        }
    }
}

/// The models that a subject is booted in. One that its kernel does not have is refused later, in words.
fn booted(subject: &Subject, has: &[Model]) -> Vec<Model> {
    match subject.preempt {
        Preempt::All => has.to_vec(),
        Preempt::One(model) if !subject.optional || has.contains(&model) => vec![model],
        Preempt::One(_) => Vec::new(),
    }
}

/// Several kernels may each boot some of the models that are named, but each boots one, and each is booted by one.
fn refuse_unused(subjects: &[&Subject], kernels: &BTreeMap<String, (Kernel, Vec<Model>)>) -> Result<(), LabError> {
    let is_booted = |subject: &&&Subject| !booted(subject, &kernels[&subject.kernel].1).is_empty();
    for subject in subjects.iter().filter(|subject| !is_booted(subject)) {
        let Preempt::One(model) = subject.preempt else { continue };
        if !subjects
            .iter()
            .filter(is_booted)
            .any(|other| other.kernel == subject.kernel)
        {
            // Says which models there are, and why not this one.
            preempt::choose(&kernels[&subject.kernel].0, model)?;
        }
        if !subjects
            .iter()
            .filter(is_booted)
            .any(|other| other.preempt == subject.preempt)
        {
            let names: Vec<&str> = kernels.keys().map(String::as_str).collect();
            return Err(LabError::Request(format!(
                "none of {} can boot '{model}'; see 'worstcase kernels show'",
                names.join(", ")
            )));
        }
    }
    Ok(())
}

impl From<worstcase_plan::UnknownModel> for LabError {
    fn from(unknown: worstcase_plan::UnknownModel) -> LabError {
        LabError::Kernel(KernelError::UnknownModel(unknown))
    }
}
