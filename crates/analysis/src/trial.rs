//! The effect of each of a machine's settings, measured in turns with the machine as it is.

use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_host::run::trial::TrialVariant;
use worstcase_results::stats::many::holm;
use worstcase_results::stats::ranks::{RankTest, Shift};
use worstcase_results::stats::{interval, median, signed_ranks};

/// The form of a trial as JSON.
pub const SCHEMA: &str = "worstcase-trial/2";

/// Probability that any difference is told of settings that make none.
pub const LEVEL: f64 = 0.05;

/// Variants that were measured in the same rounds, each with the highest latency of every round; the machine as it is first. A
/// round is a block: what the machine did meanwhile is in all its variants.
pub type MeasuredRounds = Vec<(TrialVariant, Vec<Nanos>)>;

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    schema: &'static str,
    /// The limit that was asked for.
    pub criterion_ns: Option<Nanos>,
    /// The machine as it is first.
    pub variants: Vec<Tried>,
    /// The fewest settings with which every round stayed within the limit.
    pub shortest: Shortest,
    /// These in fresh rounds: they were chosen among many, so the rounds that chose them flatter them.
    pub again: Option<Tried>,
}

/// One way to set the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// The settings.
    pub settings: Vec<String>,
    /// The highest latency of each round.
    pub maxima_ns: Vec<Nanos>,
    /// The same of the machine as it is, in the same rounds.
    pub as_it_is_ns: Vec<Nanos>,
    /// The median of its maxima.
    pub median_ns: Nanos,
    /// The interval of the difference.
    pub interval: Option<interval::MedianInterval>,
    /// Its maxima, divided by those of the machine as it is in the same rounds.
    pub ratio: Option<Shift>,
    /// Probability of such a difference by chance, beside the others.
    pub p: Option<f64>,
    /// What the comparison says.
    pub says: Says,
}

/// The statement of a comparison with the machine as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// These settings are the machine as it is.
    Itself,
    /// Its maxima are lower.
    Better,
    /// The latencies are higher.
    Worse,
    /// The latencies may be equal.
    NotShown,
    /// There are too few rounds to show anything.
    TooFew,
}

/// The fewest settings that suffice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortest {
    /// There is no limit.
    NotAsked,
    /// No measured settings reach the limit.
    NotReached,
    /// These did, and were not measured again.
    NotConfirmed(Vec<String>),
    /// These did, and in fresh rounds they did not, or were no better than the machine as it is.
    Refuted(Vec<String>),
    /// These, in fresh rounds too; none if the machine as it is stays within the limit.
    Settings(Vec<String>),
}

impl Tried {
    /// The highest of all rounds.
    pub fn highest(&self) -> Nanos {
        self.maxima_ns.iter().copied().max().unwrap_or_default()
    }

    fn stays_within(&self, criterion: Nanos) -> bool {
        self.highest() <= criterion
    }
}

