//! What a path would take on a calibrated machine.

use crate::Calibration;
use crate::fit::{EventTimes, modelled};
use crate::matrix::Triangle;
use crate::quality::Residual;
use crate::{quantile, rounded, sorted};
use serde::{Deserialize, Serialize};
use worstcase_costs::{CostEvent, EventCounts};

/// A path's time on a machine where nothing disturbs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedTime {
    /// The most likely (ns).
    pub ns: f64,
    /// One path in ten is shorter.
    pub low: f64,
    /// One path in ten is longer.
    pub high: f64,
    /// What may leave a virtual machine for its hypervisor, whose time no event tells.
    pub exits: u64,
}

/// What may make a virtual machine leave for its hypervisor.
const EXITS: [CostEvent; 3] = [CostEvent::Cpuid, CostEvent::Port, CostEvent::DeviceMemory];

/// How far predictions are off: logarithms of measured by predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// One in ten is lower, of paths like those that were calibrated.
    pub(crate) low: f64,
    /// One in ten is higher.
    pub(crate) high: f64,
    /// The variance that the certainty of the times explains, of such paths.
    pub(crate) variance: f64,
    /// How often that variance comes on top, for others.
    pub(crate) widening: f64,
}

/// The share of paths in an interval.
const COVERED: f64 = 0.8;
/// Half the width of a normal distribution's interval of 80 %, in standard deviations.
const WIDTH: f64 = 1.2816;
/// What is tried until the interval holds for classes that were left out.
const WIDENINGS: [f64; 7] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

impl Interval {
    /// From operations left out one by one, and class by class.
    pub(crate) fn of(near: &[Residual], far: &[Residual]) -> Interval {
        let logs = sorted(near.iter().map(|residual| residual.log));
        let narrow = Interval {
            low: rounded(quantile(&logs, (1.0 - COVERED) / 2.0).min(0.0)),
            high: rounded(quantile(&logs, (1.0 + COVERED) / 2.0).max(0.0)),
            variance: rounded(quantile(&sorted(near.iter().map(|residual| residual.variance)), 0.5)),
            widening: 0.0,
        };
        let widened = WIDENINGS.map(|widening| Interval { widening, ..narrow });
        let covers = |interval: &Interval| {
            let holds = |residual: &&Residual| {
                let [low, high] = interval.at(residual.variance);
                (low..=high).contains(&residual.log)
            };
            far.iter().filter(holds).count() as f64 >= COVERED * far.len() as f64
        };
        let [.., widest] = widened;
        widened.into_iter().find(covers).unwrap_or(widest)
    }

    /// For a path of which the certainty explains this variance.
    pub(crate) fn at(&self, variance: f64) -> [f64; 2] {
        let more = self.widening * (variance - self.variance).max(0.0);
        [self.low, self.high].map(|end| {
            let deviation = (end / WIDTH).powi(2);
            end.signum() * WIDTH * (deviation + more).sqrt()
        })
    }

    pub(crate) fn is_sound(&self) -> bool {
        let all = [self.low, self.high, self.variance, self.widening];
        all.iter().all(|value| value.is_finite()) && self.low <= 0.0 && self.high >= 0.0 && self.widening >= 0.0
    }
}

/// A calibration, ready to predict.
pub struct Predictor {
    times: EventTimes,
    certainty: Triangle,
    interval: Interval,
}

impl Predictor {
    /// Of this machine.
    pub fn of(calibration: &Calibration) -> Predictor {
        let times = EventTimes::of(|event| calibration.ns.get(event.name()).copied());
        Predictor {
            certainty: times.certainty(&calibration.timed(false)),
            times,
            interval: calibration.interval,
        }
    }

    /// What these events would take together; nothing takes no time.
    pub fn predict(&self, counts: &EventCounts) -> PredictedTime {
        let modelled = modelled(counts, 1.0);
        let ns = self.times.time_of(&modelled);
        let [low, high] = match ns > 0.0 {
            true => self
                .interval
                .at(self.certainty.inverse_form(&self.times.shares(&modelled))),
            false => [0.0; 2],
        };
        PredictedTime {
            ns,
            low: ns * low.exp(),
            high: ns * high.exp(),
            exits: counts.of(&EXITS),
        }
    }
}
