//! What a disk is asked for, and what became of it.

use worstcase_logs::Nanos;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To have everything on the platter that was written before.
    Flush,
    /// To forget.
    Discard,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The asker's name for it.
    pub id: u64,
    /// What.
    pub action: Action,
    /// A write that is not done before it is on the platter.
    pub fua: bool,
    /// The first sector, of 512 bytes.
    pub sector: u64,
    /// How many.
    pub sectors: u32,
}

impl Request {
    /// The sector behind the last.
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }
}

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// It.
    pub request: Request,
    /// When it came.
    pub arrived: Nanos,
    /// When the disk turned to it.
    pub began: Nanos,
    /// When it was done.
    pub ended: Nanos,
    /// What it was waiting for: together `ended - arrived`.
    pub parts: Parts,
}

/// Parts of a request's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Others were first.
    pub(crate) queued: Nanos,
    /// The controller.
    pub overhead: Nanos,
    /// The arm moved.
    pub seek: Nanos,
    /// The platter turned until the first sector came.
    pub rotation: Nanos,
    /// Sectors went by, or over the cable.
    pub transfer: Nanos,
}

impl Parts {
    /// Together.
    pub fn sum(&self) -> Nanos {
        Nanos(self.queued.0 + self.overhead.0 + self.seek.0 + self.rotation.0 + self.transfer.0)
    }
}
