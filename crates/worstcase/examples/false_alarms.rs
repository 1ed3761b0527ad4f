//! How often gate and compare say that a kernel changed which is the same, and how often they miss one that is later: boots of one
//! kernel that differ by a parameter that the kernel ignores, each with the same seeds, are set against each other.
//!
//! ```sh
//! worstcase lab run --kernel debian:6.1 --preempt full --append ignored=1,ignored=22,ignored=333 \
//!     --load idle,shm,procread --samples 1000 --seeds 10 -o full
//! cargo run -p worstcase --example false_alarms -- full [none ...]
//! ```
//! Runs must have the same number of subjects: the first of each is the first boot, and so on.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::compare::gate::gate;
use worstcase_results::compare::judged::GateLimits;
use worstcase_results::compare::pair::MappedSubjects;
use worstcase_results::compare::{Side, compare};
use worstcase_results::verdict::Outcome;

/// Seeds on each side.
const EACH: [usize; 4] = [3, 6, 8, 10];
const FACTORS: [f64; 3] = [1.2, 1.5, 2.0];
/// Draws of seeds for each two boots.
const TURNS: u32 = 20;

/// What is later than it was.
#[derive(Clone, Copy)]
enum Later {
    OneSeed,
    OneCell,
    AllCells,
}

/// The same boot of each run.
struct RebuiltKernel {
    sides: Vec<Side>,
}

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    assert!(!paths.is_empty(), "name folders of runs");
    let runs: Vec<Side> = paths.iter().map(|path| Side::open(path).expect("a run")).collect();
    let count = runs[0].subjects.len();
    let boots: Vec<RebuiltKernel> = (0..count)
        .map(|boot| RebuiltKernel {
            sides: runs.iter().map(|run| of_subject(run, boot)).collect(),
        })
        .collect();
    let seeds: Vec<u64> = runs[0].cells[0].seeds.iter().map(|s| s.seed).collect();
    let each: Vec<usize> = EACH.into_iter().filter(|each| *each <= seeds.len()).collect();
    let columns: Vec<AlarmShares> = each.iter().map(|each| shares(&boots, &seeds, *each)).collect();
    let line = |name: &str, share: &dyn Fn(&AlarmShares) -> f64| {
        let cells: String = columns
            .iter()
            .map(|column| format!("{:>8}", percent(share(column))))
            .collect();
        println!("{name:<24}{cells}");
    };
    let heads: String = each.iter().map(|each| format!("{each:>8}")).collect();
    println!("{:<24}{heads}", "seeds");
    line("FAIL", &|c| c.fail);
    line("INCONCLUSIVE", &|c| c.inconclusive);
    line("better or worse", &|c| c.word);
    for (later, name) in [(1, "one cell"), (2, "all cells"), (0, "one seed")] {
        for (place, factor) in FACTORS.iter().enumerate() {
            line(&format!("misses {factor}x, {name}"), &|c| {
                1.0 - c.found[3 * later + place]
            });
        }
    }
}

/// Shares of all turns.
struct AlarmShares {
    word: f64,
    fail: f64,
    inconclusive: f64,
    found: Vec<f64>,
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0".to_string(),
        small if small < 1.95 => format!("{small:.1}"),
        percent => format!("{percent:.0}"),
    }
}

fn of_subject(run: &Side, boot: usize) -> Side {
    let mut side = run.clone();
    let subject = side.subjects.swap_remove(boot);
    side.cells.retain(|cell| cell.subject == subject.id());
    side.subjects = vec![subject];
    // "The kernel does not know the boot parameter": that is what the boots differ by.
    side.cells.iter_mut().for_each(|cell| cell.warnings.clear());
    side
}

fn shares(boots: &[RebuiltKernel], seeds: &[u64], each: usize) -> AlarmShares {
    let mut random = SplitMix64::new(7);
    let limits = GateLimits::default();
    let (mut turns, mut word, mut fail, mut open, mut found) = (0, 0, 0, 0, [0_u32; 9]);
    let places = (0..boots.len()).flat_map(|a| (0..boots.len()).map(move |b| (a, b)));
    for ((a, b), _) in places
        .filter(|(a, b)| a != b)
        .flat_map(|pair| (0..TURNS).map(move |turn| (pair, turn)))
    {
        let dealt = deal(seeds, each, &mut random);
        let sides: Vec<[Side; 2]> = boots[a]
            .sides
            .iter()
            .zip(&boots[b].sides)
            .map(|(a, b)| [chosen(a, &dealt), chosen(b, &dealt)])
            .collect();
        let [baseline, run] = [0, 1].map(|place| joined(sides.iter().map(|both| &both[place])));
        let mapped: Vec<MappedSubjects> = sides
            .iter()
            .map(|[a, b]| MappedSubjects {
                a: a.subjects[0].id().to_string(),
                b: b.subjects[0].id().to_string(),
            })
            .collect();
        let outcome = |run: &Side| gate(&baseline, run, &mapped, &limits).expect("the same cells").outcome;
        turns += 1;
        let alarm = outcome(&run);
        fail += u32::from(alarm == Outcome::Fail);
        open += u32::from(alarm == Outcome::Inconclusive);
        let compared = compare(&baseline, &run, &mapped, false).expect("the same cells");
        word += u32::from(compared.cells.iter().any(|c| c.shown()));
        let place = random.below(run.cells.len() as u64) as usize;
        let which = [Later::OneSeed, Later::OneCell, Later::AllCells];
        let planted = which
            .into_iter()
            .flat_map(|later| FACTORS.map(|factor| (later, factor)));
        for (count, (later, factor)) in found.iter_mut().zip(planted) {
            *count += u32::from(outcome(&slower(&run, place, later, factor)) == Outcome::Fail);
        }
    }
    let share = |n: u32| f64::from(n) / f64::from(turns);
    AlarmShares {
        word: share(word),
        fail: share(fail),
        inconclusive: share(open),
        found: found.into_iter().map(share).collect(),
    }
}

fn joined<'a>(sides: impl Iterator<Item = &'a Side>) -> Side {
    sides
        .cloned()
        .reduce(|mut all, side| {
            all.subjects.extend(side.subjects);
            all.cells.extend(side.cells);
            all
        })
        .expect("a run")
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
