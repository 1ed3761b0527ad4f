//! The executor of a matrix: this machine, Slurm, or machines that ssh reaches.

use crate::cli::error::Error;
use crate::cli::progress::ProgressDisplay;
use crate::cli::slurm::with_slurm;
use crate::cli::words::VERSION;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use worstcase_base::format::plain;
use worstcase_base::say;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::executor::{LabExecutor, LabRunOptions};
use worstcase_lab::matrix::LabMatrix;
use worstcase_lab::qemu::Qemus;
use worstcase_remote::ExecutorChoice;
use worstcase_remote::slurm::{self, Slurm, SlurmExecutor, SlurmOptions};
use worstcase_remote::ssh::{self, SshExecutor};
use worstcase_results::record::{CompletedCells, Run, execute};

/// The means to measure a matrix.
pub struct MatrixMeans<'a> {
    /// The machines.
    pub executor: &'a ExecutorChoice,
    /// The number of cells at once on this machine.
    pub jobs: NonZeroUsize,
    /// The QEMUs of this machine.
    pub qemus: &'a Qemus<'a>,
    /// The one that was named, if one was.
    pub named: Option<&'a Path>,
    /// Real time for one machine, if it is bounded.
    pub limit: Option<Duration>,
    /// The places of kernels and results.
    pub options: &'a ResolveOptions<'a>,
    /// Becomes true when the user wants an end.
    pub stop: &'a AtomicBool,
}

impl MatrixMeans<'_> {
    /// Measures the cells that the run lacks.
    pub fn execute(&self, matrix: LabMatrix, run: &Run, bar: &ProgressDisplay) -> Result<CompletedCells, Error> {
        match self.executor {
            ExecutorChoice::Local => {
                let how = LabRunOptions {
                    cache: &self.options.cache,
                    jobs: self.jobs,
                    limit: self.limit,
                };
                Ok(execute(&mut LabExecutor::new(matrix, how), run, bar, self.stop)?)
            }
            ExecutorChoice::Slurm(options) => self.by_slurm(options, matrix, run, bar),
            ExecutorChoice::Ssh(hosts) => self.by_ssh(hosts, matrix, run, bar),
        }
    }

    fn by_slurm(
        &self,
        options: &SlurmOptions,
        matrix: LabMatrix,
        run: &Run,
        bar: &ProgressDisplay,
    ) -> Result<CompletedCells, Error> {
        with_slurm(options, &self.options.cache, bar, |how| {
            let means = slurm::SlurmRunOptions {
                how,
                jobs: self.jobs,
                limit: self.limit,
                qemu: self.named.map(Path::to_path_buf),
            };
            let mut executor = SlurmExecutor::new(matrix, means, Slurm)?;
            Ok(execute(&mut executor, run, bar, self.stop)?)
        })
    }

    fn by_ssh(
        &self,
        hosts: &Path,
        matrix: LabMatrix,
        run: &Run,
        bar: &ProgressDisplay,
    ) -> Result<CompletedCells, Error> {
        let how = ssh::SshRunOptions {
            cache: &self.options.cache,
            limit: self.limit,
            hosts: ssh::read_hosts(hosts)?,
            version: VERSION,
            tell: &|line| bar.suspended(|| say!("worstcase: {}", plain(line))),
        };
        Ok(execute(&mut SshExecutor::new(matrix, how), run, bar, self.stop)?)
    }
}
