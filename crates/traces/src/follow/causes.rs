//! From the parts of all cycles to what made the late ones late.

use super::CycleTimes;
use super::calls::CallKind;
use super::notes::{CpuNote, NoteKinds, NotedCycles};
use super::path::{Behind, Doing, Part, PartCause};
use crate::events::TracedThread;
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// A cycle with its parts.
#[derive(Clone, Debug)]
pub struct ExplainedCycle {
    /// Its times.
    pub times: CycleTimes,
    /// Where its time went; the parts add up to release to end.
    pub parts: Vec<Part>,
    /// What was seen of their CPUs besides.
    pub notes: Vec<CpuNote>,
}

/// Why some cycles were late.
#[derive(Clone, Debug)]
pub struct LateCause {
    /// The part that was too long.
    pub cause: PartCause,
    /// In so many late cycles it was the reason.
    pub cycles: u64,
    /// How long the part usually is, over all cycles.
    pub usual: Nanos,
    /// How long it was at most in these cycles.
    pub longest: Nanos,
    /// The latest of these cycles, if its parts were kept, or the one in which the part was longest.
    pub worst: Option<ExplainedCycle>,
}

/// What takes a large part of every cycle.
#[derive(Clone, Debug)]
pub struct UsualPart {
    /// The part.
    pub cause: PartCause,
    /// Cycles that have it.
    pub cycles: u64,
    /// Its median over all cycles.
    pub median: Nanos,
    /// Its sum over all cycles.
    pub sum: Nanos,
}

/// Cycles whose parts are kept as sums; of more only late ones are.
const KEPT: usize = 200_000;
/// Values that are kept of a part to tell its median.
const VALUES: usize = 20_000;
/// Different parts that are told apart.
const CAUSES: usize = 20_000;
/// The slowest cycles whose parts are kept.
pub const SLOWEST: usize = 64;

#[derive(Debug)]
struct PartStats {
    cause: PartCause,
    /// Values of the cycles that have it.
    values: Vec<u64>,
    cycles: u64,
    sum: u64,
    /// The cycle with the longest such part.
    longest: Option<(u64, ExplainedCycle)>,
}

#[derive(Debug)]
struct TalliedCycle {
    times: CycleTimes,
    /// The sums of its parts, by their places.
    sums: Box<[(u32, u64)]>,
    /// When it is late, if that is not the same for all.
    limit: Option<Nanos>,
    noted: NoteKinds,
}

/// Sums over all cycles.
#[derive(Debug, Default)]
pub(super) struct Tally {
    places: HashMap<PartCause, usize>,
    parts: Vec<PartStats>,
    cycles: Vec<TalliedCycle>,
    count: u64,
    pub slowest: Vec<ExplainedCycle>,
    /// Late cycles beyond [`KEPT`] that could not be kept.
    pub not_kept: u64,
}

impl Tally {
    /// Adds a cycle; `limit` tells which ones are late, where that is known already.
    pub fn add(&mut self, cycle: ExplainedCycle, limit: Option<Nanos>) {
        let response = cycle.times.response().0;
        self.count += 1;
        let mut sums: Vec<(u32, u64)> = Vec::with_capacity(cycle.parts.len());
        for part in &cycle.parts {
            let Some(place) = self.place(&part.cause) else { continue };
            let length = part.to.0 - part.from.0;
            match sums.iter_mut().find(|(there, _)| *there == place) {
                Some((_, sum)) => *sum += length,
                None => sums.push((place, length)),
            }
        }
        for (place, sum) in &sums {
            let stats = &mut self.parts[*place as usize];
            stats.cycles += 1;
            stats.sum += sum;
            if stats.values.len() < VALUES {
                stats.values.push(*sum);
            }
            if stats.longest.as_ref().is_none_or(|(longest, _)| sum > longest) {
                stats.longest = Some((*sum, cycle.clone()));
            }
        }
        if self.cycles.len() < KEPT || limit.is_some_and(|limit| response > limit.0 && self.cycles.len() < 2 * KEPT) {
            self.cycles.push(TalliedCycle {
                times: cycle.times,
                sums: sums.into_boxed_slice(),
                limit,
                noted: NoteKinds::of(&cycle.notes),
            });
        } else if limit.is_some_and(|limit| response > limit.0) {
            self.not_kept += 1;
        }
        let is_slow = self
            .slowest
            .last()
            .is_none_or(|last| response > last.times.response().0);
        if is_slow || self.slowest.len() < SLOWEST {
            let at = self
                .slowest
                .partition_point(|there| there.times.response().0 >= response);
            self.slowest.insert(at, cycle);
            self.slowest.truncate(SLOWEST);
        }
    }

