//! Kernels: found, downloaded through the system's own apt, verified, unpacked, and described.
//!
//! ```text
//! name ──parse──> KernelName ──┬─ Series, Package ─> debian: catalog (what the archive has) ─> apt ─> deb ─> store
//!                              ├─ Packages ────────> siblings ─> package_file (deb, rpm) ─> store
//!                              ├─ Changed ─────────> build
//!                              └─ Folder, Image ───> files
//!                                                       └──> Kernel ──> config, preempt, modules
//! ```
//!
//! [`debug`] fetches a kernel's debug package, [`headers`] the headers to build modules with; [`header_tools`] says what
//! building with them needs.
//!
//! [`resolve`] is the entry point. A [`Kernel`] is a value: paths, properties, and a digest that identifies its
//! content. Its abilities follow from its files: [`config`], [`preempt`], [`modules`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_base::progress::Progress;

use serde::{Deserialize, Serialize};

use worstcase_base::cache::{Cache, CacheError};
pub use worstcase_plan::Arch;

mod apt;
mod ar;
pub mod archive;
pub mod build;
pub mod catalog;
pub mod config;
mod deb;
mod debian;
pub mod debug;
pub mod debuginfo;
mod error;
mod files;
pub mod folder;
#[doc(hidden)]
pub mod fuzz;
pub mod header_tools;
pub mod headers;
#[cfg(test)]
mod hostile;
mod image;
mod load_order;
mod members;
pub mod modinfo;
pub mod modules;
pub mod name;
pub mod needs;
mod package_file;
mod package_info;
mod packages;
pub mod preempt;
mod rpm;
mod sandbox;
mod siblings;
mod sources;
#[cfg(test)]
mod split;
mod store;
mod suites;
mod unpacked;
pub mod version;
pub mod vmlinux;

pub use debian::catalog as fetch_catalog;
pub use error::KernelError;
use name::KernelName;
pub use name::{DebianSeries, several};

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// As the user asked for it.
    pub name: String,
    /// Short, for tables: `6.1.0-56-amd64`.
    pub label: String,
    /// `uname -r`, read from the image.
    pub release: String,
    /// The architecture that the image is for.
    #[serde(default, skip_serializing_if = "Arch::is_usual")]
    pub arch: Arch,
    /// Version of the package, if it came from one.
    pub package_version: Option<String>,
    /// generic, cloud or rt.
    pub flavour: Flavour,
    /// The image to boot.
    pub bzimage: PathBuf,
    /// `.../lib/modules/<release>`.
    pub modules_dir: Option<PathBuf>,
    /// Symbols; in Debian's packages only a stub.
    pub system_map: Option<PathBuf>,
    /// The build configuration.
    pub config: Option<PathBuf>,
    /// sha256 over the list of its files and their sha256: equal content has an equal digest on every machine.
    pub digest: String,
}

impl Kernel {
    /// Its build configuration; an error if none is known.
    pub fn read_config(&self) -> Result<config::KernelConfig, KernelError> {
        let path = self.config.as_ref().ok_or_else(|| KernelError::NoConfig {
            kernel: self.label.clone(),
        })?;
        config::KernelConfig::read(path).map_err(|source| KernelError::Unreadable {
            path: path.clone(),
            source,
        })
    }

    #[cfg(test)]
    fn for_tests() -> Kernel {
        Kernel {
            name: "test".into(),
            label: "test".into(),
            release: "test".into(),
            arch: Arch::default(),
            package_version: None,
            flavour: Flavour::Generic,
            bzimage: PathBuf::new(),
            modules_dir: None,
            system_map: None,
            config: None,
            digest: String::new(),
        }
    }
}

/// Debian's flavours of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// For every PC.
    Generic,
    /// For virtual machines: fewer drivers.
    Cloud,
    /// PREEMPT_RT.
    Rt,
    /// arm64, with pages of 16 KiB.
    #[serde(rename = "16k")]
    Pages16K,
}

impl Flavour {
    /// The flavour in a release like `6.1.0-56-rt-amd64`; a release that is not Debian's counts as generic.
    pub fn of_release(release: &str) -> Flavour {
        match Arch::in_release(release) {
            Some((_, _, "16k")) => Flavour::Pages16K,
            Some((rest, ..)) if rest.ends_with("-rt") => Flavour::Rt,
            Some((rest, ..)) if rest.ends_with("-cloud") => Flavour::Cloud,
            _ => Flavour::Generic,
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Flavour::Generic => "generic",
            Flavour::Cloud => "cloud",
            Flavour::Rt => "rt",
            Flavour::Pages16K => "16k",
        })
    }
}

impl FromStr for Flavour {
    type Err = ();

    fn from_str(text: &str) -> Result<Flavour, ()> {
        [Flavour::Generic, Flavour::Cloud, Flavour::Rt, Flavour::Pages16K]
            .into_iter()
            .find(|f| f.to_string() == text)
            .ok_or(())
    }
}

/// When to fetch the archive's package lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// Only if there are none; a cached kernel of the series is used without asking the archive.
    IfMissing,
    /// If there are none, or they are older than a day.
    IfOld,
    /// Always.
    Renew,
}

