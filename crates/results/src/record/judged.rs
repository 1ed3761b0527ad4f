//! The samples of a probe that are judged, shown and compared.

use super::{Quantity, Record, Venue};
use worstcase_contract::probe::ProbeInfo;

/// The quantities that a probe is about, as far as these records have them.
pub fn judged(probe: &str, records: &[Record]) -> &'static [Quantity] {
    let Some(info) = ProbeInfo::of_word(probe) else {
        return &[Quantity::Latency];
    };
    let venue = match is_host(records) {
        true => Venue::Host,
        false => Venue::Lab,
    };
    info.main(venue, |quantity| {
        let mut of_probe = records.iter().filter(|r| r.cell.probe == probe);
        of_probe.any(|r| r.summary(quantity).is_some())
    })
}

/// Whether a run is of real machines alone.
pub fn is_host(records: &[Record]) -> bool {
    !records.is_empty() && records.iter().all(|r| r.subject.venue() == Venue::Host)
}
