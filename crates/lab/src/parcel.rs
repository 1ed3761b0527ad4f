//! A subject on its way to another machine: its description, its image and its kernel. The other machine needs nothing but
//! QEMU and worstcase, and must compute the same key.

use super::LabError;
use super::additions::Additions;
use super::boot;
use super::cell::{self, CellRun};
use super::prepared::Prepared;
use super::qemu::Qemu;
use super::ready::ReadyReport;
use super::subject::LabSubject;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::machine;
use worstcase_contract::CellSpec;
use worstcase_kernels::Kernel;
use worstcase_kernels::preempt::PreemptModel;
use worstcase_plan::{Arch, VirtualMachine};

/// The description of a subject, without its image and its kernel's file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parcel {
    kernel: Kernel,
    preempt: PreemptModel,
    machine: VirtualMachine,
    disk: Option<String>,
    /// The words of the command of the program that is the probe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    followed: Vec<String>,
    /// The digest of the controller's QEMU.
    qemu: String,
    /// The key of the subject.
    pub key: String,
}

impl Parcel {
    /// The description of a subject of this machine.
    pub fn of(prepared: &Prepared) -> Parcel {
        let subject = &prepared.subject;
        Parcel {
            kernel: Kernel {
                bzimage: PathBuf::new(),
                modules_dir: None,
                system_map: None,
                config: None,
                ..subject.kernel.clone()
            },
            preempt: subject.preempt.clone(),
            machine: subject.machine.clone(),
            disk: subject.disk.clone(),
            followed: subject.additions.followed.clone(),
            qemu: prepared.qemu.version.clone(),
            key: prepared.key.clone(),
        }
    }

    /// Its architecture.
    pub fn arch(&self) -> Arch {
        self.machine.arch()
    }

    /// The subject on this machine, with the kernel in the file `bzimage`; an error if it would differ here.
    pub fn open(&self, bzimage: PathBuf, initrd: Vec<u8>, qemu: &Qemu) -> Result<Prepared, LabError> {
        let subject = LabSubject {
            kernel: Kernel {
                bzimage,
                ..self.kernel.clone()
            },
            preempt: self.preempt.clone(),
            mips: self.machine.mips.to_string().parse()?,
            machine: self.machine.clone(),
            disk: self.disk.clone(),
            scheduler: None,
            additions: Additions {
                followed: self.followed.clone(),
                ..Additions::default()
            },
        };
        let prepared = Prepared::with_image(subject, initrd, qemu);
        if prepared.key == self.key {
            return Ok(prepared);
        }
        let reason = match prepared.qemu.version == self.qemu {
            false => format!(
                "its QEMU is {}, the controller has {}; install the same on both, or name it with --qemu",
                prepared.qemu.version, self.qemu
            ),
            true => {
                "QEMU's files, or worstcase itself, are not those of the controller; install the same on both".into()
            }
        };
        Err(LabError::OtherMachine {
            what: prepared.subject.label(),
            machine: machine::name(),
            reason,
        })
    }
}

/// Measures a cell into the cache, if it is missing there, and gives its key; boots its subject if it has no snapshot
/// yet.
pub fn measure(
    cache: &Cache,
    prepared: &Prepared,
    spec: &CellSpec,
    limit: Option<Duration>,
) -> Result<String, LabError> {
    let key = cell::key(prepared, spec)?;
    if ReadyReport::kept(cache, &prepared.key).is_some() && cell::kept(cache, prepared, spec)?.is_some() {
        return Ok(key);
    }
    let snapshot = boot::obtain(cache, prepared, limit)?;
    cell::obtain(
        cache,
        &CellRun {
            prepared,
            snapshot: &snapshot,
            spec,
            limit,
        },
    )?;
    Ok(key)
}

/// The file of a subject's kernel on this machine.
pub fn bzimage(prepared: &Prepared) -> &Path {
    &prepared.subject.kernel.bzimage
}
