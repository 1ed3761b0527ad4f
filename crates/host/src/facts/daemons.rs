//! Daemons, and how often each wakes.

use super::busy::{TICKS, fields_of};
use super::tree::{FileTree, field};
use serde::Serialize;

/// A process without a terminal whose parent is init.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Daemon {
    /// Its name.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// How often its threads went to sleep and were woken, a second, since it was started.
    pub(crate) wakeups_per_s: f64,
}

/// A process younger than this (s) says nothing about its habits.
const YOUNG: f64 = 10.0;

/// All daemons, those that wake most first.
pub(super) fn read(tree: &FileTree) -> Vec<Daemon> {
    let uptime = tree.text("proc/uptime").unwrap_or_default();
    let Some(uptime) = uptime
        .split_ascii_whitespace()
        .next()
        .and_then(|s| s.parse::<f64>().ok())
    else {
        return Vec::new();
    };
    let processes = tree.numbers("proc", "").into_iter();
    let mut all: Vec<Daemon> = processes.filter_map(|pid| daemon(tree, pid, uptime)).collect();
    all.sort_by(|a, b| b.wakeups_per_s.total_cmp(&a.wakeups_per_s));
    all
}

fn daemon(tree: &FileTree, pid: u32, uptime: f64) -> Option<Daemon> {
    let stat = tree.text(&format!("proc/{pid}/stat"))?;
    let (name, fields) = fields_of(&stat)?;
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    let (parent, terminal, started) = (number(1)?, number(4)?, number(19)?);
    let age = uptime - started as f64 / TICKS;
    if parent != 1 || terminal != 0 || age < YOUNG {
        return None;
    }
    let threads = tree.numbers(&format!("proc/{pid}/task"), "").into_iter();
    let woken = threads.filter_map(|thread| {
        let status = tree.text(&format!("proc/{pid}/task/{thread}/status"))?;
        field(&status, "voluntary_ctxt_switches")?.parse::<u64>().ok()
    });
    Some(Daemon {
        name: name.to_string(),
        pid,
        wakeups_per_s: woken.sum::<u64>() as f64 / age,
    })
}
