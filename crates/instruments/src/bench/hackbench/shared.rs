//! What all senders and receivers of a run share, and what each of them does.

use super::Plan;
use super::latency::{SEAT_BYTES, Seat};
use crate::bench::BenchError;
use crate::loads::board::Board;
use crate::sys::memory::Mapping;
use crate::sys::{affinity, clock, process, sched, signal};
use rustix::thread::sched_getcpu;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use worstcase_logs::Nanos;

/// Bytes of a cache line, or a multiple.
const LINE: usize = 128;

/// Messages sent.
pub(super) const SENT: usize = 0;
/// Messages received.
pub(super) const RECEIVED: usize = 1;
/// Bytes received.
pub(super) const BYTES: usize = 2;
/// Messages that were received before they were sent, says the clock.
pub(super) const EARLY: usize = 3;
/// What the threads used, if they are threads: CPU time in ns, and the two kinds of switches.
pub(super) const USED: [usize; 3] = [4, 5, 6];
/// Senders and receivers that are ready.
const READY: usize = 7;
/// How often one was on another CPU than at its message before.
pub(super) const MOVES: usize = 8;

/// Made anew for each run, before the first child.
pub(super) struct Shared<'a> {
    pub(super) plan: &'a Plan,
    /// Counters, and the words of who fails.
    pub(super) board: Board,
    /// A seat for each receiver.
    latency: Option<Mapping>,
    /// Everybody holds it, and closes it by ending; the last one to be ready writes a byte. The parent sees both at the
    /// other end.
    pub(super) alive: Option<PipeWriter>,
    /// Can be read from the start signal on; nobody takes the byte.
    go: PipeReader,
}

impl Shared<'_> {
    /// With the parent's ends: where it sees who is ready, and where it gives the signal.
    pub(super) fn new(plan: &Plan) -> Result<(Shared<'_>, PipeReader, PipeWriter), BenchError> {
        let receivers = plan.what.receivers();
        let latency = plan.what.latency.then(|| Mapping::shared(receivers * SEAT_BYTES));
        let (seen, alive) = io::pipe().map_err(BenchError::system("making a pipe"))?;
        let (go, signal) = io::pipe().map_err(BenchError::system("making a pipe"))?;
        let shared = Shared {
            plan,
            board: Board::new().map_err(BenchError::system("mapping the page of counters"))?,
            latency: latency
                .transpose()
                .map_err(BenchError::system("mapping the histograms"))?,
            alive: Some(alive),
            go,
        };
        Ok((shared, seen, signal))
    }

    /// The receivers' seats, for the parent.
    pub(super) fn seats(&self) -> Option<&Mapping> {
        self.latency.as_ref()
    }

    /// A child's first step: SCHED_OTHER, whatever the caller is, on the CPUs that were asked for.
    pub(super) fn enter(&self) -> Result<(), String> {
        // Not if it is so already: with it, runs on two CPUs were seen to take a third longer.
        if sched::Policy::current().ok() != Some(sched::Policy::OTHER) {
            sched::Policy::OTHER
                .apply()
                .map_err(|e| format!("cannot run at SCHED_OTHER: {e}"))?;
        }
        match self.plan.cpus.as_slice() {
            [] => Ok(()),
            cpus => affinity::set(cpus).map_err(|e| format!("cannot run on CPUs {cpus:?}: {e}")),
        }
    }

    /// The step of the one with this number, of all senders and receivers, to the CPU it stays on, if they stay.
    fn settle(&self, number: usize) -> Result<(), String> {
        if !self.plan.what.pinned {
            return Ok(());
        }
        let cpu = self.plan.cpus[number % self.plan.cpus.len()];
        affinity::set(&[cpu]).map_err(|e| format!("cannot run on CPU {cpu}: {e}"))
    }

    fn name_thread(&self, name: &str) -> Result<(), String> {
        process::set_name(name).map_err(|e| format!("cannot take the name {name}: {e}"))
    }

    /// For a message, written to, so that no page is missing later; see [`own_lines`].
    fn room(&self) -> Vec<u8> {
        vec![b'-'; self.plan.what.size as usize + 2 * LINE]
    }

    /// Reports ready and waits for the start signal.
    fn wait(&self) -> Result<(), String> {
        // Only the last one wakes the parent. From here on the page of the counters is present for everybody.
        if self.board.add_up(READY, 1) == self.plan.what.tasks() as u64 {
            let mut alive = self.alive.as_ref().expect("children hold it until they end");
            alive.write_all(b"!").map_err(|e| format!("reporting ready: {e}"))?;
        }
        let go = || signal::poll(self.go.as_fd(), None).map_err(|e| format!("waiting for the start: {e}"));
        while !go()?.0 {}
        Ok(())
    }

    /// The sender number `index` of all groups: message after message to each of `receivers` in turn.
    pub(super) fn send(&self, receivers: &[File], index: usize) -> Result<(), String> {
        self.name_thread("hack-sender")?;
        self.settle(self.plan.what.receivers() + index)?;
        let what = &self.plan.what;
        let mut room = self.room();
        let message = own_lines(&mut room);
        let mut sent = 0;
        self.wait()?;
        let mut whereabouts = Whereabouts::default();
        for _ in 0..what.messages {
            for mut to in receivers {
                if what.latency {
                    message[..8].copy_from_slice(&clock::monotonic().0.to_ne_bytes());
                }
                to.write_all(message).map_err(|e| format!("sending: {e}"))?;
                sent += 1;
                whereabouts.look();
            }
        }
        self.board.add(SENT, sent);
        self.board.add(MOVES, whereabouts.moves);
        Ok(())
    }

    /// The receiver number `index` of all groups.
    pub(super) fn receive(&self, mut from: &File, index: usize) -> Result<(), String> {
        self.name_thread("hack-receiver")?;
        self.settle(index)?;
        let what = &self.plan.what;
        let mut room = self.room();
        let message = own_lines(&mut room);
        let mut seat = self.latency.as_ref().map(|all| Seat::take(all.half_words(), index));
        let (mut received, mut bytes, mut early) = (0, 0, 0);
        self.wait()?;
        let mut whereabouts = Whereabouts::default();
        for _ in 0..what.messages_of_a_receiver() {
            let mut done = 0;
            while done < message.len() {
                match from.read(&mut message[done..]) {
                    Ok(0) => return Err("receiving: every sender has gone".into()),
                    Ok(n) => done += n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(format!("receiving: {e}")),
                }
            }
            if let Some(seat) = &mut seat {
                let now = clock::monotonic();
                let sent = Nanos(u64::from_ne_bytes(message[..8].try_into().expect("eight bytes")));
                early += u64::from(sent > now);
                seat.count(now.saturating_sub(sent).0);
            }
            received += 1;
            bytes += done as u64;
            whereabouts.look();
        }
        self.board.add(RECEIVED, received);
        self.board.add(BYTES, bytes);
        self.board.add(EARLY, early);
        self.board.add(MOVES, whereabouts.moves);
        Ok(())
    }
}

/// On which CPU a sender or receiver was at its last message.
#[derive(Default)]
struct Whereabouts {
    last: Option<usize>,
    moves: u64,
}

impl Whereabouts {
    fn look(&mut self) {
        let now = sched_getcpu();
        self.moves += u64::from(self.last.is_some_and(|last| last != now));
        self.last = Some(now);
    }
}

/// The middle of a message's room: threads have one heap, and would else share cache lines, which message passing does not ask for.
fn own_lines(room: &mut [u8]) -> &mut [u8] {
    let end = room.len() - LINE;
    &mut room[LINE..end]
}
