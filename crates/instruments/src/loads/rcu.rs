//! `rcu`: sockets opened five hundred at a time and closed again.
//!
//! The kernel frees a closed socket only when every reader that may still see it is gone: through a callback of RCU for
//! each, called later, in batches, in a soft interrupt.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use std::os::unix::net::UnixDatagram;

/// A process may usually have 1024 files open.
const SOCKETS: u64 = 500;
const FREED: usize = 0;

/// Objects that the kernel frees through RCU.
pub const RCU: LoadCode = LoadCode {
    name: "rcu",
    units: &["freed"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("a socket: {e}");
        let mut pace = Pace::alone(rate);
        let mut sockets = Vec::with_capacity(SOCKETS as usize);
        loop {
            for _ in 0..SOCKETS {
                pace.wait();
                sockets.push(UnixDatagram::unbound().map_err(failed)?);
            }
            sockets.clear();
            board.add(FREED, SOCKETS);
        }
    })
}
