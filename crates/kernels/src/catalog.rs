//! The archive's kernels: from the package lists to kernels, each with its packages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::archive::AptArchive;
use super::packages::PackageVersion;
use super::version;
use super::{Arch, DebianSeries, Flavour};

/// The kernel packages of all suites, as they were when the lists were fetched.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Catalog {
    /// Seconds since 1970.
    pub(crate) fetched: u64,
    /// The suites that answered.
    pub suites: Vec<String>,
    /// Suites that were dropped, and why.
    pub notes: Vec<String>,
    /// All packages that a kernel may consist of.
    pub packages: Vec<PackageVersion>,
    /// Archives that the user named besides the system's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<AptArchive>,
}

/// One package to fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogPackage {
    /// Package name.
    pub package: String,
    /// Debian version.
    pub version: String,
    /// Bytes to download.
    pub size: u64,
}

/// One kernel in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CatalogEntry {
    /// The package that stands for the kernel.
    pub package: String,
    /// As `6.1.0-56-amd64`.
    pub label: String,
    /// As `6.1`.
    pub series: String,
    /// generic, cloud, rt or 16k.
    pub flavour: Flavour,
    /// Its architecture.
    pub arch: Arch,
    /// Debian version.
    pub version: String,
    /// The suites that have it.
    pub suites: Vec<String>,
    /// The packages to fetch.
    pub parts: Vec<CatalogPackage>,
    /// Needed packages that the archive no longer has: then the kernel cannot be fetched.
    pub missing: Vec<String>,
    /// Signed for secure boot. The name of a series means signed kernels, because people run those.
    pub signed: bool,
}

impl CatalogEntry {
    /// Whether the package stands for image, modules and configuration; a `linux-binary-*` is only a part.
    pub(crate) fn is_whole_kernel(&self) -> bool {
        self.package.starts_with("linux-image-")
    }

    /// Its series.
    pub fn of_series(&self) -> DebianSeries {
        DebianSeries {
            series: self.series.clone(),
            flavour: self.flavour,
            arch: self.arch,
        }
    }

    /// The short name, `debian:6.1-rt`.
    pub fn short_name(&self) -> String {
        self.of_series().to_string()
    }

    /// The name of this version of its series, `debian:6.1-rt@6.1.192-2`.
    pub fn version_name(&self) -> String {
        self.of_series().version(&self.version)
    }

    /// Whether it is one of a series.
    pub fn is_of(&self, series: &DebianSeries) -> bool {
        self.of_series() == *series
    }
}

/// A kernel package's release (`6.1.0-56-amd64`) and whether it is signed; `None` for other packages.
pub(crate) fn release_in_name(package: &str) -> Option<(&str, bool)> {
    let rest = package
        .strip_prefix("linux-image-")
        .or_else(|| package.strip_prefix("linux-binary-"))?;
    let (rest, prefixed) = rest.strip_prefix("unsigned-").map_or((rest, false), |r| (r, true));
    let (rest, suffixed) = rest.strip_suffix("-unsigned").map_or((rest, false), |r| (r, true));
    (Arch::in_release(rest).is_some() && rest.starts_with(|c: char| c.is_ascii_digit()))
        .then_some((rest, !prefixed && !suffixed))
}

impl Catalog {
    /// All kernels, newest series first, then newest version, then flavour.
    pub fn entries(&self) -> Vec<CatalogEntry> {
        let mut by_version: BTreeMap<(&str, &str), Vec<&PackageVersion>> = BTreeMap::new();
        for package in &self.packages {
            by_version
                .entry((&package.name, &package.version))
                .or_default()
                .push(package);
        }
        let mut entries: Vec<CatalogEntry> = by_version
            .values()
            .filter_map(|same| {
                let mut entry = self.entry(same[0], &by_version)?;
                entry.suites = same.iter().map(|p| p.suite.clone()).collect();
                entry.suites.dedup();
                Some(entry)
            })
            .collect();
        entries.sort_by(|a, b| {
            let newest = Reverse(version::series_numbers(&a.series)).cmp(&Reverse(version::series_numbers(&b.series)));
            newest
                .then_with(|| version::compare(&b.version, &a.version))
                .then_with(|| a.flavour.cmp(&b.flavour))
                .then_with(|| a.package.cmp(&b.package))
        });
        entries
    }

    /// The newest complete and signed kernel of a series.
    #[cfg(test)]
    fn newest(&self, series: &str, flavour: Flavour) -> Option<CatalogEntry> {
        self.entries()
            .into_iter()
            .find(|e| e.series == series && e.flavour == flavour && usable(e))
    }

    /// Every available version of a series, the oldest first.
    pub(crate) fn versions(&self, series: &DebianSeries) -> Vec<CatalogEntry> {
        let mut versions = self.entries();
        versions.retain(|e| e.is_of(series) && usable(e));
        versions.sort_by(|a, b| version::compare(&a.version, &b.version));
        versions
    }

