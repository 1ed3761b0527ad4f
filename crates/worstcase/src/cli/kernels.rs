//! `worstcase kernels list|get|show`.

use clap::{Args, Subcommand};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::output::{print, print_json};
use super::progress::ProgressDisplay;
use crate::cli::error::Error;
use worstcase_base::cache::Cache;
use worstcase_contract::loads;
use worstcase_kernels::archive::AptArchive;
use worstcase_kernels::catalog::{CatalogEntry, usable};
use worstcase_kernels::config::Features;
use worstcase_kernels::debuginfo::kept::{self, KeptDebugInfo};
use worstcase_kernels::folder::{FolderKernel, kernels_in};
use worstcase_kernels::modules::{self, ModuleIndex, Presence};
use worstcase_kernels::name::KernelName;
use worstcase_kernels::preempt::{self, ModelChoice, PreemptModel};
use worstcase_kernels::{
    self as kernels, Arch, DebianSeries, Kernel, KernelError, Lists, ResolveOptions, debug, header_tools, headers,
};

/// Modules that loads, probes and studies use: devices to read, I/O schedulers, ports, a scheduler's block device.
const MODULES_OF_INTEREST: [&str; 12] = [
    "null_blk",
    "brd",
    "loop",
    "zram",
    "scsi_debug",
    "dm-delay",
    "bfq",
    "kyber-iosched",
    "parport_pc",
    "ppdev",
    "gpio-sim",
    "ublk_drv",
];

/// Examples of the group.
pub(super) const HELP: &str = "\
Examples:
  worstcase kernels list
  worstcase kernels get debian:6.1 debian:6.1-rt
  worstcase kernels show debian:6.12";

const LIST_HELP: &str = "\
Examples:
  worstcase kernels list
  worstcase kernels list --all-versions debian:6.12
  worstcase kernels list --all-versions debian:6.12 --archive '/srv/snapshot/20260101 trixie'
  worstcase kernels list --kernels ./built                   packages and images of a folder, by version
  worstcase kernels list --all --refresh
  worstcase kernels list --arch arm64
  worstcase kernels list --json";

const GET_HELP: &str = "\
Examples:
  worstcase kernels get debian:6.1 debian:6.1-rt
  worstcase kernels get --debug debian:6.12                explain then tells lines of source code
  worstcase kernels get --headers debian:6.1               to build a module: make -C FOLDER M=$PWD modules";

const SHOW_HELP: &str = "\
Examples:
  worstcase kernels show debian:6.12
  worstcase kernels show ./bzImage,config=.config --json
  worstcase kernels show ./linux+CONFIG_PREEMPT=y";

const NAMES: &str = "\
A kernel's name is one of:
  debian:6.1  debian:6.1-rt  debian:7.2-cloud   the newest of a series in Debian's archive, by flavour
  debian:6.12/arm64  debian:6.12-16k/arm64      the same for another architecture
  debian:6.12@6.12.74                           one of its versions; the beginning will do, if it fits one alone
  linux-image-6.1.0-56-amd64                    an exact Debian package (debian:6.1.0-56-amd64 is the same)
  FILE.deb  FILE.rpm                            a package file, and those of the same kernel beside it
  FILE.rpm,FILE.rpm                             package files that are one kernel together
  FOLDER                                        a folder that holds one unpacked kernel, or a kernel's build tree
  BZIMAGE[,modules=DIR][,config=FILE][,map=FILE]
                                                an image; what is not said is looked for beside it
  TREE[,config=FILE]+CONFIG_X=y[+CONFIG_Y=n]    a source tree, built with options changed, and kept
  LABEL=NAME                                    any of these, with the label that tables show: old=./bzImage";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum KernelsCommand {
    /// Show the kernels in Debian's archive: the newest of each series and flavour
    List(ListArgs),
    /// Download and unpack kernels, so that they can be used without a network
    Get(GetArgs),
    /// Show what a kernel can do: preemption models, HZ, tracers, I/O schedulers, modules
    Show(KernelShowArgs),
}

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
pub struct ListArgs {
    /// Only these series, for example debian:6.12 debian:6.12-rt
    #[arg(value_name = "SERIES")]
    series: Vec<String>,
    /// Those of another architecture: arm64
    #[arg(long)]
    arch: Option<Arch>,
    /// Every version of a series that can be had, the oldest first
    #[arg(long, conflicts_with = "all")]
    all_versions: bool,
    /// Every version, also what the archive no longer has in full, and unsigned ones
    #[arg(long)]
    all: bool,
    /// The kernels of a folder instead: packages, images, folders with one kernel each
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["series", "arch", "all", "all_versions", "archives", "refresh"])]
    kernels: Option<PathBuf>,
    #[command(flatten)]
    archives: ArchiveArgs,
    /// Fetch the package lists now (otherwise: if they are older than a day)
    #[arg(long)]
    refresh: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Archives beside the system's.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// An older state of Debian's archive to ask, too, by its address or folder; may be given again. It stays until others are
    /// named; "none" forgets all
    #[arg(long = "archive", value_name = "URI SUITE", value_parser = named_archive)]
    archives: Vec<NamedArchive>,
}

