//! `--all-versions`: every version of a series, to show changes from one to the next.

use crate::cli::error::Error;
use crate::cli::kernels::series;
use worstcase_base::distinct;
use worstcase_kernels::catalog::CatalogEntry;
use worstcase_kernels::version::rebuilt_for;
use worstcase_kernels::{KernelError, ResolveOptions, resolve, versions};

/// The names of all versions that the archive has of these series, the oldest of each first.
///
/// Only versions built for the same Debian as the newest one: another Debian has another compiler, which would change
/// the results of every other step. Each is fetched if it is not here; a version that the archive lists but no longer
/// has is left out.
pub(crate) fn of_series(names: &[String], options: &ResolveOptions<'_>) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for name in names {
        let series = series(name)?;
        let short = series.to_string();
        let found = versions(&series, options)?;
        let Some(newest) = found.last() else {
            let hint = "worstcase kernels list shows what there is".into();
            return Err(KernelError::Unknown { name: short, hint }.into());
        };
        let is_alike = |entry: &&CatalogEntry| are_built_alike(&entry.version, &newest.version);
        let kept: Vec<String> = found.iter().filter(is_alike).map(CatalogEntry::version_name).collect();
        let left_out = found.len() - kept.len();
        if left_out > 0 {
            options.progress.note(&format!(
                "{short}: {left_out} of {} versions left out: they are built for another release of Debian than {}, with another compiler; name them to have them",
                found.len(),
                newest.version
            ));
        }
        all.extend(those_to_be_had(kept, options)?);
    }
    Ok(distinct(all.into_iter()))
}

/// The names without versions that the archive cannot give; the archive's error if it can give none.
fn those_to_be_had(names: Vec<String>, options: &ResolveOptions<'_>) -> Result<Vec<String>, Error> {
    let mut had = Vec::new();
    let mut refused = None;
    for name in names {
        match resolve(&name, options) {
            Ok(_) => had.push(name),
            Err(error) if error.is_listed_in_vain() => {
                options.progress.note(&format!("{name} left out: {error}"));
                refused = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match refused {
        Some(error) if had.is_empty() => Err(error.into()),
        _ => Ok(had),
    }
}

/// Whether they are built for the same release of Debian.
fn are_built_alike(version: &str, other: &str) -> bool {
    rebuilt_for(version) == rebuilt_for(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_compiler_s_versions_are_one_line() {
        let all = ["6.12.43-1~bpo12+1", "6.12.90-1", "6.12.111-1~deb12u1", "6.12.118-1"];
        let alike = |as_this| {
            all.into_iter()
                .filter(|v| are_built_alike(v, as_this))
                .collect::<Vec<_>>()
        };
        assert_eq!(alike("6.12.118-1"), ["6.12.90-1", "6.12.118-1"]);
        assert_eq!(alike("6.12.111-1~deb12u1"), ["6.12.43-1~bpo12+1", "6.12.111-1~deb12u1"]);
    }
}
