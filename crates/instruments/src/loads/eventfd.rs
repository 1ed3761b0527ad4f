//! `eventfd`: one event that hundreds of epoll instances wait for, added and taken back again and again.
//!
//! The kernel tells each instance, with the lock of the event held and interrupts off.

use super::LoadError;
use super::Pace;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::sys::epoll::Epoll;
use crate::sys::eventfd::EventFd;
use crate::sys::rlimit::Resource;

/// Each is an open file, of which a process usually may have 1024.
const INSTANCES: u32 = 960;
const EVENTS: usize = 0;

/// An event that many wait for.
pub const EVENTFD: LoadCode = LoadCode {
    name: "eventfd",
    units: &["events"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let rate = load.request().rate();
    let instances = load.request().number().unwrap_or(INSTANCES);
    let files = load.limit_of_files(instances.into())?;
    load.spawn(Ending::Anywhere, move |board| {
        let failed = |e| format!("an event for {instances} instances of epoll: {e}");
        let _raised = Resource::Files.raise(files).map_err(failed)?;
        let event = EventFd::without_waiting().map_err(failed)?;
        let waiting: Result<Vec<Epoll>, _> = (0..instances).map(|_| Epoll::of(&event)).collect();
        let _waiting = waiting.map_err(failed)?;
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            event.add().map_err(failed)?;
            event.forget().map_err(failed)?;
            board.add(EVENTS, 1);
        }
    })
}
