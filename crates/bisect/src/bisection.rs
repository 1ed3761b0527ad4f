//! The loop: measures both ends first, then what the search asks for. Every step is on the disk before the next begins.

mod step_lines;

use crate::BisectError;
use crate::criterion::KernelCriterion;
use crate::figures::{self, KernelFigure};
use crate::search::{CandidateOrder, CandidateWord, ChangeSide, Next, SoughtChange};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use step_lines::StepLines;
use worstcase_base::files;
use worstcase_base::format::without_types;
use worstcase_base::lock::FileLock;
use worstcase_base::output::{OutputFolder, UNFINISHED};
use worstcase_base::progress::Progress;
use worstcase_plan::Experiment;

const STATE: &str = "bisect.json";
const SCHEMA: &str = "worstcase-bisect/2";

/// The question of a bisection. A folder is continued only for the same question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BisectionQuestion {
    /// Where the candidates come from, in words.
    pub source: String,
    /// The good end.
    pub good: String,
    /// The bad end.
    pub bad: String,
    /// When a kernel is bad or better.
    pub criterion: String,
    /// The experiment, without its kernel.
    pub experiment: Experiment,
}

impl BisectionQuestion {
    fn difference(&self, other: &BisectionQuestion) -> Option<&'static str> {
        let fields = [
            ("kernels", self.source != other.source),
            ("good end", self.good != other.good),
            ("bad end", self.bad != other.bad),
            ("criterion", self.criterion != other.criterion),
            ("cells", self.experiment != other.experiment),
        ];
        fields.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
    }
}

/// A candidate that was measured, or that cannot be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BisectionStep {
    /// The candidate.
    pub candidate: String,
    /// Whether the candidate is good, bad or skipped.
    pub word: CandidateWord,
    /// Why the candidate cannot be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The figures of its cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<KernelFigure>,
}

#[derive(Serialize, Deserialize)]
struct BisectionState {
    schema: String,
    question: BisectionQuestion,
    /// What is searched, once both ends are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sought: Option<SoughtChange>,
    /// The list as it was when the bisection began, the oldest first; empty for a git tree.
    candidates: Vec<String>,
    steps: Vec<BisectionStep>,
}

/// What measuring a candidate gave.
#[derive(Clone, Debug, PartialEq)]
pub enum CandidateOutcome {
    /// Figures.
    Measured(Vec<KernelFigure>),
    /// The candidate cannot be measured: it does not build or boot.
    Cannot(String),
}

/// The result of a bisection.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectionEnding {
    /// What was searched.
    pub sought: SoughtChange,
    /// The first candidate behind the change; if several cannot be told apart, the last of them, which is behind it.
    pub first: BisectionStep,
    /// Candidates right before it that cannot be measured: one of them may be the first.
    pub or_one_of: Vec<String>,
    /// The candidate before it, or the nearest on that side where that cannot be measured.
    pub before: BisectionStep,
    /// All steps, in the order in which they were done.
    pub steps: Vec<BisectionStep>,
}

/// A bisection in its folder.
#[derive(Debug)]
pub struct Bisection {
    folder: PathBuf,
    output: OutputFolder,
    criterion: KernelCriterion,
    /// The names of the candidates at both ends, the older one first.
    ends: [String; 2],
    state: BisectionState,
    /// Held so that two processes never write the state.
    _lock: FileLock,
}

impl std::fmt::Debug for BisectionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} steps", self.steps.len())
    }
}

