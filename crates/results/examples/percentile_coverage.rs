//! How often the interval of a host's percentile holds the true percentile, of series whose values depend on those before.
//!
//! ```sh
//! cargo run --release -p worstcase-results --example percentile_coverage [DRAWS]
//! ```

use worstcase_contract::prng::SplitMix64;
use worstcase_results::stats::blocks::BlockShares;

/// Periods of 1 ms in a minute.
const SAMPLES: u32 = 60_000;
/// One in so many lies above.
const ONE_IN: [u32; 4] = [2, 10, 100, 1_000];
/// Minutes from which the true percentiles are taken.
const LONG: u32 = 2_000;

/// A machine's latencies, one after the other.
trait Series {
    fn next(&mut self, random: &mut SplitMix64) -> f64;
}

/// Independent ones.
struct Independent;

impl Series for Independent {
    fn next(&mut self, random: &mut SplitMix64) -> f64 {
        exponential(random)
    }
}

/// A level that wanders: the logarithm of the level is autoregressive, with a memory of so many periods.
struct Wandering {
    memory: f64,
    level: f64,
}

impl Series for Wandering {
    fn next(&mut self, random: &mut SplitMix64) -> f64 {
        let kept = 1.0 - 1.0 / self.memory;
        // A sum of twelve uniform numbers is nearly normal, of variance 1.
        let normal: f64 = (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0;
        self.level = kept * self.level + (1.0 - kept * kept).sqrt() * 0.3 * normal;
        self.level.exp() * exponential(random)
    }
}

/// Stretches in which all is five times as late, of this mean length and as rare that they fill a twelfth of the time.
struct Stretches {
    length: f64,
    within: bool,
}

impl Series for Stretches {
    fn next(&mut self, random: &mut SplitMix64) -> f64 {
        let leave = if self.within {
            1.0 / self.length
        } else {
            1.0 / (11.0 * self.length)
        };
        self.within ^= uniform(random) < leave;
        exponential(random) * if self.within { 5.0 } else { 1.0 }
    }
}

fn uniform(random: &mut SplitMix64) -> f64 {
    (random.below(1 << 52) as f64 + 0.5) / (1_u64 << 52) as f64
}

fn exponential(random: &mut SplitMix64) -> f64 {
    1.0 - uniform(random).ln()
}

fn main() {
    let draws: u32 = std::env::args()
        .nth(1)
        .map_or(400, |n| n.parse().expect("a number of draws"));
    println!("{:<28}median   p90   p99  p99.9", "");
    let stretches = |seconds: f64| Stretches {
        length: seconds * 1_000.0,
        within: false,
    };
    let wandering = |seconds: f64| Wandering {
        memory: seconds * 1_000.0,
        level: 0.0,
    };
    row("independent", Independent, draws);
    row("wandering within 0.1 s", wandering(0.1), draws);
    row("wandering within 1 s", wandering(1.0), draws);
    row("5 times for 0.02 s", stretches(0.02), draws);
    row("5 times for 0.2 s", stretches(0.2), draws);
    row("5 times for 5 s", stretches(5.0), draws);
}

fn row(name: &str, mut series: impl Series, draws: u32) {
    let mut random = SplitMix64::new(8);
    // Every sixtieth of that time: enough for the quantiles, and all of a stretch's share.
    let mut long: Vec<f64> = (0..LONG * SAMPLES)
        .map(|_| series.next(&mut random))
        .step_by(60)
        .collect();
    let truth = ONE_IN.map(|one_in| {
        let rank = long.len() - long.len() / one_in as usize - 1;
        *long.select_nth_unstable_by(rank, f64::total_cmp).1
    });
    let mut held = [0_u32; ONE_IN.len()];
    for _ in 0..draws {
        let values: Vec<f64> = (0..SAMPLES).map(|_| series.next(&mut random)).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        for (place, one_in) in ONE_IN.into_iter().enumerate() {
            let found = sorted[(SAMPLES - SAMPLES / one_in) as usize - 1];
            let mut shares = BlockShares::default();
            (0..)
                .zip(&values)
                .for_each(|(i, value)| shares.add(i, SAMPLES, *value > found));
            let Some([fewer, more]) = shares.factors() else {
                continue;
            };
            let at = |share: f64| sorted[((1.0 - share).max(0.0) * f64::from(SAMPLES)) as usize];
            let share = 1.0 / f64::from(one_in);
            let below = at((share * more).min(1.0)) <= truth[place];
            let above = share * fewer * f64::from(SAMPLES) < 1.0 || at(share * fewer) >= truth[place];
            held[place] += u32::from(below && above);
        }
    }
    let percent = held.map(|n| format!("{:>5.0}", 100.0 * f64::from(n) / f64::from(draws)));
    println!("{name:<28}{}", percent.join(" "));
}
