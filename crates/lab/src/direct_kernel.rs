//! The kernel as QEMU starts it: uncompressed and by its own address, where that is possible; else its image (an Image of arm64 is
//! uncompressed).
//!
//! The kernel is unpacked once, and kept in the cache. A snapshot has a link to it: its forks must be given the file that it
//! was booted from.

use super::LabError;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_kernels::{Arch, Kernel, vmlinux};

/// The area of the cache. Entries of kernels that need their image are empty.
const AREA: &str = worstcase_base::room::DIRECT_KERNELS;

/// The kernel's file, in the cache and in a snapshot.
const FILE: &str = "vmlinux";

/// Limit in bytes of the disk for all kernels together; each can be unpacked again in a second.
const MOST: u64 = 2 << 30;

/// What is done about damage.
const AGAIN: &str = "the kernel is unpacked again";

/// Gives the folder of a boot the uncompressed kernel, if there is one that can be started.
pub(super) fn put(cache: &Cache, kernel: &Kernel, folder: &Path) -> Result<(), LabError> {
    if kernel.arch != Arch::X86 {
        return Ok(());
    }
    let image = worstcase_base::files::read(&kernel.bzimage).map_err(LabError::io(&kernel.bzimage))?;
    let key = Digest::new("worstcase-vmlinux/1").bytes(&image).hex();
    let to = folder.join(FILE);
    loop {
        let entry = cache.keep(AREA, &key, AGAIN, |building| {
            cache.bound(AREA, MOST);
            let path = building.join(FILE);
            match vmlinux::direct(&image) {
                Some(bytes) => fs::write(&path, bytes).map_err(LabError::io(path)),
                None => Ok(()),
            }
        })?;
        let Some(_held) = cache.hold(AREA, &key)? else { continue };
        let from = entry.join(FILE);
        if !from.exists() {
            return Ok(());
        }
        let linked = fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop));
        return linked.map_err(LabError::io(to));
    }
}

/// What QEMU is given in this folder, of a boot or a snapshot.
pub(super) fn of(folder: &Path, kernel: &Kernel) -> PathBuf {
    Some(folder.join(FILE))
        .filter(|file| file.exists())
        .unwrap_or_else(|| kernel.bzimage.clone())
}
