//! `worstcase bisect`: the first kernel, or the first commit, that is worse, or better.

mod again;
mod args;
mod bench;
mod differences;
mod kernels;
mod load_source;
mod narrower;
mod step;

pub use args::BisectArgs;

use super::ahead;
use super::error::Error;
use super::progress::ProgressDisplay;
use bench::KernelBench;
use kernels::CandidateArgs;
use std::process::ExitCode;
use worstcase_base::format::span;
use worstcase_base::interrupt::LastWork;
use worstcase_base::output::BegunFolder;
use worstcase_base::say;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::{Bisection, BisectionQuestion};
use worstcase_bisect::search::SoughtChange;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::ahead::LabAhead;
use worstcase_lab::speed::LabSpeed;
use worstcase_plan::{Arch, VirtualMachine};
use worstcase_remote::ExecutorChoice;
use worstcase_results::record::Run;

/// Both ends are measured, then half of what is left, again and again.
fn tell_what_is_ahead(args: &BisectArgs, list: &[String], options: &ResolveOptions) -> Result<(), Error> {
    let experiment = args.selection.experiment(&["KERNEL".into()], None)?;
    let jobs = args.jobs.count();
    let each = LabAhead::of_experiment(&experiment, jobs, &LabSpeed::of(&options.cache));
    let each = each.filter(|_| args.executor.executor == ExecutorChoice::Local);
    let Some((each, words)) = each.and_then(|each| Some((each, ahead::words(&each)?))) else {
        return Ok(());
    };
    let (kernels, built) = match list.len() {
        0 => ("each kernel is".to_string(), ", and its building"),
        n => {
            let most = 2 + n.saturating_sub(2).checked_ilog2().map_or(0, |log| log + 1);
            let all = span(each.seconds * f64::from(most));
            (
                format!("at most {most} of {n} kernels are measured, in about {all}: each is"),
                "",
            )
        }
    };
    options.progress.ahead(&format!("{kernels} {words}{built}"));
    Ok(())
}

/// The architecture of a candidate's machine.
fn arch_of(args: &BisectArgs, kernel: &str) -> Result<Arch, Error> {
    let named = if kernel.is_empty() { "KERNEL" } else { kernel };
    let experiment = args.selection.experiment(&[named.to_string()], None)?;
    Ok(experiment
        .machines()
        .map(VirtualMachine::arch)
        .next()
        .unwrap_or_default())
}

/// Runs the command.
pub fn run(args: &BisectArgs) -> Result<ExitCode, Error> {
    let terminal = ProgressDisplay::new();
    if let Some(kernel) = &args.step {
        return step::run(args, kernel, &terminal);
    }
    let experiment = args.selection.experiment(&["KERNEL".into()], None)?;
    if let Some(criterion) = args.criterion() {
        criterion.measure().check(&experiment)?;
    }
    let loads = load_source::loads(&experiment, args.load_source.as_deref())?;
    let output = std::path::absolute(&args.output).map_err(BisectError::io(&args.output))?;
    Run::check_place(&output)?;
    let options = ResolveOptions::from_cache(&terminal)?;
    let arch = arch_of(args, args.good.as_deref().unwrap_or_default())?;
    let qemus = args.qemu.find_of(&options, std::iter::once(arch))?;
    let stop = args.executor.stop();
    let typed = |end: &Option<String>| end.clone().unwrap_or_default();
    let _begun = BegunFolder::at(&output);
    let mut kernels = CandidateArgs::of(args, &output, &options, &stop)?;
    let criterion = match args.criterion() {
        Some(criterion) => criterion,
        None => BisectArgs::usual_criterion(kernels.good_is_newer()?),
    };
    let bench = KernelBench {
        args,
        criterion,
        qemus: &qemus,
        arch,
        options: &options,
        stop,
    };
    let question = BisectionQuestion {
        source: kernels.source(),
        good: typed(&args.good),
        bad: typed(&args.bad),
        criterion: bench.criterion.to_string(),
        experiment,
    };
    let mut bisection = Bisection::begin(&output, question, bench.criterion, || kernels.list(&options))?;
    let [older, newer] = kernels.ends(bisection.candidates())?;
    bisection.set_ends([older, newer.clone()]);
    let order = kernels.order(bisection.candidates());
    tell_what_is_ahead(args, bisection.candidates(), &options)?;
    let _interrupted = LastWork::new(|| say!("worstcase: the same command goes on with this bisection"));
    let ending = bisection.run(&*order, &terminal, |candidate| {
        bench.candidate(&kernels, candidate, &output)
    })?;
    let reverted = match args.revert {
        true => Some(bench.reverted(&kernels, &newer, &ending, &output)?),
        false => None,
    };
    let mut ends = [&args.good, &args.bad].map(|end| end.as_deref().unwrap_or_default());
    if kernels.good_is_newer()? != (ending.sought == SoughtChange::Better) {
        ends.reverse();
        let [good, bad] = ends;
        options.progress.note(&format!(
            "the ends are the other way round: {good} is good, {bad} is bad"
        ));
    }
    bench.tell(&kernels, &ending, reverted.as_ref(), &loads, ends, &output)
}
