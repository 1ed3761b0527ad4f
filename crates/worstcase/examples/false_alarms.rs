//! How often the gate fails a run that is no worse, and how often it misses one that is: deals the seeds of a run out to a
//! baseline and a run at random, again and again.
//!
//! ```sh
//! worstcase lab run --kernel debian:6.1 --load idle,shm,procread --samples 1000 --seeds 40 -o RUN
//! cargo run -p worstcase --example false_alarms -- RUN [TURNS]
//! ```

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::compare::gate::gate;
use worstcase_results::compare::judged::GateLimits;
use worstcase_results::compare::{Side, compare};
use worstcase_results::verdict::Outcome;

/// Seeds on each side.
const EACH: [usize; 6] = [3, 4, 5, 6, 8, 10];
const FACTORS: [f64; 2] = [1.5, 2.0];

/// What is later than it was.
#[derive(Clone, Copy)]
enum Later {
    OneSeed,
    OneCell,
    AllCells,
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let path = PathBuf::from(arguments.next().expect("name a run's folder"));
    let turns: u32 = arguments
        .next()
        .map_or(1_000, |n| n.to_string_lossy().parse().expect("a number of turns"));
    let whole = Side::open(&path).expect("a run");
    let seeds: Vec<u64> = whole.cells[0].seeds.iter().map(|s| s.seed).collect();
    println!("{} cells, {} seeds, {turns} turns", whole.cells.len(), seeds.len());
    let limits = GateLimits::default();
    println!("                          no worse             FAILs of a run whose maxima are 1.5x, 2x those of");
    println!("seeds  compare's word     FAIL   INCONCLUSIVE  one seed       one cell       all cells");
    for each in EACH.into_iter().filter(|each| 2 * each <= seeds.len()) {
        println!("{each:>5}  {}", row(&whole, &seeds, each, turns, &limits));
    }
    halves(&whole, &seeds);
}

/// Shares of all turns.
fn row(whole: &Side, seeds: &[u64], each: usize, turns: u32, limits: &GateLimits) -> String {
    let mut random = SplitMix64::new(7);
    let (mut word, mut fail, mut open, mut found) = (0, 0, 0, [0_u32; 6]);
    for _ in 0..turns {
        let dealt = deal(seeds, 2 * each, &mut random);
        let baseline = chosen(whole, &dealt[..each]);
        let run = chosen(whole, &dealt[each..]);
        let outcome = |run: &Side| gate(&baseline, run, &[], limits).expect("the same cells").outcome;
        let alarm = outcome(&run);
        fail += u32::from(alarm == Outcome::Fail);
        open += u32::from(alarm == Outcome::Inconclusive);
        let compared = compare(&baseline, &run, &[], false).expect("the same cells");
        word += u32::from(compared.cells.iter().any(|c| c.shown()));
        let place = random.below(whole.cells.len() as u64) as usize;
        let which = [Later::OneSeed, Later::OneCell, Later::AllCells];
        let planted = which
            .into_iter()
            .flat_map(|later| FACTORS.map(|factor| (later, factor)));
        for (count, (later, factor)) in found.iter_mut().zip(planted) {
            *count += u32::from(outcome(&slower(&run, place, later, factor)) == Outcome::Fail);
        }
    }
    let share = |n: u32| f64::from(n) / f64::from(turns);
    let [a, b, c, d, e, f] = found.map(share);
    format!(
        "{:<18.4} {:<6.4} {:<13.4} {a:.3} {b:.3}    {c:.3} {d:.3}    {e:.3} {f:.3}",
        share(word),
        share(fail),
        share(open)
    )
}

/// Seeds 1 to 5 against 6 to 10, and so on: as a user would measure again.
fn halves(whole: &Side, seeds: &[u64]) {
    for pair in seeds.chunks_exact(10) {
        let (baseline, run) = (chosen(whole, &pair[..5]), chosen(whole, &pair[5..]));
        let said = gate(&baseline, &run, &[], &GateLimits::default()).expect("the same cells");
        println!("seeds {:?} against {:?}: {}", &pair[..5], &pair[5..], said.outcome);
    }
}

fn deal(seeds: &[u64], count: usize, random: &mut SplitMix64) -> Vec<u64> {
    let mut left = seeds.to_vec();
    (0..count)
        .map(|_| left.swap_remove(random.below(left.len() as u64) as usize))
        .collect()
}

fn chosen(side: &Side, seeds: &[u64]) -> Side {
    let seeds: BTreeSet<u64> = seeds.iter().copied().collect();
    let mut side = side.clone();
    for cell in &mut side.cells {
        cell.seeds.retain(|s| seeds.contains(&s.seed));
    }
    side
}

fn slower(side: &Side, place: usize, later: Later, factor: f64) -> Side {
    let mut side = side.clone();
    let cells = match later {
        Later::AllCells => &mut side.cells[..],
        Later::OneSeed | Later::OneCell => &mut side.cells[place..=place],
    };
    for cell in cells {
        let seeds = match later {
            Later::OneSeed => &mut cell.seeds[..1],
            Later::OneCell | Later::AllCells => &mut cell.seeds[..],
        };
        let times = |n: Nanos| Nanos((n.0 as f64 * factor) as u64);
        // The maximum alone is the hardest to find: a median hardly differs from seed to seed.
        for figures in seeds.iter_mut().flat_map(|s| s.quantities.values_mut()) {
            figures.max = times(figures.max);
        }
    }
    side
}
