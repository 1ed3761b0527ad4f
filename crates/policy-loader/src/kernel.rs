//! What the running kernel has.

use crate::LoaderError;
use std::path::Path;

const BTF: &str = "/sys/kernel/btf/vmlinux";
const SCHED_EXT: &str = "/sys/kernel/sched_ext";

/// Whether this kernel takes schedulers at all.
pub(crate) fn can_load() -> Result<(), LoaderError> {
    if !Path::new(SCHED_EXT).exists() {
        return Err(LoaderError::new(
            "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT; Debian's have it from 6.18 on)",
        ));
    }
    if !Path::new(BTF).exists() {
        return Err(LoaderError::new(
            "this kernel has no description of its types (CONFIG_DEBUG_INFO_BTF), without which no scheduler can be loaded",
        ));
    }
    Ok(())
}

/// The name of the scheduler that decides now, if there is one.
pub(crate) fn attached() -> Option<String> {
    let state = std::fs::read_to_string(format!("{SCHED_EXT}/state")).ok()?;
    let name = std::fs::read_to_string(format!("{SCHED_EXT}/root/ops")).ok()?;
    (state.trim() == "enabled").then(|| name.trim().to_string())
}

/// What the kernel last said of a scheduler that it did not keep.
pub(crate) fn last_words() -> Option<String> {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    let mut log = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg")
        .ok()?;
    let mut found = None;
    let mut record = [0; 8192];
    // One message a read; an error is the end.
    while let Ok(length @ 1..) = log.read(&mut record) {
        let text = String::from_utf8_lossy(&record[..length]);
        let message = text.split_once(';').map_or("", |(_, message)| message);
        let first = message.lines().next().unwrap_or("");
        if let Some(words) = first.strip_prefix("sched_ext: ") {
            found = Some(words.to_string());
        }
    }
    found
}

/// How many CPUs this machine can have.
pub(crate) fn possible_cpus() -> Option<u32> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/possible").ok()?;
    let last = list.trim().rsplit([',', '-']).next()?;
    last.parse::<u32>().ok().map(|last| last + 1)
}
