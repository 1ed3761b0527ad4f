//! What of a probe's samples is judged, shown and compared.

use super::{Quantity, Record, Venue};

/// The quantities that a probe is about: the response study asks for both parts of the latency, where the lab split it.
pub fn judged(probe: &str, records: &[Record]) -> &'static [Quantity] {
    let split = || {
        let mut of_probe = records.iter().filter(|r| r.cell.probe == probe);
        of_probe.any(|r| r.summary(Quantity::IrqLatency).is_some())
    };
    match probe {
        "response" if split() && !is_host(records) => &[Quantity::IrqLatency, Quantity::AfterIrq],
        "timerlat" => &[Quantity::IrqLatency, Quantity::Latency],
        "jitter" => &[Quantity::Jitter],
        _ => &[Quantity::Latency],
    }
}

/// Whether a run is of real machines alone.
pub fn is_host(records: &[Record]) -> bool {
    !records.is_empty() && records.iter().all(|r| r.subject.venue() == Venue::Host)
}
