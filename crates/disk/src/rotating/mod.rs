//! Platters and an arm.
//!
//! ```text
//! geometry  where a sector is, and when it passes under the head
//! seek      how long the arm takes
//! cache     what was read, what follows it, and what is still to be written
//! ```
//! The controller answers what its memory has, and takes writes as long as there is room. Everything else waits for the arm,
//! which does one thing at a time: the command that it can begin first (seek and turn), or one that waited too long. When
//! no command waits it writes what is to be written; a flush makes it do so at once. While it has nothing to do it reads on.

mod cache;
mod geometry;
mod seek;

use crate::{Action, Ended, Parts, Profile, Request, Rotating, SECTOR};
use cache::{Dirty, Segments};
use geometry::Geometry;
use seek::Seek;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// The cache for writes is emptied before commands are served when this many tenths of it are full.
const FULL_TENTHS: u64 = 8;
/// So many places on each side are looked at for what is written next.
const LOOKED_AT: usize = 8;
/// Sectors that are written in one go from the cache.
const IN_ONE_GO: u64 = 4_096;
/// Sectors of a read that are not over the cable when the last one has passed.
const LAST_PIECE: u32 = 128;

/// See the module.
pub struct Platters {
    geometry: Geometry,
    seek: Seek,
    of: Rotating,
    depth: usize,
    command: Nanos,
    interface: u64,
    /// How far the platters had turned at time 0.
    phase: Nanos,
    /// Commands that the controller cannot answer alone, in the order in which they came.
    waiting: VecDeque<Waiting>,
    arm: Arm,
    segments: Segments,
    dirty: Dirty,
    /// Flushes that came so far.
    flushes: u64,
    /// By their end, and by their number among those that end at once.
    done: BTreeMap<(Nanos, u64), Ended>,
    number: u64,
    /// The controller is busy until then.
    controller: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: Request,
    arrived: Nanos,
    /// Flushes that came before it, this one included.
    age: u64,
}

/// The arm, and what it is at.
struct Arm {
    /// The sector behind the last that it read or wrote.
    sector: u64,
    /// Where it is.
    track: u64,
    job: Option<Job>,
    /// What it reads after a read, while nobody wants anything else.
    ahead: Option<Ahead>,
}

struct Job {
    end: Nanos,
    /// What is read or written.
    sectors: Range<u64>,
    /// Whose it is; the cache's if nobody's.
    of: Option<Ended>,
    writes: bool,
}

#[derive(Clone, Debug)]
struct Ahead {
    /// What the piece holds, and will hold when it is full.
    sectors: Range<u64>,
    /// From here on it was read ahead, beginning at this time.
    from: u64,
    began: Nanos,
}

/// How the arm would come to a place.
#[derive(Clone, Copy)]
struct Way {
    seek: Nanos,
    rotation: Nanos,
}

impl Platters {
    pub fn new(profile: &Profile, of: &Rotating, seed: u64) -> Platters {
        let geometry = Geometry::new(profile, of);
        Platters {
            seek: Seek::new(of, geometry.cylinders()),
            depth: profile.queue_depth as usize,
            command: profile.command,
            interface: profile.interface,
            phase: Nanos(SplitMix64::new(seed).below(geometry.turn().0)),
            waiting: VecDeque::new(),
            arm: Arm {
                sector: 0,
                track: 0,
                job: None,
                ahead: None,
            },
            segments: Segments::new(of.segments as usize),
            dirty: Dirty::default(),
            flushes: 0,
            done: BTreeMap::new(),
            number: 0,
            controller: Nanos(0),
            of: of.clone(),
            geometry,
        }
    }

    pub fn submit(&mut self, now: Nanos, request: Request) {
        self.run_until(now);
        self.flushes += u64::from(request.action == Action::Flush);
        let waiting = Waiting {
            request,
            arrived: now,
            age: self.flushes,
        };
        // What came before a command that waits is not overtaken by one of the same place.
        match self.is_answered(&waiting, now) {
            true => self.answer(waiting, now),
            false => self.waiting.push_back(waiting),
        }
        self.start(now);
    }

    pub fn next_event(&self) -> Option<Nanos> {
        let ends = self.arm.job.as_ref().map(|job| job.end);
        let done = self.done.first_key_value().map(|((end, _), _)| *end);
        ends.into_iter().chain(done).min()
    }

