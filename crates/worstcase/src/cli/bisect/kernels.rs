//! The candidates of a bisection, and how each becomes a kernel that is measured.

use super::args::BisectArgs;
use crate::cli::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_base::progress::Progress;
use worstcase_bisect::BisectError;
use worstcase_bisect::candidates::{KernelFolder, SeriesEnd, of_every_series, of_series};
use worstcase_bisect::git::{Commit, GitTree};
use worstcase_bisect::search::{CandidateOrder, List, shown_of_list};
use worstcase_kernels::build::options::BuildOptions;
use worstcase_kernels::build::{self, Builder};
use worstcase_kernels::{self as kernels, KernelError, ResolveOptions};
use worstcase_plan::NOT_ONE_UNIT;

/// The candidates.
pub(crate) struct CandidateArgs {
    good: String,
    bad: String,
    from: From,
}

enum From {
    /// Versions of one series, or kernels of several series.
    Series([SeriesEnd; 2]),
    Folder(PathBuf),
    Tree(Box<(GitTree, Builder)>),
}

impl CandidateArgs {
    /// The candidates that the user names.
    pub(crate) fn of(
        args: &BisectArgs,
        output: &Path,
        options: &ResolveOptions<'_>,
        stop: &Arc<AtomicBool>,
    ) -> Result<CandidateArgs, Error> {
        let [good, bad] = [&args.good, &args.bad].map(|end| end.clone().unwrap_or_default());
        let from = match (&args.tree, &args.kernels) {
            (Some(source), _) => {
                let tree = GitTree::open(source, output.join("tree"))?;
                build::check_machine(output).map_err(BisectError::from)?;
                let builder = Builder {
                    source: output.join("tree"),
                    build: output.join("build"),
                    kept: output.join("kernels"),
                    config: config(args.config.as_deref().unwrap_or_default(), options)?,
                    options: BuildOptions::default(),
                    jobs: args.jobs.count(),
                    stop: stop.clone(),
                };
                From::Tree(Box::new((tree, builder)))
            }
            (None, Some(folder)) => From::Folder(folder.clone()),
            (None, None) => From::Series(series(&good, &bad)?),
        };
        Ok(CandidateArgs { good, bad, from })
    }

    /// Whether the good end is the newer one.
    pub(crate) fn good_is_newer(&self) -> Result<bool, BisectError> {
        match &self.from {
            From::Series([good, bad]) => Ok(good.is_newer(bad)),
            From::Folder(folder) => KernelFolder::open(folder)?.is_newer(&self.good, &self.bad),
            From::Tree(tree) => {
                let good = tree.0.resolve(&self.good)?;
                let [older, _] = tree.0.ordered(good.clone(), tree.0.resolve(&self.bad)?)?;
                Ok(older != good)
            }
        }
    }

    /// Whether each candidate is of another series.
    pub(crate) fn is_of_every_series(&self) -> bool {
        matches!(&self.from, From::Series([good, bad]) if good.series != bad.series)
    }

    /// The source in words.
    pub fn source(&self) -> String {
        match &self.from {
            From::Series([end, _]) if self.is_of_every_series() => format!("series, {}", end.series.flavour),
            From::Series([end, _]) => end.series.to_string(),
            From::Folder(folder) => folder.display().to_string(),
            From::Tree(tree) => format!(
                "commits, configuration {}",
                worstcase_base::digest::sha256_hex(tree.1.config.as_bytes())
            ),
        }
    }

    /// All candidates of a list; none of a tree.
    pub(crate) fn list(&mut self, options: &ResolveOptions<'_>) -> Result<Vec<String>, BisectError> {
        let between = match &self.from {
            From::Series([good, bad]) if self.is_of_every_series() => of_every_series(good, bad, options)?,
            From::Series([good, bad]) => of_series(good, bad, options)?,
            From::Folder(folder) => KernelFolder::open(folder)?.between(&self.good, &self.bad)?,
            From::Tree(_) => return Ok(Vec::new()),
        };
        if let Some(note) = between.note {
            options.progress.note(&note);
        }
        Ok(between.names)
    }

