//! What the plugin logged of one machine, if its clock can be trusted.

use std::path::Path;
use worstcase_probe::Instructions;
use worstcase_probe::trace::{self, Event, EventKind, Held};

/// Reads the log; the error says why it, or what was measured, is no result.
pub fn read(path: &Path) -> Result<Vec<Event>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("events: {e}"))?;
    let events = trace::decode(&bytes).map_err(|e| e.to_string())?;
    trusted(&events)?;
    Ok(events)
}

/// The count at the stop of a boot.
pub fn stop(events: &[Event]) -> Result<Instructions, String> {
    let mut stops = events.iter().filter(|e| e.kind == EventKind::MarkStop);
    match (stops.next(), stops.next()) {
        (Some(stop), None) => Ok(stop.count),
        _ => Err("the plugin did not see the machine stop once".into()),
    }
}

/// Virtual time may be wrong once the plugin gave up waiting for QEMU's main loop.
fn trusted(events: &[Event]) -> Result<(), String> {
    let Some(event) = events.iter().find(|e| e.kind == EventKind::GaveUp) else {
        return Ok(());
    };
    let what = match event.arg {
        held if held == Held::Halt as u64 => "come to rest before a halt",
        _ => "stop the machine",
    };
    Err(format!(
        "after {} instructions QEMU's main loop did not {what} in time, so virtual time may be wrong; run it again",
        event.count.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_probe::trace::header;

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
    fn a_log_with_a_wait_that_was_given_up_is_no_result() {
        let good = log(&[(EventKind::MarkBegin, 0), (EventKind::MarkEnd, 0)]);
        assert_eq!(good.unwrap().len(), 2);
        let halt = log(&[(EventKind::MarkBegin, 0), (EventKind::GaveUp, 0)]).unwrap_err();
        assert!(
            halt.contains("after 1000 instructions") && halt.contains("before a halt"),
            "{halt}"
        );
        let stop = log(&[(EventKind::MarkStop, 0), (EventKind::GaveUp, 1)]).unwrap_err();
        assert!(stop.contains("did not stop the machine in time"), "{stop}");
    }

    #[test]
    fn a_boot_stops_once() {
        let stopped = log(&[(EventKind::MarkStop, 0)]).unwrap();
        assert_eq!(stop(&stopped), Ok(Instructions(1_000)));
        assert!(stop(&[]).is_err() && stop(&[stopped[0], stopped[0]]).is_err());
    }
}
