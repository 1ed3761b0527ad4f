//! Which cells: options of `worstcase lab run|verify`.

use crate::cli::Error;
use crate::cli::asked::{Asked, judged};
use clap::Args;
use worstcase_lab::LabError;
use worstcase_lab::added::Added;
use worstcase_plan::{DEFAULT_MEMORY_MB, DEFAULT_MIPS, Experiment, Model, Preempt, Subject, Subjects, Venue};
use worstcase_probe::Nanos;

/// Which cells.
#[derive(Debug, Args)]
pub struct Selection {
    /// A kernel (see `worstcase kernels show --help`); may be given again
    #[arg(long = "kernel", value_name = "NAME", required = true)]
    kernels: Vec<String>,
    /// Preemption models, separated by commas; of several kernels each boots those that it has [default: all that each
    /// kernel can boot]
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    preempt: Vec<Model>,
    /// Virtual CPU speeds, separated by commas: 1000, 500, 250 or 125 million instructions a second
    #[arg(long, value_name = "MIPS", value_delimiter = ',', default_values_t = [DEFAULT_MIPS])]
    mips: Vec<u32>,
    /// Memory of the machine, in MiB; several, separated by commas
    #[arg(long, value_name = "MIB", value_delimiter = ',', default_values_t = [DEFAULT_MEMORY_MB])]
    memory: Vec<u32>,
    /// A program for cmd: loads, put into the machine with its libraries; may be given again
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    added: Vec<Added>,
    #[command(flatten)]
    asked: Asked,
}

impl Selection {
    /// What it asks for.
    pub fn experiment(&self, criterion: Option<Nanos>) -> Result<Experiment, Error> {
        let mut experiment = self.asked.of(Venue::Lab, Subjects::Kernels(self.subjects()));
        let added = self.added.iter().map(Added::to_plan);
        experiment.added = added.collect::<Result<_, LabError>>()?;
        Ok(judged(experiment, criterion)?)
    }

    /// Every kernel with every model, speed and size of memory.
    fn subjects(&self) -> Vec<Subject> {
        let models: Vec<Preempt> = match &self.preempt[..] {
            [] => vec![Preempt::All],
            models => models.iter().copied().map(Preempt::One).collect(),
        };
        let optional = self.kernels.len() > 1 && !self.preempt.is_empty();
        let mut subjects = Vec::new();
        for kernel in &self.kernels {
            for preempt in &models {
                for mips in &self.mips {
                    subjects.extend(self.memory.iter().map(|memory_mb| Subject {
                        kernel: kernel.clone(),
                        preempt: *preempt,
                        optional,
                        mips: *mips,
                        memory_mb: *memory_mb,
                    }));
                }
            }
        }
        subjects
    }
}