impl Bisection {
    /// Begins in `folder`, or goes on there if the question is the same. `candidates` is called once, so later changes of
    /// an archive do not matter.
    pub fn begin(
        folder: &Path,
        question: BisectionQuestion,
        criterion: KernelCriterion,
        candidates: impl FnOnce() -> Result<Vec<String>, BisectError>,
    ) -> Result<Bisection, BisectError> {
        let path = folder.join(STATE);
        // A process that was killed while it wrote the first state left an unfinished file and nothing else.
        let is_new = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let occupied = fs::read_dir(folder).is_ok_and(|entries| !entries.flatten().all(is_new));
        let state = match files::read(&path) {
            Ok(bytes) => {
                let state: BisectionState = serde_json::from_slice(&bytes).map_err(|e| BisectError::Damaged {
                    path: path.clone(),
                    folder: folder.to_path_buf(),
                    what: without_types(&e.to_string()),
                })?;
                if state.schema != SCHEMA {
                    let folder = folder.to_path_buf();
                    return Err(BisectError::AnotherForm {
                        path,
                        folder,
                        form: SCHEMA,
                    });
                }
                if let Some(what) = state.question.difference(&question) {
                    let folder = folder.to_path_buf();
                    return Err(BisectError::AnotherBisection { folder, what });
                }
                state
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && !occupied => BisectionState {
                schema: SCHEMA.into(),
                sought: None,
                candidates: candidates()?,
                question,
                steps: Vec::new(),
            },
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let what = format!(
                    "{} holds something else than a bisection; choose another folder",
                    folder.display()
                );
                return Err(BisectError::Request(what));
            }
            Err(e) => return Err(BisectError::io(&path)(e)),
        };
        let output = OutputFolder::create(folder).map_err(BisectError::io(folder))?;
        let lock = FileLock::try_open(folder).map_err(BisectError::io(folder))?;
        let lock = lock.ok_or_else(|| BisectError::Busy(folder.to_path_buf()))?;
        let bisection = Bisection {
            folder: folder.to_path_buf(),
            output,
            criterion,
            ends: [state.question.good.clone(), state.question.bad.clone()],
            state,
            _lock: lock,
        };
        bisection.write()?;
        Ok(bisection)
    }

    /// Names the candidates at both ends, the older one first, if they differ from what the user typed.
    pub fn set_ends(&mut self, ends: [String; 2]) {
        self.ends = ends;
    }

    /// The list of candidates; empty for a git tree.
    pub fn candidates(&self) -> &[String] {
        &self.state.candidates
    }

    /// Measures until the first candidate behind the change is found. Steps of earlier commands are not repeated. `progress` gets a line
    /// when a step begins, and one with its result.
    pub fn run<E: From<BisectError>>(
        &mut self,
        order: &dyn CandidateOrder,
        progress: &dyn Progress,
        mut measure: impl FnMut(&str) -> Result<CandidateOutcome, E>,
    ) -> Result<BisectionEnding, E> {
        let lines = &mut StepLines::new(order, progress, self.criterion);
        let [older, newer] = self.ends.clone();
        let older = self.end(&older, lines, &mut measure)?;
        let newer = self.end(&newer, lines, &mut measure)?;
        let sought = SoughtChange::between(older.word, newer.word).ok_or_else(|| self.alike(order, &older, &newer))?;
        lines.ends(&older.candidate, &newer.candidate, sought);
        self.state.sought = Some(sought);
        self.write()?;
        let (first, or_one_of) = loop {
            match order.next(&self.known(sought))? {
                Next::Measure { candidate, left } => {
                    self.step(&candidate, Some(left), lines, &mut measure)?;
                }
                Next::Found(candidate) => break (candidate, Vec::new()),
                Next::OneOf(mut all) => {
                    let last = all.pop().expect("the one behind the change is among them");
                    break (last, all);
                }
            }
        };
        let before = match or_one_of.is_empty() {
            true => self.right_before(order, &first, lines, &mut measure)?,
            false => None,
        };
        let nearest = |step: &&BisectionStep| sought.side(step.word) == ChangeSide::Before;
        let before = before.or_else(|| self.state.steps.iter().rfind(nearest).cloned());
        Ok(BisectionEnding {
            sought,
            first: self.done(&first).expect("it was measured").clone(),
            or_one_of,
            before: before.expect("the older end is before the change"),
            steps: self.state.steps.clone(),
        })
    }