    /// From this release on nobody knows what is late.
    pub fn judge_none_from(&mut self, release: Nanos) {
        let of_them = self
            .cycles
            .iter_mut()
            .rev()
            .take_while(|cycle| cycle.times.release >= release);
        of_them.for_each(|cycle| cycle.limit = Some(Nanos(u64::MAX)));
    }

    fn place(&mut self, cause: &PartCause) -> Option<u32> {
        let cause = among_ordinary(cause.clone());
        let key = without_ids(cause.clone());
        if let Some(place) = self.places.get(&key) {
            return Some(*place as u32);
        }
        if self.parts.len() >= CAUSES {
            return None;
        }
        self.places.insert(key, self.parts.len());
        self.parts.push(PartStats {
            cause,
            values: Vec::new(),
            cycles: 0,
            sum: 0,
            longest: None,
        });
        Some(self.parts.len() as u32 - 1)
    }

    /// The median over all cycles, of which some do not have the part.
    fn median(&self, place: usize) -> u64 {
        let stats = &self.parts[place];
        let without = self.count - stats.cycles;
        if without >= stats.cycles {
            return 0;
        }
        let mut values = stats.values.clone();
        values.sort_unstable();
        // The middle of all cycles, as a place among those that have the part.
        let middle = (self.count / 2 - without) as f64 / stats.cycles as f64;
        values
            .get((middle * values.len() as f64) as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Of how many cycles that took longer than `limit` something was seen of the CPUs.
    pub fn noted(&self, limit: Nanos) -> NotedCycles {
        let mut noted = NotedCycles::default();
        let late = self
            .cycles
            .iter()
            .filter(|cycle| cycle.times.response() > cycle.limit.unwrap_or(limit));
        late.for_each(|cycle| noted.add(cycle.noted));
        noted
    }

    /// What made the cycles late that took longer than `limit`, the most frequent cause first, and how many they are.
    ///
    /// A cause is the part with the largest excess over its median, if without that excess the cycle had been in time;
    /// otherwise the largest part without which it had been: one that is in every cycle has no excess.
    pub fn causes(&self, limit: Nanos) -> (u64, Vec<LateCause>) {
        let medians: Vec<u64> = (0..self.parts.len()).map(|place| self.median(place)).collect();
        let mut found: HashMap<u32, (u64, u64, CycleTimes)> = HashMap::new();
        let mut late = 0;
        for TalliedCycle {
            times,
            sums,
            limit: own,
            ..
        } in &self.cycles
        {
            let limit = own.unwrap_or(limit);
            let response = times.response().0;
            if response <= limit.0 {
                continue;
            }
            late += 1;
            let needed = response - limit.0;
            let excess = |(place, sum): &&(u32, u64)| sum.saturating_sub(medians[*place as usize]);
            let by_excess = sums.iter().max_by_key(|part| excess(part));
            let is_own = |(place, _): &&(u32, u64)| {
                let cause = &self.parts[*place as usize].cause;
                cause.via.is_empty() && matches!(cause.what, Doing::User | Doing::Code)
            };
            let by_share = || {
                let largest = sums.iter().filter(|part| !is_own(part)).max_by_key(|(_, sum)| *sum);
                largest
                    .filter(|(_, sum)| *sum >= needed)
                    .or_else(|| sums.iter().max_by_key(|(_, sum)| *sum))
            };
            let Some((place, sum)) = by_excess.filter(|part| excess(part) >= needed).or_else(by_share) else {
                continue;
            };
            let entry = found.entry(*place).or_insert((0, 0, *times));
            entry.0 += 1;
            entry.1 = (*sum).max(entry.1);
            if response > entry.2.response().0 {
                entry.2 = *times;
            }
        }
        let mut causes: Vec<LateCause> = found
            .into_iter()
            .map(|(place, (cycles, longest, times))| {
                let stats = &self.parts[place as usize];
                let with_part = stats.longest.as_ref();
                let mut kept = self.slowest.iter().chain(with_part.map(|(_, cycle)| cycle));
                let with_longest = with_part.filter(|(sum, _)| *sum == longest).map(|(_, cycle)| cycle);
                let worst = kept.find(|cycle| cycle.times == times).or(with_longest).cloned();
                LateCause {
                    cause: stats.cause.clone(),
                    cycles,
                    usual: Nanos(medians[place as usize]),
                    longest: Nanos(longest),
                    worst,
                }
            })
            .collect();
        causes.sort_by_key(|cause| std::cmp::Reverse((cause.cycles, cause.longest)));
        (late + self.not_kept, causes)
    }

    /// The parts that take most of all cycles.
    pub fn usual(&self, most: usize) -> Vec<UsualPart> {
        let mut places: Vec<usize> = (0..self.parts.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.parts[*place].sum));
        places.truncate(most);
        let usual = places.into_iter().map(|place| {
            let stats = &self.parts[place];
            UsualPart {
                cause: stats.cause.clone(),
                cycles: stats.cycles,
                median: Nanos(self.median(place)),
                sum: Nanos(stats.sum),
            }
        });
        usual.collect()
    }

    /// The response that so many of a hundred cycles do not exceed.
    pub fn percentile(&self, percent: usize) -> Nanos {
        let mut all: Vec<u64> = self.cycles.iter().map(|cycle| cycle.times.response().0).collect();
        all.sort_unstable();
        let place = (all.len() * percent / 100).min(all.len().saturating_sub(1));
        Nanos(all.get(place).copied().unwrap_or_default())
    }

    /// Time that is not explained, of all cycles together.
    pub fn unexplained(&self) -> Nanos {
        let parts = self
            .parts
            .iter()
            .filter(|part| matches!(part.cause.what, Doing::Unexplained(_) | Doing::FromIdle(None)));
        Nanos(parts.map(|part| part.sum).sum())
    }
}

/// All ordinary threads with which an ordinary thread shares its CPU are one cause.
fn among_ordinary(mut cause: PartCause) -> PartCause {
    if let Doing::Ready { behind, .. } = &mut cause.what
        && matches!(behind, Behind::Equal(other) if !other.is_real_time())
    {
        *behind = Behind::Ordinary;
    }
    cause
}

/// The cause as it is the same in every run: without ids of threads, and without addresses.
pub fn in_any_run(cause: &PartCause) -> PartCause {
    let mut cause = without_ids(cause.clone());
    let of_calls = cause.via.iter_mut().filter_map(|blocked| blocked.call.as_mut());
    of_calls
        .chain(call_of(&mut cause.what))
        .for_each(CallKind::forget_address);
    cause
}

fn call_of(what: &mut Doing) -> Option<&mut CallKind> {
    match what {
        Doing::Call(call) => Some(call),
        Doing::KernelLock(call) | Doing::Sleeps(call) | Doing::Slack(call) | Doing::FromIdle(call) => call.as_mut(),
        Doing::Device { call, .. } | Doing::WokenBy { call, .. } => call.as_mut(),
        _ => None,
    }
}

/// Threads of one name and priority are one cause.
fn without_ids(mut cause: PartCause) -> PartCause {
    let forget = |thread: &mut TracedThread| thread.tid = 0;
    forget(&mut cause.thread);
    cause.via.iter_mut().for_each(|blocked| forget(&mut blocked.thread));
    let other = match &mut cause.what {
        Doing::Ready { behind, .. } => behind.thread_mut(),
        Doing::WokenBy { by, .. } => Some(by),
        Doing::Handler { sender, .. } | Doing::Stopped { sender } => sender.as_mut(),
        _ => None,
    };
    other.map(forget);
    cause
}
