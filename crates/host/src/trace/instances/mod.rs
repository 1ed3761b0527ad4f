//! A program's trace by two instances of the kernel's trace: what every thread does, and what the program's do in the kernel.
//!
//! ```text
//! instance  one of them: settings, tracepoints, CPUs
//! stream    the records of one CPU, read page by page
//! mark      what a user names to be a mark
//! samples   one instance, for what is beside samples
//! ```
//! The oldest records give way, and the page after them says so. The instances are changes on the machine: a journal removes
//! them.

mod instance;
mod mark;
pub(super) mod samples;
mod stream;

use super::TracingError;
use super::call_cost::cost_of_a_call;
use super::events::{CpuEvent, TracedChange};
use super::points::has_vectors;
use super::tracefs::{InstanceFolder, Tracefs};
use crate::{HostError, Journal};
use instance::Instance;
pub(crate) use mark::TracedMark;
use stream::{CpuStream, LARGEST_PAGE};
use worstcase_base::unforeseen;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_traces::pages::PageReader;
use worstcase_traces::table::{FollowInstance, VECTORS, followed, of_vector};

/// KiB for each CPU, of each instance: some 300 000 events, as an ordinary thread reads them, which a busy machine keeps waiting.
const ROOM_KIB: u64 = 16 << 10;
/// Above so many CPUs each has a quarter of it.
const MANY_CPUS: u64 = 16;
/// The part of the free memory that all may have.
const PART_OF_MEMORY: u64 = 8;
/// Bytes that are read of a CPU at once: some 5 000 events.
const AT_ONCE: usize = 256 << 10;
/// An event can be that late, if it interrupted another that was being written.
const LATENESS: Nanos = Nanos::from_millis(10);

/// Both instances, open.
#[derive(Debug)]
pub(super) struct Instances {
    // Dropped first: an instance that is read cannot be removed.
    streams: Vec<CpuStream>,
    all: Instance,
    program: Instance,
    /// Of each.
    points: Vec<(FollowInstance, String)>,
    reader: PageReader,
    /// Where a page is read to.
    page: Vec<u8>,
    is_behind: bool,
    /// So much longer takes a system call of the program.
    pub call_ns: Option<Nanos>,
    began: Nanos,
    /// All before this has been handed over.
    reached: Nanos,
    lost: u64,
    bytes: u64,
    journal: Journal,
    _folder: InstanceFolder,
}

impl Instances {
    /// Makes them in this folder, with this room for each CPU, in a journal that ends with them.
    pub fn make(
        cpus: &[u32],
        room_kib: [u64; 2],
        folder: InstanceFolder,
        mut journal: Journal,
        mark: Option<&TracedMark>,
    ) -> Result<Instances, String> {
        let said = |e: TracingError| e.to_string();
        let refused = |e: HostError| e.to_string();
        let tracefs = Tracefs::of_threads().map_err(said)?;
        let (mut points, mut reader) = points(&tracefs).map_err(said)?;
        if let Some(mark) = mark {
            let own = mark.make(&folder, &mut journal).map_err(refused)?;
            mark.read(&tracefs, own.as_deref(), &mut reader).map_err(said)?;
            points.extend(own.map(|own| (FollowInstance::Program, own)));
        }
        let mut make = |kind: FollowInstance| {
            let prefix = format!("worstcase-{}-{}-", std::process::id(), kind.name());
            let name = unforeseen::name(&prefix).map_err(|e| e.to_string())?;
            Instance::make(&folder, &name, room_kib[kind as usize], &mut journal)
        };
        let (all, program) = (make(FollowInstance::All)?, make(FollowInstance::Program)?);
        mark.map_or(Ok(()), |mark| mark.record(&all)).map_err(refused)?;
        let mut instances = Instances {
            streams: Vec::new(),
            all,
            program,
            points,
            reader,
            page: vec![0; LARGEST_PAGE],
            is_behind: false,
            call_ns: None,
            began: Nanos(0),
            reached: Nanos(0),
            lost: 0,
            bytes: 0,
            journal,
            _folder: folder,
        };
        instances.call_ns = cost_of_a_call(|tid| instances.record_calls(tid));
        instances.make_ready(cpus).map_err(said)?;
        Ok(instances)
    }

    fn instance(&self, kind: FollowInstance) -> &Instance {
        match kind {
            FollowInstance::All => &self.all,
            FollowInstance::Program => &self.program,
        }
    }

    /// Records the system calls of one thread.
    fn record_calls(&self, tid: u32) -> Result<(), TracingError> {
        self.program.set("set_event_pid", &tid.to_string())?;
        for (_, point) in self
            .points
            .iter()
            .filter(|(_, point)| point.starts_with("raw_syscalls/"))
        {
            self.program.enable(point)?;
        }
        self.program.switch(true)
    }

    fn make_ready(&mut self, cpus: &[u32]) -> Result<(), TracingError> {
        self.program.switch(false)?;
        self.program.clear()?;
        // What the program starts belongs to it.
        self.program.set("options/event-fork", "1")?;
        for (kind, point) in &self.points {
            self.instance(*kind).enable(point)?;
        }
        for kind in FollowInstance::BOTH {
            for cpu in cpus {
                let stream = self.instance(kind).stream(*cpu)?;
                self.streams.push(stream);
            }
        }
        Ok(())
    }

