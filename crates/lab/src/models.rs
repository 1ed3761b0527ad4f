//! The cells that an experiment asks of the lab, with the models that its kernels can boot.

use super::LabError;
use std::collections::BTreeMap;
use worstcase_base::distinct;
use worstcase_kernels::preempt::{self, PreemptName};
use worstcase_kernels::{self as kernels, Arch, Kernel, KernelError, ResolveOptions, needs, version};
use worstcase_plan::{
    CpuScheduler, Experiment, ExperimentPlan, ModelInPlace, PlannedCell, PlannedSubject, PreemptChoice, VirtualMachine,
};

/// Every cell; those of a subject stand together.
pub fn planned(experiment: &Experiment, options: &ResolveOptions<'_>) -> Result<Vec<PlannedCell>, LabError> {
    let cells = experiment
        .lab_cells()
        .map_err(|problem| LabError::Request(problem.to_string()))?;
    let mut kernels = BTreeMap::new();
    for (subject, _) in &cells {
        if !kernels.contains_key(&subject.kernel) {
            let kernel = kernels::resolve(&subject.kernel, options)?;
            needs::check(&kernel)?;
            let machines = cells.iter().filter(|(other, _)| other.kernel == subject.kernel);
            machines
                .map(|(other, _)| &other.machine)
                .try_for_each(|machine| check_machine(&kernel, machine))?;
            let models: Vec<PreemptName> = preempt::models(&kernel)?.iter().map(|m| m.model).collect();
            let of_kernel = cells.iter().filter(|(other, _)| other.kernel == subject.kernel);
            let subjects: Vec<&PlannedSubject> = of_kernel.map(|(subject, _)| subject).collect();
            refuse_unknown_scheduler(&kernel, &subjects)?;
            refuse_scheduler_of_tasks(&kernel, &subjects)?;
            kernels.insert(subject.kernel.clone(), (kernel, models));
        }
    }
    let mut all = Vec::new();
    // Cells of a subject stand together, so that it is booted once.
    for group in cells.chunk_by(|a, b| a.0 == b.0) {
        let subject = &group[0].0;
        for model in booted(subject, &kernels[&subject.kernel].1) {
            let arch = kernels[&subject.kernel].0.arch;
            all.extend(group.iter().map(|(subject, spec)| PlannedCell {
                kernel: subject.kernel.clone(),
                preempt: model.to_string(),
                machine: of_image(&subject.machine, arch),
                spec: spec.clone(),
            }));
        }
    }
    let subjects: Vec<&PlannedSubject> = cells.iter().map(|(subject, _)| subject).collect();
    refuse_unused(&subjects, &kernels)?;
    Ok(all)
}

/// Leaves out the subjects whose kernels cannot boot their model, or are not in the archive, and tells them. Where one model is asked
/// of a kernel that can boot another one alone, that is taken, and told.
pub fn leave_out_lacking(plan: &mut ExperimentPlan, options: &ResolveOptions<'_>) -> Result<Vec<String>, LabError> {
    let mut models: BTreeMap<String, Vec<PreemptName>> = BTreeMap::new();
    let mut left_out = Vec::new();
    let subjects = plan.experiment.kernels().map(|subject| subject.kernel.clone());
    for name in distinct(subjects) {
        match kernels::resolve(&name, options) {
            Ok(kernel) => {
                models.insert(name, preempt::models(&kernel)?.iter().map(|m| m.model).collect());
            }
            Err(KernelError::Unknown { .. }) => left_out.push(format!("{name} is not in the archive: left out")),
            Err(error) => return Err(error.into()),
        }
    }
    let in_place = plan.take_only_models(|kernel| match models.get(kernel)?.as_slice() {
        [only] => Some(*only),
        _ => None,
    });
    let told = in_place.into_iter().map(|ModelInPlace { kernel, asked, taken }| {
        format!("{kernel} boots {taken} alone: {taken} in place of {asked}")
    });
    left_out.extend(told);
    let experiment = &mut plan.experiment;
    let mut lacking: Vec<(String, PreemptName)> = Vec::new();
    experiment.keep_subjects(|subject| {
        let has = models.get(&subject.kernel).map(Vec::as_slice).unwrap_or_default();
        match subject.preempt {
            PreemptChoice::All => !has.is_empty(),
            PreemptChoice::One(model) => {
                let is_there = has.contains(&model);
                if !is_there && !has.is_empty() {
                    lacking.push((subject.kernel.clone(), model));
                }
                is_there
            }
        }
    });
    for (kernel, model) in distinct(lacking.into_iter()) {
        let has: Vec<&str> = models[&kernel].iter().map(|m| m.name()).collect();
        left_out.push(format!(
            "{kernel} boots {} alone, not {model}: left out",
            has.join(", ")
        ));
    }
    match experiment.parts.is_empty() {
        true => Err(LabError::Request(format!(
            "nothing of it is left: {}",
            left_out.join("; ")
        ))),
        false => Ok(left_out),
    }
}

