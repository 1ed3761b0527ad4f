//! Two instances of the kernel's trace: `all` has the events of every thread, `program` those of the program's alone.
//!
//! Each keeps what fits and drops what comes later, so a loss is at the end. Nobody reads while the program runs.

use super::{FollowedError, POINTS, TraceFormat, TraceStream};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use worstcase_instruments::sys::process::Pid;

const TRACEFS: &str = "/sys/kernel/tracing";
const PAGE: usize = 4096;
/// The part of the machine's free memory that the events may have.
const PART_OF_MEMORY: u64 = 8;
/// A cycle with ten system calls takes some 2 kB of it.
const MOST_KB: u64 = 48 << 10;

/// An instance, and the part of the room that it has: so many thirds.
struct InstanceKind {
    name: &'static str,
    thirds: u64,
}

const INSTANCES: [InstanceKind; 2] = [
    InstanceKind { name: "all", thirds: 2 },
    InstanceKind {
        name: "program",
        thirds: 1,
    },
];

/// The trace, switched off, with all its events asked for.
#[derive(Debug)]
pub(super) struct Tracing {
    formats: BTreeMap<String, TraceFormat>,
}

fn instance(name: &str) -> PathBuf {
    Path::new(TRACEFS).join("instances").join(name)
}

fn write(path: PathBuf, value: &str) -> Result<(), FollowedError> {
    fs::write(&path, value).map_err(FollowedError::system(format!(
        "cannot write {value} to {}",
        path.display()
    )))
}

fn read(path: PathBuf) -> Result<String, FollowedError> {
    fs::read_to_string(&path).map_err(FollowedError::system(format!("cannot read {}", path.display())))
}

impl Tracing {
    pub fn new() -> Result<Tracing, FollowedError> {
        let points = read(POINTS.into())?;
        let mut tracing = Tracing {
            formats: BTreeMap::new(),
        };
        let room = room()?;
        for kind in &INSTANCES {
            let folder = instance(kind.name);
            fs::create_dir(&folder).map_err(FollowedError::system("this kernel has no instances of its trace"))?;
            for (file, value) in [
                ("tracing_on", "0".to_string()),
                ("trace_clock", "mono".into()),
                ("options/overwrite", "0".into()),
                ("buffer_size_kb", (room * kind.thirds / 3).to_string()),
            ] {
                write(folder.join(file), &value)?;
            }
            let own = points.lines().filter_map(|line| line.split_once(' '));
            for (_, point) in own.filter(|(name, _)| *name == kind.name) {
                tracing.enable(&folder, point)?;
            }
        }
        // What the program starts belongs to it.
        write(instance("program").join("options/event-fork"), "1")?;
        Ok(tracing)
    }

    /// Enables a tracepoint, or all of a system; one that this kernel lacks is left out.
    fn enable(&mut self, folder: &Path, point: &str) -> Result<(), FollowedError> {
        let events = folder.join("events");
        if let Some(system) = point.strip_suffix('/') {
            let Ok(entries) = fs::read_dir(events.join(system)) else {
                return Ok(());
            };
            let mut names: Vec<String> = entries
                .flatten()
                .filter(|entry| entry.path().is_dir())
                .map(|entry| format!("{system}/{}", entry.file_name().display()))
                .collect();
            names.sort();
            return names.iter().try_for_each(|name| self.enable(folder, name));
        }
        let own = events.join(point);
        if !own.exists() {
            return Ok(());
        }
        let format = TraceFormat {
            name: point.to_string(),
            text: read(own.join("format"))?,
        };
        self.formats.insert(point.to_string(), format);
        write(own.join("enable"), "1")
    }

    /// Switches it on for a program that is held.
    pub fn begin(&self, pid: Pid) -> Result<(), FollowedError> {
        write(instance("program").join("set_event_pid"), &pid.to_string())?;
        self.switch("1")
    }

    /// Switches it off.
    pub fn end(&self) -> Result<(), FollowedError> {
        self.switch("0")
    }

    fn switch(&self, on: &str) -> Result<(), FollowedError> {
        INSTANCES
            .iter()
            .try_for_each(|kind| write(instance(kind.name).join("tracing_on"), on))
    }

    /// What was traced; the instances are removed.
    pub fn collect(self) -> Result<(Vec<TraceFormat>, Vec<TraceStream>), FollowedError> {
        let mut streams = Vec::new();
        for kind in &INSTANCES {
            let folder = instance(kind.name);
            write(folder.join("events/enable"), "0")?;
            for cpu in cpus(&folder)? {
                streams.push(stream(&folder, cpu)?);
            }
            fs::remove_dir(&folder).map_err(FollowedError::system("cannot end the trace"))?;
        }
        Ok((self.formats.into_values().collect(), streams))
    }
}

/// Kilobytes for the events of each CPU.
fn room() -> Result<u64, FollowedError> {
    let memory = read("/proc/meminfo".into())?;
    let free = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = free.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    let cpus = cpus(Path::new(TRACEFS))?.len() as u64;
    Ok((free.unwrap_or_default() / PART_OF_MEMORY).min(MOST_KB) / cpus.max(1))
}

fn cpus(folder: &Path) -> Result<Vec<u32>, FollowedError> {
    let path = folder.join("per_cpu");
    let entries = fs::read_dir(&path).map_err(FollowedError::system(format!("cannot read {}", path.display())))?;
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok();
    let mut cpus: Vec<u32> = entries.flatten().filter_map(number).collect();
    cpus.sort_unstable();
    Ok(cpus)
}

fn stream(folder: &Path, cpu: u32) -> Result<TraceStream, FollowedError> {
    let own = folder.join(format!("per_cpu/cpu{cpu}"));
    let dropped = read(own.join("stats"))?;
    let dropped = dropped.lines().find_map(|line| line.strip_prefix("dropped events:"));
    let dropped = dropped.and_then(|number| number.trim().parse().ok()).unwrap_or(0);
    let path = own.join("trace_pipe_raw");
    let failed = || FollowedError::system(format!("cannot read {}", path.display()));
    let pages = pages(&path).map_err(failed())?;
    Ok(TraceStream::new(cpu, dropped, &pages))
}

/// All pages; the kernel gives one at a time.
fn pages(path: &Path) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = File::options().read(true).custom_flags(O_NONBLOCK).open(path)?;
    let (mut pages, mut page) = (Vec::new(), [0; PAGE]);
    loop {
        match file.read(&mut page) {
            Ok(0) => return Ok(pages),
            // A page that is not full is filled up.
            Ok(n) => {
                page[n..].fill(0);
                pages.extend_from_slice(&page);
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(pages),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// `O_NONBLOCK` of <asm-generic/fcntl.h>.
const O_NONBLOCK: i32 = 0o4000;
