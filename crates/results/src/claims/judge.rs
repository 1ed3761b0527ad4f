//! Whether our figures stand to each other as a claim says: from the factors between them alone.

use super::Ours;
use crate::stats::ranks::{AIM, Shift};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use worstcase_plan::Claim;
use worstcase_plan::study::claim::{PairClaim, factor};

/// A published factor and ours are as large if they are within this of each other.
const AS_LARGE: f64 = 2.0;

/// Whether a claim holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// Of every pair.
    Holds,
    /// Of some pairs, and the others are not told.
    HoldsInPart,
    /// A pair contradicts it.
    DoesNotHold,
    /// Our seeds tell none of its pairs.
    NotTold,
    /// This run has no cells of it.
    NotAsked,
}

impl ClaimVerdict {
    /// All, as they are counted.
    pub const ALL: [ClaimVerdict; 5] = [
        ClaimVerdict::Holds,
        ClaimVerdict::HoldsInPart,
        ClaimVerdict::DoesNotHold,
        ClaimVerdict::NotTold,
        ClaimVerdict::NotAsked,
    ];

    /// The verdict in words.
    pub const fn name(self) -> &'static str {
        match self {
            ClaimVerdict::Holds => "holds",
            ClaimVerdict::HoldsInPart => "holds in part",
            ClaimVerdict::DoesNotHold => "does not hold",
            ClaimVerdict::NotTold => "not told",
            ClaimVerdict::NotAsked => "not asked",
        }
    }
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether two figures of ours stand to each other as is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// They do.
    Agrees,
    /// They do not.
    Differs,
    /// The interval of their factor allows both.
    NotTold,
}

impl PairVerdict {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            PairVerdict::Agrees => "as claimed",
            PairVerdict::Differs => "not so",
            PairVerdict::NotTold => "not told",
        }
    }
}

/// A pair of a claim's figures, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedPair {
    /// The place of the first.
    pub of: usize,
    /// The place of the one that is compared with it.
    pub to: usize,
    /// What is claimed.
    pub claimed: String,
    /// Whether it is so now.
    pub verdict: PairVerdict,
    /// The factor of the second to the first, with its interval; or why there is none.
    pub now: String,
    /// The same as numbers.
    pub factor: Option<Shift>,
}

impl JudgedPair {
    /// All in a sentence.
    pub fn words(&self) -> String {
        format!("{}: {} ({})", self.claimed, self.now, self.verdict.name())
    }
}

/// The factor of `b` to `a`; nothing where a value is not above zero.
pub(super) fn ratio(a: &[f64], b: &[f64]) -> Option<Shift> {
    let positive = a.iter().chain(b).all(|value| *value > 0.0);
    positive.then(|| Shift::of(a, b, |x, y| y / x)).flatten()
}

/// The verdict on a claim from the values of all its figures, and that on each pair.
pub(super) fn judge(claim: &Claim, ours: &[&Ours]) -> (ClaimVerdict, Vec<JudgedPair>) {
    let pairs = claim.pairs().into_iter();
    let judged: Vec<JudgedPair> = pairs.map(|(of, to, says)| pair(claim, ours, (of, to), &says)).collect();
    let some = |verdict: PairVerdict| judged.iter().any(|pair| pair.verdict == verdict);
    let verdict = match (
        some(PairVerdict::Differs),
        some(PairVerdict::Agrees),
        some(PairVerdict::NotTold),
    ) {
        (true, ..) => ClaimVerdict::DoesNotHold,
        (_, true, true) => ClaimVerdict::HoldsInPart,
        (_, true, false) => ClaimVerdict::Holds,
        (_, false, _) => ClaimVerdict::NotTold,
    };
    (verdict, judged)
}

fn pair(claim: &Claim, ours: &[&Ours], (of, to): (usize, usize), says: &PairClaim) -> JudgedPair {
    let (a, b) = (ours[of].for_factors(), ours[to].for_factors());
    let (verdict, now, factor) = match ratio(&a, &b) {
        None => {
            let zero = if a.iter().all(|value| *value > 0.0) { to } else { of };
            let zero = &claim.figures[zero].of;
            let now = format!("{zero}: a value of ours is zero or below, and has no factor");
            (PairVerdict::NotTold, now, None)
        }
        Some(shift) if shift.coverage < AIM => {
            let now = format!(
                "of {} and {} seeds there is no interval; measure 4 or more of each",
                a.len(),
                b.len()
            );
            (PairVerdict::NotTold, now, None)
        }
        Some(shift) => (verdict(says, &shift, claim.within), in_words(&shift), Some(shift)),
    };
    JudgedPair {
        of,
        to,
        claimed: claimed(claim, (of, to), says),
        verdict,
        now,
        factor,
    }
}

