//! What happens beside samples, by one instance of the kernel's trace; call chains, which it has not, come from perf.

use super::instance::Instance;
use super::lost_if_late;
use super::stream::{CpuStream, LARGEST_PAGE};
use crate::Journal;
use crate::trace::events::{CpuEvent, TracedChange};
use crate::trace::points::TracePoint;
use crate::trace::recorder::RecordedEvent;
use crate::trace::tracefs::{InstanceFolder, Tracefs};
use crate::trace::{Tracer, TracingError};
use worstcase_base::unforeseen;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_traces::pages::PageReader;

/// The trace of some CPUs, open.
#[derive(Debug)]
pub(crate) struct SampleInstance {
    // Dropped first: an instance that is read cannot be removed.
    streams: Vec<CpuStream>,
    chains: Option<Tracer>,
    reader: PageReader,
    /// Where a page is read to.
    page: Vec<u8>,
    /// Bytes for each CPU.
    room: usize,
    cpus: Vec<u32>,
    began: Nanos,
    /// All before this has been handed over.
    reached: Nanos,
    /// Events behind it.
    waiting: Vec<RecordedEvent>,
    lost: u64,
    journal: Journal,
    _folder: InstanceFolder,
}

impl SampleInstance {
    /// Begins to record these tracepoints, with this room for each CPU, in a journal that ends with it.
    pub fn open(
        cpus: &[u32],
        points: &[TracePoint],
        room: usize,
        mut journal: Journal,
    ) -> Result<SampleInstance, String> {
        let said = |e: TracingError| e.to_string();
        let (with_chain, plain): (Vec<_>, Vec<_>) = points.iter().cloned().partition(|point| point.chain);
        let tracefs = Tracefs::of_threads().map_err(said)?;
        let format = |point: &TracePoint| tracefs.text(&format!("events/{}/format", point.name));
        let formats: Result<Vec<String>, TracingError> = plain.iter().map(format).collect();
        let formats = formats.map_err(said)?;
        let named = plain.iter().zip(&formats);
        let reader = PageReader::new(named.map(|(point, text)| (point.name.as_str(), text.as_str())));
        let folder = InstanceFolder::find()?;
        let name =
            unforeseen::name(&format!("worstcase-{}-samples-", std::process::id())).map_err(|e| e.to_string())?;
        let instance = Instance::make(&folder, &name, room as u64 >> 10, &mut journal)?;
        let streams = ready(&instance, cpus, &plain).map_err(said)?;
        let plan: Vec<_> = cpus.iter().map(|cpu| (*cpu, &with_chain[..])).collect();
        let chains = (!with_chain.is_empty()).then(|| Tracer::of_points(&plan, room));
        let chains = chains.transpose().map_err(said)?;
        instance.switch(true).map_err(said)?;
        let began = clock::monotonic();
        let mut trace = SampleInstance {
            streams,
            chains,
            reader: reader.map_err(|e| e.to_string())?,
            page: vec![0; LARGEST_PAGE],
            room,
            cpus: cpus.to_vec(),
            began,
            reached: Nanos(0),
            waiting: Vec::new(),
            lost: 0,
            journal,
            _folder: folder,
        };
        trace.streams.iter_mut().for_each(|stream| stream.begin(began));
        Ok(trace)
    }

    /// Hands over all available events, in order of time. All events of a sample that was taken before the call come with this
    /// call or an earlier one.
    pub fn drain(&mut self, mut each: impl FnMut(&CpuEvent<'_>)) {
        let now = clock::monotonic();
        let (began, reached, lost) = (self.began, self.reached, &mut self.lost);
        let mut events = std::mem::take(&mut self.waiting);
        if reached == Nanos(0) {
            events.extend(self.cpus.iter().map(|cpu| unknown_before(*cpu, began)));
        }
        let mut take = |event: &CpuEvent<'_>| {
            if event.at >= began {
                events.push(on_time(RecordedEvent::of(event), reached));
            }
        };
        if let Some(chains) = &mut self.chains {
            chains.drain(&mut take);
        }
        for stream in &mut self.streams {
            stream.drain(&self.reader, &mut self.page, now, self.room, |event| {
                if let TracedChange::Lost { count, .. } = event.what {
                    *lost += count.max(1);
                }
                take(&event);
            });
        }
        events.sort_by_key(|event| event.at);
        self.waiting = events.split_off(events.partition_point(|event| event.at <= now));
        self.reached = now;
        events.iter().for_each(|event| each(&event.event()));
    }

