//! The parameters of `hackbench`, and its name with them.

use super::super::spelling::{show_bytes, words};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Groups of senders and receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hackbench {
    /// Groups.
    pub groups: u16,
    /// Senders of a group, and as many receivers.
    pub pairs: u16,
    /// Messages from each sender to each receiver of its group.
    pub messages: u32,
    /// Bytes of a message.
    pub size: u32,
    /// What messages go through.
    pub transport: Transport,
    /// Senders and receivers are threads of one process.
    pub threads: bool,
    /// They run on so many CPUs; 0: on all.
    pub cpus: u16,
    /// Each of them stays on one of these CPUs, given to them in turn.
    pub pinned: bool,
    /// The latency of each message is taken, too.
    pub latency: bool,
}

/// What messages go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Transport {
    /// UNIX stream sockets.
    Sockets,
    /// Pipes.
    Pipes,
}

words!(Transport: Sockets "sockets", Pipes "pipes");

impl fmt::Display for Hackbench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transport = self.transport.word();
        write!(
            f,
            "hackbench:{}x{}x{}x{}+{transport}",
            self.groups,
            self.pairs,
            self.messages,
            show_bytes(self.size.into())
        )?;
        if self.threads {
            f.write_str("+threads")?;
        }
        if self.cpus > 0 {
            write!(f, "+cpus{}", self.cpus)?;
        }
        if self.pinned {
            f.write_str("+pinned")?;
        }
        if self.latency {
            f.write_str("+latency")?;
        }
        Ok(())
    }
}
