//! The rules, by subject. A rule gives nothing where it does not apply.

mod cpus;
mod devices;
mod kernel;
mod machine;
mod memory;
mod rights;
mod scheduling;
mod thermal;

use super::Patient;
use super::finding::{Finding, FindingLevel, TemporaryChange};
pub use machine::HYPERVISOR_REMEDY;

type Rule = fn(&Patient) -> Option<Finding>;

pub(super) fn all() -> impl Iterator<Item = Rule> {
    let groups: [&[Rule]; 8] = [
        &kernel::RULES,
        &cpus::RULES,
        &thermal::RULES,
        &scheduling::RULES,
        &memory::RULES,
        &machine::RULES,
        &devices::RULES,
        &rights::RULES,
    ];
    groups.into_iter().flatten().copied()
}

/// The finding about a feature that should be off; `on` makes the finding where it is on.
fn should_be_off(
    id: &'static str,
    name: &str,
    is: Option<bool>,
    on: impl FnOnce(String) -> Finding,
) -> Option<Finding> {
    Some(match is {
        Some(true) => on(format!("{name} is on")),
        Some(false) => Finding::good(id, format!("{name} is off")),
        None => Finding::not_known(id, format!("whether {name} is on")),
    })
}

/// The shell command that writes a value to a file.
fn echo(value: &str, file: &str) -> String {
    format!("echo {value} > /{file}")
}
