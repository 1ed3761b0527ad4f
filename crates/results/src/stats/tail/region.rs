//! The certainty of a fit: all parameters that are nearly as likely.
//!
//! The interval of anything that depends on shape and scale is its range over all pairs whose likelihood is within
//! [`DISTANCE`] of the largest, a joint region (Coles 2001, 2.6.4): all intervals of a fit hold together. A profile
//! interval, with one degree of freedom, covers too little below shape -0.5 and with few events. For each ratio of
//! shape to scale these scales form one stretch, whose ends follow without looking at the data again.

use super::gpd::{Excesses, Gpd, T_MAX, T_MIN};

/// Half the 97.5 % quantile of the chi-squared distribution with two degrees of freedom, one for each parameter: the other 2.5 %
/// are those of the number of events.
const DISTANCE: f64 = 3.688_879_454_113_936;
/// Ratios of shape to scale that are tried.
const STEPS: usize = 128;

/// The rim of all fits that the data do not refuse at 97.5 %.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    rim: Vec<Gpd>,
}

impl Region {
    /// Lowest and highest of a value that moves one way with the scale, for each ratio of shape to scale.
    pub(crate) fn range(&self, value: impl Fn(&Gpd) -> f64) -> (f64, f64) {
        let ends = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
        self.rim
            .iter()
            .map(value)
            .fold((f64::INFINITY, f64::NEG_INFINITY), ends)
    }
}

impl Excesses {
    /// The region around the best fit.
    pub(crate) fn region(&self) -> Region {
        self.within(DISTANCE)
    }

    /// All fits whose likelihood is within so much of the best.
    pub(super) fn within(&self, distance: f64) -> Region {
        let peak = self.peak();
        // All likelihoods here are means over the excesses.
        let floor = self.ridge(peak).best() - distance / self.count() as f64;
        let low = self.foot(peak, T_MIN, floor);
        let high = self.foot(peak, T_MAX, floor);
        let mut rim = Vec::with_capacity(2 * STEPS + 2);
        for i in 0..=STEPS {
            // Evenly up to the peak, and evenly on.
            let half = STEPS / 2;
            let t = match i < half {
                true => low + (peak - low) * i as f64 / half as f64,
                false => peak + (high - peak) * (i - half) as f64 / half as f64,
            };
            let ridge = self.ridge(t);
            if ridge.best() < floor {
                continue;
            }
            let (least, most) = (
                ridge.scale * (-16.0_f64).exp(),
                (ridge.scale * 16.0_f64.exp()).min(ridge.most),
            );
            let inside = |scale: f64| ridge.at(scale) >= floor;
            for end in [least, most] {
                let scale = last_inside(ridge.scale.ln(), end.ln(), |s| inside(s.exp())).exp();
                rim.push(self.in_unit(ridge.gpd(scale)));
            }
        }
        Region { rim }
    }

    /// The last place from the peak towards `end` that is not below the floor.
    fn foot(&self, peak: f64, end: f64, floor: f64) -> f64 {
        let inside = |t: f64| self.ridge(t).best() >= floor;
        let direction = (end - peak).signum();
        let mut step = 0.25;
        let mut near = peak;
        while (end - near).abs() > step && inside(near + direction * step) {
            near += direction * step;
            step *= 1.5;
        }
        let far = if (end - near).abs() > step {
            near + direction * step
        } else {
            end
        };
        last_inside(near, far, inside)
    }
}

/// The inside place that is nearest to `far`, searched between `near`, which is inside, and `far`.
fn last_inside(mut near: f64, mut far: f64, inside: impl Fn(f64) -> bool) -> f64 {
    if inside(far) {
        return far;
    }
    for _ in 0..40 {
        let middle = (near + far) / 2.0;
        match inside(middle) {
            true => near = middle,
            false => far = middle,
        }
    }
    near
}
