//! The trimmed mean of seeds, and its interval.

/// Part that is dropped at either end, as the study of context switches did.
const TRIMMED: f64 = 0.1;

/// The trimmed mean of the repetitions of each seed, which share a path and so are one value; then the trimmed mean of the
/// seeds and its interval. Nothing if there are no values.
pub(crate) fn over_seeds(seeds: impl IntoIterator<Item = Vec<f64>>) -> Option<(f64, Option<[f64; 2]>)> {
    let means = seeds.into_iter().filter_map(trimmed_mean).map(|(mean, _)| mean);
    trimmed_mean(means.collect())
}

/// The mean without the best and the worst tenth, and its 95 % interval by the winsorized variance (J. W. Tukey, D. H.
/// McLaughlin, Sankhya A 25, 1963); no interval for fewer than three values. Nothing if there are no values.
fn trimmed_mean(mut values: Vec<f64>) -> Option<(f64, Option<[f64; 2]>)> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let dropped = (n as f64 * TRIMMED) as usize;
    let kept = values.get(dropped..n - dropped).filter(|kept| !kept.is_empty())?;
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    if n < 3 {
        return Some((mean, None));
    }
    let winsorized = values.iter().map(|v| v.clamp(kept[0], kept[kept.len() - 1]));
    let center = winsorized.clone().sum::<f64>() / n as f64;
    let variance = winsorized.map(|v| (v - center).powi(2)).sum::<f64>() / (n - 1) as f64;
    let share = kept.len() as f64 / n as f64;
    let half = student(kept.len() - 1) * variance.sqrt() / (share * (n as f64).sqrt());
    Some((mean, Some([mean - half, mean + half])))
}

/// Two-sided 95 % quantile of Student's t.
fn student(freedom: usize) -> f64 {
    const FEW: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    match freedom {
        0 => f64::INFINITY,
        1..=10 => FEW[freedom - 1],
        // Expansion in 1/freedom (Abramowitz and Stegun 26.7.5), exact to the third digit from here on.
        _ => {
            let (z, f) = (1.959_964_f64, freedom as f64);
            z + (z.powi(3) + z) / (4.0 * f)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * f.powi(2))
                + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * f.powi(3))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_dropped() {
        let mut values: Vec<f64> = (1..=10).map(f64::from).collect();
        values[9] = 1e9;
        let (mean, interval) = trimmed_mean(values).unwrap();
        assert_eq!(mean, 5.5);
        let [low, high] = interval.unwrap();
        assert!(low > 2.0 && low < mean && high < 9.0, "{low} {high}");
    }

    /// The plain t interval of four values: mean 2.5, s 1.291, t 3.182.
    #[test]
    fn of_few_values_nothing_is_dropped() {
        let (mean, interval) = trimmed_mean(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        let [low, high] = interval.unwrap();
        assert!(mean == 2.5 && (low - 0.446).abs() < 0.001 && (high - 4.554).abs() < 0.001);
        assert_eq!(trimmed_mean(vec![7.0, 9.0]), Some((8.0, None)));
        assert_eq!(trimmed_mean(vec![]), None);
        assert_eq!(trimmed_mean(vec![-2.0; 5]), Some((-2.0, Some([-2.0, -2.0]))));
    }

    /// Many repetitions of two seeds are two values.
    #[test]
    fn an_interval_is_over_seeds() {
        let seed = |level: f64| (0..9).map(|i| level + f64::from(i)).collect::<Vec<f64>>();
        assert_eq!(over_seeds([seed(0.0), seed(10.0)]), Some((9.0, None)));
        let (mean, interval) = over_seeds([1.0, 2.0, 3.0, 4.0].map(|level| seed(level - 4.0))).unwrap();
        let [low, _] = interval.unwrap();
        assert!(mean == 2.5 && (low - 0.446).abs() < 0.001, "{mean} {low}");
        assert_eq!(over_seeds([]), None);
    }

    #[test]
    fn students_quantiles() {
        for (freedom, t) in [
            (1, 12.706),
            (10, 2.228),
            (11, 2.201),
            (20, 2.086),
            (60, 2.000),
            (1000, 1.962),
        ] {
            assert!((student(freedom) - t).abs() < 0.001, "{freedom} {}", student(freedom));
        }
    }

    /// The promise itself, tried: means of known draws are covered as often as stated.
    #[test]
    fn the_interval_covers_as_often_as_it_says() {
        let mut random = worstcase_contract::prng::SplitMix64::new(3);
        let mut normal = || {
            (0..12)
                .map(|_| random.below(1 << 40) as f64 / (1_u64 << 40) as f64)
                .sum::<f64>()
                - 6.0
        };
        let tries = 4_000;
        let covered = (0..tries)
            .filter(|_| {
                let (_, interval) = trimmed_mean((0..20).map(|_| normal()).collect()).unwrap();
                interval.is_some_and(|[low, high]| low <= 0.0 && 0.0 <= high)
            })
            .count();
        let share = covered as f64 / f64::from(tries);
        assert!((share - 0.95).abs() < 0.015, "{share}");
    }
}
