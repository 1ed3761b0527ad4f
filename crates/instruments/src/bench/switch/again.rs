//! lmbench's rule: a repetition that is off by more than a bound is measured again. What was measured first is kept too.

use super::plan::Plan;
use super::{alone, ring};
use crate::bench::{BenchError, Observer, SwitchAgain, SwitchRepetition};
use worstcase_logs::Nanos;

/// So often each is measured again at most.
const TRIES: u32 = 3;

/// Between which times a repetition is not off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bound {
    low: u64,
    high: u64,
}

impl Bound {
    /// So many percent around the median of what was taken; nothing of fewer than three, which have no middle.
    fn around(taken: &[SwitchRepetition], percent: u8) -> Option<Bound> {
        let mut totals: Vec<u64> = taken.iter().map(|r| r.total.0).collect();
        totals.sort_unstable();
        let middle = *totals.get((totals.len().max(1) - 1) / 2).filter(|_| totals.len() > 2)?;
        let most = middle * u64::from(percent) / 100;
        Some(Bound {
            low: middle - most,
            high: middle + most,
        })
    }

    fn holds(self, total: Nanos) -> bool {
        (self.low..=self.high).contains(&total.0)
    }
}

/// Measures those again that are more than `percent` off the median of all; none if it is 0.
pub(super) fn measure(
    percent: u8,
    plan: &Plan,
    taken: &[SwitchRepetition],
    observer: &mut dyn Observer,
) -> Result<Vec<SwitchAgain>, BenchError> {
    let Some(bound) = Bound::around(taken, percent).filter(|_| percent > 0) else {
        return Ok(Vec::new());
    };
    repeat(bound, taken, || once(plan, observer))
}

/// `once` gives nothing if an end is wanted.
fn repeat(
    bound: Bound,
    taken: &[SwitchRepetition],
    mut once: impl FnMut() -> Result<Option<SwitchRepetition>, BenchError>,
) -> Result<Vec<SwitchAgain>, BenchError> {
    let mut all = Vec::new();
    for (index, _) in taken.iter().enumerate().filter(|(_, r)| !bound.holds(r.total)) {
        let mut last = None;
        for tries in 1..=TRIES {
            let Some(repetition) = once()? else {
                all.extend(last);
                return Ok(all);
            };
            let still_off = !bound.holds(repetition.total);
            last = Some(SwitchAgain {
                index: index as u32,
                tries,
                still_off,
                repetition,
            });
            if !still_off {
                break;
            }
        }
        all.extend(last);
    }
    Ok(all)
}

fn once(plan: &Plan, observer: &mut dyn Observer) -> Result<Option<SwitchRepetition>, BenchError> {
    if observer.wants_end() {
        return Ok(None);
    }
    let Some(alone) = alone::measure(plan, observer)? else {
        return Ok(None);
    };
    let Some((running, total)) = ring::measure(plan, observer)? else {
        return Ok(None);
    };
    running.finish(plan, total, alone).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(total: u64) -> SwitchRepetition {
        SwitchRepetition {
            total: Nanos(total),
            hot: Nanos(0),
            cold: Nanos(0),
            voluntary: 0,
            involuntary: 0,
            migrations: None,
        }
    }

    /// What was measured again of `first`: place, tries, whether it is still off, and the time.
    fn again(percent: u8, first: &[u64], then: &[u64]) -> Vec<(u32, u32, bool, u64)> {
        let taken: Vec<SwitchRepetition> = first.iter().copied().map(of).collect();
        let mut then = then.iter().copied();
        let bound = Bound::around(&taken, percent).unwrap();
        let all = repeat(bound, &taken, || Ok(then.next().map(of))).unwrap();
        all.iter()
            .map(|a| (a.index, a.tries, a.still_off, a.repetition.total.0))
            .collect()
    }

    #[test]
    fn what_is_within_the_bound_is_measured_once() {
        assert_eq!(again(1, &[1000, 1010, 990], &[]), []);
        assert_eq!(again(1, &[1000, 1011, 1000], &[1005]), [(1, 1, false, 1005)]);
        assert_eq!(again(1, &[989, 1000, 1000], &[1005]), [(0, 1, false, 1005)]);
    }

    #[test]
    fn tries_have_an_end() {
        let first = [1000, 2000, 1000, 500];
        assert_eq!(
            again(5, &first, &[3000, 1040, 400, 300, 200]),
            [(1, 2, false, 1040), (3, 3, true, 200)]
        );
    }

    #[test]
    fn who_wants_an_end_keeps_what_there_is() {
        assert_eq!(again(5, &[1000, 2000, 1000, 500], &[3000]), [(1, 1, true, 3000)]);
    }

    #[test]
    fn two_have_no_middle() {
        assert_eq!(Bound::around(&[of(1), of(9)], 1), None);
        assert_eq!(Bound::around(&[], 1), None);
    }
}
