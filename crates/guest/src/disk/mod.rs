//! A disk in virtual time: a block device (nbd) that a process of this machine answers for when the model says.
//!
//! ```text
//! file system - I/O scheduler - nbd - socket - server: the model (when) and the store (what)
//!                                                   log, in memory that both processes have
//! ```

mod log;
mod nbd;
mod queue;
mod server;

use crate::{GuestError, fwcfg, modules};
use log::Log;
use std::fs;
use std::path::Path;
use std::time::Duration;
use worstcase_cell::RawRecord;
use worstcase_cell::bench::Details;
use worstcase_cell::order::MachineOrder;
use worstcase_disk::{Kind, Profile};
use worstcase_instruments::sys::device;
use worstcase_instruments::sys::process;
use worstcase_logs::Nanos;

/// Where it is mounted.
pub(crate) const FOLDER: &str = "/disk";
/// The block device.
const NODE: &str = "/dev/nbd0";
const SYSFS: &str = "/sys/block/nbd0";
/// The file system's part of the disk: the partition of the article that the study io-schedulers repeats.
const PARTITION: u64 = 35 << 30;
/// What is loaded in any case; schedulers when they are chosen.
const NEEDED: [&str; 3] = ["nbd", "crc32c_generic", "ext4"];
/// How long the kernel may take to have the device ready.
const PATIENCE: Nanos = Nanos::from_millis(1_000);
/// Within 5 s of a mount ext4's own thread reads the maps of free blocks, all over the disk (EXT4_DEF_LI_MAX_START_DELAY), and
/// then a while: what is measured would wait for it. Idle time costs nothing.
const SETTLED: Duration = Duration::from_secs(8);

/// The machine's disk at work.
pub(crate) struct Disk {
    profile: Profile,
    log: Log,
}

impl Disk {
    /// Starts the disk, if the cell asks for one, and mounts an empty file system of it.
    pub(crate) fn start(machine: &MachineOrder, seed: u64) -> Result<Option<Disk>, GuestError> {
        if !machine.disk {
            return Ok(None);
        }
        let profile = profile()?;
        for name in NEEDED {
            modules::load(name)?;
        }
        let bytes = profile.capacity.min(PARTITION);
        let log = Log::new().map_err(failed("no memory for its log"))?;
        let (kernel, own) = nbd::sockets().map_err(failed("no sockets"))?;
        let client = nbd::Client::open(Path::new(NODE), bytes).map_err(failed(NODE))?;
        process::fork(libc::SIGKILL, || server::run(own, &profile, seed, bytes, &log)).map_err(failed("no server"))?;
        process::fork(libc::SIGKILL, || client.run(&kernel)).map_err(failed("no client"))?;
        drop(kernel);
        wait_until_ready()?;
        let depth = profile.queue_depth;
        let is_rotating = matches!(profile.kind, Kind::Rotating(_));
        queue::prepare(Path::new(SYSFS), depth, is_rotating, machine.io_scheduler.as_deref())?;
        fs::create_dir_all(FOLDER).map_err(failed(FOLDER))?;
        device::mount_device(NODE.as_ref(), "ext4", FOLDER.as_ref()).map_err(failed("it cannot be mounted"))?;
        std::thread::sleep(SETTLED);
        Ok(Some(Disk { profile, log }))
    }

    /// Tells in the record what it did while the probe measured.
    pub(crate) fn tell(&self, record: &mut RawRecord) -> Result<(), GuestError> {
        if let Some(error) = self.log.error() {
            return Err(GuestError::new(error));
        }
        let longest = record
            .samples
            .iter()
            .map(|sample| sample.latency)
            .max()
            .unwrap_or_default();
        if let Some(Details::Io(io)) = &mut record.details {
            let told = self
                .log
                .tell(&self.profile, io.begun, io.elapsed, (io.longest_from, longest));
            io.disk = Some(Box::new(told.disk));
            if let Some(device) = &mut io.device {
                device.device_queue = Some(self.profile.queue_depth.into());
                (device.looks, device.with_one) = (io.elapsed.0 / 1_000, told.with_one.0 / 1_000);
                (device.with_several, device.most) = (told.with_several.0 / 1_000, told.most);
            }
        }
        Ok(())
    }
}

fn profile() -> Result<Profile, GuestError> {
    let text = fwcfg::read_text("opt/worstcase/disk")?;
    Profile::decode(text.trim_end()).map_err(|e| GuestError::new(format!("the disk's profile: {e}")))
}

fn wait_until_ready() -> Result<(), GuestError> {
    let mut waited = Nanos(0);
    let is_ready = || {
        let size = fs::read_to_string(format!("{SYSFS}/size")).unwrap_or_default();
        Path::new(SYSFS).join("pid").exists() && size.trim() != "0"
    };
    while !is_ready() {
        if waited >= PATIENCE {
            return Err(GuestError::new("the disk: nbd does not become ready"));
        }
        std::thread::sleep(Duration::from_millis(1));
        waited = waited + Nanos::from_millis(1);
    }
    Ok(())
}

fn failed(what: &'static str) -> impl Fn(std::io::Error) -> GuestError {
    move |e| GuestError::new(format!("the disk: {what}: {e}"))
}
