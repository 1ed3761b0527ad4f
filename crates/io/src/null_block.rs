//! A null_blk device of a load's own: made through configfs, gone when the load stops.
//!
//! Reads give zeroes and writes are discarded (not memory-backed), each after a set time and with a timer
//! interrupt of its own: a device of known speed that wears nothing out and holds nobody's data.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_instruments::loads::{LoadError, RunningPart, unique_name};
use worstcase_instruments::sys::device;
use worstcase_instruments::sys::process::Pid;
use worstcase_logs::Nanos;

const CONFIGFS: &str = "/sys/kernel/config";
const NULLB: &str = "/sys/kernel/config/nullb";

/// The folder in configfs of the device of the load at `place` of those that process `pid` runs.
pub fn null_block_folder(pid: Pid, place: usize) -> PathBuf {
    Path::new(NULLB).join(unique_name(pid, place))
}

/// What a device is like.
pub(super) struct NullBlock {
    /// Size in MiB.
    pub(crate) size_mib: u64,
    /// Time from request to completion interrupt.
    pub completion: Nanos,
    /// Requests that the device takes at once.
    pub queue_depth: u32,
}

impl NullBlock {
    /// Makes the device, to be removed when `load` stops, and returns a node to open.
    pub(super) fn make(&self, load: &mut RunningPart) -> Result<PathBuf, LoadError> {
        if load.surroundings().owns_machine && !Path::new(NULLB).exists() {
            // Already mounted, or no configfs: the next check tells which.
            let _ = device::mount("configfs", Path::new(CONFIGFS));
        }
        if !Path::new(NULLB).exists() {
            return Err(load.not_available(format!(
                "there is no {NULLB}; as root: modprobe configfs; mount -t configfs none {CONFIGFS}; \
                 modprobe null_blk nr_devices=0"
            )));
        }
        let folder = Path::new(NULLB).join(load.unique_name());
        fs::create_dir(&folder).map_err(load.preparing(format!("making {}", folder.display())))?;
        let made = folder.clone();
        load.on_stop("removing the null_blk device".into(), move || remove(&made));
        self.configure(&folder)
            .map_err(load.preparing("setting up a null_blk device"))?;
        let disk = disk_of(&folder).map_err(load.preparing("finding the null_blk device"))?;
        let node = Path::new("/dev").join(&disk);
        if node.exists() {
            return Ok(node);
        }
        // No devtmpfs at /dev: a node of our own will do.
        let (major, minor) = device_number(&disk).map_err(load.preparing("reading the null_blk device's number"))?;
        let node = load.folder()?.join("device");
        device::make_block_node(&node, major, minor).map_err(load.preparing("making a device node"))?;
        Ok(node)
    }

    fn configure(&self, folder: &Path) -> io::Result<()> {
        let set = |name: &str, value: u64| write_file(&folder.join(name), &value.to_string());
        set("size", self.size_mib)?;
        set("blocksize", 512)?;
        set("queue_mode", 2)?; // multi-queue
        set("irqmode", 2)?; // completed by a timer interrupt
        set("completion_nsec", self.completion.0)?;
        set("hw_queue_depth", u64::from(self.queue_depth))?;
        set("submit_queues", 1)?;
        set("power", 1)
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    // A device that was never switched on refuses this; the folder's removal is what counts.
    let _ = write_file(&folder.join("power"), "0");
    fs::remove_dir(folder)
}

fn write_file(path: &Path, contents: &str) -> io::Result<()> {
    fs::write(path, contents).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

/// The disk's name: that of the folder from Linux 6.2 on, else `nullb` and an index.
fn disk_of(folder: &Path) -> io::Result<String> {
    let index = fs::read_to_string(folder.join("index"))?;
    let by_index = format!("nullb{}", index.trim());
    let by_folder = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    by_folder
        .into_iter()
        .chain([by_index])
        .find(|name| Path::new("/sys/block").join(name).exists())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it is not in /sys/block"))
}

fn device_number(disk: &str) -> io::Result<(u32, u32)> {
    let text = fs::read_to_string(format!("/sys/block/{disk}/dev"))?;
    parse_device_number(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, text))
}

fn parse_device_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::parse_device_number;

    #[test]
    fn device_numbers() {
        assert_eq!(parse_device_number("252:3\n"), Some((252, 3)));
        assert_eq!(parse_device_number("252"), None);
    }
}
