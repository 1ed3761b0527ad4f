//! How often the gate fails a run that is no worse, and how often it finds one that is: deals the seeds of one run out to
//! a baseline and a run at random, again and again.
//!
//! ```sh
//! worstcase lab run --kernel debian:6.1 --load idle,shm,procread --samples 1000 --seeds 40 -o RUN
//! cargo run -p worstcase --example false_alarms -- RUN [TURNS]
//! ```

use std::collections::BTreeSet;
use std::path::PathBuf;
use worstcase_probe::Nanos;
use worstcase_probe::prng::SplitMix64;
use worstcase_results::compare::gate::{TOLERANCE, gate};
use worstcase_results::compare::{Side, compare};
use worstcase_results::verdict::Outcome;

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let path = PathBuf::from(arguments.next().expect("name a run's folder"));
    let turns: u32 = arguments
        .next()
        .map_or(1_000, |n| n.to_string_lossy().parse().expect("a number of turns"));
    let whole = Side::open(&path).expect("a run");
    let seeds: Vec<u64> = whole.cells[0].seeds.iter().map(|s| s.seed).collect();
    println!(
        "{} cells, {} seeds, {turns} turns, tolerance {TOLERANCE}",
        whole.cells.len(),
        seeds.len()
    );
    println!("seeds  FAIL    INCONCLUSIVE  compare says a word  found: one cell 1.2x  1.5x    2x");
    for each in [3, 4, 5, 6, 8, 10] {
        if 2 * each > seeds.len() {
            break;
        }
        let mut random = SplitMix64::new(7);
        let mut counts = [0_u32; 6];
        for _ in 0..turns {
            let dealt = deal(&seeds, 2 * each, &mut random);
            let baseline = chosen(&whole, &dealt[..each]);
            let run = chosen(&whole, &dealt[each..]);
            let outcome = |run: &Side| gate(&baseline, run, &[], TOLERANCE).expect("the same cells").outcome;
            let alarm = outcome(&run);
            counts[0] += u32::from(alarm == Outcome::Fail);
            counts[1] += u32::from(alarm == Outcome::Inconclusive);
            let compared = compare(&baseline, &run, &[], false).expect("the same cells");
            counts[2] += u32::from(compared.cells.iter().any(|c| c.shown()));
            let place = random.below(whole.cells.len() as u64) as usize;
            for (count, factor) in counts[3..].iter_mut().zip([1.2, 1.5, 2.0]) {
                *count += u32::from(outcome(&slower(&run, place, factor)) == Outcome::Fail);
            }
        }
        let [fail, none, word, a, b, c] = counts.map(|n| f64::from(n) / f64::from(turns));
        println!("{each:>5}  {fail:<6.4}  {none:<12.4}  {word:<19.4}  {a:<20.3}  {b:<6.3}  {c:<6.3}");
    }
    halves(&whole, &seeds);
}

/// Seeds 1 to 5 against 6 to 10, and so on: as a user would measure again.
fn halves(whole: &Side, seeds: &[u64]) {
    for pair in seeds.chunks_exact(10) {
        let (baseline, run) = (chosen(whole, &pair[..5]), chosen(whole, &pair[5..]));
        let said = gate(&baseline, &run, &[], TOLERANCE).expect("the same cells");
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

fn slower(side: &Side, place: usize, factor: f64) -> Side {
    let mut side = side.clone();
    let times = |n: Nanos| Nanos((n.0 as f64 * factor) as u64);
    for seed in &mut side.cells[place].seeds {
        for figures in seed.quantities.values_mut() {
            figures.max = times(figures.max);
            figures.p99 = figures.p99.map(times);
        }
    }
    side
}
