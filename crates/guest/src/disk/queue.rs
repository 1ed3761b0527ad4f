//! The block device's queue in the kernel: as that of a real disk of this kind, with the scheduler that is asked for.

use crate::{GuestError, modules};
use std::fs;
use std::path::Path;

/// What the kernel sets for disks that take large requests (BLK_DEF_MAX_SECTORS).
const MOST_KIB: u32 = 1_280;
/// Without a limit of the device's own.
const MOST_DEPTH: u32 = 128;

/// Sets it all, each of the scheduler's settings by its name in sysfs: `bfq{slice_idle=0}`.
pub(crate) fn prepare(disk: &Path, depth: u32, is_rotating: bool, scheduler: Option<&str>) -> Result<(), GuestError> {
    let queue = disk.join("queue");
    let set = |name: &str, value: &str| {
        let path = queue.join(name);
        fs::write(&path, value).map_err(|e| GuestError::new(format!("the disk: {} = {value}: {e}", path.display())))
    };
    let available = fs::read_to_string(queue.join("scheduler")).unwrap_or_default();
    let usual = available.split(['[', ']']).nth(1).unwrap_or("none").to_string();
    set("rotational", if is_rotating { "1" } else { "0" })?;
    set("max_sectors_kb", &MOST_KIB.to_string())?;
    // Without a scheduler this is how many requests the device takes; with one, how many the scheduler has.
    let depth = depth.min(MOST_DEPTH);
    set("scheduler", "none")?;
    set("nr_requests", &depth.to_string())?;
    let (name, settings) = scheduler.map_or((usual.as_str(), ""), split);
    if name != "none" {
        choose(&queue, name)?;
        // As the kernel does for a device of this depth.
        set("nr_requests", &(2 * depth).to_string())?;
    }
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        if !queue.join("iosched").join(key).exists() {
            return Err(GuestError::new(format!(
                "the I/O scheduler {name} has no setting '{key}'; it has {}",
                names(&queue.join("iosched"))
            )));
        }
        set(&format!("iosched/{key}"), value)?;
    }
    Ok(())
}

/// `bfq{slice_idle=0}`: its name and its settings.
fn split(scheduler: &str) -> (&str, &str) {
    let (name, settings) = scheduler.split_once('{').unwrap_or((scheduler, ""));
    (name, settings.trim_end_matches('}'))
}

fn choose(queue: &Path, name: &str) -> Result<(), GuestError> {
    let module = match name {
        "kyber" => Some("kyber-iosched"),
        "bfq" => Some("bfq"),
        "mq-deadline" => Some("mq-deadline"),
        _ => None,
    };
    let file = queue.join("scheduler");
    // One that is built in has no module; whether it is there shows below.
    let missing = module.and_then(|module| modules::load(module).err());
    fs::write(&file, name).map_err(|e| {
        let available = fs::read_to_string(&file).unwrap_or_default();
        let why = missing.map_or_else(|| e.to_string(), |missing| missing.0);
        GuestError::new(format!(
            "this kernel has no I/O scheduler '{name}' ({why}); it has {}",
            available
                .replace(['[', ']'], "")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(", ")
        ))
    })
}

fn names(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    match names.is_empty() {
        true => "none".into(),
        false => names.join(", "),
    }
}
