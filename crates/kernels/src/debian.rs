//! Resolves a name from Debian's archive: from the cache if it is there, from the network if it is not.

use worstcase_base::cache::Cache;
use worstcase_base::near::instead;

use super::apt::{self, Apt};
use super::catalog::{self, Catalog, CatalogEntry};
use super::name::{DebianSeries, KernelName};
use super::store::{KernelStore, StoredName};
use super::{Arch, Flavour, Kernel, KernelError, Lists, ResolveOptions, version};

/// Package lists older than this are fetched again when a user asks for the newest.
const LISTS_MAX_AGE_S: u64 = 24 * 60 * 60;
/// The list of an architecture's kernels, in the area of its apt.
const CATALOG: &str = "kernels.json";

/// The archive's catalog, from the cache or freshly fetched as `options.lists` says. If existing lists cannot be renewed
/// they are used, with a note.
pub fn catalog(arch: Arch, options: &ResolveOptions<'_>) -> Result<Catalog, KernelError> {
    let cache = &options.cache;
    let stored = stored_catalog(arch, cache);
    let age = stored.as_ref().map(|c| apt::now().saturating_sub(c.fetched));
    let known = stored.as_ref().map(|c| c.archives.clone()).unwrap_or_default();
    let archives = options.archives.clone().unwrap_or_else(|| known.clone());
    let good = archives == known
        && match options.lists {
            Lists::IfMissing => age.is_some(),
            Lists::IfOld => age.is_some_and(|a| a < LISTS_MAX_AGE_S),
            Lists::Renew => false,
        };
    if let Some(catalog) = stored.clone().filter(|_| good) {
        return Ok(catalog);
    }
    match Apt::new(cache, arch, options.progress).update(&archives) {
        Ok(catalog) => {
            let json = serde_json::to_vec(&catalog).expect("a catalog of strings and numbers is always JSON");
            cache.write_file(&cache.path(apt::area(arch), CATALOG), &json)?;
            Ok(catalog)
        }
        Err(error) => match stored {
            Some(catalog) => {
                let hours = age.unwrap_or(0) / 3600;
                options
                    .progress
                    .note(&format!("package lists of {hours} hours ago are used: {error}"));
                Ok(catalog)
            }
            None => Err(error),
        },
    }
}

fn stored_catalog(arch: Arch, cache: &Cache) -> Option<Catalog> {
    // An unreadable list counts as a missing one.
    serde_json::from_slice(&worstcase_base::files::read(&cache.path(apt::area(arch), CATALOG)).ok()?).ok()
}

/// Resolves a series or a package.
pub fn resolve(text: &str, name: &KernelName, options: &ResolveOptions<'_>) -> Result<Kernel, KernelError> {
    let store = KernelStore::new(&options.cache);
    if let KernelName::Series {
        series,
        version: Some(version),
    } = name
    {
        return versioned(text, (series, version), &store, options);
    }
    let cached = newest_cached(&store, name);
    if options.lists == Lists::IfMissing
        && let Some(key) = &cached
        && let Some(kernel) = store.open(key, text)?
    {
        return Ok(kernel);
    }
    let newest = catalog(name.arch().unwrap_or_default(), options)
        .and_then(|catalog| get(text, name, &catalog, &store, options));
    match (newest, cached) {
        (
            Err(error @ (KernelError::NoNetwork { .. } | KernelError::AptFailed { .. } | KernelError::NoApt)),
            Some(key),
        ) => {
            options.progress.note(&format!("{key} from the cache is used: {error}"));
            store.open(&key, text)?.ok_or(error)
        }
        (newest, _) => newest,
    }
}

