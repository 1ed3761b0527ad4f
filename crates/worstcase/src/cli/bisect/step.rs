//! One kernel, answered with the exit code that `git bisect run` takes.

use super::arch_of;
use super::args::BisectArgs;
use super::bench::KernelBench;
use crate::cli::error::Error;
use crate::cli::progress::ProgressDisplay;
use std::process::ExitCode;
use worstcase_base::interrupt::LastWork;
use worstcase_base::say;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::CandidateOutcome;
use worstcase_bisect::figures;
use worstcase_kernels::ResolveOptions;

/// `git bisect run`: this one cannot be tested.
const SKIP: u8 = 125;
/// From this code on `git bisect run` ends; below it every number but 0 and 125 would be taken for "bad".
const ABORT: u8 = 128;

/// Runs `--step`.
pub fn run(args: &BisectArgs, kernel: &str, terminal: &ProgressDisplay) -> Result<ExitCode, Error> {
    let code = answer(args, kernel, terminal).unwrap_or_else(|error| {
        say!("worstcase: {error}");
        ABORT.saturating_add(error.exit_code())
    });
    Ok(ExitCode::from(code))
}

fn answer(args: &BisectArgs, kernel: &str, terminal: &ProgressDisplay) -> Result<u8, Error> {
    let options = ResolveOptions::from_cache(terminal)?;
    let arch = arch_of(args, kernel)?;
    let qemus = args.qemu.find_of(&options, std::iter::once(arch))?;
    let criterion = args.criterion().unwrap_or(BisectArgs::usual_criterion(false));
    criterion
        .measure()
        .check(&args.selection.experiment(&["KERNEL".into()], None)?)?;
    let bench = KernelBench {
        args,
        criterion,
        qemus: &qemus,
        arch,
        options: &options,
        stop: args.executor.stop(),
    };
    // Each step is another kernel by the same name: its run is of no use to the next.
    let folder = tempfile::tempdir().map_err(BisectError::io(std::env::temp_dir()))?;
    let _interrupted = LastWork::remove(folder.path());
    match bench.measure(kernel, &folder.path().join("run"))? {
        CandidateOutcome::Cannot(why) => {
            say!("worstcase: skipped, {why}");
            Ok(SKIP)
        }
        CandidateOutcome::Measured(cells) => {
            let bad = bench.criterion.met(&cells, &[]);
            let measure = bench.criterion.measure();
            match bad.is_empty() {
                true => say!("worstcase: good, {}", figures::line(&cells, measure)),
                false => say!("worstcase: bad, {}", figures::line(bad.iter().copied(), measure)),
            }
            Ok(u8::from(!bad.is_empty()))
        }
    }
}