    /// The candidates that are the ends, the older one first.
    pub(crate) fn ends(&self, list: &[String]) -> Result<[String; 2], BisectError> {
        match (&self.from, list) {
            (From::Tree(tree), _) => tree.0.ordered(tree.0.resolve(&self.good)?, tree.0.resolve(&self.bad)?),
            (_, [older, .., newer]) => Ok([older.clone(), newer.clone()]),
            _ => Err(BisectError::Request("no kernel between".into())),
        }
    }

    /// The order of the candidates.
    pub(crate) fn order(&self, list: &[String]) -> Box<dyn CandidateOrder> {
        match &self.from {
            From::Tree(tree) => Box::new(tree.0.clone()),
            _ => Box::new(List(list.to_vec())),
        }
    }

    /// A candidate's name for people.
    pub fn shown(&self, candidate: &str) -> String {
        match &self.from {
            From::Tree(tree) => tree.0.shown(candidate),
            From::Folder(_) | From::Series(_) => shown_of_list(candidate),
        }
    }

    /// The kernel's name that it is measured by, built if need be; or why it does not build.
    pub fn name(&self, candidate: &str, progress: &dyn Progress) -> Result<Result<String, String>, BisectError> {
        let From::Tree(tree) = &self.from else {
            return Ok(Ok(candidate.to_string()));
        };
        let (tree, builder) = &**tree;
        let name = self.shown(candidate);
        if builder.kept(&name).is_none() {
            progress.line(&format!("{name}: building"));
            tree.check_out(candidate)?;
        }
        progress.state(&format!("building {name}"));
        let kernel = built(builder, &name);
        progress.end();
        kernel
    }

    /// The same of a commit without what another one changed.
    pub(crate) fn reverted(&self, base: &str, commit: &str) -> Result<Result<String, String>, BisectError> {
        let From::Tree(tree) = &self.from else {
            return Ok(Err("there is no tree to revert it in".into()));
        };
        let (tree, builder) = &**tree;
        let name = format!("revert-{}", self.shown(commit));
        if builder.kept(&name).is_none()
            && let Err(why) = tree.check_out_reverted(base, commit)?
        {
            return Ok(Err(format!("it cannot be reverted there: {why}")));
        }
        built(builder, &name)
    }

    /// The description of a commit.
    pub(crate) fn commit(&self, candidate: &str) -> Result<Option<Commit>, BisectError> {
        match &self.from {
            From::Tree(tree) => tree.0.commit(candidate).map(Some),
            _ => Ok(None),
        }
    }
}

/// Both ends as series of one flavour.
fn series(good: &str, bad: &str) -> Result<[SeriesEnd; 2], BisectError> {
    let refuse = |what: String| Err(BisectError::Request(what));
    match (SeriesEnd::parse(good), SeriesEnd::parse(bad)) {
        (Some(one), Some(other)) if one.series.arch != other.series.arch => refuse(format!(
            "{good} is of {}, {bad} of {}: take two of one architecture; {NOT_ONE_UNIT}",
            one.series.arch, other.series.arch
        )),
        (Some(one), Some(other)) if one.series.flavour == other.series.flavour => Ok([one, other]),
        (Some(one), Some(other)) => refuse(format!(
            "{good} is {}, {bad} is {}: take two of one flavour",
            one.series.flavour, other.series.flavour
        )),
        _ => refuse(format!(
            "{good} and {bad} are not both series of Debian's or versions of one, as debian:6.12 and debian:6.12@6.12.74; name a folder with --kernels or a git tree with --tree"
        )),
    }
}

/// The checked-out, built and kept kernel of a commit; its label is its name.
fn built(builder: &Builder, name: &str) -> Result<Result<String, String>, BisectError> {
    let folder = match builder.kept(name) {
        Some(folder) => Ok(folder),
        None => builder.build(name)?,
    };
    Ok(folder.map(|folder| format!("{name}={}", folder.display())))
}

/// The text of a configuration: of a file, or of a kernel.
fn config(name: &str, options: &ResolveOptions<'_>) -> Result<String, Error> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(BisectError::io(path));
    if Path::new(name).is_file() {
        return Ok(build::configuration(&read(Path::new(name))?, false));
    }
    let kernel = kernels::resolve(name, options)?;
    let path = kernel.config.ok_or(KernelError::NoConfig { kernel: kernel.label })?;
    Ok(build::configuration(&read(&path)?, true))
}