/// Judges variants by the highest latency of each round; each has a round at least. Those of `first` and of `fewer` are tested
/// together; `again` are fresh rounds of the settings that were chosen.
pub fn judge(
    first: &MeasuredRounds,
    fewer: &[MeasuredRounds],
    again: Option<&MeasuredRounds>,
    criterion: Option<Nanos>,
) -> Trial {
    let blocks: Vec<(&TrialVariant, RoundBlocks)> = std::iter::once(first).chain(fewer).flat_map(blocks).collect();
    let tests: Vec<Option<RankTest>> = blocks.iter().map(|(_, of)| of.test()).collect();
    let corrected = |p: fn(&RankTest) -> f64| {
        let all: Vec<f64> = tests.iter().map(|test| test.as_ref().map_or(1.0, p)).collect();
        holm(&all)
    };
    let (p, least) = (corrected(RankTest::two_sided), corrected(RankTest::least_two_sided));
    let tried = blocks.into_iter().enumerate().map(|(at, (variant, of))| {
        let ratio = of.ratio();
        let says = match ratio {
            _ if least[at] > LEVEL => Says::TooFew,
            Some(ratio) if p[at] <= LEVEL && ratio.best < 1.0 => Says::Better,
            Some(ratio) if p[at] <= LEVEL && ratio.best > 1.0 => Says::Worse,
            _ => Says::NotShown,
        };
        Tried::new(variant, of, Some(p[at]), says)
    });
    let as_it_is = first.first().map(|(variant, maxima)| {
        let beside = fewer
            .iter()
            .filter_map(|stage| stage.first())
            .flat_map(|(_, maxima)| maxima);
        let of = RoundBlocks {
            maxima: maxima.iter().chain(beside).copied().collect(),
            as_it_is: Vec::new(),
        };
        Tried::new(variant, of, None, Says::Itself)
    });
    let variants: Vec<Tried> = as_it_is.into_iter().chain(tried).collect();
    let again = again.and_then(|rounds| {
        let (variant, of) = blocks_of_last(rounds)?;
        let test = of.test()?;
        let better = test.less <= LEVEL && of.ratio().is_some_and(|ratio| ratio.best < 1.0);
        let says = if better { Says::Better } else { Says::NotShown };
        Some(Tried::new(variant, of, Some(test.less), says))
    });
    Trial {
        schema: SCHEMA,
        criterion_ns: criterion,
        shortest: shortest(&variants, again.as_ref(), criterion),
        variants,
        again,
    }
}

/// The highest latencies of a variant's rounds, and of the machine as it is in the same ones.
struct RoundBlocks {
    maxima: Vec<Nanos>,
    as_it_is: Vec<Nanos>,
}

impl RoundBlocks {
    fn pairs(&self) -> Vec<(u64, u64)> {
        let pairs = self.as_it_is.iter().zip(&self.maxima);
        pairs.map(|(a, b)| (a.0.max(1), b.0)).collect()
    }

    fn test(&self) -> Option<RankTest> {
        signed_ranks::test(&self.pairs())
    }

    fn ratio(&self) -> Option<Shift> {
        signed_ranks::ratio(&self.pairs())
    }
}

/// Each variant of these rounds but the machine as it is.
fn blocks(rounds: &MeasuredRounds) -> Vec<(&TrialVariant, RoundBlocks)> {
    let Some(((_, as_it_is), others)) = rounds.split_first() else {
        return Vec::new();
    };
    let block = |(_, maxima): &(TrialVariant, Vec<Nanos>)| RoundBlocks {
        maxima: maxima.clone(),
        as_it_is: as_it_is.clone(),
    };
    others.iter().map(|other| (&other.0, block(other))).collect()
}

fn blocks_of_last(rounds: &MeasuredRounds) -> Option<(&TrialVariant, RoundBlocks)> {
    blocks(rounds).pop()
}

impl Tried {
    fn new(variant: &TrialVariant, of: RoundBlocks, p: Option<f64>, says: Says) -> Tried {
        let mut sorted = of.maxima.clone();
        sorted.sort_unstable();
        Tried {
            name: variant.name.clone(),
            settings: variant.settings.clone(),
            median_ns: median::of_sorted(&sorted).unwrap_or_default(),
            interval: interval::of_median(&sorted),
            ratio: of.ratio(),
            maxima_ns: of.maxima,
            as_it_is_ns: of.as_it_is,
            p,
            says,
        }
    }
}

/// The rounds that every one of so many sets needs, so that a difference can be shown of one, with two rounds to spare.
pub fn rounds_for(sets: usize) -> usize {
    signed_ranks::needed(LEVEL / 2.0 / sets.max(1) as f64) + 2
}

fn shortest(variants: &[Tried], again: Option<&Tried>, criterion: Option<Nanos>) -> Shortest {
    let Some(criterion) = criterion else {
        return Shortest::NotAsked;
    };
    let within = variants.iter().filter(|v| v.stays_within(criterion));
    let Some(best) = within.min_by_key(|v| (v.settings.len(), v.highest())) else {
        return Shortest::NotReached;
    };
    let settings = best.settings.clone();
    match again.filter(|again| again.settings == settings) {
        _ if settings.is_empty() => Shortest::Settings(settings),
        None => Shortest::NotConfirmed(settings),
        Some(again) if again.stays_within(criterion) && again.says == Says::Better => Shortest::Settings(settings),
        Some(_) => Shortest::Refuted(settings),
    }
}

