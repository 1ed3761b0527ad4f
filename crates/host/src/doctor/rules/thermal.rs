//! Heat.

use super::{Finding, FindingLevel, Patient, Rule};

pub(super) const RULES: [Rule; 2] = [heat, supply];

/// So near to where it is slowed down a machine that works will be (thousandths of a degree).
const NEAR: i64 = 10_000;

fn heat(patient: &Patient) -> Option<Finding> {
    const ID: &str = "heat";
    const WHY: &str = "A hot machine lowers the frequency of its CPUs, whatever the governor: the same code takes longer, for minutes.";
    const REMEDY: &str = "cool it (a heat sink, a fan), or set a lower frequency that it can hold: scaling_max_freq";
    let thermal = &patient.facts.thermal;
    let slowed = thermal.coolers.iter().filter(|cooler| cooler.step > 0);
    let mut slowed: Vec<String> = slowed
        .map(|cooler| format!("{} at step {} of {}", cooler.name, cooler.step, cooler.steps))
        .collect();
    if thermal.firmware.is_some_and(|firmware| firmware.slowed) {
        slowed.push("the firmware says so".into());
    }
    if !slowed.is_empty() {
        let what = format!("CPUs are slowed down by heat: {}", slowed.join(", "));
        return Some(Finding::new(ID, FindingLevel::Harmful, what, WHY).remedy(REMEDY));
    }
    let with_limit = thermal.zones.iter();
    let with_limit = with_limit.filter_map(|zone| Some((zone, zone.slows_at_millidegrees? - zone.millidegrees)));
    let (zone, left) = with_limit.min_by_key(|(_, left)| *left)?;
    let what = format!(
        "{} has {} degrees, and is slowed down from {} on",
        zone.name,
        zone.millidegrees / 1000,
        (zone.millidegrees + left) / 1000
    );
    Some(match left < NEAR {
        true => Finding::new(ID, FindingLevel::Notice, what, WHY).remedy(REMEDY),
        false => Finding::good(ID, what),
    })
}

/// What the firmware of a Raspberry Pi tells of its supply.
fn supply(patient: &Patient) -> Option<Finding> {
    const ID: &str = "supply";
    let firmware = patient.facts.thermal.firmware?;
    let why = "The firmware then lowers the frequency of all CPUs, and the kernel does not know.";
    let remedy = "a stronger supply and a shorter cable; vcgencmd get_throttled tells since when";
    Some(match (firmware.low_voltage, firmware.since_boot) {
        (true, _) => Finding::new(ID, FindingLevel::Harmful, "the supply's voltage is too low", why).remedy(remedy),
        (false, true) => {
            let what = "the firmware slowed the CPUs down since boot, for heat or low voltage";
            Finding::new(ID, FindingLevel::Notice, what, why).remedy(remedy)
        }
        (false, false) => Finding::good(ID, "the firmware has slowed nothing down since boot"),
    })
}
