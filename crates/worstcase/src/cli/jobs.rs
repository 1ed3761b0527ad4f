//! How many QEMUs work at once: an option that several commands share.

use clap::Args;
use std::num::NonZeroUsize;

/// How many at once.
#[derive(Debug, Default, Args)]
pub struct Jobs {
    /// QEMUs at once [default: one for each CPU]
    #[arg(long, short, value_name = "N", value_parser = positive)]
    jobs: Option<NonZeroUsize>,
}

impl Jobs {
    /// QEMUs at once.
    pub fn count(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(Jobs::usual)
    }

    /// One for each CPU.
    pub(crate) fn usual() -> NonZeroUsize {
        std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
    }
}

/// A number of things of which there must be one.
pub fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number of at least 1".to_string())
}
