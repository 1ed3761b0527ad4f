//! ns of each event, from operations whose events and times are known.
//!
//! time = sum of events x ns. All ns are positive, and errors are factors: the fit is one of logarithms, with a normal prior
//! around [`CYCLES`] (maximum a posteriori, by Gauss-Newton), and an operation that is far off counts less (Huber).

use crate::matrix::Triangle;
use crate::prior::{CYCLES, DEVIATION};
use crate::{quantile, sorted};
use worstcase_costs::{CostEvent, EventCounts};

/// The number of events in the model.
const N: usize = CYCLES.len();
/// The standard deviation of an operation's logarithm that the model leaves.
pub(crate) const NOISE: f64 = 0.2;
/// Residuals above this count less.
const FAR: f64 = 0.3;
/// Longest step of a logarithm.
const STEP: f64 = 0.5;
/// Most steps.
const STEPS: usize = 60;
/// A step as short as this is the last.
const SHORT: f64 = 1e-6;

/// What an operation consists of, each time, and how long it takes.
#[derive(Clone, Debug)]
pub(crate) struct TimedCounts {
    /// Of each event of the model.
    pub(crate) counts: [f64; N],
    /// ns.
    pub(crate) ns: f64,
}

/// The events of the model, `times` of them being one.
pub(crate) fn modelled(counts: &EventCounts, times: f64) -> [f64; N] {
    std::array::from_fn(|i| counts[CYCLES[i].0] as f64 / times)
}

/// ns of each event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTimes([f64; N]);

impl EventTimes {
    /// The times that fit best.
    pub(crate) fn fitted(operations: &[TimedCounts]) -> EventTimes {
        let prior = prior_of(operations);
        let mut logs = [0.0; N];
        for _ in 0..STEPS {
            let times = moved(&prior, &logs);
            let (matrix, mut right) = times.normal_equations(operations);
            for (right, log) in right.iter_mut().zip(&logs) {
                *right -= log / DEVIATION.powi(2);
            }
            let step = Triangle::of(&matrix).solve(&right);
            let longest = step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            let shorter = (STEP / longest).min(1.0);
            for (log, step) in logs.iter_mut().zip(&step) {
                *log += step * shorter;
            }
            if longest < SHORT {
                break;
            }
        }
        moved(&prior, &logs)
    }

    /// From the ns of named events; those that are not named are as the prior has them, beside the others.
    pub(crate) fn of(named: impl Fn(CostEvent) -> Option<f64>) -> EventTimes {
        let scales = CYCLES
            .iter()
            .filter_map(|(event, cycles)| Some(named(*event)? / cycles));
        let scales = sorted(scales);
        let scale = if scales.is_empty() { 1.0 } else { quantile(&scales, 0.5) };
        EventTimes(CYCLES.map(|(event, cycles)| named(event).unwrap_or(cycles * scale)))
    }

    /// ns of each event of the model.
    pub fn named(&self) -> impl Iterator<Item = (CostEvent, f64)> {
        CYCLES.iter().zip(self.0).map(|((event, _), ns)| (*event, ns))
    }

    pub(crate) fn time_of(&self, counts: &[f64; N]) -> f64 {
        counts.iter().zip(&self.0).map(|(n, ns)| n * ns).sum()
    }

    /// Each event's share of the time.
    pub(crate) fn shares(&self, counts: &[f64; N]) -> [f64; N] {
        let all = self.time_of(counts);
        std::array::from_fn(|i| counts[i] * self.0[i] / all)
    }

    /// How well each time is known from these operations: the inverse of the logarithms' covariance.
    pub(crate) fn certainty(&self, operations: &[TimedCounts]) -> Triangle {
        Triangle::of(&self.normal_equations(operations).0)
    }

    /// The matrix and the right side of one step, without the prior's pull.
    fn normal_equations(&self, operations: &[TimedCounts]) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut matrix = vec![vec![0.0; N]; N];
        let mut right = vec![0.0; N];
        for operation in operations {
            let residual = (operation.ns / self.time_of(&operation.counts)).ln();
            let weight = (FAR / residual.abs().max(f64::MIN_POSITIVE)).min(1.0) / NOISE.powi(2);
            let shares = self.shares(&operation.counts);
            for i in (0..N).filter(|i| shares[*i] > 0.0) {
                right[i] += weight * shares[i] * residual;
                for j in 0..N {
                    matrix[i][j] += weight * shares[i] * shares[j];
                }
            }
        }
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += 1.0 / DEVIATION.powi(2);
        }
        (matrix, right)
    }
}

/// The prior's cycles, as long as these operations make them.
fn prior_of(operations: &[TimedCounts]) -> EventTimes {
    let cycles = EventTimes(CYCLES.map(|(_, cycles)| cycles));
    let scales = operations
        .iter()
        .map(|operation| operation.ns / cycles.time_of(&operation.counts));
    let scale = quantile(&sorted(scales), 0.5);
    EventTimes(cycles.0.map(|cycles| cycles * scale))
}

fn moved(prior: &EventTimes, logs: &[f64; N]) -> EventTimes {
    EventTimes(std::array::from_fn(|i| prior.0[i] * logs[i].exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations that differ in what they consist of, on a machine with these ns.
    fn machine(ns: impl Fn(CostEvent) -> f64, without: CostEvent) -> Vec<TimedCounts> {
        (0..60usize)
            .map(|nth| {
                let counts: [f64; N] = std::array::from_fn(|i| {
                    let (event, cycles) = CYCLES[i];
                    match () {
                        () if event == without => 0.0,
                        // Of most a little, of one much.
                        () if nth % N == i => 40_000.0 / cycles,
                        () => ((nth * 7 + i * 13) % 11) as f64 * 100.0 / cycles,
                    }
                });
                let time = CYCLES.iter().zip(&counts).map(|((event, _), n)| n * ns(*event)).sum();
                TimedCounts { counts, ns: time }
            })
            .collect()
    }

    #[test]
    fn what_a_machine_takes_is_found() {
        let truth = |event: CostEvent| {
            let (_, cycles) = CYCLES.iter().find(|(of, _)| *of == event).unwrap();
            let factor = match event {
                CostEvent::SystemCall => 1.8,
                CostEvent::Locked => 0.5,
                CostEvent::DataMemory => 1.4,
                _ => 1.0,
            };
            cycles / 3.0 * factor
        };
        for (event, ns) in EventTimes::fitted(&machine(truth, CostEvent::Cpuid)).named() {
            let off = ns / truth(event);
            // The prior pulls a little.
            assert!((0.9..1.1).contains(&off), "{event:?}: {off}");
        }
    }

    #[test]
    fn what_no_operation_has_stays_as_the_tables_have_it() {
        let operations = machine(
            |event| if event == CostEvent::Instruction { 0.2 } else { 9.0 },
            CostEvent::Cpuid,
        );
        let ns = |times: &EventTimes| times.named().find(|(event, _)| *event == CostEvent::Cpuid).unwrap().1;
        assert_eq!(ns(&EventTimes::fitted(&operations)), ns(&prior_of(&operations)));
    }

    #[test]
    fn one_operation_that_is_far_off_hardly_matters() {
        let truth = |event: CostEvent| CYCLES.iter().find(|(of, _)| *of == event).unwrap().1 / 3.0;
        let mut operations = machine(truth, CostEvent::Cpuid);
        operations[1].ns *= 20.0;
        for (event, ns) in EventTimes::fitted(&operations).named() {
            let off = ns / truth(event);
            assert!((0.7..1.45).contains(&off), "{event:?}: {off}");
        }
    }
}
