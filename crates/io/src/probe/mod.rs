//! `io`: what work with files takes, operation by operation.
//!
//! ```text
//! parameters  the works, and what is done with each
//! large   one large file: hdparm's, dd's and bonnie++'s work with it
//! many    many small ones: bonnie++'s create, stat and delete, and unpacking
//! noise_file  files of noise, buffers for O_DIRECT
//! start   what the start of a program reads
//! beside  others that read and write meanwhile
//! device  where the files are, and what the block device below them does meanwhile
//! extents where on the device a part of a file is
//! details what it tells beside its samples
//! ```
//! A sample is the time of one operation. What has to be there before is made, written to the device and dropped from the page
//! cache, before anything is measured.

mod beside;
mod details;
mod device;
mod extents;
mod large;
mod many;
mod noise_file;
mod parameters;
mod start;

pub use details::{BesideDetails, DeviceDetails, DiskAction, DiskDetails, DiskRequest, Extent, IoDetails};
pub use device::{Place, schedulers};
pub use parameters::{ALIGNED, Beside, Io, MIX, WORKS, Work, has_seekers};

use beside::Others;
use device::Watched;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use worstcase_instruments::bench::{BenchError, BenchResult, Instrumented, Marks, Observer, Request};
use worstcase_instruments::sys::{affinity, clock};
use worstcase_logs::Nanos;

/// As long as hdparm reads.
const CACHED_TIME: Nanos = Nanos::from_millis(2_000);
const BUFFERED_TIME: Nanos = Nanos::from_millis(3_000);
/// Beside the files themselves.
const SPARE: u64 = 16 << 20;

/// What one operation did.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    took: Nanos,
    bytes: u64,
    /// Where in the file.
    at: Option<u64>,
}

/// Work that is ready.
trait Operations {
    /// The next operation.
    fn next(&mut self, index: u32) -> io::Result<Done>;

    /// The one file that they work with.
    fn file(&self) -> Option<&File> {
        None
    }

    /// Has everything written to the device; how long that took, if something was.
    fn finish(&mut self) -> io::Result<Option<Nanos>>;
}

/// How long an operation takes.
fn timed(operation: impl FnOnce() -> io::Result<u64>) -> io::Result<Done> {
    let before = clock::monotonic();
    let bytes = operation()?;
    Ok(Done {
        took: clock::monotonic().saturating_sub(before),
        bytes,
        at: None,
    })
}

impl Io {
    /// It ends after this time, however many operations were asked for.
    pub const fn time(&self) -> Option<Nanos> {
        match self.work {
            Work::Cached => Some(CACHED_TIME),
            Work::Buffered => Some(BUFFERED_TIME),
            _ => None,
        }
    }

    /// Bytes that its files need.
    fn need(&self, operations: u32) -> u64 {
        let own = match self.work {
            Work::Start => start::room(),
            work if work.is_with_many() => many::room(u64::from(operations)),
            _ => self.size,
        };
        own + self.beside.files() * self.size
    }
}

impl Instrumented for Io {
    type Details = IoDetails;

    fn check(&self, request: &Request<'_>) -> Result<(), BenchError> {
        check(self, request)
    }

    fn measure(
        &self,
        request: &Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BenchResult<IoDetails>, BenchError> {
        measure(self, request, observer)
    }
}

/// Refuses what this machine cannot do.
fn check(what: &Io, request: &Request<'_>) -> Result<(), BenchError> {
    let folder = folder(request)?;
    let place = place(folder)?;
    if place.is_in_memory() {
        return Err(BenchError::Limit(format!(
            "{what}: {} is a {}, whose files stay in memory; choose a folder on a disk with --work-dir",
            folder.display(),
            place.file_system
        )));
    }
    let most = what.usual_samples();
    if what.work.is_through() && request.repetitions > most {
        return Err(BenchError::Limit(format!(
            "{what}: {most} operations are the whole file, not {}; ask for a larger one, e.g. io:1g+{}",
            request.repetitions,
            what.work.word()
        )));
    }
    let free = rustix::fs::statvfs(folder).map_err(|e| system("cannot ask for the free space")(e.into()))?;
    let (need, free) = (what.need(request.repetitions) + SPARE, free.f_bavail * free.f_frsize);
    if free < need {
        return Err(BenchError::Limit(format!(
            "{what} needs {} MiB at {}, where {} MiB are free; choose another folder with --work-dir, or a smaller file",
            need >> 20,
            folder.display(),
            free >> 20
        )));
    }
    Ok(())
}

fn folder<'a>(request: &Request<'a>) -> Result<&'a Path, BenchError> {
    let folder = request.folder.filter(|folder| folder.is_dir());
    folder.ok_or_else(|| BenchError::Missing("there is no folder for its files".into()))
}