#[derive(Debug, Clone)]
enum NamedArchive {
    None,
    One(AptArchive),
}

fn named_archive(text: &str) -> Result<NamedArchive, String> {
    match text {
        "none" => Ok(NamedArchive::None),
        text => text.parse().map(NamedArchive::One),
    }
}

impl ArchiveArgs {
    fn named(&self) -> Option<Vec<AptArchive>> {
        let one = |named: &NamedArchive| match named {
            NamedArchive::None => None,
            NamedArchive::One(archive) => Some(archive.clone()),
        };
        (!self.archives.is_empty()).then(|| self.archives.iter().filter_map(one).collect())
    }
}

/// Arguments of `get`.
#[derive(Debug, Args)]
#[command(after_help = format!("{GET_HELP}\n\n{NAMES}"))]
pub struct GetArgs {
    /// Kernels, for example debian:6.1 debian:6.1-rt
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Also bring the debug package, of which a small part is kept: then explain tells lines of source code
    #[arg(long)]
    debug: bool,
    /// Also bring the headers, against which a module for this kernel is built: make -C FOLDER M=$PWD modules
    #[arg(long)]
    headers: bool,
    #[command(flatten)]
    archives: ArchiveArgs,
    /// Fetch the package lists now (otherwise: if they are older than a day)
    #[arg(long)]
    refresh: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = format!("{SHOW_HELP}\n\n{NAMES}"))]
