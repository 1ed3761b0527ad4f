//! What the arm does: which command or write comes next, how it gets there, and what it does at the place.

use super::{Ahead, Job, Platters, Waiting};
use crate::{Action, Ended, Parts, Request, SECTOR};
use worstcase_logs::Nanos;

/// The cache for writes is emptied before commands are served when this many tenths of it are full.
const FULL_TENTHS: u64 = 8;
/// So many places on each side are looked at for what is written next.
const LOOKED_AT: usize = 8;
/// Sectors that are written in one go from the cache.
const IN_ONE_GO: u64 = 4_096;
/// Sectors of a read that are not over the cable when the last one has passed.
const LAST_PIECE: u32 = 128;

/// How the arm would come to a place.
#[derive(Clone, Copy)]
struct Way {
    seek: Nanos,
    rotation: Nanos,
}

impl Platters {
    /// Gives the arm something to do, if it has nothing and there is something.
    pub(super) fn start(&mut self, now: Nanos) {
        if self.arm.job.is_some() {
            return;
        }
        let taken = self.waiting.len().min(self.depth);
        let is_for_arm = |waiting: &&Waiting| {
            let request = &waiting.request;
            let is_written_through = request.action == Action::Write && (request.fua || self.of.write_cache == 0);
            request.action == Action::Read || is_written_through
        };
        let commands = self.waiting.iter().take(taken).filter(is_for_arm);
        let flush = self
            .waiting
            .iter()
            .take(taken)
            .find(|w| w.request.action == Action::Flush);
        let room_is_wanted = self
            .waiting
            .iter()
            .take(taken)
            .any(|w| w.request.action == Action::Write && !is_for_arm(&w));
        let is_full = room_is_wanted
            || self.of.write_cache > 0 && self.dirty.sectors() * SECTOR * 10 >= self.of.write_cache * FULL_TENTHS;
        let command = commands.min_by_key(|waiting| {
            let is_patient = now.saturating_sub(waiting.arrived) < self.of.patience;
            let rank = if is_patient { self.cost(waiting, now) } else { Nanos(0) };
            (is_patient, rank, waiting.arrived, waiting.request.id)
        });
        let command = command.map(|waiting| (self.cost(waiting, now), waiting.request.id));
        let oldest = flush.map_or(u64::MAX, |flush| flush.age - 1);
        let write = (command.is_none() || flush.is_some() || is_full)
            .then(|| self.next_write(now, oldest))
            .flatten();
        match (command, write) {
            (Some((cost, _)), Some((other, start))) if other < cost => self.destage(start, now),
            (Some((_, id)), _) => self.serve(id, now),
            (None, Some((_, start))) => self.destage(start, now),
            (None, None) => {}
        }
    }

    /// How soon the arm could begin with it.
    fn cost(&self, waiting: &Waiting, now: Nanos) -> Nanos {
        let request = &waiting.request;
        if request.action == Action::Read && self.follows(request.sector, now) {
            return Nanos(0);
        }
        let way = self.way(request.sector, request.action == Action::Write, now);
        way.seek + way.rotation
    }

    /// The cheapest place of the cache to write, of that age or older.
    fn next_write(&self, now: Nanos, age: u64) -> Option<(Nanos, u64)> {
        let places = self.dirty.near(self.arm.sector, age, LOOKED_AT).into_iter();
        let cost = |start| {
            let way = self.way(start, true, now);
            (way.seek + way.rotation, start)
        };
        places.map(cost).min()
    }

    fn way(&self, sector: u64, writes: bool, now: Nanos) -> Way {
        let place = self.geometry.place(sector);
        let (here, there) = (
            self.geometry.cylinder(self.arm.track),
            self.geometry.cylinder(place.track),
        );
        let seek = match place.track.abs_diff(self.arm.track) {
            0 => Nanos(0),
            1 => self.of.switch,
            _ if here == there => self.of.switch,
            _ if writes => self.seek.time(here.abs_diff(there)) + self.of.settle,
            _ => self.seek.time(here.abs_diff(there)),
        };
        Way {
            seek,
            rotation: self.geometry.wait(place, now + seek, self.phase),
        }
    }

