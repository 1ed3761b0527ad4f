//! The figures of README.md and of docs/ are of this version. `scripts/figures` writes them anew.
//!
//! The lab is exact, so they can be compared to the byte, as long as the archive has the kernels that they are of, and QEMU is
//! the same.

mod blocks;
mod documents;
mod readme;

use std::path::{Path, PathBuf};
use worstcase_results::record::{Run, SubjectMachine};

/// Set by `scripts/figures`: what differs is written.
fn is_written() -> bool {
    std::env::var_os("WORSTCASE_WRITE_FIGURES").is_some()
}

/// As the documents say.
const QEMU: &str = "version 7.2.";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Why this run cannot have the documents' figures, if another QEMU measured it, or a kernel that neither the README nor this block of a document
/// has.
fn of_another_machine(run: &Path, block: &str) -> Option<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let records = Run::open(run).unwrap().records().unwrap();
    records.into_iter().find_map(|record| {
        let release = record.subject.kernel.release;
        let SubjectMachine::Lab(machine) = record.subject.machine else {
            panic!("{release} was measured on a host");
        };
        let is_same = (readme.contains(&release) || block.contains(&release)) && machine.qemu.contains(QEMU);
        (!is_same).then(|| format!("the documents' figures are not of {release} and {}", machine.qemu))
    })
}
