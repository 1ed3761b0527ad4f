//! The tracepoints that a purpose needs in this kernel, with their filters, and how their records become events.

use super::TracingError;
use super::events::TracedChange;
use super::own_interrupts::OwnInterrupts;
use super::perf::CounterSource;
use super::tracefs::Tracefs;
use crate::facts::FileTree;
use std::path::Path;
use worstcase_traces::format::{EventFormat, FieldPlace, RecordFields};
use worstcase_traces::purpose::Purpose;
use worstcase_traces::table::{self, MakeChange, RecordFilter, TABLE, TracePointRow, TracePointUse};

/// A tracepoint or function to open.
#[derive(Clone, Debug)]
pub struct TracePoint {
    /// `system/name`, or the function.
    pub name: String,
    pub source: CounterSource,
    /// The kernel's filter expression; empty keeps everything.
    pub(crate) filter: String,
    /// With the kernel's call chain.
    pub chain: bool,
    /// The threads that have counters of their own, as have those that they start; one counter for all if there are none.
    pub threads: Vec<u32>,
    pub decode: Decode,
}

/// How a record becomes a change.
#[derive(Clone, Debug)]
pub enum Decode {
    /// The same change for every record.
    Fixed(TracedChange),
    Fields {
        places: Vec<FieldPlace>,
        make: MakeChange,
    },
    /// From a function's first two arguments.
    Function(fn([u64; 2]) -> TracedChange),
}

impl Decode {
    /// `None` if the record is too short, or belongs to a function.
    pub fn decode(&self, record: &[u8]) -> Option<TracedChange> {
        match self {
            Decode::Fixed(change) => Some(*change),
            Decode::Fields { places, make } => make(RecordFields { places, record }),
            Decode::Function(_) => None,
        }
    }
}

/// The tracepoints for a purpose. Those that the table marks as needed must exist; others may be missing.
pub fn points(tracefs: &Tracefs, purpose: &Purpose) -> Result<Vec<TracePoint>, TracingError> {
    let mut points = Vec::new();
    let own = (!has_vectors(tracefs)).then(|| OwnInterrupts::read(&FileTree::at(Path::new("/"))));
    for row in TABLE {
        let Some(used) = row.uses.iter().find(|used| (used.of)(purpose)) else {
            continue;
        };
        let of_row = match &own {
            Some(own) => without_vectors(tracefs, row, used, purpose, own)?,
            None => point(tracefs, row, used, purpose)?.into_iter().collect(),
        };
        for point in of_row {
            match purpose {
                Purpose::Recorder { .. } if point.chain => points.extend(chain_of_threads(point)),
                _ => points.push(point),
            }
        }
    }
    if table::interrupts(purpose) {
        points.extend(vectors(tracefs, purpose)?);
    }
    Ok(points)
}

/// The kernel's call chain costs as much as three events, and that of an idle CPU tells nothing.
fn chain_of_threads(point: TracePoint) -> [TracePoint; 2] {
    let also = |condition: &str| match point.filter.is_empty() {
        true => condition.to_string(),
        false => format!("({}) && {condition}", point.filter),
    };
    let idle = TracePoint {
        filter: also("common_pid == 0"),
        chain: false,
        ..point.clone()
    };
    let thread = TracePoint {
        filter: also("common_pid != 0"),
        ..point
    };
    [idle, thread]
}

/// Whether this kernel has tracepoints for the interrupts that a CPU has for itself.
pub(super) fn has_vectors(tracefs: &Tracefs) -> bool {
    !tracefs.names(table::VECTORS).is_empty()
}

const ENTRY: &str = "irq/irq_handler_entry";
const EXIT: &str = "irq/irq_handler_exit";

/// The same as [`point`], on a kernel that traces the interrupts of a CPU's own as it does those of devices.
fn without_vectors(
    tracefs: &Tracefs,
    row: &TracePointRow,
    used: &TracePointUse,
    purpose: &Purpose,
    own: &OwnInterrupts,
) -> Result<Vec<TracePoint>, TracingError> {
    let fixed = |name: &str, filter, change| -> Result<TracePoint, TracingError> {
        Ok(TracePoint {
            source: CounterSource::Tracepoint(format(tracefs, name)?.id),
            name: name.into(),
            filter,
            chain: used.chain,
            threads: Vec::new(),
            decode: Decode::Fixed(change),
        })
    };
    if row.name.starts_with(table::VECTORS) {
        let nothing = RecordFields {
            places: &[],
            record: &[],
        };
        let (Some(timer), Some(change)) = (own.timer(), (row.make)(nothing)) else {
            return Err(TracingError::NoTracepoint(row.name));
        };
        let name = if matches!(change, TracedChange::Enter(_)) {
            ENTRY
        } else {
            EXIT
        };
        return Ok(vec![fixed(name, timer, change)?]);
    }
    let mut all: Vec<_> = point(tracefs, row, used, purpose)?.into_iter().collect();
    if [ENTRY, EXIT].contains(&row.name) {
        all.iter_mut().for_each(|point| point.filter = own.devices());
        for (filter, change) in own.sent_by_cpus(row.name == ENTRY) {
            all.push(fixed(row.name, filter, change)?);
        }
    }
    Ok(all)
}

