//! How often the interval of a tail's level holds the true level: 60 000 samples of a known distribution, one a millisecond, and the
//! latencies that are exceeded once in ten minutes and once in an hour.
//!
//! ```sh
//! cargo run --release -p worstcase-results --example tail_coverage [DRAWS]
//! ```

use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::stats::tail::{Peaks, estimate};

const SAMPLES: u64 = 60_000;
/// Times of which the level is asked, as multiples of the observation time.
const TIMES: [u64; 2] = [10, 60];

/// A distribution, by its quantile: the value above which a share `above` of all lies, in us.
struct Distribution {
    name: &'static str,
    quantile: fn(f64) -> f64,
}

const DISTRIBUTIONS: [Distribution; 6] = [
    Distribution {
        name: "evenly spread",
        quantile: |above| 10.0 + 30.0 * (1.0 - above),
    },
    Distribution {
        name: "exponential",
        quantile: |above| 10.0 - 3.0 * above.ln(),
    },
    Distribution {
        name: "Weibull 0.5",
        quantile: |above| 10.0 + above.ln().powi(2),
    },
    Distribution {
        name: "lognormal 1",
        quantile: |above| 10.0 * normal(above).exp(),
    },
    Distribution {
        name: "1 in 150 of 5 times",
        quantile: |above| mixture(above, 1.0 / 150.0),
    },
    Distribution {
        name: "1 in 1500 of 5 times",
        quantile: |above| mixture(above, 1.0 / 1_500.0),
    },
];

/// The normal quantile above which a share lies, by bisection of the complementary error function.
fn normal(above: f64) -> f64 {
    bisect(-9.0, 9.0, |x| libm::erfc(x / std::f64::consts::SQRT_2) / 2.0 > above)
}

fn mixture(above: f64, share: f64) -> f64 {
    bisect(0.0, 1_000.0, |x| {
        (1.0 - share) * (-x / 3.0).exp() + share * (-x / 15.0).exp() > above
    })
}

fn bisect(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match is_below(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

fn main() {
    let draws: u32 = std::env::args()
        .nth(1)
        .map_or(200, |n| n.parse().expect("a number of draws"));
    let mut random = SplitMix64::new(43);
    println!("{:<24}{:>9}{:>12}{:>12}", "", "estimates", "10 times", "60 times");
    for distribution in DISTRIBUTIONS {
        let (mut estimated, mut told, mut held) = (0, [0; 2], [0; 2]);
        for _ in 0..draws {
            let mut peaks = Peaks::default();
            for _ in 0..SAMPLES {
                let above = (random.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64;
                peaks.add(Nanos(((distribution.quantile)(above) * 1_000.0).round() as u64));
            }
            for (place, times) in TIMES.into_iter().enumerate() {
                // An hour of a minute: the level is asked as "once an hour".
                let observed = Nanos(3_600_000_000_000 / times);
                let Ok(tail) = estimate(&peaks, observed, None) else {
                    continue;
                };
                estimated += u32::from(place == 0);
                let truth = (distribution.quantile)(1.0 / (SAMPLES * times) as f64) * 1_000.0;
                if let Some(level) = tail.levels.iter().find(|l| l.once_a == "hour") {
                    told[place] += 1;
                    let sure = level.latency_ns;
                    // Levels are whole nanoseconds, rounded up.
                    let low = sure.low.is_none_or(|low| low.0 as f64 <= truth + 1.0);
                    held[place] += u32::from(low && sure.high.is_none_or(|high| high.0 as f64 >= truth));
                }
            }
        }
        let share = |held: u32, told: u32| 100.0 * f64::from(held) / f64::from(told.max(1));
        let [short, long] = [0, 1].map(|place| match told[place] {
            0 => "-".to_string(),
            told => format!("{:.0}/{told}", share(held[place], told)),
        });
        println!("{:<24}{estimated:>9}{short:>12}{long:>12}", distribution.name);
    }
}
