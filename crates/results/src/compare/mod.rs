//! Two runs, or a run and a baseline: what changed, and whether it got worse. From records alone.
//!
//! ```text
//! run folder, baseline file -> Side: each cell's figures, seed by seed          side, baseline
//! several runs of a real machine -> one side, a result of each run              runs
//! two sides -> cells that belong together, and those that do not                pair
//! cells of two architectures -> their ranks                                    across
//! a cell on both sides -> differences, ratios, tests, exact differences         change, design
//! all cells -> what is called better or worse                                   words   (worstcase compare)
//! a measure of the gate -> typical seed by a test, worst seed by a limit        judged
//! all cells -> PASS, FAIL or INCONCLUSIVE                                       gate    (worstcase gate)
//! ```
//! `docs/statistics.md` has the rules with their reasons.

pub mod across;
pub mod baseline;
pub mod change;
pub mod design;
pub mod gate;
pub mod judged;
pub mod pair;
pub mod runs;
pub mod side;
pub mod words;

pub use pair::{MappedSubjects, chosen};
pub use runs::Replicates;
pub use side::{CellConditions, SeedGroup, SeedResult, Side};
pub use words::{SideComparison, compare};

use crate::record::{CellId, RunError, SubjectId};
use std::path::PathBuf;

worstcase_base::errors! {
    /// Why two sides cannot be compared.
    #[derive(Debug, thiserror::Error)]
    pub enum CompareError {
        /// A run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// A file cannot be read.
        #[error("cannot read {}: {cause}; name a run's folder, or a file that `worstcase gate --write-baseline` wrote", path.display())]
        Read {
            /// The file.
            path: PathBuf,
            /// The system's words.
            cause: std::io::Error,
        } => Usage,
        /// A file cannot be written.
        #[error("cannot write {}: {cause}", path.display())]
        Write {
            /// The file.
            path: PathBuf,
            /// The system's words.
            cause: std::io::Error,
        } => Storage,
        /// Something else than a baseline.
        #[error("{} is not a baseline: {what}; `worstcase gate RUN --write-baseline FILE` writes one", path.display())]
        NotABaseline {
            /// The file.
            path: PathBuf,
            /// The fault.
            what: String,
        } => Usage,
        /// A baseline of half a run.
        #[error(
            "a baseline needs a finished run: {missing} cells are not measured, the first is {first}; to go on: {command}"
        )]
        Unfinished {
            /// The number of missing cells.
            missing: usize,
            /// The first of them.
            first: CellId,
            /// The run's command.
            command: String,
        } => Usage,
        /// A run that a gate could not compare with.
        #[error("this run makes no baseline: {0}; take files or cells of one length each")]
        NoBaseline(String) => Usage,
        /// A subject that is not there.
        #[error("no subject is called '{text}'; there are {known}")]
        UnknownSubject {
            /// The text as typed.
            text: String,
            /// Names that there are.
            known: String,
        } => Usage,
        /// A text that several subjects have.
        #[error("more than one subject is called '{text}': {known}; add a word that only one has")]
        SeveralSubjects {
            /// The text as typed.
            text: String,
            /// Their names.
            known: String,
        } => Usage,
        /// Two texts that stand for more than two subjects.
        #[error("'{of_a}' and '{of_b}' are {number} pairs of subjects: {pairs}; add a word that only one has")]
        SeveralPairs {
            /// The text for A.
            of_a: String,
            /// The text for B.
            of_b: String,
            /// The number of pairs.
            number: usize,
            /// The pairs.
            pairs: String,
        } => Usage,
        /// It is open which run belongs to which side.
        #[error("name two runs, or one with --subject and --with, or the runs of each side: A1 A2 ... --to B1 B2 ...")]
        WhichRuns => Usage,
        /// The same run on both sides, or twice on one.
        #[error("a run is named twice; each run of a side is one draw")]
        RunTwice => Usage,
        /// A baseline of several runs among other runs.
        #[error("a baseline of several runs cannot be joined with other runs; name it alone")]
        JoinedTwice => Usage,
        /// Several runs of the lab.
        #[error("{0} was measured in the lab, where a run has all its seeds: name one run (`worstcase lab run --seeds N` measures more)")]
        LabRuns(SubjectId) => Usage,
        /// Runs that do not compare.
        #[error("the runs have {} seeds of {cell}; a maximum grows with their number, so measure as many in each", counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))]
        SeedsOfRuns {
            /// The cell.
            cell: String,
            /// The numbers there are.
            counts: Vec<usize>,
        } => Usage,
        /// Only the lab is exact.
        #[error(
            "--exact is for runs of the lab, and {0} was measured on a real machine; leave it out: then a test over the seeds decides"
        )]
        NotExact(SubjectId) => Usage,
        /// No cell of one side is in the other.
        #[error("no cell of the one side compares with one of the other{}; see `worstcase compare --help`", why.as_ref().map_or(String::new(), |w| format!(": {w}")))]
        NothingInCommon {
            /// The reason for the first cell.
            why: Option<String>,
        } => Usage,
    }
}
