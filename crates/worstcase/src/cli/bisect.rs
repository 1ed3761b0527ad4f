//! `worstcase bisect`: the first kernel, or the first commit, that is worse.

mod kernels;
mod step;

use super::compare::{breakdown, worsening};
use super::lab::{self, CellSelection, ExecutorArgs, Jobs, QemuArgs, run_cells};
use super::output::print;
use super::progress::ProgressDisplay;
use super::{Error, stop};
use clap::Args;
use kernels::CandidateArgs;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use worstcase_analysis::explain::ReplayMeans;
use worstcase_base::format::{file_name, shell, span};
use worstcase_bisect::BisectError;
use worstcase_bisect::bisection::{
    Bisection, BisectionEnding, BisectionQuestion, BisectionStep, CandidateOutcome, Teller, left_in_words,
};
use worstcase_bisect::criterion::{BadCriterion, BisectedMeasure};
use worstcase_bisect::figures::{self, KernelFigure};
use worstcase_bisect::search::{CandidateWord, steps};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::additions::Additions;
use worstcase_lab::qemu::Qemu;
use worstcase_plan::ExperimentPlan;
use worstcase_report::bisect::{ShownBisection, mail, markdown};
use worstcase_results::compare::{Side, compare};

/// Which kernel, or which commit of a git tree, is the first that is worse
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase bisect --good debian:6.12-cloud@6.12.43 --bad debian:6.12-cloud@6.12.95-1~bpo12+1 --preempt none --load shm
  worstcase bisect --kernels ./built --good 6.1.9 --bad 6.1.20 --load fork --criterion 100us
  worstcase bisect --tree ./linux --config ./config --good v6.12 --bad HEAD --load fork --worse 50% --revert
  git bisect run worstcase bisect --step ./linux --load fork --criterion 100us

Both ends are measured first. What does not build or boot is skipped and told. The folder (-o) keeps what was done: the
same command goes on there, whenever it was killed. It ends with bisect.md and bisect.mail in that folder (docs/bisect.md).

Exit code: 0 found; 2 good is bad, bad is good or the input is wrong; 4 an end cannot be measured, or it was ended early.
With --step, for git bisect run: 0 good, 1 bad, 125 this kernel cannot be tested, from 128 on something here is wrong.")]
pub struct BisectArgs {
    /// A kernel that is good: a version, a file of --kernels, a commit of --tree
    #[arg(long, value_name = "KERNEL", required_unless_present = "step")]
    good: Option<String>,
    /// A later one that is bad
    #[arg(long, value_name = "KERNEL", required_unless_present = "step")]
    bad: Option<String>,
    /// Bisect the kernels of a folder: packages, images, folders with one kernel each, by version
    #[arg(long, value_name = "FOLDER", conflicts_with = "tree")]
    kernels: Option<PathBuf>,
    /// Bisect the commits of a kernel's git tree
    #[arg(long, value_name = "DIR", requires = "config")]
    tree: Option<PathBuf>,
    /// The configuration that commits are built with: a file, or a kernel that has one, e.g. debian:6.12
    #[arg(long, value_name = "FILE|KERNEL", requires = "tree")]
    config: Option<String>,
    /// A kernel is bad if a cell is above this: 'max > 100us', 'p99 > 20us', 'median > 5us'
    #[arg(long, value_name = "MEASURE > LIMIT", conflicts_with = "worse")]
    criterion: Option<BadCriterion>,
    /// A kernel is bad if the maximum of a cell is by so much above the good end's [default: 20%]
    #[arg(long, value_name = "PERCENT%")]
    worse: Option<BadCriterion>,
    /// Also build the bad end with the found commit reverted, and measure it
    #[arg(long, requires = "tree")]
    revert: bool,
    /// Measure this one kernel and answer with the exit code that git bisect run takes
    #[arg(long, value_name = "KERNEL", requires = "criterion", conflicts_with_all = ["good", "bad", "kernels", "tree", "revert", "output"])]
    step: Option<String>,
    /// Where everything is kept
    #[arg(long, short, value_name = "DIR", default_value = "worstcase-bisect")]
    output: PathBuf,
    #[command(flatten)]
    selection: CellSelection,
    #[command(flatten)]
    executor: ExecutorArgs,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    qemu: QemuArgs,
}

/// What measures a kernel.
struct KernelBench<'a> {
    args: &'a BisectArgs,
    criterion: BadCriterion,
    qemu: &'a Qemu,
    options: &'a ResolveOptions<'a>,
    stop: Arc<AtomicBool>,
}

impl BisectArgs {
    fn criterion(&self) -> BadCriterion {
        let usual = BadCriterion::Worse(BisectedMeasure::Max, 20.0);
        self.criterion.or(self.worse).unwrap_or(usual)
    }
}

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

