//! The effect of each of a machine's settings, measured in turns with the machine as it is.

use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_host::run::trial::TrialVariant;
use worstcase_results::stats::many::holm;
use worstcase_results::stats::ranks::{RankTest, Shift};
use worstcase_results::stats::{interval, median};

/// The form of a trial as JSON.
pub const SCHEMA: &str = "worstcase-trial/1";

/// Probability that any difference is told of settings that make none.
pub const LEVEL: f64 = 0.05;

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
    /// The median of these.
    pub median_ns: Nanos,
    /// The interval of the difference.
    pub interval: Option<interval::MedianInterval>,
    /// Its maxima, divided by those of the machine as it is.
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
    /// These; none if the machine as it is stays within the limit.
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

/// Judges variants by the highest latency of each round, the machine as it is first; each has a round at least.
pub fn judge(measured: Vec<(TrialVariant, Vec<Nanos>)>, criterion: Option<Nanos>) -> Trial {
    let values = |maxima: &[Nanos]| maxima.iter().map(|max| max.0).collect::<Vec<u64>>();
    let as_it_is = measured.first().map_or_else(Vec::new, |(_, maxima)| values(maxima));
    let tests: Vec<Option<RankTest>> = measured
        .iter()
        .skip(1)
        .map(|(_, m)| RankTest::of(&as_it_is, &values(m)))
        .collect();
    let p: Vec<f64> = holm(
        &tests
            .iter()
            .map(|t| t.map_or(1.0, |t| t.two_sided()))
            .collect::<Vec<_>>(),
    );
    let least: Vec<f64> = holm(
        &tests
            .iter()
            .map(|t| t.map_or(1.0, |t| t.least_two_sided()))
            .collect::<Vec<_>>(),
    );
    let tried = measured.into_iter().enumerate().map(|(place, (variant, maxima))| {
        let mut sorted = maxima.clone();
        sorted.sort_unstable();
        let other = place.checked_sub(1);
        let ratio = other.and_then(|_| Shift::of(&as_it_is, &values(&maxima), |a, b| b as f64 / a.max(1) as f64));
        let says = match (other, ratio) {
            (None, _) => Says::Itself,
            (Some(at), _) if least[at] > LEVEL => Says::TooFew,
            (Some(at), Some(ratio)) if p[at] <= LEVEL && ratio.best < 1.0 => Says::Better,
            (Some(at), Some(ratio)) if p[at] <= LEVEL && ratio.best > 1.0 => Says::Worse,
            _ => Says::NotShown,
        };
        Tried {
            name: variant.name,
            settings: variant.settings,
            median_ns: median::of_sorted(&sorted).unwrap_or_default(),
            interval: interval::of_median(&sorted),
            maxima_ns: maxima,
            ratio,
            p: other.map(|at| p[at]),
            says,
        }
    });
    let variants: Vec<Tried> = tried.collect();
    Trial {
        schema: SCHEMA,
        criterion_ns: criterion,
        shortest: shortest(&variants, criterion),
        variants,
    }
}

fn shortest(variants: &[Tried], criterion: Option<Nanos>) -> Shortest {
    let Some(criterion) = criterion else {
        return Shortest::NotAsked;
    };
    let within = variants.iter().filter(|v| v.stays_within(criterion));
    let best = within.min_by_key(|v| (v.settings.len(), v.highest()));
    best.map_or(Shortest::NotReached, |v| Shortest::Settings(v.settings.clone()))
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
            Shortest::Settings(settings) => settings.len(),
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

    const AS_IT_IS: [u64; 6] = [210, 190, 300, 205, 250, 260];
    const LOWER: [u64; 6] = [40, 55, 38, 41, 60, 52];
    const ALIKE: [u64; 6] = [200, 195, 310, 230, 255, 240];

    #[test]
    fn a_setting_that_helps_is_told_from_one_that_does_not() {
        let trial = judge(
            vec![
                measured(&[], &AS_IT_IS),
                measured(&["ksm"], &ALIKE),
                measured(&["idle-states"], &LOWER),
            ],
            None,
        );
        let says: Vec<Says> = trial.variants.iter().map(|v| v.says).collect();
        assert_eq!(says, [Says::Itself, Says::NotShown, Says::Better]);
        let ratio = trial.variants[2].ratio.unwrap();
        assert!(
            ratio.best < 0.25 && ratio.low <= ratio.best && ratio.best <= ratio.high,
            "{ratio:?}"
        );
        assert_eq!(trial.variants[2].highest(), Nanos(60_000));
        assert_eq!(trial.shortest, Shortest::NotAsked);
        let worse = judge(vec![measured(&[], &LOWER), measured(&["ksm"], &AS_IT_IS)], None);
        assert_eq!(worse.variants[1].says, Says::Worse);
    }

    #[test]
    fn three_rounds_show_nothing_however_far_apart() {
        let trial = judge(
            vec![measured(&[], &AS_IT_IS[..3]), measured(&["ksm"], &LOWER[..3])],
            None,
        );
        assert_eq!(trial.variants[1].says, Says::TooFew);
    }

    #[test]
    fn the_shortest_set_that_reaches_the_limit() {
        let at = |us: u64| Some(Nanos(us * 1_000));
        let mut all = vec![
            measured(&[], &AS_IT_IS),
            measured(&["a"], &ALIKE),
            measured(&["b"], &[150, 140, 160, 155, 150, 149]),
            measured(&["c"], &[170, 180, 160, 175, 171, 166]),
        ];
        all.push(measured(&["a", "b", "c"], &LOWER));
        let shortest = |us, of: &[(TrialVariant, Vec<Nanos>)]| judge(of.to_vec(), at(us));
        let names = |of: &[&str]| of.iter().map(|n| (*n).to_string()).collect::<Vec<_>>();
        assert_eq!(shortest(400, &all).shortest, Shortest::Settings(vec![]));
        assert_eq!(shortest(165, &all).shortest, Shortest::Settings(names(&["b"])));
        assert_eq!(shortest(50, &all).shortest, Shortest::NotReached);
        assert_eq!((shortest(165, &all).next(), shortest(50, &all).next()), (None, None));
        let open = shortest(100, &all);
        assert_eq!(open.shortest, Shortest::Settings(names(&["a", "b", "c"])));
        assert_eq!(open.next(), Some(names(&["b", "c"])));
        all.push(measured(&["b", "c"], &[90, 80, 85, 91, 70, 60]));
        let closed = shortest(100, &all);
        assert_eq!(
            (closed.shortest.clone(), closed.next()),
            (Shortest::Settings(names(&["b", "c"])), None)
        );
    }
}
