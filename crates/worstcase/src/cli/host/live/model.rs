//! The state of the running measurement: from messages alone.

use std::collections::VecDeque;
use worstcase_contract::Nanos;
use worstcase_contract::Probe;
use worstcase_contract::record::Work;
use worstcase_host::HostSpec;
use worstcase_host::message::{CpuStats, Message};

/// Rates are those of this long.
const RECENT: Nanos = Nanos(2_000_000_000);

/// The progress of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The load starts.
    Starting,
    /// The load runs alone, for this long.
    WarmUp(Nanos),
    /// Samples are taken.
    Measuring,
    /// The measurement ended, and samples become records.
    Keeping,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct LiveModel {
    /// The number of the measurement, from 1.
    pub nth: usize,
    /// The number of measurements.
    pub of: usize,
    /// The order for the measurement.
    pub spec: HostSpec,
    /// The limit that no latency should exceed.
    pub criterion: Option<Nanos>,
    /// The largest latency of the run's earlier measurements that is above the limit, and in which.
    pub(crate) failed_already: Option<(Nanos, String)>,
    /// The progress.
    pub(crate) phase: Phase,
    /// The time measured so far.
    pub(crate) elapsed: Nanos,
    /// Samples so far.
    pub cpus: Vec<CpuStats>,
    /// The load's work at the latest ticks, the oldest first.
    recent: VecDeque<(Nanos, Vec<Work>)>,
}

impl LiveModel {
    /// A measurement about which nothing is known yet.
    pub fn new(nth: usize, of: usize, spec: HostSpec, criterion: Option<Nanos>) -> LiveModel {
        let cpus = spec.cpus.iter().map(|cpu| CpuStats {
            cpu: *cpu,
            ..CpuStats::default()
        });
        LiveModel {
            nth,
            of,
            criterion,
            failed_already: None,
            phase: Phase::Starting,
            elapsed: Nanos(0),
            cpus: cpus.collect(),
            recent: VecDeque::from([(Nanos(0), Vec::new())]),
            spec,
        }
    }

    /// Takes in a message.
    pub(crate) fn message(&mut self, message: &Message) {
        match message {
            Message::WarmUp { length } => self.phase = Phase::WarmUp(*length),
            Message::Tick { elapsed, cpus, work } => {
                self.phase = Phase::Measuring;
                self.elapsed = *elapsed;
                self.cpus.clone_from(cpus);
                self.recent.push_back((*elapsed, work.clone()));
                // One entry older than the time of interest stays: the rate counts from there.
                while self.recent.len() > 2 && elapsed.saturating_sub(self.recent[1].0) >= RECENT {
                    self.recent.pop_front();
                }
            }
            Message::Done(_) => self.phase = Phase::Keeping,
            Message::Broke { .. } | Message::Failed { .. } | Message::Segment(_) | Message::Pulse(_) => {}
        }
    }

    /// The samples are gaps.
    pub(crate) fn is_noise(&self) -> bool {
        self.spec.probe == Probe::Noise
    }

    /// The share of the time that is over, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        match self.phase {
            Phase::Keeping => 1.0,
            _ if self.spec.length().0 == 0 => {
                let taken: u64 = self.cpus.iter().map(|c| c.taken).sum();
                (taken as f64 / f64::from(self.spec.periods)).min(1.0)
            }
            _ => (self.elapsed.0 as f64 / self.spec.length().0 as f64).min(1.0),
        }
    }

    /// All CPUs as one; `max_index` is the worst CPU's.
    pub fn all(&self) -> CpuStats {
        let mut all = CpuStats::default();
        for cpu in self.cpus.iter().filter(|c| c.taken > 0) {
            if all.taken == 0 || cpu.max_ns > all.max_ns {
                (all.cpu, all.max_ns, all.max_index) = (cpu.cpu, cpu.max_ns, cpu.max_index);
            }
            if all.taken == 0 || cpu.min_ns < all.min_ns {
                all.min_ns = cpu.min_ns;
            }
            all.taken = all.taken.saturating_add(cpu.taken);
            all.sum_ns = all.sum_ns.saturating_add(cpu.sum_ns);
            all.missed = all.missed.saturating_add(cpu.missed);
            all.lost = all.lost.saturating_add(cpu.lost);
            if all.histogram.len() < cpu.histogram.len() {
                all.histogram.resize(cpu.histogram.len(), 0);
            }
            for (sum, count) in all.histogram.iter_mut().zip(&cpu.histogram) {
                *sum = sum.saturating_add(*count);
            }
        }
        all
    }

    /// The load's work per second, by unit.
    pub(crate) fn rates(&self) -> Vec<(&str, f64)> {
        let (Some((from, before)), Some((to, now))) = (self.recent.front(), self.recent.back()) else {
            return Vec::new();
        };
        let seconds = to.saturating_sub(*from).0 as f64 / 1e9;
        if seconds == 0.0 {
            return Vec::new();
        }
        let rate = |work: &'_ Work| {
            let earlier = before.iter().find(|w| w.unit == work.unit).map_or(0, |w| w.count);
            work.count.saturating_sub(earlier) as f64 / seconds
        };
        now.iter().map(|work| (work.unit.as_str(), rate(work))).collect()
    }
}
