//! The plan of a run: `run.json`. Written before the first cell and never changed, so that an interrupted run and
//! an uninterrupted one end with the same bytes; the cells' folders tell which cells are done.

use super::{CellId, FollowCommand, SubjectId};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use worstcase_contract::{CellSpec, Nanos, Venue};
use worstcase_plan::{Claim, Demand, Experiment, ExperimentPlan, MOST_CELLS, StudySource, Subjects, grammar, study};

/// The form of run.json.
pub const SCHEMA: &str = "worstcase-run/5";
/// The previous form: it has published figures where this one has claims; those of its study replace them.
pub(super) const EARLIER: &str = "worstcase-run/4";

/// Longest title, in characters: it is a line. The title of an import names some of its files.
const LONGEST_TITLE: usize = 10_000;

/// One cell of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellEntry {
    /// The cell's name.
    pub id: CellId,
    /// Its subject's name.
    pub subject: SubjectId,
    /// Its load.
    pub load: String,
    /// Its probe.
    pub probe: String,
    /// Its seed.
    pub seed: u64,
    /// Host: the CPU that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
}

impl CellEntry {
    /// A subject's cell.
    pub fn new(subject: &SubjectId, spec: &CellSpec) -> CellEntry {
        Self::named(subject, &spec.load, &spec.probe.to_string(), spec.seed, None)
    }

    /// The cell of this name.
    pub fn named(subject: &SubjectId, load: &str, probe: &str, seed: u64, cpu: Option<u32>) -> CellEntry {
        CellEntry {
            id: CellId::new(subject, load, probe, seed, cpu),
            subject: subject.clone(),
            load: load.to_string(),
            probe: probe.to_string(),
            seed,
            cpu,
        }
    }
}

/// Files of other tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Absolute, so that the command works from everywhere.
    pub files: Vec<PathBuf>,
    /// Options for facts that the files do not contain, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the tool that began the run.
    pub tool_version: String,
    /// The question, as a title.
    pub title: String,
    /// The experiment.
    pub experiment: Experiment,
    /// The study that asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudySource>,
    /// Files of other tools that it is made from; nothing was measured then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The command that followed a program of the user's own; the experiment has no parts then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<FollowCommand>,
    /// The study's question, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The study's claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// The demands of uses of a machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<Demand>,
    /// All cells, in order: the experiment as its kernels, or this machine, give it.
    pub cells: Vec<CellEntry>,
}

impl Imported {
    fn command(&self, dir: &Path) -> Vec<String> {
        let mut words = vec!["worstcase".to_string(), "import".to_string()];
        words.extend(self.files.iter().map(|file| file.display().to_string()));
        words.extend(self.options.iter().cloned());
        words.extend(["--output".to_string(), dir.display().to_string()]);
        words
    }
}

impl RunPlan {
    /// A plan by this version of the tool.
    pub fn new(plan: ExperimentPlan, cells: Vec<CellEntry>) -> RunPlan {
        RunPlan {
            schema: SCHEMA.to_string(),
            tool_version: env!("CARGO_PKG_VERSION").to_string(),
            title: plan.title,
            experiment: plan.experiment,
            study: plan.study,
            imported: None,
            followed: None,
            question: plan.question,
            claims: plan.claims,
            demands: plan.demands,
            cells,
        }
    }

    /// The plan for imported files of other tools; nothing is measured for it.
    pub fn imported(title: String, imported: Imported, cells: Vec<CellEntry>) -> RunPlan {
        RunPlan {
            imported: Some(imported),
            ..RunPlan::new(ExperimentPlan::new(title, nothing_of_ours(None)), cells)
        }
    }

    /// The plan of a followed program, whose cycles may not be longer than `deadline`.
    pub fn followed(title: String, followed: FollowCommand, deadline: Option<Nanos>, cell: CellEntry) -> RunPlan {
        RunPlan {
            followed: Some(followed),
            ..RunPlan::new(ExperimentPlan::new(title, nothing_of_ours(deadline)), vec![cell])
        }
    }

    /// The experiment, if instruments of ours measure it.
    pub(super) fn measured(&self) -> Option<&Experiment> {
        let is_ours = self.imported.is_none() && self.followed.is_none();
        is_ours.then_some(&self.experiment)
    }

    /// Converts a plan that may be of [`EARLIER`] to [`SCHEMA`].
    pub(super) fn of_today(mut self) -> RunPlan {
        if self.schema == EARLIER {
            let study = self.study.as_ref().and_then(|from| study::load(&from.study).ok());
            (self.question, self.claims) =
                study.map_or((None, Vec::new()), |study| (Some(study.question), study.claims));
        }
        self
    }

    /// Limit of the latency that the question is about, if it has one.
    pub fn criterion(&self) -> Option<Nanos> {
        self.experiment.criterion
    }

    /// The command that gives the same run in `dir`.
    pub fn command(&self, dir: &Path) -> Vec<String> {
        match (&self.imported, &self.followed) {
            (Some(imported), _) => imported.command(dir),
            (None, Some(followed)) => followed.command(dir),
            (None, None) => worstcase_plan::command(&self.experiment, self.study.as_ref(), dir),
        }
    }

    /// The command that goes on with it in `dir`.
    pub fn to_go_on(&self, dir: &Path) -> Vec<String> {
        match self.measured() {
            Some(experiment) => worstcase_plan::to_go_on(experiment, self.command(dir)),
            None => self.command(dir),
        }
    }

    /// The field in which another plan measures something else, in words. The author, the typed form and the notes of
    /// a plan do not matter.
    pub(super) fn difference(&self, other: &RunPlan) -> Option<String> {
        if let Some(difference) = self.experiment.difference(&other.experiment) {
            return Some(difference.to_string());
        }
        let names = |plan: &RunPlan| plan.cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>();
        let (there, here) = (names(self), names(other));
        let id = |cells: &[CellId], nth: usize| cells.get(nth).map_or("none".to_string(), ToString::to_string);
        // The same words may stand for another kernel behind a name, another machine, or other CPUs.
        let nth = (0..there.len().max(here.len())).find(|nth| there.get(*nth) != here.get(*nth))?;
        Some(format!("cells ({} there, {} here)", id(&there, nth), id(&here, nth)))
    }

    /// A contradiction in this plan, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.title.chars().count() > LONGEST_TITLE {
            return Err(format!("its title has more than {LONGEST_TITLE} characters"));
        }
        if self.cells.len() as u64 > MOST_CELLS {
            return Err(format!("it has {} cells, more than {MOST_CELLS}", self.cells.len()));
        }
        if let Some(e) = self
            .cells
            .iter()
            .find_map(|cell| grammar::check_word(&cell.probe).err())
        {
            return Err(e.0);
        }
        let mut seen = std::collections::BTreeSet::new();
        for cell in &self.cells {
            if cell.id != CellId::new(&cell.subject, &cell.load, &cell.probe, cell.seed, cell.cpu) {
                return Err(format!("the cell '{}' is not what its name says", cell.id));
            }
            if !seen.insert(&cell.id) {
                return Err(format!(
                    "two cells are called '{}'; name each kernel, load and probe once",
                    cell.id
                ));
            }
        }
        Ok(())
    }
}

/// An experiment of a real machine without a part: no instrument of ours measures.
fn nothing_of_ours(criterion: Option<Nanos>) -> Experiment {
    let mut experiment = Experiment::usual(Venue::Host, Subjects::Cpus(None));
    experiment.parts.clear();
    experiment.criterion = criterion;
    experiment
}
