//! The arguments of `worstcase bisect`.

use crate::cli::jobs::Jobs;
use crate::cli::lab::{CellSelection, ExecutorArgs, QemuArgs};
use clap::Args;
use std::path::PathBuf;
use worstcase_bisect::criterion::KernelCriterion;
use worstcase_bisect::measure::BisectedMeasure;

/// Which kernel, or which commit of a git tree, is the first that is worse, or better
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  worstcase bisect --good debian:6.12-cloud@6.12.43 --bad debian:6.12-cloud@6.12.90-1~bpo12 --preempt full --add ./duty:/duty --load 'cmd:/duty 9700 300 10000 400000' --time 2s --seeds 1 --criterion 'max > 1ms' --load-source contrib/duty.c
  worstcase bisect --kernels ./built --good 6.1.9 --bad 6.1.20 --load fork --criterion 100us
  worstcase bisect --tree ./linux --config ./config --good v6.12 --bad HEAD --load fork --worse 50% --revert
  worstcase bisect --bad debian:6.12-cloud --good debian:6.18-cloud --preempt none --load fork --better 'p99 10%'
  git bisect run worstcase bisect --step ./linux --load fork --criterion 100us

MEASURE is max (the default), mean, median, p90, p99, p99.9 and so on; of several seeds max is the largest, the others are
medians. Both ends are measured first; either may be the older one, and which of them is better says whether the first bad
or the first better one is searched. What does not build or boot is skipped and told. The folder (-o) keeps what was done: the
same command goes on there, whenever it was killed. It ends with bisect.md, of a worsening also bisect.mail, in that folder
(docs/bisect.md).

Exit code: 0 found; 2 both ends are alike or the input is wrong; 4 an end cannot be measured; 130 Ctrl-C ended it.
With --step, for git bisect run: 0 good, 1 bad, 125 this kernel cannot be tested, from 128 on something here is wrong.")]
pub struct BisectArgs {
    /// A kernel that is good: a series or a version, a file of --kernels, a commit of --tree
    #[arg(long, value_name = "KERNEL", required_unless_present = "step")]
    pub(super) good: Option<String>,
    /// One that is bad
    #[arg(long, value_name = "KERNEL", required_unless_present = "step")]
    pub(super) bad: Option<String>,
    /// Bisect the kernels of a folder: packages, images, folders with one kernel each, by version
    #[arg(long, value_name = "FOLDER", conflicts_with = "tree")]
    pub(super) kernels: Option<PathBuf>,
    /// Bisect the commits of a kernel's git tree
    #[arg(long, value_name = "DIR", requires = "config")]
    pub(super) tree: Option<PathBuf>,
    /// The configuration that commits are built with: a file, or a kernel that has one, e.g. debian:6.12
    #[arg(long, value_name = "FILE|KERNEL", requires = "tree")]
    pub(super) config: Option<String>,
    /// A kernel is bad if a cell is above this: 'max > 100us', 'p99 > 20us', 100us
    #[arg(long, value_name = "[MEASURE >] LIMIT", conflicts_with_all = ["worse", "better"], value_parser = KernelCriterion::limit)]
    pub(super) criterion: Option<KernelCriterion>,
    /// A kernel is bad if a cell is by so much above the older end's: 50%, 'p99 20%' [default, if good is older: 20%]
    #[arg(long, value_name = "[MEASURE] PERCENT%", conflicts_with = "better", value_parser = KernelCriterion::worse)]
    pub(super) worse: Option<KernelCriterion>,
    /// A kernel is better if a cell is by so much below the older end's [default, if bad is older: 20%]
    #[arg(long, value_name = "[MEASURE] PERCENT%", value_parser = KernelCriterion::better)]
    pub(super) better: Option<KernelCriterion>,
    /// Also build the newer end with the found commit reverted, and measure it
    #[arg(long, requires = "tree")]
    pub(super) revert: bool,
    /// Measure this one kernel and answer with the exit code that git bisect run takes
    #[arg(long, value_name = "KERNEL", requires = "criterion", conflicts_with_all = ["good", "bad", "kernels", "tree", "revert", "output"])]
    pub(super) step: Option<String>,
    /// The source of the load's program, for the mail [default: a source file beside the program of --add]
    #[arg(long, value_name = "FILE", conflicts_with = "step")]
    pub(super) load_source: Option<PathBuf>,
    /// Where everything is kept
    #[arg(long, short, value_name = "DIR", default_value = "worstcase-bisect")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) selection: CellSelection,
    #[command(flatten)]
    pub(super) executor: ExecutorArgs,
    #[command(flatten)]
    pub(super) jobs: Jobs,
    #[command(flatten)]
    pub(super) qemu: QemuArgs,
}

impl BisectArgs {
    /// The criterion that was given.
    pub(super) fn criterion(&self) -> Option<KernelCriterion> {
        self.criterion.or(self.worse).or(self.better)
    }

    /// The criterion where none was given.
    pub(super) fn usual_criterion(good_is_newer: bool) -> KernelCriterion {
        let of = match good_is_newer {
            true => KernelCriterion::Better,
            false => KernelCriterion::Worse,
        };
        of(BisectedMeasure::Max, 20.0)
    }
}
