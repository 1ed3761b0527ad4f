//! The one surface where every error becomes a line for a person and an exit code for a script.
//!
//! Each module has its own `thiserror` type whose text reads "what, where; remedy". [`Error`] only gathers them;
//! [`Error::exit_code`] asks the module's error which [`ExitKind`] it is, so that the numbers live in one place.

use super::breakdown_files::ShowBreakdownError;
use super::gate::GateError;
use super::history::HistoryCliError;
use super::import::ImportCliError;
use super::man::ManError;
use super::output::OutputError;
use super::plot::PlotError;
use super::report::ReportError;
use super::show::ShowError;
use super::verdict::VerdictError;
use super::worsening::WorseningError;
use worstcase_analysis::against::AgainstError;
use worstcase_analysis::census::CensusTakeError;
use worstcase_analysis::explain::ExplainError;
use worstcase_base::ExitKind;
use worstcase_base::cache::CacheError;
use worstcase_host::HostError;
use worstcase_kernels::KernelError;
use worstcase_lab::LabError;
use worstcase_plan::study::StudyError;
use worstcase_results::compare::CompareError;
use worstcase_results::record::RunError;
use worstcase_timing::CalibrationError;

/// Any error of worstcase. `Display` is one line without the leading "worstcase: ", which `main` adds.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Finding, downloading or unpacking a kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The cache directory.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Bisecting.
    #[error(transparent)]
    Bisect(#[from] worstcase_bisect::BisectError),
    /// Measuring in the lab.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Measuring on other machines.
    #[error(transparent)]
    Remote(#[from] worstcase_remote::RemoteError),
    /// Showing a run.
    #[error(transparent)]
    Show(#[from] ShowError),
    /// Writing a report.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Judging a run.
    #[error(transparent)]
    Verdict(#[from] VerdictError),
    /// Comparing two runs.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// What is behind a worsening.
    #[error(transparent)]
    Worsening(#[from] WorseningError),
    /// Comparing a run with a baseline.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Many runs over time.
    #[error(transparent)]
    History(#[from] HistoryCliError),
    /// Drawing a run.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// Importing other tools' files.
    #[error(transparent)]
    Import(#[from] ImportCliError),
    /// Writing the manual.
    #[error(transparent)]
    Man(#[from] ManError),
    /// Explaining a sample.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// A machine's calibration.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// Laying this machine against the lab.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// Showing why.
    #[error(transparent)]
    ShowBreakdown(#[from] ShowBreakdownError),
    /// Taking a census.
    #[error(transparent)]
    Census(#[from] CensusTakeError),
    /// Reading a study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// This machine.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A run folder.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The experiment cannot be measured.
    #[error(transparent)]
    Problem(#[from] worstcase_plan::Problem),
    /// Ctrl-C cannot be caught.
    #[error("cannot catch signals: {0}")]
    Signals(#[source] std::io::Error),
    /// Standard output.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Error {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        let exit = match self {
            Error::Kernel(e) => e.exit(),
            Error::Cache(e) => e.exit(),
            Error::Bisect(e) => e.exit(),
            Error::Lab(e) => e.exit(),
            Error::Remote(e) => e.exit(),
            Error::Show(e) => e.exit(),
            Error::Report(e) => e.exit(),
            Error::Verdict(e) => e.exit(),
            Error::Compare(e) => e.exit(),
            Error::Worsening(e) => e.exit(),
            Error::Gate(e) => e.exit(),
            Error::History(e) => e.exit(),
            Error::Plot(e) => e.exit(),
            Error::Import(e) => e.exit(),
            Error::Man(e) => e.exit(),
            Error::Explain(e) => e.exit(),
            Error::Against(e) => e.exit(),
            Error::Calibration(e) => e.exit(),
            Error::ShowBreakdown(e) => e.exit(),
            Error::Census(e) => e.exit(),
            Error::Study(_) | Error::Problem(_) => ExitKind::Usage,
            Error::Signals(_) => ExitKind::Missing,
            Error::Host(e) => e.exit(),
            Error::Run(e) => e.exit(),
            Error::Output(_) => ExitKind::Storage,
        };
        exit as u8
    }
}
