//! The plugin's log of one machine, if its clock can be trusted.

use std::path::Path;
use worstcase_contract::Instructions;
use worstcase_contract::trace::{self, Event, EventKind};

/// Reads the log; the error says why the log, or the measurement, is unusable.
pub fn read(path: &Path) -> Result<Vec<Event>, String> {
    let bytes = worstcase_base::files::read(path).map_err(|e| format!("events: {e}"))?;
    let events = trace::decode(&bytes).map_err(|e| e.to_string())?;
    trusted(&events)?;
    Ok(events)
}

/// The instruction count at the stop of a boot.
pub fn stop(events: &[Event]) -> Result<Instructions, String> {
    let mut stops = events.iter().filter(|e| e.kind == EventKind::MarkStop);
    match (stops.next(), stops.next()) {
        (Some(stop), None) => Ok(stop.count),
        _ => Err("the plugin did not see the machine stop once".into()),
    }
}

/// Virtual time may be wrong unless the plugin schedules the CPUs.
fn trusted(events: &[Event]) -> Result<(), String> {
    match events.iter().any(|e| e.kind == EventKind::Unscheduled) {
        true => Err(
            "QEMU ran its CPUs itself instead of the plugin, so virtual time may be wrong; use Debian's QEMU".into(),
        ),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::trace::header;

    fn log(events: &[(EventKind, u64)]) -> Result<Vec<Event>, String> {
        let mut bytes = header().to_vec();
        let close = (EventKind::Close, events.len() as u64);
        for (kind, arg) in events.iter().chain([&close]) {
            let count = Instructions(1_000);
            bytes.extend(
                Event {
                    kind: *kind,
                    arg: *arg,
                    count,
                }
                .encode(),
            );
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        read(file.path())
    }

    #[test]
    fn a_log_of_a_machine_that_qemu_scheduled_is_no_result() {
        let good = log(&[(EventKind::MarkBegin, 0), (EventKind::MarkEnd, 0)]);
        assert_eq!(good.unwrap().len(), 2);
        let bad = log(&[(EventKind::Unscheduled, 0), (EventKind::MarkBegin, 0)]).unwrap_err();
        assert!(bad.contains("instead of the plugin"), "{bad}");
    }

    #[test]
    fn a_boot_stops_once() {
        let stopped = log(&[(EventKind::MarkStop, 0)]).unwrap();
        assert_eq!(stop(&stopped), Ok(Instructions(1_000)));
        assert!(stop(&[]).is_err() && stop(&[stopped[0], stopped[0]]).is_err());
    }
}