impl Trial {
    /// The settings to measure next, if fewer settings than all may suffice: the best ones together, one more each
    /// time.
    pub fn next(&self) -> Option<Vec<String>> {
        let criterion = self.criterion_ns?;
        let mut alone: Vec<&Tried> = self.variants.iter().filter(|v| v.settings.len() == 1).collect();
        let all = self.variants.iter().find(|v| v.settings.len() == alone.len())?;
        let is_open = all.stays_within(criterion) && alone.len() > 2;
        alone.sort_by_key(|v| (v.median_ns, v.highest()));
        let names: Vec<String> = alone.into_iter().map(|v| v.name.clone()).collect();
        let tried = |some: &[String]| self.variants.iter().find(|v| v.settings == some);
        let fewest = match &self.shortest {
            Shortest::Settings(settings) | Shortest::NotConfirmed(settings) => settings.len(),
            _ => 0,
        };
        let mut sets = (2..fewest).map(|count| &names[..count]);
        let next = sets.find(|set| tried(set).is_none())?;
        is_open.then(|| next.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &[&str], maxima: &[u64]) -> (TrialVariant, Vec<Nanos>) {
        (
            TrialVariant::of(name),
            maxima.iter().map(|us| Nanos(us * 1_000)).collect(),
        )
    }

    const AS_IT_IS: [u64; 8] = [210, 190, 300, 205, 250, 260, 220, 240];
    const LOWER: [u64; 8] = [40, 55, 38, 41, 60, 52, 44, 47];
    const ALIKE: [u64; 8] = [200, 195, 310, 230, 255, 240, 215, 245];

    #[test]
    fn a_setting_that_helps_is_told_from_one_that_does_not() {
        let first = vec![
            measured(&[], &AS_IT_IS),
            measured(&["ksm"], &ALIKE),
            measured(&["idle-states"], &LOWER),
        ];
        let trial = judge(&first, &[], None, None);
        let says: Vec<Says> = trial.variants.iter().map(|v| v.says).collect();
        assert_eq!(says, [Says::Itself, Says::NotShown, Says::Better]);
        let ratio = trial.variants[2].ratio.unwrap();
        assert!(
            ratio.best < 0.25 && ratio.low <= ratio.best && ratio.best <= ratio.high,
            "{ratio:?}"
        );
        assert_eq!(trial.variants[2].highest(), Nanos(60_000));
        assert_eq!(trial.shortest, Shortest::NotAsked);
        let worse = judge(
            &vec![measured(&[], &LOWER), measured(&["ksm"], &AS_IT_IS)],
            &[],
            None,
            None,
        );
        assert_eq!(worse.variants[1].says, Says::Worse);
    }

    #[test]
    fn three_rounds_show_nothing_however_far_apart() {
        let first = vec![measured(&[], &AS_IT_IS[..3]), measured(&["ksm"], &LOWER[..3])];
        assert_eq!(judge(&first, &[], None, None).variants[1].says, Says::TooFew);
        assert_eq!([1, 3, 11].map(rounds_for), [8, 9, 11]);
    }

    /// A tenth less in every round, while the machine itself drifts to three times as much.
    #[test]
    fn a_drift_is_in_both() {
        let drift: Vec<u64> = (0..9).map(|round| 100 + 25 * round).collect();
        let less: Vec<u64> = drift.iter().map(|us| us * 9 / 10).collect();
        let trial = judge(&vec![measured(&[], &drift), measured(&["ksm"], &less)], &[], None, None);
        assert_eq!(trial.variants[1].says, Says::Better);
    }

    #[test]
    fn a_later_set_is_compared_with_its_own_rounds() {
        let first = vec![
            measured(&[], &AS_IT_IS),
            measured(&["a"], &ALIKE),
            measured(&["b"], &ALIKE),
        ];
        // The machine is quieter by then.
        let later = vec![
            measured(&[], &LOWER),
            measured(&["a", "b"], &[41, 54, 39, 40, 61, 51, 45, 46]),
        ];
        let trial = judge(&first, &[later], None, None);
        assert_eq!(trial.variants[3].says, Says::NotShown);
        assert_eq!(trial.variants[0].maxima_ns.len(), 16);
    }

    #[test]
    fn the_shortest_set_that_reaches_the_limit() {
        let first = vec![
            measured(&[], &AS_IT_IS),
            measured(&["a"], &ALIKE),
            measured(&["b"], &[150, 140, 160, 155, 150, 149, 152, 151]),
            measured(&["c"], &[170, 180, 160, 175, 171, 166, 169, 172]),
            measured(&["a", "b", "c"], &LOWER),
        ];
        let at = |us: u64, fewer: &[MeasuredRounds], again: Option<&MeasuredRounds>| {
            judge(&first, fewer, again, Some(Nanos(us * 1_000)))
        };
        let names = |of: &[&str]| of.iter().map(|n| (*n).to_string()).collect::<Vec<_>>();
        assert_eq!(at(400, &[], None).shortest, Shortest::Settings(vec![]));
        assert_eq!(at(165, &[], None).shortest, Shortest::NotConfirmed(names(&["b"])));
        assert_eq!(at(50, &[], None).shortest, Shortest::NotReached);
        assert_eq!((at(165, &[], None).next(), at(50, &[], None).next()), (None, None));
        let open = at(100, &[], None);
        assert_eq!(open.shortest, Shortest::NotConfirmed(names(&["a", "b", "c"])));
        assert_eq!(open.next(), Some(names(&["b", "c"])));
        let fewer = [vec![
            measured(&[], &AS_IT_IS),
            measured(&["b", "c"], &[90, 80, 85, 91, 70, 60, 75, 88]),
        ]];
        let closed = at(100, &fewer, None);
        assert_eq!(
            (closed.shortest.clone(), closed.next()),
            (Shortest::NotConfirmed(names(&["b", "c"])), None)
        );
        let again = |maxima: &[u64]| vec![measured(&[], &AS_IT_IS), measured(&["b", "c"], maxima)];
        let good = again(&[90, 80, 85, 91, 70, 60, 75, 99]);
        assert_eq!(
            at(100, &fewer, Some(&good)).shortest,
            Shortest::Settings(names(&["b", "c"]))
        );
        let late = again(&[90, 80, 85, 91, 70, 60, 75, 101]);
        assert_eq!(
            at(100, &fewer, Some(&late)).shortest,
            Shortest::Refuted(names(&["b", "c"]))
        );
    }

    /// Ten settings that do nothing, on a machine that stays within the limit in most rounds: before, the luckiest was named.
    #[test]
    fn a_useless_setting_is_seldom_named() {
        let mut random = worstcase_contract::prng::SplitMix64::new(5);
        let mut round = || 50 + random.below(50) + if random.below(16) == 0 { 100 } else { 0 };
        let mut rounds = |count: usize| -> Vec<u64> { (0..count).map(|_| round()).collect() };
        let settings: Vec<String> = (0..10).map(|n| format!("s{n}")).collect();
        let (mut chosen, mut named) = (0, 0);
        for _ in 0..200 {
            let mut first = vec![measured(&[], &rounds(11))];
            first.extend(settings.iter().map(|name| measured(&[name], &rounds(11))));
            let limit = Some(Nanos(150_000));
            let Shortest::NotConfirmed(best) = judge(&first, &[], None, limit).shortest else {
                continue;
            };
            chosen += 1;
            let best: Vec<&str> = best.iter().map(String::as_str).collect();
            let again = vec![measured(&[], &rounds(12)), measured(&best, &rounds(12))];
            named += u32::from(matches!(
                judge(&first, &[], Some(&again), limit).shortest,
                Shortest::Settings(_)
            ));
        }
        assert!(chosen > 80 && named <= 10, "chosen {chosen}, named {named} of 200");
    }
}