    /// Begins with these threads of the program.
    pub fn begin(&mut self, tids: &[u32]) -> Result<(), TracingError> {
        self.program.set("set_event_pid", &listed(tids))?;
        self.program.switch(true)?;
        self.all.switch(true)?;
        self.began = clock::monotonic();
        self.reached = self.began;
        self.streams.iter_mut().for_each(|stream| stream.begin(self.began));
        Ok(())
    }

    /// These threads of the program began before the others were known.
    pub fn add(&self, tids: &[u32]) -> Result<(), TracingError> {
        self.program.add("set_event_pid", &listed(tids))
    }

    /// Hands over available events, not too many at once; returns their number, and the time before which no more will come.
    pub fn drain(&mut self, mut each: impl FnMut(&CpuEvent<'_>)) -> (u64, Nanos) {
        let now = clock::monotonic();
        let (began, reached, lost) = (self.began, self.reached, &mut self.lost);
        let (mut count, mut whole) = (0, now.saturating_sub(LATENESS));
        self.is_behind = false;
        for stream in &mut self.streams {
            let drained = stream.drain(&self.reader, &mut self.page, now, AT_ONCE, |event| {
                if event.at < began {
                    return;
                }
                let event = on_time(event, reached);
                match event.what {
                    TracedChange::Lost { count, .. } => *lost += count.max(1),
                    _ => count += 1,
                }
                each(&event);
            });
            self.bytes += drained.bytes as u64;
            if !drained.is_whole {
                self.is_behind = true;
                whole = whole.min(stream.last().saturating_sub(LATENESS));
            }
        }
        self.reached = whole.max(reached);
        (count, self.reached)
    }

    /// There was more than the last call took.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Leaves what was not read: each CPU's is a loss. Tells since when.
    pub fn leave_rest(&mut self, mut each: impl FnMut(&CpuEvent<'_>)) -> Option<Nanos> {
        let now = clock::monotonic();
        let mut is_left = false;
        for stream in &self.streams {
            let count = stream.unread();
            if count == 0 {
                continue;
            }
            is_left = true;
            self.lost += count;
            let since = stream.last().max(self.reached);
            each(&CpuEvent {
                at: now,
                cpu: stream.cpu(),
                tid: 0,
                what: TracedChange::Lost { since, count },
                chain: &[],
            });
        }
        is_left.then_some(self.reached)
    }

    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Removes them.
    pub fn end(self) -> Result<(), HostError> {
        drop(self.streams);
        self.journal.finish_all()
    }
}

/// Tracepoints of this kernel, with their instance, and how their records are read.
fn points(tracefs: &Tracefs) -> Result<(Vec<(FollowInstance, String)>, PageReader), TracingError> {
    if !has_vectors(tracefs) {
        return Err(TracingError::NoVectors);
    }
    let mut points = Vec::new();
    for (kind, row) in followed() {
        let (system, own) = row.name.split_once('/').unwrap_or((row.name, ""));
        match tracefs.names(system).iter().any(|name| name == own) {
            true => points.push((kind, row.name.to_string())),
            false if row.needed => return Err(TracingError::NoTracepoint(row.name)),
            false => {}
        }
    }
    let vectors = tracefs
        .names(VECTORS)
        .into_iter()
        .filter(|own| of_vector(own).is_some());
    points.extend(vectors.map(|own| (FollowInstance::All, format!("{VECTORS}/{own}"))));
    let format = |(_, name): &(_, String)| Ok((name.clone(), tracefs.text(&format!("events/{name}/format"))?));
    let formats: Result<Vec<(String, String)>, TracingError> = points.iter().map(format).collect();
    let formats = formats?;
    let texts = formats.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Ok((points, PageReader::new(texts)?))
}

/// KiB for each CPU, of each instance, with so much free memory.
pub(super) fn room_kib(cpus: usize, free_kib: u64) -> [u64; 2] {
    let cpus = (cpus as u64).max(1);
    let wanted = if cpus > MANY_CPUS { ROOM_KIB / 4 } else { ROOM_KIB };
    let most = free_kib / PART_OF_MEMORY / cpus / FollowInstance::BOTH.len() as u64;
    [wanted.min(most); 2]
}

fn listed(tids: &[u32]) -> String {
    let words: Vec<String> = tids.iter().map(u32::to_string).collect();
    words.join(" ")
}

/// What is written in place of an event of this time that came so late that later ones were handed over before; none if it came
/// in time.
fn lost_if_late(at: Nanos, what: &TracedChange, reached: Nanos) -> Option<TracedChange> {
    let (since, count) = match *what {
        _ if at >= reached => return None,
        TracedChange::Lost { since, count } => (since, count),
        _ => (at, 1),
    };
    Some(TracedChange::Lost { since, count })
}

fn on_time(event: CpuEvent<'static>, reached: Nanos) -> CpuEvent<'static> {
    match lost_if_late(event.at, &event.what, reached) {
        None => event,
        Some(what) => CpuEvent {
            at: reached,
            tid: 0,
            what,
            ..event
        },
    }
}

#[cfg(test)]
mod tests;
