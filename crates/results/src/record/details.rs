//! Checks that the details of a probe fit its samples.

use super::Record;
use worstcase_contract::Probe;

/// The misfit, in words.
pub(super) fn check(record: &Record) -> Result<(), String> {
    let taken = record.accounting.taken();
    let details = record.details.as_ref();
    let fits = match record.cell.probe.parse::<Probe>() {
        Ok(probe) => probe.fits(details, taken),
        Err(_) => details.is_none(),
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "its details are not those of {taken} samples of '{}'",
            record.cell.probe
        )),
    }
}