    /// Events that the kernel could not keep.
    pub fn lost(&self) -> u64 {
        self.lost + self.chains.as_ref().map_or(0, Tracer::lost)
    }

    /// Removes it. What cannot be removed stays in the journal for the next command.
    pub fn end(self) {
        drop(self.streams);
        drop(self.chains);
        let _ = self.journal.finish_all();
    }
}

fn ready(instance: &Instance, cpus: &[u32], points: &[TracePoint]) -> Result<Vec<CpuStream>, TracingError> {
    instance.set("tracing_cpumask", &mask(cpus))?;
    for point in points {
        if !point.filter.is_empty() {
            instance.set(&format!("events/{}/filter", point.name), &point.filter)?;
        }
        instance.enable(&point.name)?;
    }
    cpus.iter().map(|cpu| instance.stream(*cpu)).collect()
}

/// The events before this time are not known.
fn unknown_before(cpu: u32, began: Nanos) -> RecordedEvent {
    RecordedEvent {
        at: began,
        cpu,
        tid: 0,
        what: TracedChange::Lost {
            since: Nanos(0),
            count: 0,
        },
        chain: Vec::new(),
    }
}

fn on_time(event: RecordedEvent, reached: Nanos) -> RecordedEvent {
    match lost_if_late(event.at, &event.what, reached) {
        None => event,
        Some(what) => RecordedEvent {
            at: reached,
            what,
            chain: Vec::new(),
            ..event
        },
    }
}

/// CPUs as the kernel reads a mask: words of 32 bits, the highest first.
fn mask(cpus: &[u32]) -> String {
    let words = cpus.iter().max().map_or(1, |most| most / 32 + 1);
    let word = |nth: u32| {
        let own = cpus.iter().filter(|cpu| *cpu / 32 == nth);
        format!("{:08x}", own.fold(0_u32, |word, cpu| word | 1 << (cpu % 32)))
    };
    (0..words).rev().map(word).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateFolder;
    use crate::trace::Purpose;
    use crate::trace::points::points;
    use worstcase_instruments::sys::{affinity, sched};

    #[test]
    fn a_mask_names_each_cpu() {
        assert_eq!(mask(&[1]), "00000002");
        assert_eq!(mask(&[0, 33, 32]), "00000003,00000001");
    }

    #[test]
    fn what_comes_too_late_is_lost() {
        let event = |at| RecordedEvent {
            what: TracedChange::Waking { tid: 7 },
            ..unknown_before(1, Nanos(at))
        };
        assert_eq!(on_time(event(100), Nanos(100)), event(100));
        let late = on_time(event(90), Nanos(100));
        let since = Nanos(90);
        assert_eq!(
            (late.at, late.what),
            (Nanos(100), TracedChange::Lost { since, count: 1 })
        );
    }

    #[test]
    fn a_thread_that_sleeps_is_seen_in_order_of_time_and_chains_are_those_of_threads() {
        worstcase_skips::needs_root!();
        let cpu = affinity::current().unwrap()[0];
        affinity::set(&[cpu]).unwrap();
        let _ = sched::Policy::fifo(50).apply();
        let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let points = points(&Tracefs::of_threads().unwrap(), &Purpose::Recorder { tids: vec![tid] }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::begin(&StateFolder::at(folder.path()).unwrap(), "test").unwrap();
        let mut trace = SampleInstance::open(&[cpu], &points, 4 << 20, journal).unwrap();
        let (mut events, mut slept) = (Vec::new(), 0);
        for _ in 0..3 {
            let due = clock::monotonic() + Nanos::from_millis(5);
            // The timer finds this thread at work, then the CPU idle or somebody else.
            while clock::monotonic() < due {}
            clock::sleep_until(due + Nanos::from_millis(5));
            slept += 1;
            trace.drain(|event| events.push(RecordedEvent::of(event)));
        }
        assert!(events.is_sorted_by_key(|event| event.at));
        let is_unknown = |e: &RecordedEvent| matches!(e.what, TracedChange::Lost { since: Nanos(0), .. });
        assert!(is_unknown(&events[0]) && trace.lost() == 0);
        let woken = events
            .iter()
            .filter(|e| matches!(e.what, TracedChange::Waking { tid: of } if of == tid));
        assert!(woken.count() >= slept);
        let chained: Vec<_> = events.iter().filter(|e| !e.chain.is_empty()).collect();
        assert!(!chained.is_empty() && chained.iter().all(|e| e.tid != 0));
        trace.end();
    }
}