impl KernelBench<'_> {
    fn candidate(&self, kernels: &CandidateArgs, candidate: &str, output: &Path) -> Result<CandidateOutcome, Error> {
        let built = kernels.name(candidate);
        if self.stop.load(Ordering::Relaxed) {
            return Err(BisectError::Stopped.into());
        }
        match built? {
            Ok(kernel) => self.measure(&kernel, &run_folder(output, candidate)),
            Err(why) => Ok(CandidateOutcome::Cannot(why)),
        }
    }

    /// Measures a kernel into a run's folder.
    fn measure(&self, kernel: &str, folder: &Path) -> Result<CandidateOutcome, Error> {
        let experiment = self.args.selection.experiment(&[kernel.to_string()], None)?;
        let additions = Additions::of(&experiment)?;
        let means = lab::MatrixMeans {
            executor: &self.args.executor.executor,
            jobs: self.args.jobs.count(),
            qemu: self.qemu,
            named: self.args.qemu.path(),
            limit: self.args.qemu.limit(),
            options: self.options,
            stop: &self.stop,
        };
        let plan = ExperimentPlan::new("lab run", experiment);
        match run_cells(plan, folder, &additions, &means) {
            Ok((_, outcome)) if outcome.measured < outcome.of => Err(BisectError::Stopped.into()),
            Ok((run, _)) => Ok(CandidateOutcome::Measured(figures::of_run(
                &run,
                self.criterion.measure(),
            )?)),
            Err(error) => match step::of_the_kernel(&error) {
                true => {
                    let said = error.to_string();
                    Ok(CandidateOutcome::Cannot(
                        said.lines().next().unwrap_or_default().to_string(),
                    ))
                }
                false => Err(error),
            },
        }
    }

    /// The bad end without the commit; or why it cannot be had.
    fn reverted(
        &self,
        kernels: &CandidateArgs,
        bad: &str,
        ending: &BisectionEnding,
        output: &Path,
    ) -> Result<Result<BisectionStep, String>, Error> {
        let commit = &ending.first_bad.candidate;
        eprintln!("worstcase: reverting {} at the bad end", kernels.shown(commit));
        let kernel = match kernels.reverted(bad, commit)? {
            Ok(kernel) => kernel,
            Err(why) => return Ok(Err(why)),
        };
        let name = format!("revert-{}", kernels.shown(commit));
        Ok(match self.measure(&kernel, &run_folder(output, &name))? {
            CandidateOutcome::Cannot(why) => Err(why),
            CandidateOutcome::Measured(figures) => Ok(BisectionStep {
                candidate: name,
                word: CandidateWord::Good,
                why: None,
                figures,
            }),
        })
    }

    fn tell(
        &self,
        kernels: &CandidateArgs,
        ending: &BisectionEnding,
        reverted: Option<&Result<BisectionStep, String>>,
        output: &Path,
    ) -> Result<ExitCode, Error> {
        let folders = [&ending.before, &ending.first_bad].map(|step| run_folder(output, &step.candidate));
        let why = match self.why(&folders) {
            Ok(why) => why,
            Err(error) => {
                eprintln!("worstcase: note: no breakdown: {error}");
                None
            }
        };
        let commit = kernels.commit(&ending.first_bad.candidate)?;
        let names = [&ending.first_bad, &ending.before].map(|step| kernels.shown(&step.candidate));
        let first_bad = commit.as_ref().map_or(names[0].clone(), |commit| commit.cited());
        let mut commands = vec![shell(&std::env::args().collect::<Vec<_>>())];
        for folder in &folders {
            commands.push(shell(&worstcase_results::record::Run::open(folder)?.command()));
        }
        let paths = folders.each_ref().map(|folder| folder.display().to_string());
        let compared = ["worstcase", "compare", &paths[0], &paths[1], "--explain"];
        commands.push(shell(&compared.map(String::from)));
        let found = ShownBisection {
            ending,
            criterion: self.criterion,
            ends: [&self.args.good, &self.args.bad].map(|end| end.as_deref().unwrap_or_default()),
            commit: commit.as_ref(),
            names: [&first_bad, &names[1]],
            measured_with: &self.qemu.version,
            breakdown: why.as_deref(),
            reverted,
            commands: &commands,
        };
        for (file, text) in [("bisect.md", markdown(&found)), ("bisect.mail", mail(&found))] {
            let path = output.join(file);
            worstcase_base::output::write(&path, text.as_bytes()).map_err(BisectError::io(&path))?;
        }
        print(&found.terminal())?;
        print(&format!(
            "\n{0}/bisect.md and {0}/bisect.mail have it all\n",
            output.display()
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    /// What ran in the worst sample before and after; nothing if none got later.
    fn why(&self, [before, after]: &[PathBuf; 2]) -> Result<Option<String>, Error> {
        let open = |path: &Path| Side::open(path).map_err(super::compare::CompareCliError::from);
        let (a, b) = (open(before)?, open(after)?);
        let comparison = compare(&a, &b, &[], false).map_err(super::compare::CompareCliError::from)?;
        let Some(worst) = worsening(&comparison) else {
            return Ok(None);
        };
        let additions = Additions::default();
        let means = ReplayMeans {
            qemu: self.args.qemu.path(),
            additions: &additions,
            debug_info: None,
            options: self.options,
        };
        breakdown(&means, before, after, worst).map(Some)
    }
}

fn run_folder(output: &Path, candidate: &str) -> PathBuf {
    output
        .join("runs")
        .join(file_name(candidate.rsplit('/').next().unwrap_or(candidate)))
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
