//! The list that is bisected: versions of a series, or the kernels of a folder, from the good end to the bad one.

use crate::BisectError;
use std::ops::RangeInclusive;
use std::path::Path;
use worstcase_kernels::catalog::CatalogEntry;
use worstcase_kernels::folder::kernels_in;
use worstcase_kernels::name::KernelName;
use worstcase_kernels::version::{begins_with, rebuilt_for};
use worstcase_kernels::{Flavour, KernelError, ResolveOptions, versions};

struct ListedKernel {
    /// The name under which it is measured.
    name: String,
    /// Other names that a user may type for it.
    aliases: Vec<String>,
}

/// Names of the kernels from the good end to the bad one, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Between {
    /// The kernels' names.
    pub names: Vec<String>,
    /// What was left out, in words.
    pub note: Option<String>,
}

/// A list of more kernels than this is not printed name by name.
const MOST_NAMED: usize = 8;

/// The series that both ends belong to, if there is one.
pub fn series_of(good: &str, bad: &str) -> Option<(String, Flavour)> {
    let of = |name: &str| match KernelName::parse(name) {
        Ok(KernelName::Series { series, flavour, .. }) => Some((series, flavour)),
        _ => None,
    };
    of(good).filter(|series| Some(series) == of(bad).as_ref())
}

/// The versions of a series that the archive has between the ends.
pub fn of_series(
    (series, flavour): (&str, Flavour),
    good: &str,
    bad: &str,
    options: &ResolveOptions<'_>,
) -> Result<Between, BisectError> {
    let all = versions(series, flavour, options)?;
    let version = |text: &str| text.split_once('@').map_or(text, |(_, version)| version).to_string();
    let listed = |entry: &CatalogEntry| ListedKernel {
        name: entry.version_name(),
        aliases: vec![entry.version.clone()],
    };
    let list: Vec<ListedKernel> = all.iter().map(listed).collect();
    let end = |asked: &str| place(&list, &version(asked), asked);
    let (from, to) = (end(good)?, end(bad)?);
    // Another Debian release has another compiler, which would change at every other step of the list too.
    let builds = [from, to].map(|place| rebuilt_for(&all[place].version));
    let is_alike = |place: &usize| builds[0] != builds[1] || rebuilt_for(&all[*place].version) == builds[0];
    let between = ordered(&list, from, to)?;
    let kept: Vec<usize> = between.clone().filter(is_alike).collect();
    let left_out = between.count() - kept.len();
    Ok(Between {
        names: kept.iter().map(|place| list[*place].name.clone()).collect(),
        note: (left_out > 0).then(|| {
            format!("{left_out} versions are left out: they are built for another release of Debian than both ends, with another compiler")
        }),
    })
}

/// The kernels of a folder between the ends, in the order of their versions.
pub fn of_folder(folder: &Path, good: &str, bad: &str) -> Result<Between, BisectError> {
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
    let list: Vec<ListedKernel> = listed.collect();
    let end = |name: &str| {
        let absolute = std::path::absolute(name).ok().filter(|path| path.exists());
        let text = absolute.map_or(name.to_string(), |path| path.display().to_string());
        place(&list, &text, name)
    };
    let (from, to) = (end(good)?, end(bad)?);
    let names = ordered(&list, from, to)?
        .map(|place| list[place].name.clone())
        .collect();
    Ok(Between { names, note: None })
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
fn ordered(list: &[ListedKernel], from: usize, to: usize) -> Result<RangeInclusive<usize>, BisectError> {
    if from < to {
        return Ok(from..=to);
    }
    let [good, bad] = [from, to].map(|place| &list[place].name);
    Err(BisectError::Request(format!(
        "no kernel between: the bad end, {bad}, is not later than the good end, {good}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_bad_end_is_the_later_one() {
        assert_eq!(ordered(&list(), 0, 2).unwrap(), 0..=2);
        for from in [2, 3] {
            assert!(
                ordered(&list(), from, 2)
                    .unwrap_err()
                    .to_string()
                    .starts_with("no kernel between")
            );
        }
    }

    #[test]
    fn the_series_is_that_of_both_ends() {
        assert_eq!(
            series_of("debian:6.12@6.12.7", "debian:6.12@6.12.9"),
            Some(("6.12".into(), Flavour::Generic))
        );
        assert_eq!(series_of("debian:6.12@6.12.7", "debian:6.12-rt@6.12.9"), None);
        assert_eq!(series_of("debian:6.12@6.12.7", "./k"), None);
    }
}