/// The machine for an image, which tells its architecture: the usual machine of that, where none was asked for.
fn of_image(machine: &VirtualMachine, arch: Arch) -> VirtualMachine {
    let mut machine = machine.clone();
    if machine.cpu == Arch::default().usual_cpu() {
        machine.set_arch(arch);
    }
    machine
}

/// Refuses a kernel for another machine, or for pages that the CPU does not have, before anything boots: it would stay silent
/// for ever.
fn check_machine(kernel: &Kernel, asked: &VirtualMachine) -> Result<(), LabError> {
    let machine = of_image(asked, kernel.arch);
    if machine.arch() != kernel.arch {
        return Err(LabError::Request(format!(
            "{} is a kernel for {}, and the machine is of {} (CPU {}); leave --arch and --cpu out, or name another kernel",
            kernel.name,
            kernel.arch,
            machine.arch(),
            machine.cpu
        )));
    }
    let has = |option| matches!(kernel.read_config(), Ok(config) if config.has(option));
    if has("ARM64_64K_PAGES") || (has("ARM64_16K_PAGES") && !machine.cpu.has_16k_pages()) {
        return Err(LabError::Request(format!(
            "{} has larger pages (CONFIG_ARM64_16K_PAGES), which the CPU {} does not have; take --cpu cortex-a76 or neoverse-n1 for 16k",
            kernel.label, machine.cpu
        )));
    }
    Ok(())
}

/// Refuses an I/O scheduler that the kernel's configuration lacks, before anything boots.
fn refuse_unknown_scheduler(kernel: &Kernel, subjects: &[&PlannedSubject]) -> Result<(), LabError> {
    let config = kernel.read_config()?;
    let unknown = |subject: &&PlannedSubject| -> Option<String> {
        let name = &subject.machine.io_scheduler.as_ref()?.name;
        (!config.has_io_scheduler(name)).then(|| name.clone())
    };
    match subjects.iter().find_map(unknown) {
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

/// Refuses a scheduler of tasks that the kernel cannot load, or does not have, before anything boots.
fn refuse_scheduler_of_tasks(kernel: &Kernel, subjects: &[&PlannedSubject]) -> Result<(), LabError> {
    let Some(asked) = subjects.iter().find_map(|subject| subject.machine.scheduler.as_ref()) else {
        return Ok(());
    };
    let refused = |what: &str| {
        Err(LabError::Request(format!(
            "--scheduler {asked}: {} {what}",
            kernel.label
        )))
    };
    let config = kernel.read_config()?;
    let any_is_loaded = || {
        subjects
            .iter()
            .filter_map(|s| s.machine.scheduler.as_ref())
            .any(CpuScheduler::is_loaded)
    };
    let series = version::series(&kernel.release).unwrap_or_default();
    match () {
        () if version::series_numbers(&series) < FIRST_WITH_EEVDF => {
            refused("has CFS as its own scheduler and loads none; EEVDF came with 6.6, sched_ext with 6.12")
        }
        () if any_is_loaded() && !config.features().sched_ext => {
            refused("loads no scheduler (CONFIG_SCHED_CLASS_EXT); Debian's kernels do from 6.18 on")
        }
        () if any_is_loaded() && !config.has("DEBUG_INFO_BTF") => {
            refused("does not describe its types (CONFIG_DEBUG_INFO_BTF), which a scheduler is loaded by")
        }
        () => Ok(()),
    }
}

const FIRST_WITH_EEVDF: (u32, u32) = (6, 6);

/// The models in which a subject is booted. One that its kernel lacks is refused later, with an explanation.
fn booted(subject: &PlannedSubject, has: &[PreemptName]) -> Vec<PreemptName> {
    match subject.preempt {
        PreemptChoice::All => has.to_vec(),
        PreemptChoice::One(model) if !subject.optional || has.contains(&model) => vec![model],
        PreemptChoice::One(_) => Vec::new(),
    }
}

/// Each of several kernels may boot only some of the named models; refuses a kernel that boots none of them, and a
/// model that no kernel boots.
fn refuse_unused(
    subjects: &[&PlannedSubject],
    kernels: &BTreeMap<String, (Kernel, Vec<PreemptName>)>,
) -> Result<(), LabError> {
    let is_booted = |subject: &&&PlannedSubject| !booted(subject, &kernels[&subject.kernel].1).is_empty();
    for subject in subjects.iter().filter(|subject| !is_booted(subject)) {
        let PreemptChoice::One(model) = subject.preempt else {
            continue;
        };
        if !subjects
            .iter()
            .filter(is_booted)
            .any(|other| other.kernel == subject.kernel)
        {
            // The error names the possible models, and why not this one.
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
