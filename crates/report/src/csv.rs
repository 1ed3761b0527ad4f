//! `worstcase show --csv`: one line for each cell and quantity, for spreadsheets and data frames.

use super::View;
use worstcase_base::format::plain;
use worstcase_results::record::{Gaps, Machine, Periods, Quantity, Record, Summary};
use worstcase_results::stats::Percentile;

const HEADER: [&str; 23] = [
    "id",
    "kernel",
    "release",
    "preempt",
    "venue",
    "mips",
    "load",
    "probe",
    "quantity",
    "seed",
    "expected",
    "taken",
    "missed",
    "lost",
    "min_ns",
    "mean_ns",
    "median_ns",
    "p99_ns",
    "max_ns",
    "max_index",
    "observation_ns",
    "gaps",
    "noise_ns",
];

/// The whole table; an absent value is an empty field.
pub fn run(view: &View) -> Result<String, ::csv::Error> {
    let quantities: &[Quantity] = match view.quantities {
        [] => &Quantity::ALL,
        chosen => chosen,
    };
    let mut out = ::csv::Writer::from_writer(Vec::new());
    out.write_record(HEADER)?;
    for record in view.records {
        for quantity in quantities {
            if let Some(summary) = record.summary(*quantity) {
                out.write_record(line(record, *quantity, summary))?;
            }
        }
    }
    let bytes = out.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn line(record: &Record, quantity: Quantity, summary: &Summary) -> [String; HEADER.len()] {
    let (venue, mips) = match &record.subject.machine {
        Machine::Lab(lab) => ("lab", lab.machine.mips.to_string()),
        Machine::Host(_) => ("host", String::new()),
        Machine::Foreign(_) => ("foreign", String::new()),
    };
    // Gaps are of no periods, and samples are no gaps: a field that has no meaning is empty.
    let periods = |of: fn(&Periods) -> u64| record.accounting.periods().map(|p| of(p).to_string());
    let gaps = |of: fn(&Gaps) -> u64| record.accounting.gaps().map(|g| of(g).to_string());
    let told = |value: Option<u64>| value.map(|v| v.to_string()).unwrap_or_default();
    let p99 = summary.percentiles_ns.get(&Percentile::P99);
    [
        record.id.to_string(),
        plain(&record.subject.kernel.name),
        plain(&record.subject.kernel.release),
        plain(&record.subject.preempt.in_force),
        venue.to_string(),
        mips,
        plain(&record.cell.load),
        plain(&record.cell.probe),
        quantity.to_string(),
        record.cell.seed.to_string(),
        periods(|p| p.expected).unwrap_or_default(),
        periods(|p| p.taken).unwrap_or_default(),
        told(record.accounting.periods().and_then(|_| record.missed())),
        record.accounting.lost().to_string(),
        told(summary.min_ns),
        told(summary.mean_ns),
        told(summary.median_ns),
        told(p99.copied()),
        summary.max_ns.to_string(),
        told(summary.max_index.map(u64::from)),
        told(Some(record.observation_time().0).filter(|ns| *ns > 0 || record.foreign.is_none())),
        gaps(|g| g.gaps).unwrap_or_default(),
        gaps(|g| g.noise_ns).unwrap_or_default(),
    ]
}
