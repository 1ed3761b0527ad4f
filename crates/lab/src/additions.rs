//! Additions of the user to the machines: programs (`--add`) and kernel modules (`--module`).

use super::LabError;
use super::added;
use super::own_module::OwnModule;
use worstcase_plan::{Added, Experiment, LabModule};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Programs and files.
    pub(crate) programs: Vec<Added>,
    /// Modules, in the order in which they are loaded.
    pub modules: Vec<OwnModule>,
}

impl Additions {
    /// The additions that an experiment names.
    pub fn of(experiment: &Experiment) -> Result<Additions, LabError> {
        Additions::named(&experiment.added, &experiment.modules)
    }

    /// These additions, if they exist and can be used.
    pub fn named(programs: &[Added], modules: &[LabModule]) -> Result<Additions, LabError> {
        programs.iter().try_for_each(added::check)?;
        Ok(Additions {
            programs: programs.to_vec(),
            modules: modules.iter().map(OwnModule::read).collect::<Result<_, _>>()?,
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
        Ok(Additions {
            programs: [&self.programs[..], &of_experiment.programs].concat(),
            modules: [&self.modules[..], &of_experiment.modules].concat(),
        })
    }

    /// The user's own module by this name.
    pub fn module(&self, name: &str) -> Option<&OwnModule> {
        self.modules.iter().find(|module| module.name == name)
    }
}
