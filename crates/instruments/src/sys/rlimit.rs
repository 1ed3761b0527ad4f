//! Resource limits of this process.

use rustix::process::{Rlimit, getrlimit, setrlimit};
use std::io;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Open files of a process (RLIMIT_NOFILE).
    Files,
    /// Processes and threads of a user (RLIMIT_NPROC).
    Processes,
    /// Bytes of a stack, of which a new program's arguments have a part (RLIMIT_STACK).
    Stack,
}

/// A limit; "no limit" is the largest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is in force.
    pub soft: u64,
    /// Up to where this process may raise it.
    pub hard: u64,
}

impl Resource {
    fn id(self) -> rustix::process::Resource {
        match self {
            Resource::Files => rustix::process::Resource::Nofile,
            Resource::Processes => rustix::process::Resource::Nproc,
            Resource::Stack => rustix::process::Resource::Stack,
        }
    }

    /// Its limit.
    pub fn limit(self) -> Limit {
        let limit = getrlimit(self.id());
        Limit {
            soft: limit.current.unwrap_or(u64::MAX),
            hard: limit.maximum.unwrap_or(u64::MAX),
        }
    }

    fn set(self, limit: Limit) -> io::Result<()> {
        let limited = |limit| (limit != u64::MAX).then_some(limit);
        let limit = Rlimit {
            current: limited(limit.soft),
            maximum: limited(limit.hard),
        };
        Ok(setrlimit(self.id(), limit)?)
    }

    /// Raises the soft limit to `wanted` if it is below that, until the result is dropped.
    pub fn raise(self, wanted: u64) -> io::Result<Raised> {
        let before = self.limit();
        if before.soft < wanted {
            self.set(Limit { soft: wanted, ..before })?;
        }
        Ok(Raised { resource: self, before })
    }
}

/// A raised soft limit; dropping it lowers it again.
#[derive(Debug)]
pub struct Raised {
    resource: Resource,
    before: Limit,
}

impl Drop for Raised {
    fn drop(&mut self) {
        // Lowering a limit to what it was needs no right.
        let _ = self.resource.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_limit_is_lowered_again() {
        let before = Resource::Files.limit();
        let hard = before.hard;
        let raised = Resource::Files.raise(hard).unwrap();
        assert_eq!(Resource::Files.limit(), Limit { soft: hard, hard });
        drop(raised);
        assert_eq!(Resource::Files.limit(), before);
    }
}
