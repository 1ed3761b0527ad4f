//! The names of rows and tables: subjects, clocks, CPUs, and the observation time of a table.

use std::collections::BTreeSet;
use worstcase_base::format::{grouped, plain, range};
use worstcase_base::{distinct, duration};
use worstcase_plan::{Arch, NOT_ONE_UNIT};
use worstcase_results::record::{Record, Subject, safe};
use worstcase_results::stats::Ensemble;

/// Kernel and preemption model, and the machine if it is not the default one.
pub(super) fn row_label(subject: &Subject) -> String {
    let id = subject.id();
    let label = &subject.kernel.label;
    plain(&match id.as_str().strip_prefix(&format!("{}.", safe(label))) {
        Some(rest) => format!("{label} {}", rest.replace('.', " ")),
        None => id.to_string(),
    })
}

/// Which file each kernel of the user's own is; none if all are of an archive, or named.
pub(super) fn own_images(records: &[Record]) -> Option<String> {
    let own = records.iter().map(|r| &r.subject.kernel).filter(|kernel| {
        let (name, _) = Arch::behind(&kernel.name);
        let is_file = name.contains(['/', ',']);
        is_file && kernel.name != kernel.label
    });
    let own = distinct(own.map(|kernel| plain(&format!("{} is {}", kernel.label, kernel.name))));
    (!own.is_empty()).then(|| format!("Kernel of your own: {}", own.join("; ")))
}

/// Architectures side by side, and series whose kernels are not of one version, though no version was named: flavours come from an
/// archive at different times, and are built with different compilers.
pub(super) fn mixed_versions(records: &[Record]) -> Vec<String> {
    let archs = distinct(records.iter().filter_map(|r| Some(r.subject.virtual_machine()?.arch())));
    let kernels = distinct(records.iter().map(|r| {
        let kernel = &r.subject.kernel;
        (kernel.name.as_str(), package_version(&kernel.version))
    }));
    let unnamed = || {
        kernels
            .iter()
            .filter(|(name, _)| !Arch::behind(name).0.contains(['@', '/', ',']))
    };
    // Of another architecture it is another compiler's anyway.
    let series = |name: &str| {
        let (own, arch) = Arch::behind(name);
        let series = own.split('-').next().unwrap_or(own).to_string();
        (series, arch)
    };
    let mixed = distinct(unnamed().map(|(name, _)| series(name)))
        .into_iter()
        .filter_map(|of| {
            let of_it: Vec<(&str, &str)> = unnamed()
                .filter(|(name, _)| series(name) == of)
                .filter_map(|(name, version)| Some((*name, (*version)?)))
                .collect();
            let versions = distinct(of_it.iter().map(|(_, version)| *version));
            let each = distinct(of_it.iter().map(|(name, version)| format!("{name} is {version}")));
            (versions.len() > 1).then(|| {
                plain(&format!(
                    "{}: a difference between them may be their version's or compiler's, and not their flavour's",
                    each.join(", ")
                ))
            })
        });
    let archs = (archs.len() > 1).then(|| NOT_ONE_UNIT.to_string());
    archs.into_iter().chain(mixed).collect()
}

/// `6.1.192-2` of `#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)`.
fn package_version(version: &str) -> Option<&str> {
    let mut words = version.split_whitespace();
    words.find(|word| *word == "Debian")?;
    words.next()
}

/// The clocks of these subjects.
pub(super) fn units<'a>(subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
    let units: BTreeSet<String> = subjects.map(Subject::time_unit).collect();
    units.into_iter().collect()
}

/// The observation time behind the numbers of a table.
pub(super) fn observation_time(all: &[Ensemble]) -> String {
    fn span<T: Ord + Copy>(all: &[Ensemble], of: fn(&Ensemble) -> T, show: fn(T) -> String) -> String {
        let values: BTreeSet<T> = all.iter().map(of).collect();
        let ends = values.first().zip(values.last());
        ends.map_or(String::new(), |(low, high)| range(*low, *high, show))
    }
    format!(
        "each figure rests on: seeds {}; samples {}; observation time {}",
        span(all, |e| e.seeds.len(), |n| n.to_string()),
        span(all, Ensemble::taken, grouped),
        span(all, Ensemble::observation_time, duration::show)
    )
}

/// The name of a row: the CPU or a followed program's thread, and the seed where there are several.
pub(super) fn row_name(record: &Record, seeds: bool) -> String {
    let name = match (&record.followed, record.cell.cpu) {
        (Some(followed), _) => plain(&followed.thread),
        (None, Some(cpu)) => format!("CPU {cpu}"),
        (None, None) => "-".to_string(),
    };
    match seeds {
        true => format!("{name}, seed {}", record.cell.seed),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::testing::{cell, subject};

    #[test]
    fn a_kernel_of_the_users_own_is_named_by_its_file() {
        let record = |name: &str| {
            let mut subject = subject("6.1.0-56-amd64", "full");
            subject.kernel.name = name.into();
            cell(subject, "idle", 1, 1, &[(0, 5_000)]).record
        };
        let own = own_images(&[record("debian:6.1"), record("./bzImage,config=.config")]);
        assert_eq!(
            own.unwrap(),
            "Kernel of your own: 6.1.0-56-amd64 is ./bzImage,config=.config"
        );
        assert_eq!(own_images(&[record("debian:6.1")]), None);
    }

    #[test]
    fn flavours_of_two_versions_are_told() {
        let record = |name: &str, version: &str| {
            let mut subject = subject("6.12", "full");
            (subject.kernel.name, subject.kernel.version) =
                (name.into(), format!("#1 SMP Debian {version} (2026-11-16)"));
            cell(subject, "idle", 1, 1, &[(0, 5_000)]).record
        };
        let generic = record("debian:6.12", "6.12.95-1~bpo12+1");
        let (rt, other) = (
            record("debian:6.12-rt", "6.12.118-1"),
            record("debian:6.1", "6.1.192-2"),
        );
        assert_eq!(
            mixed_versions(&[generic.clone(), rt, other]),
            [
                "debian:6.12 is 6.12.95-1~bpo12+1, debian:6.12-rt is 6.12.118-1: a difference between them may be their version's or \
              compiler's, and not their flavour's"
            ]
        );
        assert!(mixed_versions(&[generic.clone(), record("debian:6.12-rt", "6.12.95-1~bpo12+1")]).is_empty());
        // A version that was asked for is what is compared.
        assert!(mixed_versions(&[generic, record("debian:6.12@6.12.118-1", "6.12.118-1")]).is_empty());
    }
}