    /// The newest available version of every series, the oldest series first.
    pub(crate) fn newest_of_each(&self, flavour: Flavour) -> Vec<CatalogEntry> {
        let mut newest = self.entries();
        newest.retain(|e| e.flavour == flavour && usable(e));
        newest.dedup_by(|later, kept| later.series == kept.series);
        newest.reverse();
        newest
    }

    /// The newest version of a package, if possible a complete one.
    pub fn package(&self, name: &str) -> Option<CatalogEntry> {
        let found: Vec<CatalogEntry> = self.entries_with_parts_of(name);
        found.iter().find(|e| e.missing.is_empty()).or(found.first()).cloned()
    }

    /// The names that a kernel can be asked for by.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for entry in self.entries() {
            if usable(&entry) {
                names.push(entry.short_name());
            }
            if entry.missing.is_empty() {
                names.push(entry.package);
            }
        }
        names.sort();
        names.dedup();
        names
    }

    fn entries_with_parts_of(&self, name: &str) -> Vec<CatalogEntry> {
        // linux-image-6.1-amd64 (a series' metapackage) stands for the linux-image-* that it depends on.
        let alias = self
            .packages
            .iter()
            .filter(|p| p.name == name)
            .max_by(|a, b| version::compare(&a.version, &b.version));
        let target = alias
            .and_then(|p| p.depends.iter().find(|d| d.starts_with("linux-image-")))
            .map_or(name, |d| d.as_str());
        self.entries().into_iter().filter(|e| e.package == target).collect()
    }

    fn entry(
        &self,
        package: &PackageVersion,
        all: &BTreeMap<(&str, &str), Vec<&PackageVersion>>,
    ) -> Option<CatalogEntry> {
        let (label, signed) = release_in_name(&package.name)?;
        if package.depends.iter().any(|d| d.starts_with("linux-image-")) {
            return None;
        }
        let is_part = |d: &&String| {
            ["linux-binary-", "linux-modules-", "linux-base-"]
                .iter()
                .any(|p| d.starts_with(p))
        };
        let needed: Vec<&str> = package.depends.iter().filter(is_part).map(|d| d.as_str()).collect();
        let modules = format!("linux-modules-{label}");
        let own = package.name.as_str();
        let is_binary = own.starts_with("linux-binary-");
        let names: Vec<&str> = if needed.iter().any(|n| n.starts_with("linux-binary-")) {
            needed
        } else if is_binary {
            // A linux-binary-* does not depend on its modules.
            [own].into_iter().chain(needed).chain([modules.as_str()]).collect()
        } else {
            // The package holds everything; the linux-base-* that 6.18 depends on is not needed to boot.
            vec![own]
        };
        let (mut parts, mut missing) = (Vec::new(), Vec::new());
        for name in names {
            match all.get(&(name, package.version.as_str())) {
                Some(found) => parts.push(CatalogPackage {
                    package: name.into(),
                    version: package.version.clone(),
                    size: found[0].size,
                }),
                // A user who names a linux-binary-* wants the image, with the other parts that still exist.
                None if is_binary => {}
                None => missing.push(name.to_string()),
            }
        }
        Some(CatalogEntry {
            package: package.name.clone(),
            label: label.into(),
            series: version::series(&package.version)?,
            flavour: Flavour::of_release(label),
            arch: Arch::in_release(label).map(|(_, arch, _)| arch)?,
            version: package.version.clone(),
            suites: Vec::new(),
            parts,
            missing,
            signed,
        })
    }
}

