//! What one sample of each cell would take on a calibrated machine, for the terminal and for programs.

use super::on_machine::{TimeThere, cpu_of, doubts, us};
use crate::style::{Style, wrapped};
use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, field};
use serde::Serialize;
use worstcase_analysis::explain::{CountedPath, PathSample};
use worstcase_contract::costs;
use worstcase_timing::{Calibration, Predictor};

/// The form as JSON.
const SCHEMA: &str = "worstcase-cells-on-machine/1";

/// A sample of each cell, and what it would take on a machine where nothing disturbs it.
#[derive(Serialize)]
pub struct CellsOnMachine<'a> {
    schema: &'static str,
    /// The processor.
    processor: Option<&'a str>,
    /// The CPU that was calibrated.
    cpu: u32,
    cells: Vec<CellOnMachine<'a>>,
    #[serde(skip)]
    calibration: &'a Calibration,
}

/// A cell's sample.
#[derive(Serialize)]
struct CellOnMachine<'a> {
    cell: &'a str,
    sample: u32,
    which: PathSample,
    lab_ns: u64,
    /// Nothing where it is not known what ran.
    there: Option<TimeThere>,
    /// For how many instructions caches had been in use, where those are fewer than they should.
    short_warm_up: Option<u64>,
}

impl CellOnMachine<'_> {
    fn which(&self) -> String {
        match self.which {
            PathSample::Worst => "worst".into(),
            PathSample::Median => "median".into(),
            PathSample::Chosen => format!("{}", self.sample),
        }
    }
}

impl<'a> CellsOnMachine<'a> {
    /// Of these paths.
    pub fn of(paths: &'a [CountedPath], calibration: &'a Calibration) -> CellsOnMachine<'a> {
        let predictor = Predictor::of(calibration);
        let cell = |path: &'a CountedPath| CellOnMachine {
            cell: &path.cell,
            sample: path.sample,
            which: path.which,
            lab_ns: path.lab_ns.0,
            there: path
                .counts
                .as_ref()
                .map(|counts| TimeThere::of(counts, path.operations, &predictor)),
            short_warm_up: path.short_warm_up,
        };
        CellsOnMachine {
            schema: SCHEMA,
            processor: calibration.machine.processor.as_deref(),
            cpu: calibration.machine.cpu,
            cells: paths.iter().map(cell).collect(),
            calibration,
        }
    }

    /// For programs.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts") + "\n"
    }

    /// A line for each cell.
    pub fn terminal(&self, style: Style) -> String {
        let title = format!(
            "What it would take on {}, where nothing disturbs it (us)",
            cpu_of(self.calibration)
        );
        let count = |key, heading, count: fn(&TimeThere) -> u64| {
            field(ColumnKind::Count, key, heading, move |cell: &CellOnMachine| {
                cell.there.as_ref().map(count)
            })
        };
        let fields = [
            field(ColumnKind::Name, "cell", "cell", |cell: &CellOnMachine| {
                cell.cell.to_string()
            }),
            field(ColumnKind::Text, "which", "sample", CellOnMachine::which),
            field(ColumnKind::Time, "lab_ns", "in the lab", |cell: &CellOnMachine| {
                cell.lab_ns
            }),
            field(ColumnKind::Words, "ns", "about", |cell: &CellOnMachine| {
                cell.there.map(|there| us(there.ns))
            }),
            field(ColumnKind::Words, "range", "four in five", |cell: &CellOnMachine| {
                cell.there.as_ref().map(TimeThere::range)
            }),
            count("instructions", "instructions", |there| there.instructions),
            count("exits", "exits", |there| there.exits),
        ];
        let mut out = vec![style.bold(&title)];
        out.extend(figures(&Table::new("cells", "", &fields, &self.cells), WIDTH));
        out.push(String::new());
        out.extend(wrapped("", LIMITS));
        out.extend(self.short_warm_ups());
        out.extend(doubts(self.calibration));
        out.push(String::new());
        out.join("\n")
    }

    /// Which cells begin too shortly before their sample.
    fn short_warm_ups(&self) -> Vec<String> {
        let cells = self.cells.iter().filter(|cell| cell.short_warm_up.is_some());
        let cells: Vec<&str> = cells.map(|cell| cell.cell).collect();
        if cells.is_empty() {
            return Vec::new();
        }
        let text = format!(
            "begins less than {} million instructions before, so that too many misses may be told: {}",
            costs::WARM_UP / 1_000_000,
            cells.join(", ")
        );
        wrapped("Note: ", &text)
    }
}

/// Widest line.
const WIDTH: usize = 120;

/// What is in no figure.
const LIMITS: &str = "Each is the time of that sample's path, and no bound. exits: instructions that may leave a virtual machine for \
                      its hypervisor, whose time is in no figure. -: the CPU waited for a device meanwhile, so that the path is not \
                      all of the sample; or no lap of a ring was found.";
