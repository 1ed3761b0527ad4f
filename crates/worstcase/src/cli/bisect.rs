//! `worstcase bisect`: the first kernel, or the first commit, that is worse.

mod args;
mod bench;
mod kernels;
mod step;

pub use args::BisectArgs;

use super::error::Error;
use super::progress::ProgressDisplay;
use super::stop;
use bench::KernelBench;
use kernels::CandidateArgs;
use std::process::ExitCode;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::{Bisection, BisectionQuestion};
use worstcase_kernels::ResolveOptions;

/// Runs the command.
pub fn run(args: &BisectArgs) -> Result<ExitCode, Error> {
    let terminal = ProgressDisplay::new();
    if let Some(kernel) = &args.step {
        return step::run(args, kernel, &terminal);
    }
    let options = ResolveOptions::from_cache(&terminal)?;
    let qemu = args.qemu.find(&options)?;
    let bench = KernelBench {
        args,
        criterion: args.criterion(),
        qemu: &qemu,
        options: &options,
        stop: stop::on_signals()?,
    };
    let output = std::path::absolute(&args.output).map_err(BisectError::io(&args.output))?;
    let typed = |end: &Option<String>| end.clone().unwrap_or_default();
    let mut kernels = CandidateArgs::of(args, &output, &options, &bench.stop)?;
    let question = BisectionQuestion {
        source: kernels.source(),
        good: typed(&args.good),
        bad: typed(&args.bad),
        criterion: bench.criterion.to_string(),
        experiment: args.selection.experiment(&["KERNEL".into()], None)?,
    };
    let mut bisection = Bisection::begin(&output, question, bench.criterion, || kernels.list(&options))?;
    let [good, bad] = kernels.ends(bisection.candidates())?;
    bisection.set_ends(&good, &bad);
    let order = kernels.order(bisection.candidates());
    let ending = bisection.run(&*order, &terminal, |candidate| {
        bench.candidate(&kernels, candidate, &output)
    })?;
    let reverted = match args.revert {
        true => Some(bench.reverted(&kernels, &bad, &ending, &output)?),
        false => None,
    };
    bench.tell(&kernels, &ending, reverted.as_ref(), &output)
}