    /// Whether the head reads just there, or has read it and reads on.
    fn follows(&self, sector: u64, now: Nanos) -> bool {
        self.arm.ahead.as_ref().is_some_and(|ahead| {
            let read = self.read_so_far(ahead, now);
            read.start <= sector && sector <= read.end && read.end < ahead.sectors.end
        })
    }

    /// The arm turns to a command.
    fn serve(&mut self, id: u64, now: Nanos) {
        let at = self.waiting.iter().position(|waiting| waiting.request.id == id);
        let Some(Waiting { request, arrived, .. }) = at.and_then(|at| self.waiting.remove(at)) else {
            return;
        };
        // Only a command that finds the disk at rest waits for the controller: others were looked at meanwhile.
        let ready = now.max(arrived + self.command);
        let writes = request.action == Action::Write;
        let goes_on = !writes && self.follows(request.sector, ready);
        let way = match goes_on {
            true => Way {
                seek: Nanos(0),
                rotation: Nanos(0),
            },
            false => {
                self.leave(now);
                self.way(request.sector, writes, ready)
            }
        };
        let first = ready + way.seek + way.rotation;
        let end = match writes {
            true => {
                self.forget_read(&(request.sector..request.end()), now);
                first + self.geometry.pass(request.sector, u64::from(request.sectors))
            }
            // Only the last piece goes over the cable when all has passed.
            false => self.read_on(&request, first).max(ready) + Nanos(self.over_cable(request.sectors.min(LAST_PIECE))),
        };
        let ended = Ended {
            request,
            arrived,
            began: now,
            ended: end,
            parts: Parts {
                queued: now - arrived,
                overhead: ready - now,
                seek: way.seek,
                rotation: way.rotation,
                transfer: end - first,
            },
        };
        self.begin(Job {
            end,
            sectors: request.sector..request.end(),
            of: Some(ended),
            writes,
        });
    }

    /// The head reads what is asked for, the first sector at this time unless it reads there already, and then what follows.
    /// Returns when all that is asked for has passed.
    fn read_on(&mut self, request: &Request, first: Nanos) -> Nanos {
        let piece = self.of.segment / SECTOR;
        let (start, from, began) = match &self.arm.ahead {
            Some(ahead) => (ahead.sectors.start, ahead.from, ahead.began),
            None => (request.sector, request.sector, first),
        };
        let passed = began + self.geometry.pass(from, request.end().saturating_sub(from));
        let start = start.max(request.end().saturating_sub(piece));
        let end = (request.end() + piece).min(self.geometry.sectors());
        // Counted from here on, so that no long way is counted again.
        self.arm.ahead = Some(Ahead {
            sectors: start..end.max(request.end()),
            from: request.end().max(from),
            began: passed,
        });
        passed
    }

    /// The arm turns to what is to be written.
    fn destage(&mut self, start: u64, now: Nanos) {
        self.leave(now);
        let way = self.way(start, true, now);
        let sectors = self.dirty.take(start, IN_ONE_GO);
        let pass = self.geometry.pass(start, sectors.end - sectors.start);
        self.begin(Job {
            end: now + way.seek + way.rotation + pass,
            sectors,
            of: None,
            writes: true,
        });
    }

    /// Reading ahead ends; what was read is kept.
    fn leave(&mut self, now: Nanos) {
        if let Some(ahead) = self.arm.ahead.take() {
            let read = self.read_so_far(&ahead, now);
            self.go_to(read.end);
            self.segments.keep(read);
        }
    }

    fn begin(&mut self, job: Job) {
        self.go_to(job.sectors.end);
        self.arm.job = Some(job);
    }

    /// The head is behind the sector before this one.
    fn go_to(&mut self, sector: u64) {
        self.arm.sector = sector;
        self.arm.track = self.geometry.place(sector.max(1) - 1).track;
    }
}