/// The factor in words.
fn in_words(shift: &Shift) -> String {
    format!(
        "factor {} ({}..{})",
        factor(shift.best),
        factor(shift.low),
        factor(shift.high)
    )
}

fn claimed(claim: &Claim, (of, to): (usize, usize), says: &PairClaim) -> String {
    let who = claim.origin.verb();
    let (a, b) = (&claim.figures[of].of, &claim.figures[to].of);
    match says {
        PairClaim::Above => format!("{who}: {b} above {a}"),
        PairClaim::Below => format!("{who}: {b} below {a}"),
        PairClaim::Alike => format!("{who}: {b} within {} of {a}", factor(claim.within)),
        PairClaim::NotBelow => format!("{who}: {b} not below {a}"),
        PairClaim::NotAbove => format!("{who}: {b} not above {a}"),
        PairClaim::Factor { .. } => {
            let then = claim.factor_in_words(to).unwrap_or_default();
            format!("{who}: {b} to {a} {then}")
        }
    }
}

fn verdict(says: &PairClaim, shift: &Shift, within: f64) -> PairVerdict {
    let (low, high) = (shift.low, shift.high);
    let (is_alike, is_above, is_below) = (low >= 1.0 / within && high <= within, low > 1.0, high < 1.0);
    let told = |agrees: bool, differs: bool| match (agrees, differs) {
        (true, _) => PairVerdict::Agrees,
        (_, true) => PairVerdict::Differs,
        _ => PairVerdict::NotTold,
    };
    match says {
        PairClaim::Above => told(is_above && !is_alike, is_below || is_alike),
        PairClaim::Below => told(is_below && !is_alike, is_above || is_alike),
        PairClaim::Alike => told(is_alike, low > within || high < 1.0 / within),
        PairClaim::NotBelow => told(low >= 1.0 / within, high < 1.0 / within),
        PairClaim::NotAbove => told(high <= within, low > within),
        PairClaim::Factor {
            low: least,
            high: most,
            side,
        } => {
            let (least, most) = (least / AS_LARGE, most * AS_LARGE);
            let (on_it, elsewhere) = match side {
                None => (true, false),
                Some(Ordering::Greater) => (is_above && !is_alike, is_below || is_alike),
                Some(_) => (is_below && !is_alike, is_above || is_alike),
            };
            told(
                low >= least && high <= most && on_it,
                high < least || low > most || elsewhere,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use worstcase_plan::study::claim::{ClaimFigure, ClaimOrigin, Compare, NEAR, PublishedValue, Relation};

    fn claim(compare: Compare, said: Vec<PublishedValue>) -> Claim {
        let figure = |(nth, said)| ClaimFigure {
            of: format!("f{nth}"),
            said,
            cell: None,
            host: None,
        };
        Claim {
            says: "It is so.".into(),
            origin: ClaimOrigin::Source("source".into()),
            compare,
            within: NEAR,
            why: "why".into(),
            because: None,
            doubt: None,
            terms: Vec::new(),
            figures: said.into_iter().enumerate().map(figure).collect(),
        }
    }

    fn words() -> PublishedValue {
        PublishedValue::Words { words: String::new() }
    }

    fn us(value: f64) -> PublishedValue {
        PublishedValue::Value {
            value,
            unit: "us".into(),
            relation: Relation::Exactly,
        }
    }

    fn rank(rank: u32) -> PublishedValue {
        PublishedValue::Rank {
            or_later: false,
            rank,
            words: String::new(),
        }
    }

    /// Five seeds around a value.
    fn seeds(value: f64) -> Vec<f64> {
        [0.98, 0.99, 1.0, 1.01, 1.02].map(|share| share * value).to_vec()
    }

    fn judged(claim: &Claim, values: &[Vec<f64>]) -> (ClaimVerdict, String) {
        let ours: Vec<Ours> = values.iter().map(|seeds| Ours::for_test(seeds)).collect();
        let (verdict, pairs) = judge(claim, &ours.iter().collect::<Vec<_>>());
        (
            verdict,
            pairs.iter().map(JudgedPair::words).collect::<Vec<_>>().join("\n"),
        )
    }

    #[test]
    fn orders() {
        let apart = claim(Compare::Rank, vec![us(10.0), us(100.0)]);
        let says = |a, b| judged(&apart, &[seeds(a), seeds(b)]);
        assert_eq!(says(5.0, 7.0).0, ClaimVerdict::Holds);
        assert_eq!(says(7.0, 5.0).0, ClaimVerdict::DoesNotHold);
        let (alike, why) = says(5.0, 5.1);
        assert_eq!(alike, ClaimVerdict::DoesNotHold);
        assert_eq!(why, "published: f1 above f0: factor 1.02 (0.990..1.05) (not so)");
        // One pair that differs is enough, even if another one is unknown.
        let three = claim(Compare::Rank, vec![us(10.0), us(100.0), us(1_000.0)]);
        let of = |values: [f64; 3]| judged(&three, &values.map(seeds)).0;
        assert_eq!(of([1.0, 2.0, 3.0]), ClaimVerdict::Holds);
        assert_eq!(of([1.0, 3.0, 2.0]), ClaimVerdict::DoesNotHold);
        // Figures that are near each other ask for no order.
        let near = claim(Compare::Rank, vec![us(1.65), us(1.51), us(7.34)]);
        assert_eq!(judged(&near, &[1.0, 2.0, 3.0].map(seeds)).0, ClaimVerdict::Holds);
    }

    #[test]
    fn ties() {
        let tie = claim(Compare::Rank, vec![rank(1), rank(1)]);
        assert_eq!(judged(&tie, &[seeds(3.0), seeds(3.3)]).0, ClaimVerdict::Holds);
        assert_eq!(judged(&tie, &[vec![3.0; 5], vec![3.0; 5]]).0, ClaimVerdict::Holds);
        assert_eq!(judged(&tie, &[seeds(3.0), seeds(4.5)]).0, ClaimVerdict::DoesNotHold);
        let ranked = claim(Compare::Rank, vec![rank(2), rank(1)]);
        assert_eq!(judged(&ranked, &[seeds(4.5), seeds(3.0)]).0, ClaimVerdict::Holds);
        assert_eq!(
            judged(&ranked, &[vec![3.0; 5], vec![3.0; 5]]).0,
            ClaimVerdict::DoesNotHold
        );
    }

    #[test]
    fn factors() {
        let ten = claim(Compare::Factor, vec![us(10.0), us(100.0)]);
        let says = |b| judged(&ten, &[seeds(1.0), seeds(b)]).0;
        assert_eq!(says(10.0), ClaimVerdict::Holds);
        assert_eq!(says(18.0), ClaimVerdict::Holds);
        assert_eq!(says(5.0), ClaimVerdict::NotTold, "the interval reaches over the end");
        assert_eq!(
            says(4.0),
            ClaimVerdict::DoesNotHold,
            "the order is the same, the factor is not"
        );
        assert_eq!(says(30.0), ClaimVerdict::DoesNotHold);
        // Within a factor of two, but figures that were apart are not any more, or the other way round.
        let near = claim(Compare::Factor, vec![us(10.0), us(16.0)]);
        let says = |b| judged(&near, &[seeds(1.0), seeds(b)]).0;
        assert_eq!(says(1.6), ClaimVerdict::Holds);
        assert_eq!(says(1.0), ClaimVerdict::DoesNotHold);
        assert_eq!(says(0.7), ClaimVerdict::DoesNotHold);
        let alike = claim(Compare::Factor, vec![us(10.0), us(11.0)]);
        assert_eq!(judged(&alike, &[seeds(1.0), seeds(0.9)]).0, ClaimVerdict::Holds);
        let at_most = PublishedValue::Value {
            value: 20.0,
            unit: "us".into(),
            relation: Relation::AtMost,
        };
        let bounded = claim(Compare::Factor, vec![us(10.0), at_most]);
        assert_eq!(judged(&bounded, &[seeds(1.0), seeds(0.001)]).0, ClaimVerdict::Holds);
        assert_eq!(judged(&bounded, &[seeds(1.0), seeds(9.0)]).0, ClaimVerdict::DoesNotHold);
    }

    #[test]
    fn what_does_not_tell() {
        let apart = claim(Compare::Rank, vec![us(10.0), us(100.0)]);
        let wide = vec![1.0, 5.0, 10.0, 50.0, 100.0];
        let (unclear, why) = judged(&apart, &[wide, seeds(10.0)]);
        assert_eq!(unclear, ClaimVerdict::NotTold);
        assert!(why.ends_with("(not told)"), "{why}");
        let (few, why) = judged(&apart, &[vec![1.0; 3], vec![10.0; 3]]);
        assert_eq!(few, ClaimVerdict::NotTold);
        assert_eq!(
            why,
            "published: f1 above f0: of 3 and 3 seeds there is no interval; measure 4 or more of each (not told)"
        );
        let (negative, why) = judged(&apart, &[vec![-1.0, 1.0, 1.0, 1.0, 1.0], seeds(10.0)]);
        assert_eq!(negative, ClaimVerdict::NotTold);
        assert_eq!(
            why,
            "published: f1 above f0: f0: a value of ours is zero or below, and has no factor (not told)"
        );
    }

    #[test]
    fn one_pair_that_is_not_told_does_not_void_the_others() {
        let three = claim(Compare::Rank, vec![rank(1), rank(2), rank(3)]);
        let wide = vec![1.0, 5.0, 10.0, 50.0, 100.0];
        let (verdict, why) = judged(&three, &[seeds(1.0), wide.clone(), seeds(9.0)]);
        assert_eq!(verdict, ClaimVerdict::HoldsInPart, "{why}");
        assert!(why.contains("published: f2 above f0: factor 9.00"), "{why}");
        assert_eq!(
            judged(&three, &[seeds(9.0), wide, seeds(1.0)]).0,
            ClaimVerdict::DoesNotHold
        );
    }

    #[test]
    fn shapes() {
        let of = |compare, values: &[f64]| {
            let seeds: Vec<Vec<f64>> = values.iter().map(|value| seeds(*value)).collect();
            judged(&claim(compare, vec![words(); values.len()]), &seeds).0
        };
        use ClaimVerdict::{DoesNotHold, Holds};
        for (compare, values, verdict) in [
            (Compare::NotBelow, &[10.0, 10.0][..], Holds),
            (Compare::NotBelow, &[10.0, 40.0], Holds),
            (Compare::NotBelow, &[10.0, 5.0], DoesNotHold),
            (Compare::NotAbove, &[10.0, 11.0], Holds),
            (Compare::NotAbove, &[10.0, 20.0], DoesNotHold),
            (Compare::Rises, &[1.0, 2.0, 3.0], Holds),
            // A plateau on the way is none the less a rise.
            (Compare::Rises, &[1.0, 2.0, 1.9, 3.0], Holds),
            (Compare::Rises, &[1.0, 3.0, 2.0, 4.0], DoesNotHold),
            (Compare::Rises, &[1.0, 1.0, 1.0], DoesNotHold),
            (Compare::Rises, &[1.0, 2.0], Holds),
            (Compare::Falls, &[3.0, 2.0, 1.0], Holds),
            (Compare::Falls, &[1.0, 2.0], DoesNotHold),
        ] {
            assert_eq!(of(compare, values), verdict, "{compare:?} {values:?}");
        }
        let wide = Claim {
            within: 3.0,
            ..claim(Compare::Rank, vec![rank(1), rank(1)])
        };
        assert_eq!(judged(&wide, &[seeds(1.0), seeds(2.0)]).0, ClaimVerdict::Holds);
    }

    proptest! {
        /// A machine that is so many times as fast, or lab time in place of real time.
        #[test]
        fn one_factor_on_all_values_changes_no_verdict(
            values in prop::collection::vec(prop::collection::vec(1_u32..10_000, 1..8), 3),
            exponent in -20_i32..20,
            ranks in prop::collection::vec(1_u32..4, 3),
            figures in prop::collection::vec(1.0_f64..1e4, 3),
        ) {
            // A power of two is exact, so nothing is rounded across a limit.
            let scale = 2.0_f64.powi(exponent);
            let of = |scale: f64| -> Vec<Vec<f64>> {
                let scaled = |seeds: &Vec<u32>| seeds.iter().map(|v| f64::from(*v) * scale).collect();
                values.iter().map(scaled).collect()
            };
            for one in [
                claim(Compare::Rank, ranks.iter().copied().map(rank).collect()),
                claim(Compare::Rank, figures.iter().copied().map(us).collect()),
                claim(Compare::Factor, figures.iter().copied().map(us).collect()),
                claim(Compare::Rises, vec![words(); 3]),
                claim(Compare::NotBelow, vec![words(); 3]),
            ] {
                prop_assert_eq!(judged(&one, &of(1.0)), judged(&one, &of(scale)));
            }
        }
    }
}
