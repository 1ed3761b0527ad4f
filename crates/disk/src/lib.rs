//! A disk in virtual time: when each request is done, and what was written.
//!
//! ```text
//! profile   what a disk is: numbers of its data sheet       profiles: those that come with worstcase, and files
//! rotating  platters and an arm: geometry, seek, cache, and who comes next
//! flash     channels, each busy with a page at a time
//! store     the contents: what repeats costs nothing
//! ```
//! Nothing here reads a clock or draws a random number that is not the seed's: the same requests at the same times end at
//! the same times, on any machine.

mod counters;
mod flash;
mod profile;
#[cfg(feature = "profiles")]
pub mod profiles;
mod request;
mod rotating;
pub mod store;
mod text;

pub use counters::Counters;
pub use profile::{Flash, Kind, Latency, Profile, ProfileError, Rotating};
pub use request::{Action, Ended, Parts, Request};
pub use text::NoProfile;

use worstcase_logs::Nanos;

/// Kernel modules that a machine with such a disk may need: the device, the file system, the schedulers.
pub const MODULES: [&str; 6] = ["nbd", "crc32c_generic", "ext4", "mq-deadline", "kyber-iosched", "bfq"];

/// Bytes of a sector.
pub const SECTOR: u64 = 512;

/// A disk at work.
pub struct Disk {
    model: Model,
    counters: Counters,
}

enum Model {
    Rotating(Box<rotating::Platters>),
    Flash(Box<flash::Chips>),
}

impl Disk {
    /// At rest; the seed says where the platters are, and which reads of a flash are slow.
    pub fn new(profile: &Profile, seed: u64) -> Disk {
        Disk {
            model: match &profile.kind {
                Kind::Rotating(of) => Model::Rotating(Box::new(rotating::Platters::new(profile, of, seed))),
                Kind::Flash(of) => Model::Flash(Box::new(flash::Chips::new(profile, of, seed))),
            },
            counters: Counters::default(),
        }
    }

    /// A request comes. Time never goes back: `now` is at least that of the last call.
    pub fn submit(&mut self, now: Nanos, request: Request) {
        self.counters.comes();
        match &mut self.model {
            Model::Rotating(platters) => platters.submit(now, request),
            Model::Flash(chips) => chips.submit(now, request),
        }
    }

    /// When the disk next wants to be asked; none if it rests.
    pub fn next_event(&self) -> Option<Nanos> {
        match &self.model {
            Model::Rotating(platters) => platters.next_event(),
            Model::Flash(chips) => chips.next_event(),
        }
    }

    /// The requests that are done by now, in the order of their ends.
    pub fn advance(&mut self, now: Nanos) -> Vec<Ended> {
        let ended = match &mut self.model {
            Model::Rotating(platters) => platters.advance(now),
            Model::Flash(chips) => chips.advance(now),
        };
        ended.iter().for_each(|ended| self.counters.ends(ended));
        ended
    }

    /// What it did so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
