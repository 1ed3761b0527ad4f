//! What the user puts into the machines: programs (`--add`) and kernel modules (`--module`).

use super::LabError;
use super::added::Added;
use super::own_module::OwnModule;
use worstcase_plan::Experiment;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Programs and files.
    pub programs: Vec<Added>,
    /// Modules, in the order in which they are loaded.
    pub modules: Vec<OwnModule>,
}

impl Additions {
    /// What an experiment names.
    pub fn of(experiment: &Experiment) -> Result<Additions, LabError> {
        Additions::default().or_of(experiment)
    }

    /// These, and of each kind that is not here what an experiment names.
    pub fn or_of(&self, experiment: &Experiment) -> Result<Additions, LabError> {
        let programs = match self.programs.is_empty() {
            true => Added::all(experiment),
            false => self.programs.clone(),
        };
        let modules = match self.modules.is_empty() {
            true => experiment
                .modules
                .iter()
                .map(OwnModule::of_plan)
                .collect::<Result<_, _>>()?,
            false => self.modules.clone(),
        };
        Ok(Additions { programs, modules })
    }

    /// The user's own module by this name.
    pub fn module(&self, name: &str) -> Option<&OwnModule> {
        self.modules.iter().find(|module| module.name == name)
    }

    /// Puts them into an experiment.
    pub fn plan_into(&self, experiment: &mut Experiment) -> Result<(), LabError> {
        let programs = self.programs.iter().map(Added::to_plan);
        experiment.added = programs.collect::<Result<_, _>>()?;
        experiment.modules = self.modules.iter().map(|module| module.plan.clone()).collect();
        Ok(())
    }
}
