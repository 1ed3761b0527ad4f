//! The interval of a median over seeds, from order statistics.
//!
//! The k-th smallest and k-th largest of n independent values enclose the median of their distribution with
//! probability `1 - 2 P(Binomial(n, 1/2) < k)`, whatever the distribution is (H. A. David, H. N. Nagaraja, Order
//! Statistics, 3rd ed., section 7.1). No resampling, no random numbers, no assumption about the shape of maxima;
//! the price is a coverage in steps, which is why it is stated.

use serde::Serialize;
use worstcase_contract::Nanos;

/// Coverage that is aimed at; with fewer than six values it cannot be reached.
pub const AIM: f64 = 0.95;

/// An interval for the median, and the probability with which the interval covers it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MedianInterval {
    /// Lower end, a value that was seen.
    #[serde(rename = "low_ns")]
    pub low: Nanos,
    /// Upper end, a value that was seen.
    #[serde(rename = "high_ns")]
    pub high: Nanos,
    /// Probability that the median lies within; 0.9375 for five values, at least [`AIM`] from six on.
    pub coverage: f64,
}

/// The narrowest symmetric order-statistic interval that reaches [`AIM`], or the widest there is;
/// nothing for fewer than two values. `sorted` is ascending.
pub fn of_median(sorted: &[Nanos]) -> Option<MedianInterval> {
    let (low, high, coverage) = ranks(sorted.len())?;
    Some(MedianInterval {
        low: sorted[low],
        high: sorted[high],
        coverage,
    })
}

/// The places of that interval's ends among `n` ascending values, and its coverage.
pub fn ranks(n: usize) -> Option<(usize, usize, f64)> {
    if n < 2 {
        return None;
    }
    let mut best = 1;
    while best < n / 2 && coverage(n, best + 1) >= AIM {
        best += 1;
    }
    // A reader can use four digits, and they are the same on every machine.
    Some((best - 1, n - best, (coverage(n, best) * 1e4).round() / 1e4))
}

/// `1 - 2 P(Binomial(n, 1/2) < k)`.
fn coverage(n: usize, k: usize) -> f64 {
    // In logarithms: 2^-n is no f64 from about a thousand values on.
    let mut ln_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for i in 0..k {
        below += ln_term.exp();
        ln_term += ((n - i) as f64 / (i + 1) as f64).ln();
    }
    1.0 - 2.0 * below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(n: u64) -> Vec<Nanos> {
        (1..=n).map(Nanos).collect()
    }

    #[test]
    fn known_coverages() {
        // The table of every textbook: n = 5: 93.75 %, n = 6: 96.875 %, n = 10, k = 2: 97.85 %.
        let i = of_median(&one_to(5)).unwrap();
        assert_eq!((i.low, i.high, i.coverage), (Nanos(1), Nanos(5), 0.9375));
        assert_eq!(of_median(&one_to(6)).unwrap().coverage, 0.9688);
        let i = of_median(&one_to(10)).unwrap();
        assert_eq!((i.low, i.high, i.coverage), (Nanos(2), Nanos(9), 0.9785));
        assert_eq!(of_median(&one_to(1)), None);
    }

    #[test]
    fn thousands_of_values_narrow_it() {
        let i = of_median(&one_to(4000)).unwrap();
        assert!(i.coverage >= AIM && i.coverage < 0.96, "{i:?}");
        assert!(i.high.0 - i.low.0 < 130, "{i:?}");
    }

    /// The promise itself, tried: medians of known draws are covered as often as stated.
    #[test]
    fn the_interval_covers_as_often_as_it_says() {
        let mut random = worstcase_contract::prng::SplitMix64::new(1);
        let tries = 4_000;
        let mut covered = 0;
        for _ in 0..tries {
            let mut draw: Vec<Nanos> = (0..10).map(|_| Nanos(random.below(2_001))).collect();
            draw.sort_unstable();
            let i = of_median(&draw).unwrap();
            covered += usize::from(i.low <= Nanos(1_000) && Nanos(1_000) <= i.high);
        }
        let share = covered as f64 / tries as f64;
        assert!((share - 0.9785).abs() < 0.01, "{share}");
    }
}
