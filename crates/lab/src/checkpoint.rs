//! One checkpoint: a machine of one CPU that was stopped on its way, as what differs from its subject's snapshot.
//!
//! ```text
//! pages    the pages of memory that it had changed
//! state    the devices' state, in the form in which QEMU restores a snapshot's
//! ```
//! Counts of a plugin in a machine that goes on from a checkpoint begin at 0 there.

use super::LabError;
use super::guest_pages::GuestPages;
use super::invocation::PROGRESS;
use super::process::Process;
use serde_json::json;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use worstcase_base::room::HeldEntry;
use worstcase_contract::Instructions;

/// The pages of memory.
pub(crate) const PAGES: &str = "pages";
/// The devices' state.
pub(crate) const STATE: &str = "state";
/// The file in its folder to which QEMU writes that state.
pub(crate) const DEVICES: &str = "devices";

/// A machine with more changed pages is not saved: a checkpoint takes some tens of MB.
const MOST_PAGES: usize = 16 << 10;

/// Time between two looks at a machine that is to be stopped.
const LOOK: Duration = Duration::from_millis(5);

/// The plugin tells a count that has changed every 10 ms, later on a busy machine: one that has stood still for longer has told all.
const TOLD: Duration = Duration::from_millis(50);

/// A machine that was saved, in a folder of its own.
#[derive(Debug)]
pub(crate) struct SavedMachine {
    /// What it had executed since the snapshot.
    pub(crate) at: Instructions,
    /// With its files.
    pub(crate) folder: PathBuf,
}

/// A checkpoint in the cache.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    /// What the machine had executed since the snapshot.
    pub(crate) at: Instructions,
    /// With its files.
    pub(crate) folder: PathBuf,
    /// Keeps it in the cache while it is used.
    pub(crate) _held: HeldEntry,
}

impl Checkpoint {
    /// The devices' state.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join(STATE)
    }

    /// Makes a machine, which has the snapshot's memory file, what this one was.
    pub(crate) fn restore(&self, qemu: &mut Process, memory: &Path, uri: &str) -> Result<(), LabError> {
        let path = self.folder.join(PAGES);
        let restored =
            GuestPages::of(qemu.id(), memory).and_then(|pages| pages.restore(&mut BufReader::new(File::open(&path)?)));
        restored.map_err(LabError::io(path))?;
        qemu.talk(|qmp| qmp.restore(uri))
    }
}

