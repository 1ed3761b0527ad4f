//! A machine's calibration for the terminal: ns of each event, and how wrong they are.

use crate::style::{Style, WIDTH};
use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, field, name};
use worstcase_base::format::plain;
use worstcase_contract::costs::CostEvent;
use worstcase_timing::{Calibration, ErrorShares};

/// The text for the terminal.
pub fn terminal(calibration: &Calibration, style: Style) -> String {
    let machine = &calibration.machine;
    let of = |what: &Option<String>| what.as_deref().map_or_else(|| "not known".to_string(), plain);
    let heading = format!(
        "CPU {}: {}, Linux {}",
        machine.cpu,
        of(&machine.processor),
        of(&machine.kernel)
    );
    let mut out = vec![
        style.bold(&heading),
        format!(
            "what an event takes; events of its operations were counted in {}",
            plain(&calibration.counted)
        ),
        String::new(),
    ];
    out.extend(figures(&events(calibration), WIDTH));
    out.push(String::new());
    let quality = &calibration.quality;
    out.push(format!(
        "made from {} operations; what it says of those that it has not seen is off by a factor of",
        calibration.fitted().count()
    ));
    out.push(shares("one left out", &quality.leave_one_out));
    out.push(shares("a class left out", &quality.leave_class_out));
    if let Some(held_out) = &quality.held_out {
        out.push(shares("others", held_out));
    }
    if let Some(delivery) = &calibration.delivery {
        let us = |ns: f64| ns / 1e3;
        out.push(format!(
            "a timer that is due: {:.2} us until a program stands still, {:.2} until it goes on ({:.2} one time in ten)",
            us(delivery.until_interrupted_ns),
            us(delivery.until_resumed_ns),
            us(delivery.until_resumed_p90_ns)
        ));
    }
    out.extend(
        calibration
            .doubts
            .iter()
            .map(|doubt| format!("doubt: {}", plain(doubt))),
    );
    out.push(String::new());
    out.join("\n")
}

fn shares(of: &str, errors: &ErrorShares) -> String {
    format!(
        "  {of:<17} {:.2} (half of {}), {:.2} (nine of ten)",
        errors.median, errors.operations, errors.p90
    )
}

/// An event with its ns, and in how many operations there were some.
struct CalibratedEvent {
    event: CostEvent,
    ns: f64,
    operations: usize,
}

fn events(calibration: &Calibration) -> Table {
    let row = |event: &CostEvent| {
        Some(CalibratedEvent {
            event: *event,
            ns: *calibration.ns.get(event.name())?,
            operations: calibration.fitted().filter(|o| o.events[*event] > 0).count(),
        })
    };
    let rows: Vec<CalibratedEvent> = CostEvent::ALL.iter().filter_map(row).collect();
    let fields = [
        name("event", "event", |row: &CalibratedEvent| row.event.name().to_string()),
        field(ColumnKind::Number(3), "ns", "ns", |row: &CalibratedEvent| row.ns),
        field(
            ColumnKind::Count,
            "operations",
            "operations with it",
            |row: &CalibratedEvent| row.operations,
        ),
        field(ColumnKind::Text, "description", "", |row: &CalibratedEvent| {
            row.event.description()
        }),
    ];
    Table::new("calibration", "", &fields, &rows)
}
