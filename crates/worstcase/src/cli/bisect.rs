//! `worstcase bisect`: the first kernel, or the first commit, that is worse.

mod args;
mod bench;
mod kernels;
mod step;

pub use args::BisectArgs;

use super::progress::ProgressDisplay;
use super::{Error, stop};
use bench::KernelBench;
use kernels::CandidateArgs;
use std::cell::RefCell;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use worstcase_base::format::span;
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::{Bisection, BisectionQuestion, BisectionStep, Teller, left_in_words};
use worstcase_bisect::criterion::BadCriterion;
use worstcase_bisect::figures::{self, KernelFigure};
use worstcase_bisect::search::{CandidateWord, steps};
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
    let teller = OnStderr {
        kernels: &kernels,
        criterion: bench.criterion,
        began: RefCell::new(Instant::now()),
        took: RefCell::new(Vec::new()),
    };
    let order = kernels.order(bisection.candidates());
    let ending = bisection.run(&*order, &teller, |candidate| {
        bench.candidate(&kernels, candidate, &output)
    })?;
    let reverted = match args.revert {
        true => Some(bench.reverted(&kernels, &bad, &ending, &output)?),
        false => None,
    };
    bench.tell(&kernels, &ending, reverted.as_ref(), &output)
}

/// Each step in a line.
struct OnStderr<'a> {
    kernels: &'a CandidateArgs,
    criterion: BadCriterion,
    began: RefCell<Instant>,
    took: RefCell<Vec<Duration>>,
}

impl Teller for OnStderr<'_> {
    fn begins(&self, candidate: &str, left: Option<usize>) {
        *self.began.borrow_mut() = Instant::now();
        let name = self.kernels.shown(candidate);
        let Some(left) = left else {
            return eprintln!("worstcase: {name}: measuring");
        };
        let took = self.took.borrow();
        let each = took.iter().sum::<Duration>().as_secs_f64() / took.len().max(1) as f64;
        let time = match took.is_empty() {
            true => String::new(),
            false => format!(", {} left", span(each * f64::from(steps(left)))),
        };
        eprintln!("worstcase: {name}: measuring; {}{time}", left_in_words(left));
    }

    fn done(&self, step: &BisectionStep, decisive: &[KernelFigure]) {
        self.took.borrow_mut().push(self.began.borrow().elapsed());
        *self.began.borrow_mut() = Instant::now();
        let name = self.kernels.shown(&step.candidate);
        let line = figures::line(decisive, self.criterion.measure());
        match step.word {
            CandidateWord::Good => eprintln!("worstcase: {name}: good, {line}"),
            CandidateWord::Bad => eprintln!("worstcase: {name}: bad, {line}"),
            CandidateWord::Skipped => eprintln!(
                "worstcase: {name}: skipped, {}",
                step.why.as_deref().unwrap_or_default()
            ),
        }
    }
}
