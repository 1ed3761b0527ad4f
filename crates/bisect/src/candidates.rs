//! The list that is bisected, from the older end to the newer one: versions of a series, one kernel of each series, or the
//! kernels of a folder.

use crate::BisectError;
use std::ops::RangeInclusive;
use std::path::Path;
use worstcase_kernels::catalog::CatalogEntry;
use worstcase_kernels::folder::kernels_in;
use worstcase_kernels::name::KernelName;
use worstcase_kernels::version::{begins_with, compare, rebuilt_for, series_numbers};
use worstcase_kernels::{DebianSeries, KernelError, ResolveOptions, newest_of_each, versions};

struct ListedKernel {
    /// The name under which it is measured.
    name: String,
    /// Other names that a user may type for it.
    aliases: Vec<String>,
}

/// Names of the kernels from the older end to the newer one, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// The kernels' names.
    pub names: Vec<String>,
    /// What was left out, in words.
    pub note: Option<String>,
}

/// A list of more kernels than this is not printed name by name.
const MOST_NAMED: usize = 8;

/// An end that is a series of Debian's, or a version of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesEnd {
    /// The series.
    pub series: DebianSeries,
    /// The beginning of its version.
    version: Option<String>,
    /// What the user typed.
    asked: String,
}

impl SeriesEnd {
    /// Reads `debian:6.12-cloud` and `debian:6.12-cloud@6.12.74`.
    pub fn parse(text: &str) -> Option<SeriesEnd> {
        match KernelName::parse(text) {
            Ok(KernelName::Series { series, version }) => Some(SeriesEnd {
                series,
                version,
                asked: text.to_string(),
            }),
            _ => None,
        }
    }

    /// Whether it is newer than another one.
    pub fn is_newer(&self, other: &SeriesEnd) -> bool {
        let by_series = series_numbers(&self.series.series).cmp(&series_numbers(&other.series.series));
        let by_version = match (&self.version, &other.version) {
            (Some(own), Some(others)) => compare(own, others),
            // Without a version it is the newest.
            (own, others) => own.is_none().cmp(&others.is_none()),
        };
        by_series.then(by_version).is_gt()
    }
}

/// The versions of a series that the archive has between the ends.
pub fn of_series(one: &SeriesEnd, other: &SeriesEnd, options: &ResolveOptions<'_>) -> Result<Between, BisectError> {
    let all = versions(&one.series, options)?;
    let list: Vec<ListedKernel> = all.iter().map(listed).collect();
    let between = ordered(&list, place_of(one, &list)?, place_of(other, &list)?)?;
    // Another Debian release has another compiler, which would change at every other step of the list too.
    let builds = [*between.start(), *between.end()].map(|place| rebuilt_for(&all[place].version));
    let is_alike = |place: &usize| builds[0] != builds[1] || rebuilt_for(&all[*place].version) == builds[0];
    let kept: Vec<usize> = between.clone().filter(is_alike).collect();
    let left_out = between.count() - kept.len();
    Ok(Between {
        names: kept.iter().map(|place| list[*place].name.clone()).collect(),
        note: (left_out > 0).then(|| {
            format!("{left_out} versions are left out: they are built for another release of Debian than both ends, with another compiler")
        }),
    })
}

/// The newest kernel of each series that the archive has between the ends; an end may be another version.
pub fn of_every_series(
    one: &SeriesEnd,
    other: &SeriesEnd,
    options: &ResolveOptions<'_>,
) -> Result<Between, BisectError> {
    let mut newest = newest_of_each(one.series.flavour, one.series.arch, options)?;
    for end in [one, other].into_iter().filter(|end| end.version.is_some()) {
        let all = versions(&end.series, options)?;
        let place = place_of(end, &all.iter().map(listed).collect::<Vec<_>>())?;
        for entry in newest.iter_mut().filter(|entry| entry.is_of(&end.series)) {
            *entry = all[place].clone();
        }
    }
    let of_series = |entry: &CatalogEntry| ListedKernel {
        name: entry.version_name(),
        aliases: vec![entry.short_name()],
    };
    let list: Vec<ListedKernel> = newest.iter().map(of_series).collect();
    let end = |end: &SeriesEnd| place(&list, &end.series.to_string(), &end.asked);
    let names = ordered(&list, end(one)?, end(other)?)?.map(|place| list[place].name.clone());
    Ok(Between {
        names: names.collect(),
        note: None,
    })
}

