//! `writeback`: a file on ext4 in a RAM disk, written to at random places; the kernel writes the dirty pages back.
//!
//! Few dirty pages are allowed in the machine, so that the kernel's flusher thread works all the time, and a writer that is
//! ahead of it has to wait.

use crate::ext4;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use worstcase_instruments::loads::{Draws, Ending, LoadCode, LoadError, Pace, RunningPart};
use worstcase_instruments::sys::device;
use worstcase_instruments::sys::memory;

/// The one RAM disk that the module is loaded with.
const DISK: &str = "/dev/ram0";
const DISK_BYTES: u64 = 64 << 20;
const FILE_BYTES: u64 = 32 << 20;
/// A place that is written to.
const PLACE: u64 = 16 << 10;
const WRITES: usize = 0;
/// Asked of the kernel.
const WRITTEN: usize = 1;

/// From how many dirty bytes on the kernel writes them back, and how many there may be.
const LIMITS: [(&str, u64); 2] = [
    ("/proc/sys/vm/dirty_background_bytes", 2 << 20),
    ("/proc/sys/vm/dirty_bytes", 16 << 20),
];

/// Dirty pages of a file system that the kernel writes back.
pub const WRITEBACK: LoadCode = LoadCode {
    name: "writeback",
    units: &["writes", "pages_written"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let mut disk = OpenOptions::new()
        .write(true)
        .open(DISK)
        .map_err(load.preparing(format!("opening {DISK}")))?;
    ext4::format(&mut disk, DISK_BYTES).map_err(load.preparing("making a file system"))?;
    drop(disk);
    let folder = load.folder()?;
    device::mount_device(DISK.as_ref(), "ext4", &folder).map_err(load.preparing("mounting ext4"))?;
    let mounted = folder.clone();
    load.on_stop("unmounting the RAM disk".into(), move || device::unmount(&mounted));
    for (path, bytes) in LIMITS {
        fs::write(path, bytes.to_string()).map_err(load.preparing(format!("writing {path}")))?;
    }
    let rate = load.request().rate();
    load.read_unit(WRITTEN, |_| memory::pages_written());
    load.await_workers(1);
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("writing a file: {e}");
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(folder.join("file"))
            .map_err(failed)?;
        let data = [0x5a; PLACE as usize];
        for at in (0..FILE_BYTES).step_by(PLACE as usize) {
            file.write_all_at(&data, at).map_err(failed)?;
        }
        board.set_up();
        let mut draws = Draws::new(board, seed);
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            let at = draws.below(FILE_BYTES / PLACE) * PLACE;
            file.write_all_at(&data, at).map_err(failed)?;
            board.add(WRITES, 1);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_instruments::loads::ModuleInfo;

    #[test]
    fn the_disk_has_the_size_that_its_module_gives_it() {
        let parameters = format!("rd_nr=1 rd_size={}", DISK_BYTES / 1024);
        assert_eq!(ModuleInfo::of("brd").parameters, parameters);
    }
}
