//! How often `worstcase host try` shows what a setting does, and how often it shows what is not there, where the machine itself
//! changes meanwhile. Ten settings in eleven rounds; a maximum is exp(0.1 x), x normal, times what the machine does in that round.
//!
//! ```sh
//! cargo run --release -p worstcase-analysis --example trial_power
//! ```

use worstcase_analysis::trial::{MeasuredRounds, Says, judge, rounds_for};
use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_host::run::trial::TrialVariant;
use worstcase_results::stats::many::holm;
use worstcase_results::stats::ranks::RankTest;

const DRAWS: u32 = 1_000;
const SETTINGS: usize = 10;

/// What the machine does meanwhile, by the round's share of the trial.
struct Machine {
    name: &'static str,
    level: fn(f64, &mut SplitMix64) -> f64,
}

const MACHINES: [Machine; 3] = [
    Machine {
        name: "a steady machine",
        level: |_, _| 1.0,
    },
    Machine {
        name: "a drift to 1.5x",
        level: |share, _| 1.0 + 0.5 * share,
    },
    Machine {
        name: "rounds spread by 0.3",
        level: |_, random| (0.3 * normal(random)).exp(),
    },
];

/// Nearly normal: a sum of twelve uniform numbers.
fn normal(random: &mut SplitMix64) -> f64 {
    let uniform = |random: &mut SplitMix64| random.below(1 << 52) as f64 / (1_u64 << 52) as f64;
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// A trial whose first setting makes maxima so many times as high.
fn trial(machine: &Machine, factor: f64, random: &mut SplitMix64) -> MeasuredRounds {
    let names: Vec<String> = (0..SETTINGS).map(|n| format!("s{n}")).collect();
    let mut variants: MeasuredRounds = vec![(TrialVariant::of(&[]), Vec::new())];
    variants.extend(names.iter().map(|name| (TrialVariant::of(&[name]), Vec::new())));
    let rounds = rounds_for(SETTINGS);
    for round in 0..rounds {
        let level = (machine.level)(round as f64 / rounds as f64, random);
        for (place, (_, maxima)) in variants.iter_mut().enumerate() {
            let effect = if place == 1 { factor } else { 1.0 };
            maxima.push(Nanos(
                (100_000.0 * level * effect * (0.1 * normal(random)).exp()) as u64,
            ));
        }
    }
    variants
}

/// The same question of all rounds of one side against all of the other, as if they were no blocks.
fn without_blocks(rounds: &MeasuredRounds) -> bool {
    let values = |(_, maxima): &(TrialVariant, Vec<Nanos>)| maxima.iter().map(|n| n.0).collect::<Vec<u64>>();
    let as_it_is = values(&rounds[0]);
    let tests = rounds[1..]
        .iter()
        .map(|variant| RankTest::of(&as_it_is, &values(variant)));
    let p: Vec<f64> = tests.map(|test| test.map_or(1.0, |test| test.two_sided())).collect();
    holm(&p)[0] <= 0.05
}

fn main() {
    let mut random = SplitMix64::new(43);
    println!("{:<22}{:>10}{:>10}{:>18}", "", "useless", "0.8x", "without blocks");
    for machine in MACHINES {
        let (mut wrong, mut better, mut unblocked) = (0, 0, 0);
        for _ in 0..DRAWS {
            let of = judge(&trial(&machine, 1.0, &mut random), &[], None, None);
            wrong += u32::from(of.variants.iter().any(|v| matches!(v.says, Says::Better | Says::Worse)));
            let helps = trial(&machine, 0.8, &mut random);
            better += u32::from(judge(&helps, &[], None, None).variants[1].says == Says::Better);
            unblocked += u32::from(without_blocks(&helps));
        }
        let [wrong, better, unblocked] =
            [wrong, better, unblocked].map(|n| format!("{:.1}", 100.0 * f64::from(n) / f64::from(DRAWS)));
        println!("{:<22}{wrong:>10}{better:>10}{unblocked:>18}", machine.name);
    }
}
