//! `--all-versions`: every version of a series, for what changed from one to the next.

use crate::cli::Error;
use crate::cli::kernels::series;
use worstcase_base::distinct;
use worstcase_kernels::catalog::short_name;
use worstcase_kernels::version::rebuilt_for;
use worstcase_kernels::{KernelError, ResolveOptions, versions};

/// The names of all versions that the archive has of these series, the oldest of each first.
///
/// Only those built for the Debian of the newest: another one has another compiler, and every other step would be its.
pub fn of_series(names: &[String], options: &ResolveOptions<'_>) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for name in names {
        let (series, flavour) = series(name)?;
        let short = short_name(&series, flavour);
        let found: Vec<String> = versions(&series, flavour, options)?
            .into_iter()
            .map(|e| e.version)
            .collect();
        let Some(newest) = found.last().cloned() else {
            let hint = "worstcase kernels list shows what there is".into();
            return Err(KernelError::Unknown { name: short, hint }.into());
        };
        let of = found.len();
        let kept = built_alike(found, &newest);
        let left_out = of - kept.len();
        if left_out > 0 {
            options.observer.note(&format!(
                "{short}: {left_out} of {of} versions left out: they are built for another release of Debian than {newest}, with another compiler; name them to have them"
            ));
        }
        all.extend(kept.into_iter().map(|version| format!("{short}@{version}")));
    }
    Ok(distinct(all.into_iter()))
}

/// Those that are built for the same release of Debian.
fn built_alike(mut versions: Vec<String>, as_this: &str) -> Vec<String> {
    versions.retain(|version| rebuilt_for(version) == rebuilt_for(as_this));
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_compiler_s_versions_are_one_line() {
        let all = ["6.12.43-1~bpo12+1", "6.12.90-1", "6.12.111-1~deb12u1", "6.12.118-1"].map(String::from);
        assert_eq!(built_alike(all.to_vec(), "6.12.118-1"), ["6.12.90-1", "6.12.118-1"]);
        let older = built_alike(all.to_vec(), "6.12.111-1~deb12u1");
        assert_eq!(older, ["6.12.43-1~bpo12+1", "6.12.111-1~deb12u1"]);
    }
}
