//! What a member sees of itself: its switches and moves, and whether the token comes in order.
//!
//! It looks in laps outside the timed ones. A member that receives the token of the last lap before the clock runs will
//! still wait for the first timed token, and has given up the CPU for that before the clock is read: this one wait is not counted.

use super::board::{Account, Board, Trouble};
use crate::sys::usage::{self, Usage};
use std::fs::File;
use std::io::Read;

/// A member's notes.
pub(super) struct Ledger<'a> {
    board: &'a Board,
    member: usize,
    members: usize,
    /// Laps whose order was looked at.
    looked: u64,
    switches: Usage,
    moves: Option<u64>,
}

impl Ledger<'_> {
    pub(super) fn new(board: &Board, member: usize, members: usize) -> Ledger<'_> {
        Ledger {
            board,
            member,
            members,
            looked: 0,
            switches: Usage::default(),
            moves: None,
        }
    }

    /// The token is here, in a lap in which every member looks whether it is its turn.
    pub(super) fn take_turn(&mut self) -> Result<(), Trouble> {
        let turn = self.looked * self.members as u64 + self.member as u64;
        self.looked += 1;
        self.board.take_turn(turn)
    }

    /// Notes the moves so far.
    pub(super) fn note_moves(&mut self) {
        self.moves = own_moves();
    }

    /// Notes the switches so far.
    pub(super) fn note_switches(&mut self) {
        self.switches = usage::own_thread();
    }

    /// Tells what was counted since, `waits` of them outside the timed laps.
    pub(super) fn close(&self, hops: u64, waits: u64) {
        let now = usage::own_thread();
        let moved = self.moves.zip(own_moves());
        self.board.set_account(
            self.member,
            Account {
                hops,
                voluntary: (now.voluntary - self.switches.voluntary).saturating_sub(waits),
                involuntary: now.involuntary - self.switches.involuntary,
                migrations: moved.map(|(before, after)| after.saturating_sub(before)),
            },
        );
    }
}

/// Moves of the calling thread to another CPU, where the kernel tells them (CONFIG_SCHED_DEBUG).
fn own_moves() -> Option<u64> {
    // On the stack: a forked child does not allocate.
    let mut text = [0; 4096];
    let mut file = File::open("/proc/thread-self/sched").ok()?;
    let len = file.read(&mut text).ok()?;
    moves_in(std::str::from_utf8(&text[..len]).ok()?)
}

fn moves_in(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.split_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_read() {
        let text = "cat (7, #threads: 1)\n---\nse.exec_start   :  1.5\nse.nr_migrations                    :                   12\nx : 1\n";
        assert_eq!(moves_in(text), Some(12));
        assert_eq!(moves_in("se.exec_start : 1"), None);
    }
}