/// Runs a machine until it has executed so much; false if it ended before.
pub(crate) fn runs_until(qemu: &mut Process, folder: &Path, count: Instructions) -> Result<bool, LabError> {
    while told(folder)? < count {
        if qemu.qmp.ends_within(LOOK)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Lets a machine run, and saves it when it has executed about so much, until it ends or cannot be saved: that is no error.
pub(crate) fn save_on_the_way(
    qemu: &mut Process,
    folder: &Path,
    memory: &Path,
    at: &[Instructions],
    saved: &mut Vec<SavedMachine>,
) -> Result<(), LabError> {
    let mut pace = Pace::begin();
    for target in at {
        while pace.now(told(folder)?, pace.since.elapsed()) < *target {
            if qemu.qmp.ends_within(LOOK)? {
                return Ok(());
            }
        }
        qemu.talk(|qmp| qmp.execute("stop", json!({})))?;
        let own = folder.join(format!("checkpoint{}", saved.len()));
        let stopped = save_counted(qemu, folder, memory, &own);
        qemu.talk(|qmp| qmp.execute("cont", json!({})))?;
        match stopped {
            Ok(Some(at)) => saved.push(SavedMachine { at, folder: own }),
            Ok(None) | Err(_) => return Ok(()),
        }
        pace = Pace::begin();
    }
    Ok(())
}

/// Saves a machine that is stopped, and gives its count; none if it has changed too much.
fn save_counted(
    qemu: &mut Process,
    folder: &Path,
    memory: &Path,
    own: &Path,
) -> Result<Option<Instructions>, LabError> {
    let (stopped, at) = (Instant::now(), SystemTime::now());
    if !save(qemu, folder, memory, own, MOST_PAGES)? {
        return Ok(None);
    }
    while stopped.elapsed() < TOLD && !has_told_since(folder, at) {
        std::thread::sleep(LOOK);
    }
    told(folder).map(Some)
}

/// Saves a machine that is stopped to its own folder, which is made; false if it has changed more pages than `most`.
pub(crate) fn save(
    qemu: &mut Process,
    folder: &Path,
    memory: &Path,
    own: &Path,
    most: usize,
) -> Result<bool, LabError> {
    qemu.talk(|qmp| qmp.execute("xen-save-devices-state", json!({"filename": DEVICES, "live": false})))?;
    let of_memory = |e| LabError::io(memory)(e);
    let guest = GuestPages::of(qemu.id(), memory).map_err(of_memory)?;
    let changed = guest.changed().map_err(of_memory)?;
    if changed.iter().map(ExactSizeIterator::len).sum::<usize>() > most {
        return Ok(false);
    }
    std::fs::create_dir(own).map_err(LabError::io(own))?;
    let pages = own.join(PAGES);
    let written = File::create(&pages).and_then(|file| {
        let mut out = BufWriter::new(file);
        guest.save(&changed, &mut out)?;
        out.flush()
    });
    written.map_err(LabError::io(&pages))?;
    let devices = folder.join(DEVICES);
    let devices = worstcase_base::files::read(&devices).map_err(LabError::io(&devices))?;
    let snapshot = memory.with_file_name(super::snapshot::STATE);
    let snapshot = worstcase_base::files::read(&snapshot).map_err(LabError::io(&snapshot))?;
    let state = restorable(&snapshot, &devices);
    let state = state.ok_or_else(|| LabError::Qemu("the form of its devices' state is not known".into()))?;
    let path = own.join(STATE);
    std::fs::write(&path, state).map_err(LabError::io(&path))?;
    Ok(true)
}

/// What the plugin told last.
fn told(folder: &Path) -> Result<Instructions, LabError> {
    let path = folder.join(PROGRESS);
    let bytes = worstcase_base::files::read(&path).map_err(LabError::io(path))?;
    Ok(Instructions(bytes.try_into().map_or(0, u64::from_le_bytes)))
}

/// Whether the plugin has told its count since then. The file's time may be a little early, and is never late.
fn has_told_since(folder: &Path, then: SystemTime) -> bool {
    let told = std::fs::metadata(folder.join(PROGRESS)).and_then(|file| file.modified());
    told.is_ok_and(|told| told > then)
}

/// How fast a machine runs, to know what it has executed between two times at which that is told.
struct Pace {
    since: Instant,
    told: Instructions,
    /// Instructions a second.
    speed: f64,
}

impl Pace {
    fn begin() -> Pace {
        Pace {
            since: Instant::now(),
            told: Instructions(0),
            speed: 0.0,
        }
    }

    /// What it has executed by now; `told` was told last, and this has passed since it went on.
    fn now(&mut self, told: Instructions, passed: Duration) -> Instructions {
        let passed = passed.as_secs_f64();
        if told > self.told {
            if self.told.0 > 0 {
                self.speed = (told.0 - self.told.0) as f64 / passed;
            }
            (self.since, self.told) = (Instant::now(), told);
            return told;
        }
        Instructions(self.told.0 + (self.speed * passed) as u64)
    }
}

/// First bytes of a state, before its sections: a word that names the form, and its version.
const FORM: usize = 8;
/// The section that names the machine follows: this, the length of the name, the name.
const CONFIGURATION: u8 = 7;
/// Its part, on arm64, with the size of pages: a byte, the length of its name, the name; a version and the bits follow.
const PAGE_BITS: &[u8] = b"\x05\x1econfiguration/target-page-bits";
const PAGE_BITS_VALUE: usize = 8;
/// Behind the last section: a description, for tools, of so many bytes.
const DESCRIPTION: [u8; 7] = [6, 0, 0, 0, 2, b'{', b'}'];

/// The state of the devices alone, which QEMU writes without the machine's name, in the form of the snapshot's.
fn restorable(snapshot: &[u8], devices: &[u8]) -> Option<Vec<u8>> {
    let (form, rest) = snapshot.split_at_checked(FORM)?;
    let (&CONFIGURATION, length) = rest.split_first()? else {
        return None;
    };
    let length = u32::from_be_bytes(*length.first_chunk()?) as usize;
    let mut configuration = rest.get(..5 + length)?;
    if rest[5 + length..].starts_with(PAGE_BITS) {
        configuration = rest.get(..5 + length + PAGE_BITS.len() + PAGE_BITS_VALUE)?;
    }
    let sections = devices.strip_prefix(form)?;
    Some([form, configuration, sections, &DESCRIPTION].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_devices_state_gets_the_machines_name() {
        let snapshot = [b"QEVM\0\0\0\x03\x07\0\0\0\x03q35".as_slice(), b"\x05more"].concat();
        let devices = b"QEVM\0\0\0\x03\x04sections\0";
        let whole = [
            b"QEVM\0\0\0\x03\x07\0\0\0\x03q35\x04sections\0".as_slice(),
            &DESCRIPTION,
        ]
        .concat();
        assert_eq!(restorable(&snapshot, devices), Some(whole));
        let pages = [PAGE_BITS, b"\0\0\0\x01\0\0\0\x0c"].concat();
        let of_arm64 = [&snapshot[..16], &pages, b"\x05more"].concat();
        let with_pages = [&snapshot[..16], &pages, b"\x04sections\0", &DESCRIPTION].concat();
        assert_eq!(restorable(&of_arm64, devices), Some(with_pages));
        assert_eq!(restorable(&snapshot, b"QEVM\0\0\0\x04"), None, "another form");
        assert_eq!(restorable(&snapshot[..10], devices), None);
        assert_eq!(restorable(b"QEVM\0\0\0\x03\x04", devices), None);
    }

    #[test]
    fn between_two_words_a_machine_is_taken_to_go_on_as_before() {
        let mut pace = Pace::begin();
        let mut now = |told, ms| pace.now(Instructions(told), Duration::from_millis(ms)).0;
        assert_eq!(now(0, 10), 0);
        assert_eq!(now(100, 50), 100, "how fast it is, is not known yet");
        assert_eq!(now(100, 30), 100);
        assert_eq!(now(300, 100), 300);
        assert_eq!(now(300, 50), 400);
    }
}
