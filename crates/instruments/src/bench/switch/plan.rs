//! How a repetition goes, decided before anything is started and never by a clock.

use crate::bench::{Switch, SwitchRepetition, Via};
use worstcase_logs::Nanos;

/// What a hop is taken to need, beside its working set.
const HOP: Nanos = Nanos::from_micros(2);
/// Bytes of a working set that are taken to be read in a nanosecond.
const BYTES_PER_NANO: u64 = 4;
/// What the timed laps should take by that.
const TARGET: Nanos = Nanos::from_millis(10);
/// Timed laps at least.
const MIN_LAPS: u64 = 10;
/// Timed laps at least, where a member spends so much CPU time that a lap is long.
const MIN_SPINNING_LAPS: u64 = 3;
/// Time of a lap from which that holds.
const LONG_LAP: Nanos = Nanos::from_millis(100);
/// Laps in which the members only note something, between warm-up and timed ones.
const NOTING: u64 = 2;

/// One repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Members of the ring.
    pub members: usize,
    /// Bytes that each reads, whole words.
    pub size: usize,
    /// What the token is passed through.
    pub via: Via,
    /// The members are threads.
    pub threads: bool,
    /// CPU time that each spends.
    pub spin: Nanos,
    /// Laps before the first noting one.
    pub warmup: u64,
    /// Timed laps.
    pub(crate) laps: u64,
    cpus: Vec<u32>,
}

impl Plan {
    pub(super) fn new(what: &Switch, cpus: &[u32]) -> Plan {
        let hop = HOP.0 + u64::from(what.size) / BYTES_PER_NANO + what.spin.0;
        let lap = hop * u64::from(what.processes);
        let least = match what.spin.0 > 0 && lap > LONG_LAP.0 {
            true => MIN_SPINNING_LAPS,
            false => MIN_LAPS,
        };
        let laps = TARGET.0.div_ceil(lap).max(least);
        Plan {
            members: what.processes.into(),
            size: (what.size as usize).next_multiple_of(size_of::<u64>()),
            via: what.via,
            threads: what.threads,
            spin: what.spin,
            warmup: (laps / 8).max(1),
            laps,
            cpus: cpus.to_vec(),
        }
    }

    /// The CPU on which a member is kept.
    pub(super) fn cpu_of(&self, member: usize) -> Option<u32> {
        (!self.cpus.is_empty()).then(|| self.cpus[member % self.cpus.len()])
    }

    /// Tokens passed while the clock runs.
    pub(super) fn hops(&self) -> u64 {
        self.laps * self.members as u64
    }

    /// Laps before the clock runs.
    pub(super) fn laps_before(&self) -> u64 {
        self.warmup + NOTING
    }

    /// A hop's part of the time of all, to the nearest nanosecond.
    pub(super) fn each(&self, total: Nanos) -> Nanos {
        Nanos((total.0 + self.hops() / 2) / self.hops())
    }

    /// Whether members got the token without a switch.
    pub(super) fn switched_too_little(&self, taken: &SwitchRepetition) -> bool {
        (taken.voluntary + taken.involuntary) * 10 < self.hops() * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::named;

    fn plan(text: &str) -> Plan {
        Plan::new(&named(text), &[3, 5])
    }

    fn estimate(plan: &Plan) -> u64 {
        plan.hops() * (HOP.0 + plan.size as u64 / BYTES_PER_NANO + plan.spin.0)
    }

    #[test]
    fn laps_follow_from_the_name_alone() {
        for (text, laps, hops) in [
            ("switch:2x0", 2500, 5000),
            ("switch:16x16k", 103, 1648),
            ("switch:96x64k", 10, 960),
            ("switch:2x0+spin20us", 228, 456),
            ("switch:2x0+spin1s", 3, 6),
        ] {
            let plan = plan(text);
            assert_eq!((plan.laps, plan.hops()), (laps, hops), "{text}");
        }
    }

    #[test]
    fn every_point_of_the_grid_takes_some_milliseconds() {
        for name in crate::bench::testing::all_named("switch") {
            let plan = plan(&name);
            assert!(plan.laps >= MIN_LAPS);
            let estimate = estimate(&plan);
            assert!((10_000_000..20_000_000).contains(&estimate), "{name}: {estimate}");
        }
    }

    #[test]
    fn members_take_turns_on_the_cpus() {
        let plan = plan("switch:3x0");
        let cpus: Vec<Option<u32>> = (0..3).map(|member| plan.cpu_of(member)).collect();
        assert_eq!(cpus, [Some(3), Some(5), Some(3)]);
    }

    #[test]
    fn a_sample_is_rounded_to_the_nearest_nanosecond() {
        let plan = plan("switch:2x0");
        let of = |total| plan.each(Nanos(total)).0;
        assert_eq!((of(5000), of(7499), of(7500), of(0)), (1, 1, 2, 0));
    }

    #[test]
    fn fewer_switches_than_hops_are_seen() {
        let plan = plan("switch:2x0");
        let with = |voluntary, involuntary| SwitchRepetition {
            total: Nanos(0),
            hot: Nanos(0),
            cold: Nanos(0),
            voluntary,
            involuntary,
            migrations: None,
        };
        assert!(!plan.switched_too_little(&with(4400, 100)));
        assert!(plan.switched_too_little(&with(4400, 99)));
    }
}
