//! What work with files took, as a table, and whether an I/O scheduler can make a difference there.

use super::View;
use super::bench::{list, units, with_rounds};
use super::terminal::{Style, distinct};
use worstcase_base::format::{grouped, plain};
use worstcase_contract::bench::Io;
use worstcase_results::stats::Values;
use worstcase_results::stats::io::{BesideRates, IoPoint, Queue, Schedulers};

fn told(text: Option<String>) -> String {
    text.unwrap_or("-".into())
}

/// The table, and what it says of schedulers.
pub(super) fn lines(view: &View, points: &[IoPoint], style: Style) -> Vec<String> {
    let has_others = points.iter().any(|p| p.beside.is_some());
    let row = |p: &IoPoint| {
        let median = |values: &Option<Values>| values.as_ref().map(|values| values.figures().median);
        let mbs = median(&p.bytes_a_second)
            .filter(|rate| *rate > 0.0)
            .map(|rate| format!("{:.1}", rate / 1e6));
        let rate = median(&p.operations_a_second).map(|rate| grouped(rate.round() as u64));
        let sync = p.sync.map_or("-".into(), |sync| format!("{:.3}", sync.0 as f64 / 1e9));
        let others = has_others.then(|| p.beside.map_or("-".into(), others));
        with_rounds(&p.rounds, [rate, mbs].map(told).into_iter().chain([sync]).chain(others))
    };
    let mut lines = vec![style.bold(&format!(
        "io: time of an operation ({}); operations and MB (10^6 bytes) a second until all is on the device",
        units(view, points.iter().map(|p| &p.place))
    ))];
    let label = |p: &IoPoint| {
        let work = p.io.to_string();
        plain(&format!(
            "{} {}: {}",
            p.place.subject,
            p.place.load,
            work.trim_start_matches("io").trim_start_matches([':', '+'])
        ))
    };
    let mut columns = vec![
        "min",
        "median",
        "p99",
        "max",
        "operations",
        "a second",
        "MB/s",
        "sync s",
    ];
    columns.extend(has_others.then_some("others a second"));
    lines.extend(list(
        "subject, load, work",
        points.iter().map(label).collect(),
        &columns,
        points.iter().map(row).collect(),
    ));
    lines.push(String::new());
    lines.push(style.bold("can an I/O scheduler make a difference here? Only where several requests wait at once"));
    let told = || {
        points
            .iter()
            .filter(|p| !matches!(p.schedulers, Schedulers::NotTold { .. }))
    };
    let works = distinct(told().map(|p| &p.io));
    let of = |io: &Io| -> Vec<&Schedulers> { told().filter(|p| p.io == *io).map(|p| &p.schedulers).collect() };
    if works.is_empty() {
        lines.extend(distinct(points.iter().filter_map(|p| why(&p.schedulers))));
        return lines;
    }
    lines.extend(list(
        "work",
        works.iter().map(|io| io.to_string()).collect(),
        &["answer", "device", "busy", "requests", "several", "most"],
        works.iter().map(|io| answer(&of(io))).collect(),
    ));
    lines.push(
        "requests: on average while there was one, from the queue to their end; several: share of the looks at a"
            .into(),
    );
    lines.push(
        "busy device that saw more than one; most: the most that a look saw. Of several subjects, least..most.".into(),
    );
    lines.extend(distinct(points.iter().filter_map(|p| why(&p.schedulers))));
    lines
}

/// What readers, writers and seekers did in a second.
fn others(rates: BesideRates) -> String {
    let mbs = |bytes: f64, does: &str| (bytes > 0.0).then(|| format!("{does} {:.1} MB", bytes / 1e6));
    let parts = [
        mbs(rates.read, "read"),
        mbs(rates.written, "write"),
        (rates.seeks > 0.0).then(|| format!("seek {:.0}", rates.seeks)),
    ];
    parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

/// The cells of one answer: what several subjects had lies between two numbers.
fn answer(of: &[&Schedulers]) -> Vec<String> {
    let word = match of.iter().any(|schedulers| schedulers.matter()) {
        true => "yes",
        false => "no",
    };
    let devices = distinct(of.iter().map(|schedulers| match schedulers {
        Schedulers::NotTold { .. } | Schedulers::NoDevice { .. } => "-",
        Schedulers::NothingToDo { device } => device,
        Schedulers::Worked(queue) => &queue.device,
    }));
    let queues: Vec<&Queue> = of.iter().filter_map(|schedulers| schedulers.queue()).collect();
    let between = |values: Vec<String>| match (values.first(), values.last()) {
        (Some(first), Some(last)) if first != last => format!("{first}..{last}"),
        (Some(one), _) => one.clone(),
        _ => "-".into(),
    };
    let ordered = |value: fn(&Queue) -> Option<f64>, digits: usize| {
        let mut values: Vec<f64> = queues.iter().filter_map(|queue| value(queue)).collect();
        values.sort_by(f64::total_cmp);
        between(values.iter().map(|value| format!("{value:.digits$}")).collect())
    };
    let percent = |text: String| if text == "-" { text } else { format!("{text} %") };
    let most = queues.iter().map(|queue| queue.most).max();
    vec![
        word.to_string(),
        plain(&devices.join(", ")),
        percent(ordered(|q| Some(100.0 * q.busy.min(1.0)), 0)),
        ordered(|q| Some(q.average), 1),
        percent(ordered(|q| q.several.map(|share| 100.0 * share), 0)),
        most.map_or("-".into(), |most| most.to_string()),
    ]
}

/// What else there is to know of a device.
fn why(schedulers: &Schedulers) -> Option<String> {
    let said = match schedulers {
        Schedulers::NotTold { tool } => {
            format!("{tool}: its file does not tell how many requests waited at the device")
        }
        Schedulers::NoDevice { file_system } => {
            format!("{file_system}: it has no block device of its own, or tells none")
        }
        Schedulers::NothingToDo { device } => format!("{device}: where it had nothing to do the page cache did it all"),
        Schedulers::Worked(Queue { device, schedulers, .. }) if schedulers.len() < 2 => {
            format!("{device}: there is no other scheduler than {}", schedulers.join(", "))
        }
        Schedulers::Worked(Queue {
            device,
            device_queue: Some(depth @ 2..),
            ..
        }) => {
            format!("{device}: it takes {depth} requests at once, and may choose among them by itself")
        }
        Schedulers::Worked(_) => return None,
    };
    Some(plain(&said))
}
