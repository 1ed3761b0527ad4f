//! Which of the doctor's settings help: each alone and all together, measured in turns.

use crate::HostError;
use crate::doctor::{Finding, settable};
use worstcase_base::near::instead;
use worstcase_contract::prng::SplitMix64;
use worstcase_plan::Apply;

/// A combination of settings of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialVariant {
    /// Its name, in tables and as a folder.
    pub name: String,
    /// The names of its settings.
    pub settings: Vec<String>,
}

impl TrialVariant {
    /// These settings together; with none it is the machine as it is.
    pub fn of(settings: &[&str]) -> TrialVariant {
        TrialVariant {
            name: match settings {
                [] => "as-it-is".into(),
                some => some.join("+"),
            },
            settings: settings.iter().map(|name| (*name).to_string()).collect(),
        }
    }

    /// Whether a command of the user's makes it.
    pub fn is_switched(&self) -> bool {
        self.settings == [SWITCHED]
    }

    /// The variant as an experiment asks for it.
    pub fn apply(&self) -> Apply {
        match self.settings.is_empty() || self.is_switched() {
            true => Apply::Nothing,
            false => Apply::Only(self.settings.clone()),
        }
    }
}

/// The name of what a command of the user's makes.
pub const SWITCHED: &str = "switched";

/// The machine as it is, each setting alone, and all together.
pub fn variants(settings: &[&str]) -> Vec<TrialVariant> {
    let mut variants = vec![TrialVariant::of(&[])];
    variants.extend(settings.iter().map(|name| TrialVariant::of(&[name])));
    if settings.len() > 1 {
        variants.push(TrialVariant {
            name: "all".into(),
            ..TrialVariant::of(settings)
        });
    }
    variants
}

/// The order of the variants in each round, shuffled (Fisher and Yates), so that changes over time affect all variants
/// alike.
pub fn orders(variants: usize, rounds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = SplitMix64::new(seed);
    let mut order: Vec<usize> = (0..variants).collect();
    let round = |_| {
        for last in (1..variants).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        order.clone()
    };
    (0..rounds).map(round).collect()
}

/// The requested settings, if they can be applied here.
pub(super) fn checked(apply: &Apply, findings: &[Finding]) -> Result<Apply, HostError> {
    let Apply::Only(names) = apply else {
        return Ok(apply.clone());
    };
    let known: Vec<&str> = settable(findings).map(|finding| finding.id).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(apply.clone()),
        Some(name) => Err(not_settable(name, &known)),
    }
}

/// The error of a setting that is none of those that can be made here.
pub fn not_settable<T: AsRef<str>>(name: &str, known: &[T]) -> HostError {
    let instead = instead(name, known, "worstcase host doctor tells what can be");
    HostError::Argument(format!("'{name}' is nothing that can be set here; {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alone_and_all_together() {
        let names = |settings: &[&str]| variants(settings).into_iter().map(|v| v.name).collect::<Vec<_>>();
        assert_eq!(names(&[]), ["as-it-is"]);
        assert_eq!(names(&["ksm"]), ["as-it-is", "ksm"]);
        assert_eq!(names(&["ksm", "swap"]), ["as-it-is", "ksm", "swap", "all"]);
        assert_eq!(variants(&["ksm", "swap"])[3].settings, ["ksm", "swap"]);
        assert_eq!(TrialVariant::of(&["ksm", "swap"]).name, "ksm+swap");
    }

    #[test]
    fn every_round_has_every_variant_once_and_an_order_of_its_own() {
        let orders = orders(5, 40, 7);
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
        }
        let first = |variant| orders.iter().filter(|order| order[0] == variant).count();
        assert!((0..5).all(|variant| first(variant) >= 3), "{orders:?}");
        assert_eq!(orders, super::orders(5, 40, 7));
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_what_can() {
        let error = checked(&Apply::Only(vec!["swap".into()]), &[]).unwrap_err().to_string();
        assert_eq!(error, "'swap' is nothing that can be set here; there are none");
        assert!(checked(&Apply::Everything, &[]).is_ok());
    }
}