fn place(folder: &Path) -> Result<Place, BenchError> {
    Place::of(folder).map_err(system("cannot find the file system of the folder for files"))
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> BenchError {
    BenchError::system(doing)
}

/// Takes the samples.
fn measure(
    what: &Io,
    request: &Request<'_>,
    observer: &mut dyn Observer,
) -> Result<BenchResult<IoDetails>, BenchError> {
    check(what, request)?;
    if !request.cpus.is_empty() {
        affinity::set(request.cpus).map_err(system("cannot run on these CPUs"))?;
    }
    let folder = Folder::make(folder(request)?).map_err(system("cannot make a folder for files"))?;
    let place = place(&folder.0)?;
    let mut marks = Marks::new(request.repetitions);
    let mut result = BenchResult {
        samples: Vec::new(),
        details: IoDetails {
            bytes: 0,
            elapsed: Nanos(0),
            sync: None,
            file_system: place.file_system.clone(),
            device: None,
            begun: Nanos(0),
            longest_from: Nanos(0),
            longest_at: Vec::new(),
            beside: None,
            disk: None,
        },
        warnings: Vec::new(),
    };
    let prepared = match what.work {
        Work::Start => start::prepare(&folder.0, request, observer),
        work if work.is_with_many() => many::prepare(what, &folder.0, request, observer),
        _ => large::prepare(what, &folder.0, request, observer),
    };
    let Some(mut work) = prepared.map_err(system("cannot make the files to work with"))? else {
        return Ok(result); // somebody wanted an end
    };
    let mut others = None;
    if what.beside != Beside::NONE {
        let started = Others::start(what, &folder.0, request, observer);
        let Some(started) = started.map_err(system("cannot start the others"))? else {
            return Ok(result);
        };
        if what.beside.files() > 0 {
            clock::sleep_until(clock::monotonic() + beside::AHEAD);
        }
        others = Some(started);
    }
    clock::sleep_until(request.start);
    let device = place.device.map(|device| Watched::begin(device, request.is_watched));
    observer.begins();
    marks.begin();
    if let Some(others) = &mut others {
        others.begin();
    }
    let (begun, mut bytes) = (clock::monotonic(), 0);
    let mut longest = (Nanos(0), Done::default());
    for index in 0..request.repetitions {
        let is_over = what.time().is_some_and(|time| clock::monotonic() >= begun + time);
        if is_over || observer.wants_end() {
            break;
        }
        let from = clock::monotonic();
        let done = work.next(index).map_err(system("cannot work with a file"))?;
        bytes += done.bytes;
        if done.took > longest.1.took {
            longest = (from.saturating_sub(begun), done);
        }
        observer.sample(marks.sample(done.took));
    }
    marks.end();
    let beside = others.as_ref().map(Others::told);
    let sync = work.finish().map_err(system("cannot write a file to its device"))?;
    let elapsed = clock::monotonic().saturating_sub(begun);
    if let Some(others) = others {
        others
            .end()
            .map_err(system("one of the others cannot work with its file"))?;
    }
    result.details = IoDetails {
        bytes,
        elapsed,
        sync,
        file_system: place.file_system,
        device: device.map(Watched::end),
        begun,
        longest_from: longest.0,
        longest_at: longest_at(what, &*work, longest.1),
        beside,
        disk: None,
    };
    result.samples = marks.samples();
    Ok(result)
}

/// Where on the device that operation was, as far as the file system tells.
fn longest_at(what: &Io, work: &dyn Operations, done: Done) -> Vec<Extent> {
    let (Some(file), Some(at)) = (work.file(), done.at) else {
        return Vec::new();
    };
    extents::of(file, at, what.block.into()).unwrap_or_default()
}

/// A folder of this probe alone, removed with everything in it.
struct Folder(PathBuf);

impl Folder {
    fn make(parent: &Path) -> io::Result<Folder> {
        let path = parent.join("io");
        fs::create_dir(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is removed with the folder above.
        let _ = fs::remove_dir_all(&self.0);
    }
}
