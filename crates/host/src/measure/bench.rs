//! One measurement of a probe that does not measure CPU by CPU: the probe measures, and this code observes it and reports
//! to the controller.

use super::MeasureError;
use super::counters::CountersBefore;
use super::pace::{LEAD, Say, warm_up};
use crate::loads::RunningHostLoad;
use crate::machine;
use crate::message::{BenchDone, CpuStats, MeasurementEnd, Message};
use crate::spec::HostSpec;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, Observer, Placement, Request};
use worstcase_contract::record::{Sample, SelfCost};
use worstcase_instruments::environment;
use worstcase_instruments::sys::{affinity, clock, usage};

/// Time between two messages.
const TICK: Nanos = Nanos::from_millis(200);

pub(super) fn measure(
    spec: &HostSpec,
    bench: Bench,
    load: &mut RunningHostLoad,
    stop: &AtomicBool,
    say: &mut Say<'_>,
) -> Result<MeasurementEnd, MeasureError> {
    let everywhere = matches!(bench, Bench::Switch(s) if s.placement == Placement::Free);
    let request = Request {
        repetitions: spec.periods,
        start: spec.start(clock::monotonic() + LEAD, 0),
        period: spec.interval,
        priority: spec.scheduling.priority(),
        cpus: if everywhere { &[] } else { &spec.cpus },
        seed: spec.seed,
        folder: Some(&spec.work_dir),
        is_watched: false,
    };
    if everywhere {
        affinity::set(&spec.cpus)
            .map_err(|e| MeasureError::Thread(format!("cannot run on CPUs {:?}: {e}", spec.cpus)))?;
    }
    bench.check_machine(&request)?;
    warm_up(spec, load, stop, say)?;
    let environment = environment::read();
    let start = spec.start(clock::monotonic() + LEAD, 0);
    let before = Before::now(spec, load);
    let mut onlooker = BenchOnlooker::new(spec, start, stop, load, before, say);
    let taken = bench.measure(&Request { start, ..request }, &mut onlooker)?;
    onlooker.finish()?;
    let (start, elapsed, stats, before) = (onlooker.start, onlooker.elapsed(), onlooker.stats, onlooker.before);
    load.check()?;
    let stopped = stop.load(Ordering::Relaxed);
    let work = before.counters.work(load, stopped)?;
    let used = usage::own_process() - before.used;
    let steal = before.counters.steal(spec);
    Ok(MeasurementEnd {
        cpus: Vec::new(),
        bench: Some(BenchDone {
            start,
            samples: taken.samples,
            details: taken.details,
            self_cost: SelfCost {
                cpu_time: clock::own_cpu_time()?.saturating_sub(before.cpu),
                minor_faults: used.minor_faults,
                major_faults: used.major_faults,
                ..SelfCost::default()
            },
            steal: steal
                .into_iter()
                .map(|n| n.map(|n| n.0))
                .sum::<Option<u64>>()
                .map(Nanos),
            measured: elapsed,
        }),
        work,
        warnings: taken.warnings,
        notes: load.notes().to_vec(),
        environment,
        throttled: match spec.probe.is_real_time() {
            true => machine::may_be_throttled(Nanos(stats.max_ns), spec.interval),
            false => Some(false),
        },
        stopped,
        broke: false,
        full: false,
        peak_memory_kb: machine::peak_memory_kb(),
        lost_events: 0,
    })
}

/// The counters at the begin.
struct Before {
    counters: CountersBefore,
    used: usage::Usage,
    cpu: Nanos,
}

impl Before {
    fn now(spec: &HostSpec, load: &RunningHostLoad) -> Before {
        Before {
            counters: CountersBefore::now(spec, load),
            used: usage::own_process(),
            cpu: clock::own_cpu_time().unwrap_or_default(),
        }
    }
}

/// Reports to the controller several times a second, and passes on the user's wish to stop.
struct BenchOnlooker<'a, 's> {
    spec: &'a HostSpec,
    start: Nanos,
    stop: &'a AtomicBool,
    load: &'a mut RunningHostLoad,
    before: Before,
    say: &'a mut Say<'s>,
    stats: CpuStats,
    told: Nanos,
    failed: Option<MeasureError>,
}

impl<'a, 's> BenchOnlooker<'a, 's> {
    fn new(
        spec: &'a HostSpec,
        start: Nanos,
        stop: &'a AtomicBool,
        load: &'a mut RunningHostLoad,
        before: Before,
        say: &'a mut Say<'s>,
    ) -> Self {
        let stats = CpuStats {
            cpu: spec.cpus.first().copied().unwrap_or(0),
            ..CpuStats::default()
        };
        BenchOnlooker {
            spec,
            start,
            stop,
            load,
            before,
            say,
            stats,
            told: start,
            failed: None,
        }
    }

    fn elapsed(&self) -> Nanos {
        clock::monotonic().saturating_sub(self.start)
    }

    fn tell(&mut self) -> Result<(), MeasureError> {
        self.load.check()?;
        let tick = Message::Tick {
            elapsed: self.elapsed(),
            cpus: vec![self.stats.clone()],
            work: self.before.counters.work_so_far(self.load),
        };
        Ok((self.say)(&tick)?)
    }

    fn tell_if_due(&mut self) {
        let now = clock::monotonic();
        if now.saturating_sub(self.told) >= TICK && self.failed.is_none() {
            self.told = now;
            self.failed = self.tell().err();
        }
    }

    /// Sends a last message, so that observers have seen every sample.
    fn finish(&mut self) -> Result<(), MeasureError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.tell(),
        }
    }
}

impl Observer for BenchOnlooker<'_, '_> {
    fn begins(&mut self) {
        self.start = clock::monotonic();
        self.before = Before::now(self.spec, self.load);
    }

    fn sample(&mut self, sample: Sample) {
        let index = u64::from(sample.index);
        self.stats.add(index, sample.latency.0);
        self.stats.missed = index + 1 - self.stats.taken;
        self.tell_if_due();
    }

    fn wants_end(&mut self) -> bool {
        self.tell_if_due();
        self.failed.is_some() || self.stop.load(Ordering::Relaxed)
    }
}
