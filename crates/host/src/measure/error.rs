//! Why a measurement gave nothing.

use crate::trace::TracingError;
use std::io;
use worstcase_contract::bench::BenchError;
use worstcase_instruments::loads::LoadError;

/// Why a measurement gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The load failed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A measuring thread failed.
    #[error("{0}")]
    Thread(String),
    /// The kernel's trace failed.
    #[error("{0}")]
    Trace(#[source] TracingError),
    /// A probe of [`worstcase_contract::bench`] failed.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A file of samples, or a message to the controller, could not be written.
    #[error("cannot write samples or messages: {0}; is the disk full?")]
    Write(#[from] io::Error),
}

impl MeasureError {
    /// Whether a right, a program or a kernel feature is missing, so that it may work on another machine.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(
            self,
            MeasureError::Trace(_)
                | MeasureError::Load(LoadError::NotAvailable { .. })
                | MeasureError::Bench(BenchError::Missing(_))
        )
    }

    /// Whether a file could not be written because of where it is.
    pub(crate) fn is_storage(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        matches!(self, MeasureError::Write(e)
            if matches!(e.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | FileTooLarge)
                || e.raw_os_error() == Some(libc::EIO))
    }
}
