//! The initramfs of a subject: the guest as `/init`, the modules that loads may need, and the user's additions.
//!
//! All loads of a subject share one image; files that a cell does not use have no effect. Only the drivers of a disk are
//! limited to images of machines that have the disk.

use super::LabError;
use super::cpio::CpioArchive;
use super::followed;
use super::own_module;
use super::subject::LabSubject;
use crate::payload;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use worstcase_cell::followed::POINTS;
use worstcase_contract::Device;
use worstcase_contract::Probe;
use worstcase_contract::loads;
use worstcase_kernels::modules::{self, KernelModules};
use worstcase_kernels::{Kernel, KernelError};
use worstcase_plan::VirtualMachine;

/// Builds the archive. The same subject gives the same bytes.
pub fn build(subject: &LabSubject) -> Result<Vec<u8>, LabError> {
    let (kernel, additions) = (&subject.kernel, &subject.additions);
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let guest = payload::guest(subject.machine.arch())?;
    files.insert("init".into(), guest.to_vec());
    add_modules(kernel, &subject.machine, &mut files)?;
    own_module::add(kernel, &additions.modules, &mut files)?;
    files.extend(additions.files()?);
    if !additions.followed.is_empty() {
        files.insert(POINTS.trim_start_matches('/').into(), followed::points().into_bytes());
    }
    if let Some(scheduler) = &subject.scheduler {
        scheduler.add(subject.machine.arch(), &mut files)?;
    }
    let mut archive = CpioArchive::default();
    let fixed = ["dev", "modules", "proc", "sys", "tmp"].map(String::from);
    let folders: BTreeSet<String> = files.keys().flat_map(|path| parents(path)).chain(fixed).collect();
    for folder in &folders {
        archive.directory(folder);
    }
    for (path, data) in &files {
        archive.file(path, data);
    }
    Ok(archive.finish())
}

fn parents(path: &str) -> Vec<String> {
    path.match_indices('/').map(|(at, _)| path[..at].to_string()).collect()
}

/// Puts each module that a load, a probe or the disk may need into the image, with the index that the guest reads.
fn add_modules(
    kernel: &Kernel,
    machine: &VirtualMachine,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), LabError> {
    let absent = Device::DISKS.into_iter().filter(|disk| !machine.devices.contains(disk));
    let drivers: BTreeSet<&str> = absent.flat_map(loads::drivers).collect();
    let of_loads: BTreeSet<&str> = loads::modules()
        .into_iter()
        .filter(|name| !drivers.contains(name))
        .collect();
    let of_disk: &[&str] = if machine.disk.is_some() {
        &worstcase_disk::MODULES
    } else {
        &[]
    };
    let others = of_disk.iter().copied().filter(|name| !of_loads.contains(name));
    let of_kernel = KernelModules::of(kernel)?;
    let mut index = String::new();
    for name in of_loads.iter().copied().chain(Probe::all_modules()).chain(others) {
        let paths: Vec<PathBuf> = match of_kernel.load_order(&[name]) {
            Ok(paths) => paths,
            // The guest reports it, if a load asks for the module.
            Err(KernelError::NoModule { .. }) => continue,
            Err(other) => return Err(other.into()),
        };
        index.push_str(name);
        index.push(':');
        for path in paths {
            let file = module_file_name(&path);
            index.push(' ');
            index.push_str(&file);
            files.insert(format!("modules/{file}"), modules::read(&path)?);
        }
        index.push('\n');
    }
    files.insert("modules/index".into(), index.into_bytes());
    Ok(())
}

/// `null_blk.ko.xz` is unpacked to `null_blk.ko`.
fn module_file_name(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = name.find(".ko").unwrap_or(name.len());
    format!("{}.ko", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_in_order() {
        assert_eq!(parents("usr/lib/x.so"), ["usr", "usr/lib"]);
        assert!(parents("init").is_empty());
    }

    #[test]
    fn module_names_lose_their_compression() {
        assert_eq!(module_file_name("/a/b/null_blk.ko.xz".as_ref()), "null_blk.ko");
        assert_eq!(module_file_name("/a/b/brd.ko".as_ref()), "brd.ko");
    }
}
