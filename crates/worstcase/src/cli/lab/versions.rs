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
        let Some(newest) = found.last() else {
            let hint = "worstcase kernels list shows what there is".into();
            return Err(KernelError::Unknown { name: short, hint }.into());
        };
        let kept: Vec<&String> = found.iter().filter(|v| rebuilt_for(v) == rebuilt_for(newest)).collect();
        let (left_out, of) = (found.len() - kept.len(), found.len());
        if left_out > 0 {
            options.observer.note(&format!(
                "{short}: {left_out} of {of} versions left out: they are built for another release of Debian than {newest}, with another compiler; name them to have them"
            ));
        }
        all.extend(kept.into_iter().map(|version| format!("{short}@{version}")));
    }
    Ok(distinct(all.into_iter()))
}