/// The one version of a series that begins with the typed text. Versions in the cache count too, as the archive may have
/// dropped them.
fn versioned(
    text: &str,
    (series, typed): (&DebianSeries, &str),
    store: &KernelStore<'_>,
    options: &ResolveOptions<'_>,
) -> Result<Kernel, KernelError> {
    let any = KernelName::Series {
        series: series.clone(),
        version: None,
    };
    let cached: Vec<(String, StoredName)> = store.names().into_iter().filter(|(_, m)| fits(m, &any)).collect();
    let lists = match options.lists {
        Lists::IfMissing => Ok(stored_catalog(series.arch, &options.cache).unwrap_or_default()),
        Lists::IfOld | Lists::Renew => catalog(series.arch, options),
    };
    let mut known = match lists {
        Ok(lists) => lists.versions(series),
        Err(_) if cached.iter().any(|(_, m)| version::begins_with(&m.version, typed)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let all = |known: &[CatalogEntry]| {
        let mut all: Vec<String> = cached.iter().map(|(_, m)| m.version.clone()).collect();
        all.extend(known.iter().map(|e| e.version.clone()));
        all.sort_by(|a, b| version::compare(a, b));
        all.dedup();
        all
    };
    if meant(&all(&known), typed).is_empty() {
        known = catalog(series.arch, options)?.versions(series);
    }
    let there = all(&known);
    match &meant(&there, typed)[..] {
        [] => Err(KernelError::Unknown {
            name: text.into(),
            hint: match there.is_empty() {
                true => "worstcase kernels list shows what there is".into(),
                false => format!("of this series there are {}", there.join(", ")),
            },
        }),
        [version] => match cached.iter().find(|(_, m)| m.version == **version) {
            Some((key, _)) => store.open(key, text)?.ok_or_else(|| KernelError::Unknown {
                name: text.into(),
                hint: "it was just removed from the cache".into(),
            }),
            None => {
                let entry = known.iter().find(|e| e.version == **version);
                fetch(text, entry.expect("known or cached"), store, options)
            }
        },
        several => Err(KernelError::SeveralVersions {
            name: text.into(),
            versions: several.iter().map(|v| v.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The versions that begin with the typed text; if it is a complete version, that one alone.
pub(crate) fn meant<'a>(versions: &'a [String], typed: &str) -> Vec<&'a String> {
    match versions.iter().find(|v| *v == typed) {
        Some(whole) => vec![whole],
        None => versions.iter().filter(|v| version::begins_with(v, typed)).collect(),
    }
}

fn get(
    text: &str,
    name: &KernelName,
    catalog: &Catalog,
    store: &KernelStore<'_>,
    options: &ResolveOptions<'_>,
) -> Result<Kernel, KernelError> {
    let entry = find(text, name, catalog)?;
    match fetch(text, &entry, store, options) {
        // The lists may be older than the archive, which drops a version when the next one comes.
        Err(KernelError::AptFailed { .. }) if options.lists != Lists::Renew => {
            let renewed = ResolveOptions {
                lists: Lists::Renew,
                ..options.clone()
            };
            let renewed = self::catalog(entry.arch, &renewed)?;
            fetch(text, &find(text, name, &renewed)?, store, options)
        }
        result => result,
    }
}

fn fetch(
    text: &str,
    entry: &CatalogEntry,
    store: &KernelStore<'_>,
    options: &ResolveOptions<'_>,
) -> Result<Kernel, KernelError> {
    let key = KernelStore::key(&entry.package, &entry.version);
    if let Some(kernel) = store.open(&key, text)? {
        return Ok(kernel);
    }
    let apt = Apt::new(&options.cache, entry.arch, options.progress);
    store.build(&key, Some((&entry.package, &entry.version)), text, |into| {
        let debs = apt.download(&entry.parts, into)?;
        options.progress.download(&format!("unpacking {}", entry.label), 100.0);
        Ok(debs)
    })
}

fn find(text: &str, name: &KernelName, catalog: &Catalog) -> Result<CatalogEntry, KernelError> {
    let (entry, wanted) = match name {
        KernelName::Series { series, .. } => {
            let entries = catalog.entries();
            let of_series = |e: &&CatalogEntry| e.is_of(series);
            let entry = entries.iter().filter(of_series).find(|e| catalog::usable(e));
            let or_incomplete = entry.or_else(|| {
                entries
                    .iter()
                    .filter(of_series)
                    .find(|e| e.signed && e.is_whole_kernel())
            });
            (or_incomplete.cloned(), series.to_string())
        }
        KernelName::Package(package) => (catalog.package(package), package.clone()),
        _ => (None, text.to_string()),
    };
    match entry {
        Some(entry) if entry.missing.is_empty() => Ok(entry),
        Some(entry) => {
            let image = entry.parts.iter().find(|p| p.package.starts_with("linux-binary-"));
            let hint = match image {
                Some(part) => format!("take another version, or {} for the image alone", part.package),
                None => "take another version (worstcase kernels list --all)".into(),
            };
            Err(KernelError::Incomplete {
                package: entry.package,
                missing: entry.missing.join(", "),
                hint,
            })
        }
        None => Err(KernelError::Unknown {
            name: text.into(),
            hint: instead(&wanted, catalog.names(), "worstcase kernels list shows what there is"),
        }),
    }
}

fn newest_cached(store: &KernelStore<'_>, name: &KernelName) -> Option<String> {
    let fitting = store.names().into_iter().filter(|(_, m)| fits(m, name));
    fitting
        .max_by(|(_, a), (_, b)| version::compare(&a.version, &b.version))
        .map(|(key, _)| key)
}

/// The bytes of the packages that resolving this name would fetch, as far as the lists in the cache know; none if it is there.
pub(crate) fn to_fetch(name: &KernelName, cache: &Cache) -> Option<Option<u64>> {
    let typed = match name {
        KernelName::Series { version, .. } => version.as_deref(),
        KernelName::Package(_) => None,
        _ => return None,
    };
    let store = KernelStore::new(cache);
    let is_meant = |version: &str| typed.is_none_or(|typed| version::begins_with(version, typed));
    if store.names().iter().any(|(_, m)| fits(m, name) && is_meant(&m.version)) {
        return None;
    }
    let known = stored_catalog(name.arch().unwrap_or_default(), cache).unwrap_or_default();
    let entry = match name {
        KernelName::Series { series, .. } => {
            let mut versions = known.versions(series).into_iter();
            versions.rfind(|entry| is_meant(&entry.version))
        }
        KernelName::Package(package) => known.package(package),
        _ => None,
    };
    Some(entry.map(|entry| entry.parts.iter().map(|part| part.size).sum()))
}

/// Whether a kernel in the cache belongs to this package, or to this series.
fn fits(manifest: &StoredName, name: &KernelName) -> bool {
    match name {
        KernelName::Series { series, .. } => {
            let signed = catalog::release_in_name(&manifest.package).is_some_and(|(_, signed)| signed);
            signed
                && manifest.package.starts_with("linux-image-")
                && version::series(&manifest.version).as_deref() == Some(&series.series)
                && Flavour::of_release(&manifest.release) == series.flavour
                && Arch::in_release(&manifest.release).is_some_and(|(_, arch, _)| arch == series.arch)
        }
        KernelName::Package(package) => manifest.package == *package,
        _ => false,
    }
}