pub struct KernelShowArgs {
    /// The kernel; one of the archive is downloaded if it is not in the cache
    #[arg(value_name = "NAME")]
    name: String,
    /// Fetch the package lists now and take the newest
    #[arg(long)]
    refresh: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs a subcommand.
pub fn run(command: KernelsCommand) -> Result<(), Error> {
    let terminal = ProgressDisplay::new();
    let options = |refresh: bool, lists, archives| -> Result<_, Error> {
        let lists = if refresh { Lists::Renew } else { lists };
        Ok(ResolveOptions {
            cache: Cache::open()?,
            lists,
            archives,
            progress: &terminal,
            stop: Default::default(),
        })
    };
    match command {
        KernelsCommand::List(args) => match &args.kernels {
            Some(folder) => list_folder(folder, args.json),
            None => list(&args, &options(args.refresh, Lists::IfOld, args.archives.named())?),
        },
        KernelsCommand::Get(args) => get(&args, options(args.refresh, Lists::IfOld, args.archives.named())?),
        KernelsCommand::Show(args) => show(&args, &options(args.refresh, Lists::IfMissing, None)?),
    }
}

/// The series of a name that stands for one.
pub(super) fn series(name: &str) -> Result<DebianSeries, Error> {
    match KernelName::parse(name)? {
        KernelName::Series { series, version: None } => Ok(series),
        _ => Err(KernelError::BadName {
            name: format!("\"{name}\""),
            hint: "name a series, e.g. debian:6.12 or debian:6.12-cloud".into(),
        }
        .into()),
    }
}

fn list_folder(folder: &Path, json: bool) -> Result<(), Error> {
    let found = kernels_in(folder)?;
    if json {
        let shown = |f: &FolderKernel| serde_json::json!({"name": f.path.display().to_string(), "version": f.version});
        return Ok(print_json(&found.iter().map(shown).collect::<Vec<_>>())?);
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["name", "version"]);
    for kernel in &found {
        table.add_row([&kernel.path.display().to_string(), &kernel.version]);
    }
    let table: String = table.lines().map(|line| format!("{}\n", line.trim())).collect();
    Ok(print(&table)?)
}

#[derive(Serialize)]
struct KernelRow {
    name: String,
    #[serde(flatten)]
    entry: CatalogEntry,
    cached: bool,
    /// Size of the debug information in the cache.
    debug_bytes: Option<u64>,
}

fn list(args: &ListArgs, options: &ResolveOptions<'_>) -> Result<(), Error> {
    let mut wanted = args
        .series
        .iter()
        .map(|name| series(name))
        .collect::<Result<Vec<_>, Error>>()?;
    let arch = args
        .arch
        .or(wanted.first().map(|series| series.arch))
        .unwrap_or_default();
    if args.arch.is_some() {
        wanted.iter_mut().for_each(|series| series.arch = arch);
    }
    if let Some(other) = wanted.iter().find(|series| series.arch != arch) {
        let (name, hint) = (
            other.to_string(),
            format!("the list is that of {arch}; ask for each in its own"),
        );
        return Err(KernelError::BadName { name, hint }.into());
    }
    let catalog = kernels::fetch_catalog(arch, options)?;
    let mut entries = catalog.entries();
    if !wanted.is_empty() {
        entries.retain(|e| wanted.iter().any(|series| e.is_of(series)));
    }
    if args.all_versions {
        entries.retain(usable);
        entries.reverse();
    } else if !args.all {
        entries.retain(usable);
        let mut seen = std::collections::BTreeSet::new();
        entries.retain(|e| seen.insert(e.short_name()));
    }
    let cached = |entry: &CatalogEntry| kernels::is_cached(&options.cache, entry);
    let debug = |entry: &CatalogEntry| kept::of_version(&options.cache, &entry.label, &entry.version).map(|k| k.bytes);
    if args.json {
        let listed = |entry: CatalogEntry| KernelRow {
            name: entry.short_name(),
            cached: cached(&entry),
            debug_bytes: debug(&entry),
            entry,
        };
        return Ok(print_json(&entries.into_iter().map(listed).collect::<Vec<_>>())?);
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["name", "release", "version", "suite", "download", "cached"]);
    for entry in &entries {
        let size: u64 = entry.parts.iter().map(|p| p.size).sum();
        let download = if entry.missing.is_empty() {
            format!("{} MB", size.div_ceil(1_000_000))
        } else {
            "incomplete".into()
        };
        let name = if usable(entry) && args.all_versions {
            entry.version_name()
        } else if usable(entry) {
            entry.short_name()
        } else {
            entry.package.clone()
        };
        let debug = debug(entry).map(|bytes| format!("debug {}", megabytes(bytes)));
        let cached: Vec<String> = cached(entry).then(|| "yes".into()).into_iter().chain(debug).collect();
        table.add_row([
            &name,
            &entry.label,
            &entry.version,
            &entry.suites.join(" "),
            &download,
            &cached.join(", "),
        ]);
    }
    let table: String = table.lines().map(|line| format!("{}\n", line.trim())).collect();
    print(&table)?;
    for note in &catalog.notes {
        options.progress.note(note);
    }
    Ok(())
}

/// Names of the modules that loads bring into the lab's kernels.
fn loads_modules() -> BTreeSet<String> {
    loads::modules().into_iter().map(modules::canonical).collect()
}

fn get(args: &GetArgs, mut options: ResolveOptions<'_>) -> Result<(), Error> {
    for name in &args.names {
        let kernel = kernels::resolve(name, &options)?;
        let version = kernel.package_version.as_deref().unwrap_or("no package");
        print(&format!(
            "{name}: {} ({version}) {}\n",
            kernel.release,
            kernel.bzimage.display()
        ))?;
        if args.debug {
            let kept = debug::get(&kernel, &loads_modules(), &options)?;
            print(&format!("{name}: debug information {}\n", describe_kept(&kept)))?;
        }
        if args.headers {
            let folder = headers::get(&kernel, &options)?;
            print(&format!("{name}: headers {}\n", folder.display()))?;
            if let Some(told) = header_tools::of(&folder).told() {
                print(&format!("{name}: {told}\n"))?;
            }
        }
        // Once is enough for one command.
        if options.lists == Lists::Renew {
            options.lists = Lists::IfOld;
        }
    }
    Ok(())
}

/// All that `show` tells.
#[derive(Serialize)]
struct ShownKernel {
    #[serde(flatten)]
    kernel: Kernel,
    features: Option<Features>,
    preemption: Option<Vec<PreemptModel>>,
    preemption_note: Option<&'static str>,
    modules: Option<Vec<ModuleShown>>,
    debug: Option<KeptDebugInfo>,
}

#[derive(Serialize)]
struct ModuleShown {
    name: &'static str,
    presence: Presence,
}

fn show(args: &KernelShowArgs, options: &ResolveOptions<'_>) -> Result<(), Error> {
    let kernel = kernels::resolve(&args.name, options)?;
    let config = match kernel.read_config() {
        Ok(config) => Some(config),
        Err(KernelError::NoConfig { .. }) => None,
        Err(e) => return Err(e.into()),
    };
    let index = kernel.modules_dir.as_deref().map(ModuleIndex::load).transpose()?;
    let presence = |index: ModuleIndex| {
        let shown = |name: &'static str| ModuleShown {
            name,
            presence: index.presence(name),
        };
        MODULES_OF_INTEREST.into_iter().map(shown).collect()
    };
    let shown = ShownKernel {
        features: config.as_ref().map(|c| c.features()),
        preemption: config.as_ref().map(preempt::from_config),
        preemption_note: config.as_ref().and_then(preempt::note),
        modules: index.map(presence),
        debug: debug::kept(&kernel, &options.cache),
        kernel,
    };
    match args.json {
        true => print_json(&shown)?,
        false => print(&describe(&shown))?,
    }
    Ok(())
}