/// The versions of a found kernel's series from the oldest to it, of those that are built for the same release of Debian.
pub fn earlier_of_series(found: &str, options: &ResolveOptions<'_>) -> Result<Vec<String>, BisectError> {
    let Some(end) = SeriesEnd::parse(found) else {
        return Ok(Vec::new());
    };
    let build = end.version.as_deref().and_then(rebuilt_for);
    let mut all = versions(&end.series, options)?;
    all.retain(|entry| rebuilt_for(&entry.version) == build);
    let names = all.iter().map(CatalogEntry::version_name);
    let last = all
        .iter()
        .position(|entry| Some(&entry.version) == end.version.as_ref());
    Ok(names.take(last.map_or(0, |last| last + 1)).collect())
}

fn listed(entry: &CatalogEntry) -> ListedKernel {
    ListedKernel {
        name: entry.version_name(),
        aliases: vec![entry.version.clone()],
    }
}

/// The place of an end among the versions of its series; without a version it is the newest.
fn place_of(end: &SeriesEnd, list: &[ListedKernel]) -> Result<usize, BisectError> {
    match (&end.version, list.len().checked_sub(1)) {
        (None, Some(newest)) => Ok(newest),
        (version, _) => place(list, version.as_deref().unwrap_or(&end.asked), &end.asked),
    }
}

/// The kernels of a folder, in the order of their versions.
pub struct KernelFolder(Vec<ListedKernel>);

impl KernelFolder {
    /// Looks into a folder.
    pub fn open(folder: &Path) -> Result<KernelFolder, BisectError> {
        let folder = std::path::absolute(folder).map_err(BisectError::io(folder))?;
        let listed = kernels_in(&folder)?.into_iter().map(|found| ListedKernel {
            aliases: vec![
                found
                    .path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                found.version,
            ],
            name: found.path.display().to_string(),
        });
        Ok(KernelFolder(listed.collect()))
    }

    /// The kernels between two ends.
    pub fn between(&self, one: &str, other: &str) -> Result<Between, BisectError> {
        let between = ordered(&self.0, self.place(one)?, self.place(other)?)?;
        Ok(Between {
            names: between.map(|place| self.0[place].name.clone()).collect(),
            note: None,
        })
    }

    /// Whether one kernel is newer than the other.
    pub fn is_newer(&self, one: &str, other: &str) -> Result<bool, BisectError> {
        Ok(self.place(one)? > self.place(other)?)
    }

    fn place(&self, name: &str) -> Result<usize, BisectError> {
        let absolute = std::path::absolute(name).ok().filter(|path| path.exists());
        let text = absolute.map_or(name.to_string(), |path| path.display().to_string());
        place(&self.0, &text, name)
    }
}

