//! Forgeries: what a program that is root in the machine can do to a result.

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use worstcase_contract::RawRecord;
use worstcase_contract::record::Sample;
use worstcase_contract::{CellSpec, Nanos, Probe};

const WORD: u64 = 8;
const PAGE: usize = 4096;
/// Of an area of memory, no more than so much is looked at.
const MOST: u64 = 4 << 20;
/// Samples that are halved lie so close together.
const WIDTH: u64 = 250;
/// A due time is not farther away than that: a little more than the probe's usual period.
const AHEAD: Nanos = Nanos(300_000);
/// To look at everything once takes less.
const LONGEST_LOOK: Nanos = Nanos(1_000_000_000);

/// A word of another process's memory.
struct MemoryWord {
    memory: usize,
    at: u64,
}

/// The memory of all other processes, to read and to write.
struct OtherMemories {
    memories: Vec<File>,
    /// Of these: which one, from where to where.
    areas: Vec<(usize, u64, u64)>,
}

impl OtherMemories {
    fn find() -> io::Result<OtherMemories> {
        let own = std::process::id().to_string();
        let mut found = OtherMemories {
            memories: Vec::new(),
            areas: Vec::new(),
        };
        for entry in fs::read_dir("/proc")? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name == own || !name.bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            // A process may end meanwhile, and threads of the kernel have no memory.
            let opened = OpenOptions::new().read(true).write(true).open(path.join("mem"));
            let (Ok(maps), Ok(memory)) = (fs::read_to_string(path.join("maps")), opened) else {
                continue;
            };
            let areas = maps.lines().filter_map(writable);
            let number = found.memories.len();
            found
                .areas
                .extend(areas.map(|(from, to)| (number, from, to.min(from + MOST))));
            found.memories.push(memory);
        }
        Ok(found)
    }

    /// Every word that is there.
    fn each(&self, mut see: impl FnMut(MemoryWord, u64)) {
        for (memory, from, to) in &self.areas {
            let mut page = [0; PAGE];
            for start in (*from..*to).step_by(PAGE) {
                if self.memories[*memory].read_exact_at(&mut page, start).is_err() {
                    break;
                }
                for (n, word) in page.chunks_exact(8).enumerate() {
                    let place = MemoryWord {
                        memory: *memory,
                        at: start + n as u64 * WORD,
                    };
                    see(place, u64::from_le_bytes(word.try_into().expect("eight bytes")));
                }
            }
        }
    }

    fn read(&self, place: &MemoryWord) -> u64 {
        let mut word = [0; 8];
        let read = self.memories[place.memory].read_exact_at(&mut word, place.at);
        read.map_or(0, |()| u64::from_le_bytes(word))
    }

    fn write(&self, place: &MemoryWord, word: u64) {
        // What cannot be changed stays as it is.
        let _ = self.memories[place.memory].write_all_at(&word.to_le_bytes(), place.at);
    }
}

/// The addresses of a line of /proc/PID/maps, if it can be written to.
fn writable(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split(' ');
    let (from, to) = words.next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    words
        .next()?
        .starts_with("rw")
        .then_some((address(from)?, address(to)?))
}

/// Halves samples that are there, again and again.
pub(crate) fn halve(least: u64) -> io::Result<Infallible> {
    loop {
        let others = OtherMemories::find()?;
        others.each(|place, word| {
            if (least..least + WIDTH).contains(&word) {
                others.write(&place, word / 2);
            }
        });
    }
}

/// Makes the probe believe that it woke up earlier after its due time than it did.
pub(crate) fn hurry(by: u64) -> io::Result<Infallible> {
    let is_ahead = |instant: u64| {
        let now = now().0;
        (now..now + AHEAD.0).contains(&instant)
    };
    loop {
        let others = OtherMemories::find()?;
        let mut places = Vec::new();
        let begun = now();
        others.each(|place, word| {
            // Most are no instant at all; a look at the clock for each would take longer than the cell.
            if (begun.0..begun.0 + LONGEST_LOOK.0).contains(&word) && is_ahead(word) {
                places.push(place);
            }
        });
        // Many a period, in the places that were found.
        let mut changed = vec![0; places.len()];
        for _ in 0..10_000 {
            for (place, changed) in places.iter().zip(&mut changed) {
                let word = others.read(place);
                if word != *changed && is_ahead(word) {
                    *changed = word + by;
                    others.write(place, *changed);
                }
            }
        }
    }
}

fn now() -> Nanos {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    Nanos(t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_nsec.cast_unsigned())
}

/// Sends a whole record whose samples are all one microsecond.
pub(crate) fn record(milliseconds: u32) -> io::Result<Infallible> {
    let spec = CellSpec {
        probe: Probe::Wakeup,
        load: format!("cmd:/culprit record {milliseconds}"),
        period: Nanos(251_000),
        periods: 200,
        seed: 1,
        warmup: Nanos(100_000_000),
        priority: 98,
    };
    let sample = |index| Sample {
        index,
        latency: Nanos(1_000),
    };
    let record = RawRecord {
        spec: spec.to_text().map_err(io::Error::other)?,
        start: Nanos(1),
        expected: spec.periods,
        samples: (0..spec.periods).map(sample).collect(),
        self_cost: Default::default(),
        work: Vec::new(),
        warnings: Vec::new(),
        environment: Default::default(),
        details: None,
        counters: Default::default(),
        trace: None,
    };
    send(&record.encode())?;
    if milliseconds > 0 {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        // SAFETY: no pointers are passed.
        unsafe { libc::reboot(libc::RB_POWER_OFF) };
    }
    loop {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Sends bytes through the machine's debug port, by which records leave it.
#[cfg(target_arch = "x86_64")]
fn send(bytes: &[u8]) -> io::Result<()> {
    const PORT: u16 = 0xe9;
    // SAFETY: no pointers are passed.
    if unsafe { libc::syscall(libc::SYS_iopl, 3) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for byte in bytes {
        // SAFETY: this process may use all ports, and the byte goes to a device that only takes it.
        unsafe {
            core::arch::asm!("out dx, al", in("dx") PORT, in("al") *byte, options(nomem, nostack, preserves_flags))
        };
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn send(_bytes: &[u8]) -> io::Result<()> {
    Err(io::Error::other("only PCs have a debug port"))
}
