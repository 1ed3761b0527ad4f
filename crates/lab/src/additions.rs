//! Additions of the user to the machines: programs (`--add`) and kernel modules (`--module`).

use super::LabError;
use super::added;
use super::own_module::OwnModule;
use std::collections::BTreeMap;
use worstcase_kernels::Kernel;
use worstcase_plan::{Added, Experiment, LabModule};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Programs and files.
    pub(crate) programs: Vec<Added>,
    /// Modules, in the order in which they are loaded.
    pub modules: Vec<OwnModule>,
    /// The words of the command of the program that is the probe, which is among the programs; empty for another probe.
    pub(crate) followed: Vec<String>,
}

impl Additions {
    /// The additions that an experiment names.
    pub fn of(experiment: &Experiment) -> Result<Additions, LabError> {
        Additions::named(&experiment.added, &experiment.modules)?.with_program(experiment)
    }

    /// Adds the program that is the experiment's probe.
    fn with_program(mut self, experiment: &Experiment) -> Result<Additions, LabError> {
        let words = experiment.program_words();
        self.followed = words.map_err(|e| LabError::Request(e.to_string()))?;
        if let Some(program) = &experiment.program {
            added::check_program(program, &self.programs)?;
            self.programs.push(program.clone());
        }
        Ok(self)
    }

    /// These additions, if they exist and can be used.
    pub fn named(programs: &[Added], modules: &[LabModule]) -> Result<Additions, LabError> {
        programs.iter().try_for_each(added::check)?;
        Ok(Additions {
            programs: programs.to_vec(),
            modules: modules.iter().map(OwnModule::read).collect::<Result<_, _>>()?,
            followed: Vec::new(),
        })
    }

    /// Whether nothing of the user's own is added.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.modules.is_empty()
    }

    /// Refuses programs for another architecture than this kernel's machine has.
    pub(crate) fn fit(&self, kernel: &Kernel) -> Result<(), LabError> {
        self.programs.iter().try_for_each(|program| {
            let option = match self.followed.first() {
                Some(path) if *path == program.dest => "--program",
                _ => "--add",
            };
            added::check_arch(option, program, &kernel.name, kernel.arch)
        })
    }

    /// These additions; for a kind that is empty here, those that an experiment names.
    pub fn or_of(&self, experiment: &Experiment) -> Result<Additions, LabError> {
        let of_experiment = match (self.programs.is_empty(), self.modules.is_empty()) {
            (true, true) => return Additions::of(experiment),
            (true, false) => Additions::named(&experiment.added, &[])?,
            (false, true) => Additions::named(&[], &experiment.modules)?,
            (false, false) => Additions::default(),
        };
        let all = Additions {
            programs: [&self.programs[..], &of_experiment.programs].concat(),
            modules: [&self.modules[..], &of_experiment.modules].concat(),
            followed: Vec::new(),
        };
        all.with_program(experiment)
    }

    /// The files that were put into the machine, with the libraries of programs, by path.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, LabError> {
        let mut files = BTreeMap::new();
        for program in &self.programs {
            added::collect(program, &mut files)?;
        }
        Ok(files)
    }

    /// The user's own module by this name.
    pub fn module(&self, name: &str) -> Option<&OwnModule> {
        self.modules.iter().find(|module| module.name == name)
    }
}
