//! The time that due times can fall into, and the sections in it.
//!
//! From the moment that its timer is due until the probe sleeps again, no due time comes: the next is a period away. All code
//! that runs then belongs to the wake-up: interrupt, switch, the probe's own code and system call, the switch back. This code
//! has as many sections as there are samples, yet no due time can ever meet them. So these sections and this time are left
//! out, but for the rest of the section that the sample met. All other time is the load's, idle time included; due times are
//! spread evenly over it.
//!
//! Where in a period the CPU idled is not known; idle time is put behind all code that ran in the period.

use super::cell_census::CellCensus;
use super::join::{Joined, Met};
use std::collections::HashMap;
use worstcase_contract::Instructions;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{LONG, Section};
use worstcase_lab::moments::SampleMoment;
use worstcase_results::stats::median;

/// See the module. Times are ns of the load's time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExposedTime {
    /// The due times, and the end of the last one's period. The first has a period before it.
    pub(crate) due: Vec<u64>,
    /// Long sections, in order.
    pub(crate) sections: Vec<ExposedSection>,
}

/// A section as it would have been without samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExposedSection {
    /// When it began.
    pub(crate) start: u64,
    /// The section's length.
    pub(crate) length: u64,
    /// The instruction at which it ended.
    pub(crate) to: u64,
}

#[derive(Clone, Copy)]
struct Period {
    due: Instructions,
    /// The timer's interrupt.
    entry: Instructions,
    /// The probe sleeps.
    asleep: Instructions,
    /// The rest of the section that the sample met, in ns.
    rest: u64,
    /// The due time in the load's time.
    at: u64,
}

impl ExposedTime {
    /// The exposed time of a cell without missed periods.
    pub(crate) fn of(taken: &CellCensus, joined: &[Joined]) -> ExposedTime {
        let (periods, end) = periods(taken, joined);
        let met = joined.iter().filter_map(|j| j.section);
        let met: HashMap<Instructions, Met> = met.map(|m| (m.start, m)).collect();
        let place = |section: &Section| {
            let after = periods.partition_point(|p| p.entry <= section.start);
            let period = periods.get(after.saturating_sub(1))?;
            let (start, length) = match met.get(&section.start) {
                Some(met) => (section.start, met.undisturbed),
                None => outside(section, period),
            };
            (length >= LONG).then(|| ExposedSection {
                start: period.exposed_time(taken, start),
                length: taken.time_of(length).0,
                to: section.to,
            })
        };
        ExposedTime {
            sections: taken.sections(Kind::NonPreemptible).filter_map(place).collect(),
            due: periods.iter().map(|p| p.at).chain([end]).collect(),
        }
    }
}

impl Period {
    /// When in the load's time an instruction ran.
    fn exposed_time(&self, taken: &CellCensus, instruction: Instructions) -> u64 {
        let time = |from: Instructions, to: Instructions| taken.time_of(to.0 - from.0).0;
        match instruction {
            // Before the first due time.
            before if before < self.due => self.at.saturating_sub(time(before, self.due)),
            within if within < self.asleep => self.at + time(self.due, within).min(self.rest),
            after => self.at + self.rest + time(self.asleep, after),
        }
    }
}

/// When the probe gave its CPU away after each sample, if it did before the next.
fn asleep(taken: &CellCensus) -> Vec<Option<Instructions>> {
    let all = &taken.census.asleep;
    let after = |sample: Instructions| all.get(all.partition_point(|at| *at <= sample)).copied();
    let next = taken.moments.iter().skip(1).map(|m| m.sample);
    let ends = next.chain([Instructions(u64::MAX)]);
    let of = |(m, end): (&SampleMoment, Instructions)| after(m.sample).filter(|at| *at < end);
    taken.moments.iter().zip(ends).map(of).collect()
}

/// All periods, in order, and the end of the last. A probe that does not sleep before its next sample is taken to sleep as
/// long after its sample as usual.
fn periods(taken: &CellCensus, joined: &[Joined]) -> (Vec<Period>, u64) {
    let asleep = asleep(taken);
    let known = taken.moments.iter().zip(&asleep);
    let known = known.filter_map(|(m, asleep)| Some((*asleep)?.0 - m.sample.0));
    let usual = median::of(known).unwrap_or(0);
    let mut at = taken.about.period_ns;
    let period = |((moment, asleep), joined): ((&SampleMoment, &Option<Instructions>), &Joined)| {
        let period = Period {
            due: moment.due,
            entry: moment.timer_entry.unwrap_or(moment.due),
            asleep: asleep.unwrap_or(Instructions(moment.sample.0 + usual)),
            rest: joined.rest.unwrap_or_default().0,
            at,
        };
        let wake_up = taken
            .time_of(period.asleep.0 - moment.due.0)
            .0
            .saturating_sub(period.rest);
        at += taken.about.period_ns.saturating_sub(wake_up);
        period
    };
    let periods = taken.moments.iter().zip(&asleep).zip(joined).map(period).collect();
    (periods, at)
}

/// The part of a section without a sample that belongs to no wake-up, and its start: all of the section, or the rest
/// after the probe sleeps.
fn outside(section: &Section, period: &Period) -> (Instructions, u64) {
    let end = section.start.0 + section.length;
    match (period.entry..period.asleep).contains(&section.start) {
        true => (period.asleep, end.saturating_sub(period.asleep.0)),
        false => (section.start, section.length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::join::join;
    use crate::census::testing::{moment, section, taken};

    #[test]
    fn a_wake_up_s_own_sections_are_left_out() {
        let mut taken = taken();
        let sections = [
            section(Kind::NonPreemptible, 10_000, 3_000),
            section(Kind::NonPreemptible, 265_000, 3_000), // met: 2 000 are left
            section(Kind::NonPreemptible, 268_100, 1_200), // the switch to the probe
            section(Kind::NonPreemptible, 270_500, 4_000), // the switch back, and what then goes on
            section(Kind::NonPreemptible, 300_000, 5_000),
            section(Kind::InterruptsOff, 350_000, 9_000),
        ];
        taken.census.sections = sections.to_vec();
        let sample = |index, due, latency, entry| {
            let mut moment = moment(index, due, latency);
            moment.timer_entry = Some(Instructions(entry));
            moment
        };
        taken.moments = vec![sample(0, 15_000, 1_000, 15_050), sample(1, 266_000, 4_000, 268_000)];
        // The last one gave its CPU away once more, which is no sample's.
        taken.census.asleep = [17_000, 271_000, 280_000].map(Instructions).to_vec();
        let found = ExposedTime::of(&taken, &join(&taken).unwrap());
        let sections: Vec<(u64, u64)> = found.sections.iter().map(|s| (s.start, s.length)).collect();
        // 2 000 of the first period are the wake-up's, 5 000 - 2 000 of the second.
        assert_eq!(found.due, [0, 249_000, 497_000].map(|n| 251_000 + n));
        assert_eq!(
            sections,
            [(246_000, 3_000), (499_000, 3_000), (502_000, 3_500), (531_000, 5_000)]
        );
    }

    #[test]
    fn where_it_is_not_known_the_probe_sleeps_as_soon_as_usual() {
        let mut taken = taken();
        taken.moments = vec![moment(0, 10_000, 3_000), moment(1, 300_000, 3_000)];
        taken.census.asleep = vec![Instructions(14_000)];
        let (periods, _) = periods(&taken, &join(&taken).unwrap());
        let ends: Vec<u64> = periods.iter().map(|p| p.asleep.0).collect();
        assert_eq!(ends, [14_000, 304_000]);
    }
}
