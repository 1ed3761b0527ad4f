//! One kernel, answered with the exit code that `git bisect run` takes.

use super::{BisectArgs, KernelBench};
use crate::cli::Error;
use crate::cli::progress::ProgressDisplay;
use crate::cli::stop;
use std::process::ExitCode;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::CandidateOutcome;
use worstcase_bisect::figures;
use worstcase_kernels::{KernelError, ResolveOptions};
use worstcase_lab::LabError;

/// `git bisect run`: this one cannot be tested.
const SKIP: u8 = 125;
/// From here on `git bisect run` ends; below it every number but 0 and 125 would be taken for "bad".
const ABORT: u8 = 128;

/// Runs `--step`.
pub fn run(args: &BisectArgs, kernel: &str, terminal: &ProgressDisplay) -> Result<ExitCode, Error> {
    let code = answer(args, kernel, terminal).unwrap_or_else(|error| {
        eprintln!("worstcase: {error}");
        ABORT + error.exit_code()
    });
    Ok(ExitCode::from(code))
}

fn answer(args: &BisectArgs, kernel: &str, terminal: &ProgressDisplay) -> Result<u8, Error> {
    let options = ResolveOptions::from_cache(terminal)?;
    let qemu = args.qemu.find(&options)?;
    let bench = KernelBench {
        args,
        criterion: args.criterion(),
        qemu: &qemu,
        options: &options,
        stop: stop::on_signals()?,
    };
    // Each step is another kernel by the same name: its run is of no use to the next.
    let folder = tempfile::tempdir().map_err(BisectError::io(std::env::temp_dir()))?;
    match bench.measure(kernel, &folder.path().join("run"))? {
        CandidateOutcome::Cannot(why) => {
            eprintln!("worstcase: skipped, {why}");
            Ok(SKIP)
        }
        CandidateOutcome::Measured(cells) => {
            let bad = bench.criterion.bad(&cells, &[]);
            let measure = bench.criterion.measure();
            match bad.is_empty() {
                true => eprintln!("worstcase: good, {}", figures::line(&cells, measure)),
                false => eprintln!("worstcase: bad, {}", figures::line(bad.iter().copied(), measure)),
            }
            Ok(u8::from(!bad.is_empty()))
        }
    }
}

/// Whether an error is the kernel's, so that another kernel may do better: it does not boot, is none, or cannot be had.
pub fn of_the_kernel(error: &Error) -> bool {
    match error {
        Error::Kernel(e) | Error::Lab(LabError::Kernel(e)) => {
            e.is_listed_in_vain()
                || matches!(
                    e,
                    KernelError::NotAKernel { .. }
                        | KernelError::BadPackage { .. }
                        | KernelError::Lacks { .. }
                        | KernelError::ModelNotInKernel { .. }
                )
        }
        Error::Lab(e) => matches!(
            e,
            LabError::Guest { .. }
                | LabError::NoResult { .. }
                | LabError::TimeLimit(_)
                | LabError::StandsStill(..)
                | LabError::Endless(_)
                | LabError::OtherPreempt { .. }
        ),
        Error::Remote(e) => e.is_of_the_cell(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_the_archive_does_not_give_is_skipped_and_a_lost_network_is_not() {
        let (what, why) = (String::new(), String::new());
        assert!(of_the_kernel(&KernelError::AptFailed { what, why }.into()));
        let (what, why) = (String::new(), String::new());
        assert!(!of_the_kernel(&KernelError::NoNetwork { what, why }.into()));
    }
}