    /// The candidate right before the first one, if it can be measured. In a tree its word may be known without that.
    fn right_before<E: From<BisectError>>(
        &mut self,
        order: &dyn CandidateOrder,
        first: &str,
        lines: &mut StepLines<'_>,
        measure: &mut impl FnMut(&str) -> Result<CandidateOutcome, E>,
    ) -> Result<Option<BisectionStep>, E> {
        let Some(name) = order.before(first)? else {
            return Ok(None);
        };
        let step = self.step(&name, None, lines, measure)?;
        Ok(Some(step).filter(|step| step.word != CandidateWord::Skipped))
    }

    fn end<E: From<BisectError>>(
        &mut self,
        name: &str,
        lines: &mut StepLines<'_>,
        measure: &mut impl FnMut(&str) -> Result<CandidateOutcome, E>,
    ) -> Result<BisectionStep, E> {
        let step = self.step(name, None, lines, measure)?;
        match step.why {
            Some(why) => {
                // Forgotten, so that a second try measures it: what was missing may have come.
                self.state.steps.retain(|step| step.candidate != name);
                self.write()?;
                Err(BisectError::End { name: name.into(), why }.into())
            }
            None => Ok(step),
        }
    }

    fn step<E: From<BisectError>>(
        &mut self,
        candidate: &str,
        left: Option<usize>,
        lines: &mut StepLines<'_>,
        measure: &mut impl FnMut(&str) -> Result<CandidateOutcome, E>,
    ) -> Result<BisectionStep, E> {
        if let Some(step) = self.done(candidate) {
            let step = step.clone();
            lines.done(&step, &self.decisive(&step));
            return Ok(step);
        }
        lines.begins(candidate, left);
        let began = Instant::now();
        let step = match measure(candidate)? {
            CandidateOutcome::Cannot(why) => BisectionStep {
                candidate: candidate.into(),
                word: CandidateWord::Skipped,
                why: Some(why),
                figures: Vec::new(),
            },
            CandidateOutcome::Measured(figures) => BisectionStep {
                candidate: candidate.into(),
                word: self.criterion.word(&figures, self.older()),
                why: None,
                figures,
            },
        };
        self.state.steps.push(step.clone());
        self.write()?;
        lines.took(began.elapsed());
        lines.done(&step, &self.decisive(&step));
        Ok(step)
    }

    /// The cells that meet the criterion; if there are none, all.
    fn decisive(&self, step: &BisectionStep) -> Vec<KernelFigure> {
        let met = self.criterion.met(&step.figures, self.older());
        match met.is_empty() {
            true => step.figures.clone(),
            false => met.into_iter().cloned().collect(),
        }
    }

    fn older(&self) -> &[KernelFigure] {
        self.done(&self.ends[0]).map_or(&[], |step| &step.figures)
    }

    fn done(&self, candidate: &str) -> Option<&BisectionStep> {
        self.state.steps.iter().find(|step| step.candidate == candidate)
    }

    fn known(&self, sought: SoughtChange) -> Vec<(String, ChangeSide)> {
        let of = |step: &BisectionStep| (step.candidate.clone(), sought.side(step.word));
        self.state.steps.iter().map(of).collect()
    }

    fn alike(&self, order: &dyn CandidateOrder, older: &BisectionStep, newer: &BisectionStep) -> BisectError {
        let with_figures = |step: &BisectionStep| {
            let figures = figures::line(&self.decisive(step), self.criterion.measure());
            format!("{} has {figures}", order.shown(&step.candidate))
        };
        let opposite = self.criterion.opposite(&newer.figures, &older.figures);
        BisectError::Alike {
            what: self.criterion.said(newer.word),
            figures: [older, newer].map(with_figures).join(", "),
            criterion: self.criterion.to_string(),
            remedy: opposite.unwrap_or_else(|| "another end, or another criterion".into()),
        }
    }

    /// Written whole or not at all.
    fn write(&self) -> Result<(), BisectError> {
        let json = serde_json::to_vec_pretty(&self.state).expect("plain data");
        let written = self.output.write_synced(STATE, &json);
        written.map_err(BisectError::io(self.folder.join(STATE)))
    }
}

#[cfg(test)]
mod tests;