/// The place of the one kernel that `text` means; `asked` is what the user typed.
fn place(list: &[ListedKernel], text: &str, asked: &str) -> Result<usize, BisectError> {
    let whole = |listed: &ListedKernel| listed.name == text || listed.aliases.iter().any(|alias| alias == text);
    let begins = |listed: &ListedKernel| listed.aliases.iter().any(|alias| begins_with(alias, text));
    let fits = |is: &dyn Fn(&ListedKernel) -> bool| (0..list.len()).filter(|p| is(&list[*p])).collect::<Vec<usize>>();
    let found = Some(fits(&whole))
        .filter(|found| !found.is_empty())
        .unwrap_or_else(|| fits(&begins));
    let names = |places: &[usize]| match places {
        [] => "none".to_string(),
        [first, .., last] if places.len() > MOST_NAMED => {
            let [first, last] = [first, last].map(|place| &list[*place].name);
            format!("{}, from {first} to {last}", places.len())
        }
        _ => places
            .iter()
            .map(|place| list[*place].name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    };
    match found[..] {
        [place] => Ok(place),
        [] => {
            let all: Vec<usize> = (0..list.len()).collect();
            let hint = format!("there are {}", names(&all));
            let name = asked.to_string();
            Err(KernelError::Unknown { name, hint }.into())
        }
        _ => Err(KernelError::SeveralVersions {
            name: asked.to_string(),
            versions: names(&found),
        }
        .into()),
    }
}

/// Both ends and what is between them.
fn ordered(list: &[ListedKernel], one: usize, other: usize) -> Result<RangeInclusive<usize>, BisectError> {
    match one == other {
        true => Err(BisectError::Request(format!(
            "no kernel between: both ends are {}",
            list[one].name
        ))),
        false => Ok(one.min(other)..=one.max(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_kernels::Flavour;

    fn list() -> Vec<ListedKernel> {
        let listed = |version: &str| ListedKernel {
            name: format!("debian:6.12@{version}"),
            aliases: vec![version.into()],
        };
        ["6.12.7-1", "6.12.73-1", "6.12.73-2", "6.12.74-1"].map(listed).into()
    }

    #[test]
    fn an_end_is_one_kernel() {
        let end = |text: &str| place(&list(), text, &format!("debian:6.12@{text}"));
        assert_eq!(end("6.12.7").unwrap(), 0);
        assert_eq!(end("6.12.73-2").unwrap(), 2);
        let said = |text: &str| end(text).unwrap_err().to_string();
        assert!(said("6").starts_with("not one kernel, debian:6.12@6: it fits debian:6.12@6.12.7-1, "));
        assert!(said("6.12.73").contains("it fits debian:6.12@6.12.73-1, debian:6.12@6.12.73-2"));
        assert!(said("6.12.8").starts_with("unknown kernel, debian:6.12@6.12.8; there are debian:6.12@6.12.7-1, "));
    }

    #[test]
    fn a_long_list_is_told_by_its_ends() {
        let listed = |n: usize| ListedKernel {
            name: format!("debian:6.1@6.1.{n}"),
            aliases: Vec::new(),
        };
        let said = place(&(0..30).map(listed).collect::<Vec<_>>(), "7", "debian:6.1@7");
        let line = "unknown kernel, debian:6.1@7; there are 30, from debian:6.1@6.1.0 to debian:6.1@6.1.29";
        assert_eq!(said.unwrap_err().to_string(), line);
    }

    #[test]
    fn either_end_may_be_the_older_one() {
        assert_eq!(ordered(&list(), 0, 2).unwrap(), 0..=2);
        assert_eq!(ordered(&list(), 3, 2).unwrap(), 2..=3);
        let said = ordered(&list(), 2, 2).unwrap_err().to_string();
        assert_eq!(said, "no kernel between: both ends are debian:6.12@6.12.73-2");
        let folder = KernelFolder(list());
        assert!(folder.is_newer("6.12.74", "6.12.7").unwrap() && !folder.is_newer("6.12.7", "6.12.74").unwrap());
        let names = folder.between("6.12.74", "6.12.73-1").unwrap().names;
        assert_eq!(
            names,
            ["6.12.73-1", "6.12.73-2", "6.12.74-1"].map(|v| format!("debian:6.12@{v}"))
        );
    }

    #[test]
    fn an_end_is_newer_by_its_series_and_then_by_its_version() {
        let end = |text: &str| SeriesEnd::parse(text).unwrap();
        let is_newer = |one: &str, other: &str| end(one).is_newer(&end(other));
        assert!(is_newer("debian:6.12", "debian:6.2@6.2.9") && !is_newer("debian:6.2@6.2.9", "debian:6.12"));
        assert!(is_newer("debian:6.12@6.12.90-1~bpo12", "debian:6.12@6.12.43"));
        assert!(!is_newer("debian:6.12@6.12.43", "debian:6.12@6.12.90-1~bpo12"));
        assert!(is_newer("debian:6.12", "debian:6.12@6.12.43") && !is_newer("debian:6.12@6.12.43", "debian:6.12"));
        assert_eq!(place_of(&end("debian:6.12"), &list()).unwrap(), 3);
        assert_eq!(place_of(&end("debian:6.12@6.12.7"), &list()).unwrap(), 0);
        assert_eq!(end("debian:6.12-rt@6.12.7").series.flavour, Flavour::Rt);
        assert_eq!(SeriesEnd::parse("./k"), None);
    }
}
