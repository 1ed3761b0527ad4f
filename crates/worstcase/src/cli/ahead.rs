//! What a command is going to take, told before it begins: time, downloads and disk.

use worstcase_base::cache::Cache;
use worstcase_base::distinct;
use worstcase_base::format::{counted, span};
use worstcase_kernels as kernels;
use worstcase_lab::ahead::LabAhead;
use worstcase_plan::{Experiment, Subjects};

/// What Debian's packages of a kernel grow by when they are unpacked.
const UNPACKED: u64 = 6;

/// Kernels that an experiment needs and the cache lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MissingKernels {
    count: u64,
    /// What is fetched, in bytes.
    bytes: u64,
}

impl MissingKernels {
    /// Those of an experiment.
    pub(crate) fn of(experiment: &Experiment, cache: &Cache) -> MissingKernels {
        let subjects = experiment.parts.iter().filter_map(|part| match &part.subjects {
            Subjects::Kernels(subjects) => Some(subjects),
            Subjects::Cpus(_) => None,
        });
        let names = distinct(subjects.flatten().map(|subject| subject.kernel.clone()));
        let missing = names.iter().filter_map(|name| kernels::to_fetch(name, cache));
        missing.fold(MissingKernels::default(), |all, bytes| MissingKernels {
            count: all.count + 1,
            bytes: all.bytes + bytes,
        })
    }

    /// In words; nothing if there are none.
    pub(crate) fn words(&self) -> Option<String> {
        let Self { count, bytes } = *self;
        let disk = megabytes(bytes * UNPACKED);
        (count > 0).then(|| {
            format!(
                "{} to fetch: about {}, {disk} on the disk",
                counted(count, "kernel"),
                megabytes(bytes)
            )
        })
    }
}

/// Nothing if all is there, else `18 cells to measure, 1 machine to boot: about 50 s, 97 MB on the disk`.
pub(crate) fn words(ahead: &LabAhead) -> Option<String> {
    let boots = match ahead.boots {
        0 => String::new(),
        n => format!(", {} to boot", counted(n as u64, "machine")),
    };
    let cells = counted(ahead.cells as u64, "cell");
    let (time, disk) = (span(ahead.seconds), megabytes(ahead.bytes));
    (ahead.cells + ahead.boots > 0).then(|| format!("{cells} to measure{boots}: about {time}, {disk} on the disk"))
}

fn megabytes(bytes: u64) -> String {
    match bytes.div_ceil(1_000_000) {
        mega @ ..1_000 => format!("{mega} MB"),
        mega => format!("{:.1} GB", mega as f64 / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ahead_is_a_line() {
        let ahead = LabAhead {
            cells: 18,
            boots: 1,
            seconds: 49.6,
            bytes: 96_800_000,
        };
        assert_eq!(
            words(&ahead).unwrap(),
            "18 cells to measure, 1 machine to boot: about 50 s, 97 MB on the disk"
        );
        assert_eq!(words(&LabAhead::default()), None);
        let missing = MissingKernels {
            count: 2,
            bytes: 200_000_000,
        };
        assert_eq!(
            missing.words().unwrap(),
            "2 kernels to fetch: about 200 MB, 1.2 GB on the disk"
        );
        assert_eq!(MissingKernels::default().words(), None);
    }
}