    pub fn advance(&mut self, now: Nanos) -> Vec<Ended> {
        self.run_until(now);
        let later = self.done.split_off(&(Nanos(now.0 + 1), 0));
        std::mem::replace(&mut self.done, later).into_values().collect()
    }

    /// Ends every job that ends by now, and begins what follows.
    fn run_until(&mut self, now: Nanos) {
        while let Some(job) = self.arm.job.take_if(|job| job.end <= now) {
            let end = job.end;
            self.finish(job);
            self.admit(end);
            self.start(end);
        }
    }

    /// Whether the controller's memory is enough.
    fn is_answered(&mut self, waiting: &Waiting, now: Nanos) -> bool {
        let request = &waiting.request;
        let sectors = request.sector..request.end();
        match request.action {
            Action::Discard => true,
            Action::Flush => !self.has_unwritten(waiting.age - 1),
            Action::Write if request.fua || self.of.write_cache == 0 => false,
            Action::Write => {
                let sectors = self.dirty.sectors() + u64::from(request.sectors);
                self.dirty.is_empty() || sectors * SECTOR <= self.of.write_cache
            }
            Action::Read => {
                self.dirty.has(&sectors) || self.segments.have(&sectors) || {
                    let read = self.arm.ahead.as_ref().map(|ahead| self.read_so_far(ahead, now));
                    read.is_some_and(|read| read.start <= sectors.start && sectors.end <= read.end)
                }
            }
        }
    }

    /// Whether something of that age or older is not on the platter.
    fn has_unwritten(&self, age: u64) -> bool {
        let under_way = self.arm.job.as_ref().is_some_and(|job| job.writes);
        let writes = |waiting: &Waiting| waiting.request.action == Action::Write && waiting.age <= age;
        under_way || self.dirty.has_of(age) || self.waiting.iter().any(writes)
    }

    /// From memory; a write into memory.
    fn answer(&mut self, waiting: Waiting, now: Nanos) {
        let request = waiting.request;
        if request.action == Action::Write {
            let sectors = request.sector..request.end();
            self.forget_read(&sectors, now);
            self.dirty.add(sectors, waiting.age);
        }
        let began = now.max(self.controller);
        let moves = matches!(request.action, Action::Read | Action::Write);
        let transfer = Nanos(if moves { self.over_cable(request.sectors) } else { 0 });
        let ended = began + self.command + transfer;
        self.controller = ended;
        self.put(Ended {
            request,
            arrived: waiting.arrived,
            began,
            ended,
            parts: Parts {
                queued: began - waiting.arrived,
                overhead: self.command,
                transfer,
                ..Parts::default()
            },
        });
    }

    fn put(&mut self, ended: Ended) {
        self.number += 1;
        self.done.insert((ended.ended, self.number), ended);
    }

    fn over_cable(&self, sectors: u32) -> u64 {
        u64::from(sectors) * SECTOR * 1_000_000_000 / self.interface
    }

    /// What is written over was never read.
    fn forget_read(&mut self, sectors: &Range<u64>, now: Nanos) {
        self.segments.forget(sectors);
        if let Some(ahead) = &self.arm.ahead
            && sectors.start < ahead.sectors.end
            && ahead.sectors.start < sectors.end
        {
            let read = self.read_so_far(ahead, now);
            self.arm.ahead = None;
            self.segments
                .keep(read.start..read.end.min(sectors.start.max(read.start)));
        }
    }

    fn read_so_far(&self, ahead: &Ahead, now: Nanos) -> Range<u64> {
        if now < ahead.began {
            return ahead.sectors.start..ahead.sectors.start;
        }
        let most = ahead.sectors.end - ahead.from;
        let passed = self
            .geometry
            .passed_in(ahead.from, now.saturating_sub(ahead.began), most);
        ahead.sectors.start..ahead.from + passed
    }

    /// Room and what is on the platter let commands go that waited for it.
    fn admit(&mut self, now: Nanos) {
        let mut nth = 0;
        while nth < self.waiting.len() {
            let waiting = self.waiting[nth];
            match !matches!(waiting.request.action, Action::Read) && self.is_answered(&waiting, now) {
                true => {
                    self.waiting.remove(nth);
                    self.answer(waiting, now);
                }
                false => nth += 1,
            }
        }
    }

    /// Gives the arm something to do, if it has nothing and there is something.
    fn start(&mut self, now: Nanos) {
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

    fn finish(&mut self, job: Job) {
        if let Some(ended) = job.of {
            self.put(ended);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