/// Whether a series may mean this entry: one entry for each kernel, so only `linux-image-*` of the two packages of a
/// split kernel.
pub fn usable(entry: &CatalogEntry) -> bool {
    entry.signed && entry.missing.is_empty() && entry.is_whole_kernel()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, suite: &str, depends: &[&str]) -> PackageVersion {
        let depends = depends.iter().map(|d| d.to_string()).collect();
        PackageVersion {
            name: name.into(),
            version: version.into(),
            size: 1,
            depends,
            suite: suite.into(),
        }
    }

    fn catalog() -> Catalog {
        let split = |release: &str, version: &str, suite: &str| {
            let [base, binary, modules] = ["base", "binary", "modules"].map(|p| format!("linux-{p}-{release}"));
            let image = package(
                &format!("linux-image-{release}"),
                version,
                suite,
                &["dracut", &base, &binary, &modules],
            );
            [
                image,
                package(&binary, version, suite, &[&base]),
                package(&base, version, suite, &[]),
                package(&modules, version, suite, &[]),
            ]
        };
        let mut packages = vec![
            package(
                "linux-image-6.1.0-50-amd64",
                "6.1.176-1",
                "bookworm",
                &["kmod", "linux-base"],
            ),
            package(
                "linux-image-6.1.0-56-amd64",
                "6.1.192-2",
                "bookworm-security",
                &["kmod", "linux-base"],
            ),
            package(
                "linux-image-6.1.0-56-amd64-unsigned",
                "6.1.192-2",
                "bookworm-security",
                &["linux-base"],
            ),
            package(
                "linux-image-6.1.0-0.deb11.52-amd64",
                "6.1.192-2~deb11u1",
                "bullseye-security",
                &["linux-base"],
            ),
            package(
                "linux-image-6.1-amd64",
                "6.1.192-2~deb11u1",
                "bullseye-security",
                &["linux-image-6.1.0-0.deb11.52-amd64"],
            ),
            package("linux-image-6.1.0-56-rt-amd64", "6.1.192-2", "bookworm-security", &[]),
            package(
                "linux-image-6.12.117+deb13-cloud-amd64",
                "6.12.117-1",
                "trixie-security",
                &[],
            ),
        ];
        packages.extend(split("7.3-amd64", "7.3~rc7-1~exp1", "experimental"));
        packages.extend(split("7.0.13+deb13-amd64", "7.0.13-1~bpo13+1", "trixie-backports"));
        packages.retain(|p| p.name != "linux-modules-7.0.13+deb13-amd64");
        Catalog {
            packages,
            ..Catalog::default()
        }
    }

    #[test]
    fn a_series_is_its_newest_signed_kernel() {
        let newest = |series: &str, flavour| catalog().newest(series, flavour).map(|e| e.label);
        assert_eq!(newest("6.1", Flavour::Generic).as_deref(), Some("6.1.0-56-amd64"));
        assert_eq!(newest("6.1", Flavour::Rt).as_deref(), Some("6.1.0-56-rt-amd64"));
        assert_eq!(newest("6.12", Flavour::Generic), None);
        assert_eq!(
            newest("6.12", Flavour::Cloud).as_deref(),
            Some("6.12.117+deb13-cloud-amd64")
        );
    }

    #[test]
    fn of_every_series_there_is_its_newest_kernel_the_oldest_series_first() {
        let catalog = catalog();
        for flavour in [Flavour::Generic, Flavour::Cloud, Flavour::Rt] {
            let all = catalog.newest_of_each(flavour);
            let series: Vec<_> = all.iter().map(|e| version::series_numbers(&e.series)).collect();
            assert!(series.is_sorted_by(|a, b| a < b), "{series:?}");
            for entry in &all {
                assert_eq!(Some(entry), catalog.newest(&entry.series, flavour).as_ref());
            }
        }
        let generic = catalog.newest_of_each(Flavour::Generic);
        let generic: Vec<&str> = generic.iter().map(|e| e.series.as_str()).collect();
        assert_eq!((generic.first(), generic.last()), (Some(&"6.1"), Some(&"7.3")));
    }

    #[test]
    fn a_split_kernel_is_all_of_its_packages() {
        let entry = catalog().newest("7.3", Flavour::Generic).unwrap();
        let parts: Vec<&str> = entry.parts.iter().map(|p| p.package.as_str()).collect();
        assert_eq!(
            parts,
            [
                "linux-base-7.3-amd64",
                "linux-binary-7.3-amd64",
                "linux-modules-7.3-amd64"
            ]
        );
        let binary = |name: &str| catalog().package(name).map(|e| (e.parts.len(), e.missing.len()));
        assert_eq!(binary("linux-binary-7.3-amd64"), Some((3, 0)));
        assert_eq!(
            binary("linux-binary-7.0.13+deb13-amd64"),
            Some((2, 0)),
            "the image without its modules"
        );
    }

    #[test]
    fn a_kernel_that_lost_a_package_is_listed_but_not_taken() {
        assert_eq!(catalog().newest("7.0", Flavour::Generic), None);
        let entry = catalog().package("linux-image-7.0.13+deb13-amd64").unwrap();
        assert_eq!(entry.missing, ["linux-modules-7.0.13+deb13-amd64"]);
    }

    #[test]
    fn exact_names_may_be_unsigned_or_metapackages() {
        let label = |name: &str| catalog().package(name).map(|e| (e.package, e.signed));
        let unsigned = "linux-image-6.1.0-56-amd64-unsigned";
        assert_eq!(label(unsigned), Some((unsigned.into(), false)));
        assert_eq!(
            label("linux-image-6.1-amd64").unwrap().0,
            "linux-image-6.1.0-0.deb11.52-amd64"
        );
        assert_eq!(label("linux-image-9.9-amd64"), None);
    }

    #[test]
    fn near_names_are_found() {
        let near = |name: &str| worstcase_base::near::nearest(name, catalog().names());
        assert_eq!(near("debian:6.1-r")[0], "debian:6.1-rt");
        assert!(near("linux-image-6.1.0-57-amd64").contains(&"linux-image-6.1.0-56-amd64".to_string()));
    }
}