/// How to resolve.
#[derive(Clone)]
pub struct ResolveOptions<'a> {
    /// The cache that keeps kernels.
    pub cache: Cache,
    /// When to fetch package lists.
    pub lists: Lists,
    /// Archives to use besides the system's, from now on; `None` for those that were named before.
    pub archives: Option<Vec<archive::AptArchive>>,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// Set when the user wants to stop: a build then ends.
    pub stop: Arc<AtomicBool>,
}

impl<'a> ResolveOptions<'a> {
    /// The user's cache, used without a check for newer kernels. For everything but `kernels list` and `kernels get`.
    pub fn from_cache(progress: &'a dyn Progress) -> Result<ResolveOptions<'a>, CacheError> {
        Ok(ResolveOptions {
            cache: Cache::open()?,
            lists: Lists::IfMissing,
            archives: None,
            progress,
            stop: Arc::default(),
        })
    }
}

#[cfg(test)]
impl ResolveOptions<'static> {
    /// With a cache in this folder, and without progress.
    pub(crate) fn for_tests(cache: PathBuf) -> ResolveOptions<'static> {
        ResolveOptions {
            cache: Cache::at(cache),
            lists: Lists::IfMissing,
            archives: None,
            progress: &worstcase_base::progress::Silent,
            stop: Arc::default(),
        }
    }
}

/// Finds a kernel by any name (see [`name`]), downloading and unpacking it if need be.
pub fn resolve(name: &str, options: &ResolveOptions<'_>) -> Result<Kernel, KernelError> {
    if let Some((label, path)) = name::labelled(name) {
        let kernel = resolve_one(path, options)?;
        return Ok(Kernel {
            name: name.into(),
            label: label.into(),
            ..kernel
        });
    }
    resolve_one(name, options)
}

fn resolve_one(name: &str, options: &ResolveOptions<'_>) -> Result<Kernel, KernelError> {
    let parsed = KernelName::parse(name)?;
    match &parsed {
        KernelName::Series { .. } | KernelName::Package(_) => debian::resolve(name, &parsed, options),
        KernelName::Packages(paths) => match paths.as_slice() {
            [one] => from_packages(name, siblings::beside(one)?, Some(one), options),
            several => from_packages(name, several.to_vec(), None, options),
        },
        KernelName::Folder(path) => match siblings::in_folder(path)? {
            Some(packages) => from_packages(name, packages, None, options),
            None => store::from_files(name, files::in_folder(path)?),
        },
        KernelName::Changed {
            tree,
            config,
            options: changed,
        } => build::changed::resolve(name, tree, config.as_deref(), changed, options),
        KernelName::Image {
            bzimage,
            modules,
            config,
            system_map,
        } => {
            let mut found = files::beside(bzimage, &[])?;
            if let Some(dir) = modules {
                let none = || KernelError::Unreadable {
                    path: dir.clone(),
                    source: std::io::ErrorKind::NotFound.into(),
                };
                found.modules_dir = Some(files::modules_below(dir, &found.release).ok_or_else(none)?);
            }
            found.config = config.clone().or(found.config);
            found.system_map = system_map.clone().or(found.system_map);
            store::from_files(name, found)
        }
    }
}

/// The kernel in package files; `named` is the one that the user named, if the others were found beside it.
fn from_packages(
    name: &str,
    packages: Vec<PathBuf>,
    named: Option<&Path>,
    options: &ResolveOptions<'_>,
) -> Result<Kernel, KernelError> {
    let store = store::KernelStore::new(&options.cache);
    let key = store::key_of_files(&packages)?;
    store.build(&key, None, name, |_| {
        if let Some(named) = named {
            let others = packages.iter().filter(|path| path.file_name() != named.file_name());
            let others: Vec<_> = others.map(|path| path.display().to_string()).collect();
            if !others.is_empty() {
                let text = format!("{}: with {} beside it", named.display(), others.join(", "));
                options.progress.note(&text);
            }
        }
        Ok(packages)
    })
}

/// Every available version of a series, the oldest first.
pub fn versions(
    series: &DebianSeries,
    options: &ResolveOptions<'_>,
) -> Result<Vec<catalog::CatalogEntry>, KernelError> {
    Ok(debian::catalog(series.arch, options)?.versions(series))
}

/// The newest available version of every series, the oldest series first.
pub fn newest_of_each(
    flavour: Flavour,
    arch: Arch,
    options: &ResolveOptions<'_>,
) -> Result<Vec<catalog::CatalogEntry>, KernelError> {
    Ok(debian::catalog(arch, options)?.newest_of_each(flavour))
}

/// What a typical kernel's packages and files have, in bytes: Debian's 6.1.
const USUAL_PACKAGES: u64 = 70_000_000;

/// The bytes that resolving a name would fetch; none for a kernel that is in the cache, or not of the archive.
pub fn to_fetch(name: &str, cache: &Cache) -> Option<u64> {
    let name = name::labelled(name).map_or(name, |(_, path)| path);
    let parsed = KernelName::parse(name).ok()?;
    Some(debian::to_fetch(&parsed, cache)?.unwrap_or(USUAL_PACKAGES))
}

/// Whether a kernel of the archive is in the cache.
pub fn is_cached(cache: &Cache, entry: &catalog::CatalogEntry) -> bool {
    store::KernelStore::new(cache).has(&store::KernelStore::key(&entry.package, &entry.version))
}
