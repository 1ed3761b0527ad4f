//! Studies: files that ask a question and name the cells that answer it.
//!
//! [`load`] reads a built-in study or a file of the user's ([`file`] has the form and its checks);
//! [`Study::plan`] gives the cells in the order in which they run: a subject is booted once.

mod file;
mod host;

pub use file::StudyError;
pub use host::HostPart;

use worstcase_probe::{CellSpec, Nanos, Probe, Venue};
use worstcase_results::record::Published;

/// Studies inside the tool: name and text.
const BUILT_IN: [(&str, &str); 6] = [
    ("preemption-models", include_str!("built_in/preemption-models.toml")),
    ("realfeel-jitter", include_str!("built_in/realfeel-jitter.toml")),
    ("scheduler-scaling", include_str!("built_in/scheduler-scaling.toml")),
    (
        "interrupt-and-switch",
        include_str!("built_in/interrupt-and-switch.toml"),
    ),
    ("kernel-flavours", include_str!("built_in/kernel-flavours.toml")),
    ("kernel-history", include_str!("built_in/kernel-history.toml")),
];

/// Stands for every preemption model that a kernel can boot.
pub const ALL_MODELS: &str = "all";

/// Which cells of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Few enough for a first look.
    Quick,
    /// All of them.
    Full,
}

impl Variant {
    /// The name, as in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Quick => "quick",
            Variant::Full => "full",
        }
    }
}

/// A kernel with the preemption models to boot it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChoice {
    /// As `worstcase kernels get` takes it.
    pub kernel: String,
    /// Preemption models.
    pub preempt: Vec<String>,
}

/// The cells of one variant, not yet multiplied out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Kernels.
    pub kernels: Vec<KernelChoice>,
    /// Loads.
    pub loads: Vec<String>,
    /// Probes.
    pub probes: Vec<Probe>,
    /// Seeds are 1 to this number.
    pub seeds: u32,
    /// Periods or repetitions a cell, if not what the probe usually takes.
    pub samples: Option<u32>,
    /// Distance of two due times, if not what the probe usually takes.
    pub period: Option<Nanos>,
    /// The load runs alone for this long.
    pub warmup: Nanos,
    /// Real-time priority of the probe.
    pub priority: u8,
    /// Virtual CPU speed.
    pub mips: u32,
    /// Memory of the virtual machine.
    pub memory_mb: u32,
}

/// A study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// One line.
    pub title: String,
    /// What is asked, in full.
    pub question: String,
    /// Where the question is from.
    pub source: String,
    /// Limit on the latency, if the question has one.
    pub criterion: Option<Nanos>,
    /// All cells, part by part.
    pub full: Vec<Cells>,
    /// Cells for a first look.
    pub quick: Vec<Cells>,
    /// What it asks of this machine, if it does.
    pub host: Option<HostPart>,
    /// Published figures.
    pub published: Vec<Published>,
}

/// One cell that a study asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCell {
    /// Kernel, as the study names it.
    pub kernel: String,
    /// Preemption model.
    pub preempt: String,
    /// Virtual CPU speed.
    pub mips: u32,
    /// Memory of the virtual machine.
    pub memory_mb: u32,
    /// What runs on it.
    pub spec: CellSpec,
}

impl Study {
    /// The cells of a variant.
    pub fn cells(&self, variant: Variant) -> &[Cells] {
        match variant {
            Variant::Quick => &self.quick,
            Variant::Full => &self.full,
        }
    }

    /// Every cell of a variant, once: by part, kernel, preemption model, load, probe, seed. A preemption model may be [`ALL_MODELS`].
    pub fn plan(&self, variant: Variant) -> Vec<PlannedCell> {
        let mut plan: Vec<PlannedCell> = Vec::new();
        for cell in self.cells(variant).iter().flat_map(Cells::plan) {
            if !plan.contains(&cell) {
                plan.push(cell);
            }
        }
        plan
    }
}

impl Cells {
    fn plan(&self) -> Vec<PlannedCell> {
        let cells = self;
        let mut plan = Vec::new();
        for choice in &cells.kernels {
            for preempt in &choice.preempt {
                for spec in cells.specs() {
                    plan.push(PlannedCell {
                        kernel: choice.kernel.clone(),
                        preempt: preempt.clone(),
                        mips: cells.mips,
                        memory_mb: cells.memory_mb,
                        spec,
                    });
                }
            }
        }
        plan
    }

    /// What runs on each subject.
    fn specs(&self) -> Vec<CellSpec> {
        let mut specs = Vec::new();
        for load in &self.loads {
            for probe in &self.probes {
                for seed in 1..=u64::from(self.seeds) {
                    let spec = CellSpec {
                        probe: *probe,
                        load: load.clone(),
                        period: self.period.unwrap_or(probe.usual_period(Venue::Lab)),
                        periods: self.samples.unwrap_or(probe.usual_periods()),
                        seed,
                        warmup: self.warmup,
                        priority: self.priority,
                    };
                    specs.push(spec.for_probe());
                }
            }
        }
        specs
    }
}

/// The built-in studies.
pub fn built_in() -> impl Iterator<Item = Study> {
    BUILT_IN
        .into_iter()
        .map(|(name, text)| file::parse(name, text).expect("built-in studies are valid, a test reads them"))
}

/// The text of a study: a built-in one by its name, else a file (a path, or a name that ends in `.toml`).
pub fn text(name_or_path: &str) -> Result<String, StudyError> {
    if let Some((_, text)) = BUILT_IN.into_iter().find(|(name, _)| *name == name_or_path) {
        return Ok(text.to_string());
    }
    if !name_or_path.contains('/') && !name_or_path.ends_with(".toml") {
        return Err(StudyError::Unknown {
            name: name_or_path.to_string(),
            known: BUILT_IN.map(|(name, _)| name).join(", "),
        });
    }
    std::fs::read_to_string(name_or_path).map_err(|cause| StudyError::Read {
        path: name_or_path.to_string(),
        cause,
    })
}

/// Reads a study; see [`text`] for the name.
pub fn load(name_or_path: &str) -> Result<Study, StudyError> {
    file::parse(name_or_path, &text(name_or_path)?)
}
