//! `cgroup`: one process moves to and fro between two control groups, each with the controller of CPU time.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::device;
use std::fs;

const MOVES: usize = 0;

/// A process that moves between control groups.
pub const CGROUP: LoadCode = LoadCode {
    name: "cgroup",
    units: &["moves"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let root = load.folder()?;
    device::mount("cgroup2", &root).map_err(load.preparing("mounting the control groups"))?;
    let mounted = root.clone();
    load.on_stop("unmounting the control groups".into(), move || {
        device::unmount(&mounted)
    });
    fs::write(root.join("cgroup.subtree_control"), "+cpu")
        .map_err(load.preparing("switching on the controller cpu"))?;
    let groups = ["a", "b"].map(|name| root.join(name));
    for group in &groups {
        fs::create_dir(group).map_err(load.preparing("making a control group"))?;
    }
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        loop {
            for group in &groups {
                pace.wait();
                // 0 is who writes.
                fs::write(group.join("cgroup.procs"), "0")
                    .map_err(|e| format!("moving to {}: {e}", group.display()))?;
                board.add(MOVES, 1);
            }
        }
    })
}