fn point(
    tracefs: &Tracefs,
    row: &TracePointRow,
    used: &TracePointUse,
    purpose: &Purpose,
) -> Result<Option<TracePoint>, TracingError> {
    let (system, own) = row.name.split_once('/').unwrap_or((row.name, ""));
    if !tracefs.names(system).iter().any(|name| name == own) {
        return match row.needed {
            true => Err(TracingError::NoTracepoint(row.name)),
            false => Ok(None),
        };
    }
    let format = format(tracefs, row.name)?;
    let places: Result<_, _> = row.fields.iter().map(|field| format.field(field)).collect();
    Ok(Some(TracePoint {
        name: row.name.to_string(),
        source: CounterSource::Tracepoint(format.id),
        filter: filter(used.passes, purpose),
        chain: used.chain,
        threads: match (used.passes, purpose) {
            (RecordFilter::Program, Purpose::Follow { tids }) => tids.clone(),
            _ => Vec::new(),
        },
        decode: Decode::Fields {
            places: places?,
            make: row.make,
        },
    }))
}

fn format(tracefs: &Tracefs, name: &str) -> Result<EventFormat, TracingError> {
    Ok(EventFormat::parse(
        name,
        &tracefs.text(&format!("events/{name}/format"))?,
    )?)
}

/// The interrupt vectors of the architecture that this kernel traces; the timer's has a row in the table.
fn vectors(tracefs: &Tracefs, purpose: &Purpose) -> Result<Vec<TracePoint>, TracingError> {
    let mut points = Vec::new();
    for own in tracefs.names("irq_vectors") {
        // The kernel does not let perf sample the exit of irq_work, because perf itself uses that interrupt. So only a
        // purpose that needs no exits takes the entry.
        let is_left_out = match own.as_str() {
            "irq_work_exit" => true,
            "irq_work_entry" => *purpose != Purpose::Entries,
            _ => false,
        };
        let Some(change) = table::of_vector(&own).filter(|_| !is_left_out) else {
            continue;
        };
        let name = format!("irq_vectors/{own}");
        points.push(TracePoint {
            source: CounterSource::Tracepoint(format(tracefs, &name)?.id),
            name,
            filter: String::new(),
            chain: false,
            threads: Vec::new(),
            decode: Decode::Fixed(change),
        });
    }
    Ok(points)
}

/// Above this number threads or CPUs are filtered by range: others within the range pass, which does no harm.
const LISTED: usize = 8;

fn filter(passes: RecordFilter, purpose: &Purpose) -> String {
    let ids = match purpose {
        Purpose::Response { tids } | Purpose::Recorder { tids } => tids.clone(),
        Purpose::Sends { watched } => watched.iter().collect(),
        Purpose::Noise | Purpose::Entries | Purpose::Follow { .. } => Vec::new(),
    };
    match passes {
        RecordFilter::All | RecordFilter::Program => String::new(),
        RecordFilter::Threads(fields) => any(fields, &ids),
        RecordFilter::Cpus(field) => any(&[field], &ids),
        RecordFilter::CpusIf(field, condition) => format!("({}) && {condition}", any(&[field], &ids)),
    }
}

/// `a == 1 || b == 1 || ...`
fn any(fields: &[&str], ids: &[u32]) -> String {
    let (Some(least), Some(most)) = (ids.iter().min(), ids.iter().max()) else {
        return String::new();
    };
    let each = fields.iter().flat_map(|field| match ids.len() > LISTED {
        true => vec![format!("({field} >= {least} && {field} <= {most})")],
        false => ids.iter().map(|id| format!("{field} == {id}")).collect(),
    });
    each.collect::<Vec<_>>().join(" || ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_name_threads_or_cpus_or_their_range() {
        assert_eq!(any(&["pid"], &[]), "");
        assert_eq!(any(&["prev_pid", "next_pid"], &[7]), "prev_pid == 7 || next_pid == 7");
        let many: Vec<u32> = (100..120).collect();
        assert_eq!(any(&["pid"], &many), "(pid >= 100 && pid <= 119)");
        let sends = |watched: &str| Purpose::Sends {
            watched: watched.parse().unwrap(),
        };
        assert_eq!(filter(RecordFilter::Cpus("cpu"), &sends("2-3")), "cpu == 2 || cpu == 3");
        assert_eq!(
            filter(RecordFilter::CpusIf("cpu", "callback == 0"), &sends("1-9")),
            "((cpu >= 1 && cpu <= 9)) && callback == 0"
        );
    }

    #[test]
    fn a_row_is_used_in_one_way_for_a_purpose_and_names_threads_or_cpus_where_there_are_some() {
        let tids = vec![7];
        let purposes = [
            Purpose::Response { tids: tids.clone() },
            Purpose::Noise,
            Purpose::Recorder { tids: tids.clone() },
            Purpose::Follow { tids },
            Purpose::Entries,
            Purpose::Sends {
                watched: "1".parse().unwrap(),
            },
        ];
        for purpose in &purposes {
            let mut names = Vec::new();
            for row in TABLE {
                let uses: Vec<_> = row.uses.iter().filter(|used| (used.of)(purpose)).collect();
                assert!(uses.len() <= 1, "{} for {purpose:?}", row.name);
                let Some(used) = uses.first() else { continue };
                names.push(row.name);
                let filter = filter(used.passes, purpose);
                assert_eq!(
                    matches!(used.passes, RecordFilter::All | RecordFilter::Program),
                    filter.is_empty(),
                    "{}",
                    row.name
                );
            }
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{purpose:?}");
        }
    }
}