fn describe(shown: &ShownKernel) -> String {
    let kernel = &shown.kernel;
    let mut text = String::new();
    let mut line = |key: &str, value: String| text.push_str(&format!("{key:<15}{value}\n"));
    line("release", kernel.release.clone());
    line(
        "version",
        kernel
            .package_version
            .clone()
            .unwrap_or_else(|| "not from a package".into()),
    );
    line("flavour", kernel.flavour.to_string());
    if !kernel.arch.is_usual() {
        line("architecture", kernel.arch.to_string());
    }
    match (&shown.preemption, &shown.features) {
        (Some(models), Some(features)) => {
            line(
                "preemption",
                models.iter().map(describe_model).collect::<Vec<_>>().join(", "),
            );
            if let Some(note) = shown.preemption_note {
                line("", format!("({note})"));
            }
            line("HZ", features.hz.map_or("unknown".into(), |hz| hz.to_string()));
            line(
                "tracers",
                or_none(features.tracers.iter().map(|t| t.to_string()).collect()),
            );
            let scheduler = |s: &kernels::config::KernelIoScheduler| {
                format!("{}{}", s.name, if s.module { " (module)" } else { "" })
            };
            line(
                "I/O schedulers",
                or_none(features.io_schedulers.iter().map(scheduler).collect()),
            );
            line("sched_ext", if features.sched_ext { "yes" } else { "no" }.into());
        }
        _ => line(
            "config",
            "unknown; name it with ,config=FILE to see preemption models and features".into(),
        ),
    }
    match &shown.modules {
        Some(modules) => {
            let with = |wanted: Presence| {
                let names = modules
                    .iter()
                    .filter(|m| m.presence == wanted)
                    .map(|m| m.name.to_string());
                or_none(names.collect())
            };
            line("modules", with(Presence::Module));
            line("  built in", with(Presence::Builtin));
            line("  absent", with(Presence::Absent));
        }
        None => line("modules", "no folder known; name it with ,modules=DIR".into()),
    }
    line("image", kernel.bzimage.display().to_string());
    for (key, path) in [
        ("modules in", &kernel.modules_dir),
        ("config in", &kernel.config),
        ("System.map", &kernel.system_map),
    ] {
        line(key, path.as_ref().map_or("unknown".into(), |p| p.display().to_string()));
    }
    let no_debug = || "none; worstcase kernels get --debug brings it".into();
    line("debug", shown.debug.as_ref().map_or_else(no_debug, describe_kept));
    line("digest", kernel.digest.clone());
    text
}

fn describe_model(model: &PreemptModel) -> String {
    let how = match (model.chosen, model.default) {
        (ModelChoice::Fixed, _) => " (fixed)",
        (ModelChoice::AtBoot, true) => " (default)",
        (ModelChoice::AtBoot, false) => "",
    };
    format!("{}{how}", model.model)
}

fn describe_kept(kept: &KeptDebugInfo) -> String {
    format!("{} ({})", kept.path.display(), megabytes(kept.bytes))
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

fn or_none(names: Vec<String>) -> String {
    if names.is_empty() { "-".into() } else { names.join(", ") }
}
