//! The generalized Pareto distribution of excesses over a threshold, and its fit by maximum likelihood.
//!
//! Shape `s` and scale `a`: an excess is above `y` with probability `(1 + s y / a)^(-1/s)`, `exp(-y/a)` for `s = 0`.
//!
//! For a fixed ratio `r = s/a` the likelihood needs the data only through `S = sum ln(1 + r y)`, and is largest at `a = S
//! / (n r)`: the search has one dimension (Grimshaw 1993). It is along `t = ln(1 + r y_max)`, which covers every ratio
//! that the data allow. Shapes below -1 are left out: there the likelihood has no maximum (Hosking, Wallis 1987).

/// Ends of the search: `e^t` is how far the end of the distribution lies beyond the largest excess, or how heavy it is.
pub(super) const T_MIN: f64 = -24.0;
pub(super) const T_MAX: f64 = 32.0;
/// Below this a shape is zero: the formulas lose their digits.
const NO_SHAPE: f64 = 1e-9;

/// A generalized Pareto distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gpd {
    /// Negative: bounded; zero: exponential; positive: heavier than that.
    pub(crate) shape: f64,
    /// The scale, in the unit of the excesses.
    pub(crate) scale: f64,
}

impl Gpd {
    /// Logarithm of the probability that an excess is above `y`; minus infinity beyond the end.
    pub(crate) fn ln_above(&self, y: f64) -> f64 {
        let z = self.shape * y / self.scale;
        match () {
            () if self.shape.abs() < NO_SHAPE => -y / self.scale,
            () if z <= -1.0 => f64::NEG_INFINITY,
            () => -z.ln_1p() / self.shape,
        }
    }

    /// The excess that one in `n` is above (`n` > 1).
    pub(crate) fn one_in(&self, n: f64) -> f64 {
        match self.shape.abs() < NO_SHAPE {
            true => self.scale * n.ln(),
            false => self.scale * (self.shape * n.ln()).exp_m1() / self.shape,
        }
    }
}

/// Excesses in ascending order, as shares of the largest; never empty, each above 0.
#[derive(Clone, Debug)]
pub(crate) struct Excesses {
    shares: Vec<f64>,
    largest: f64,
}

/// All that the likelihood needs of the excesses at one `t`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ridge {
    /// Shape over scale, in units of the largest excess.
    pub(crate) ratio: f64,
    /// The best scale under this ratio.
    pub(crate) scale: f64,
    /// The largest scale: shapes are -1 or above.
    pub(crate) most: f64,
    /// Mean of `ln(1 + ratio y)`.
    mean_ln: f64,
    /// The best scale if all shapes were allowed.
    free: f64,
}

impl Ridge {
    /// Mean logarithm of the likelihood under the best scale.
    pub(crate) fn best(&self) -> f64 {
        self.at(self.scale)
    }

    /// The same under another scale.
    pub(crate) fn at(&self, scale: f64) -> f64 {
        -scale.ln() - self.mean_ln - self.free / scale
    }

    pub(crate) fn gpd(&self, scale: f64) -> Gpd {
        Gpd {
            shape: self.ratio * scale,
            scale,
        }
    }
}

impl Excesses {
    /// The excesses in any order, without those of 0 and below. Nothing if there are none.
    pub(crate) fn new(values: impl IntoIterator<Item = f64>) -> Option<Excesses> {
        let mut shares: Vec<f64> = values.into_iter().filter(|y| *y > 0.0 && y.is_finite()).collect();
        shares.sort_by(f64::total_cmp);
        let largest = *shares.last()?;
        shares.iter_mut().for_each(|y| *y /= largest);
        Some(Excesses { shares, largest })
    }

    /// The number of excesses.
    pub(crate) fn count(&self) -> usize {
        self.shares.len()
    }

    /// The largest.
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    /// All of them, ascending.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator {
        self.shares.iter().map(|share| share * self.largest)
    }

    pub(super) fn ridge(&self, t: f64) -> Ridge {
        let n = self.shares.len() as f64;
        let ratio = t.exp_m1();
        let beyond = t.exp();
        // Two forms of one sum: neither loses digits where it is used.
        let sum: f64 = match t > -1.0 {
            true => self.shares.iter().map(|v| (v * ratio).ln_1p()).sum(),
            false => self.shares.iter().map(|v| ((1.0 - v) + v * beyond).ln()).sum(),
        };
        let mean_ln = sum / n;
        let free = match ratio.abs() < NO_SHAPE {
            true => self.shares.iter().sum::<f64>() / n,
            false => mean_ln / ratio,
        };
        let most = if ratio < 0.0 { -1.0 / ratio } else { f64::INFINITY };
        Ridge {
            ratio,
            scale: free.min(most),
            most,
            mean_ln,
            free,
        }
    }

    /// The `t` of the largest likelihood: the best of a grid, then a golden section search beside it.
    pub(super) fn peak(&self) -> f64 {
        let height = |t: f64| self.ridge(t).best();
        let steps = (T_MAX - T_MIN) as usize;
        let grid = (0..=steps).map(|i| T_MIN + i as f64);
        let highest = grid
            .map(|t| (t, height(t)))
            .reduce(|a, b| if b.1 > a.1 { b } else { a });
        let start = highest.map_or(0.0, |(t, _)| t);
        golden(start - 1.0, start + 1.0, height)
    }

    /// The fit with the largest likelihood.
    pub(crate) fn fit(&self) -> Gpd {
        let ridge = self.ridge(self.peak());
        self.in_unit(ridge.gpd(ridge.scale))
    }

    /// Converts units of the largest excess to the excesses' own.
    pub(super) fn in_unit(&self, gpd: Gpd) -> Gpd {
        Gpd {
            scale: gpd.scale * self.largest,
            ..gpd
        }
    }
}

/// The place of the largest `height` between two places; it has one maximum there.
fn golden(mut low: f64, mut high: f64, height: impl Fn(f64) -> f64) -> f64 {
    const PHI: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - PHI * (high - low), low + PHI * (high - low));
    let (mut at_a, mut at_b) = (height(a), height(b));
    for _ in 0..40 {
        if at_a >= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - PHI * (high - low);
            at_a = height(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + PHI * (high - low);
            at_b = height(b);
        }
    }
    (low + high) / 2.0
}
