//! Platters and an arm.
//!
//! ```text
//! arm       what it does next, and how it gets there
//! geometry  where a sector is, and when it passes under the head
//! seek      how long the arm takes
//! cache     what was read, what follows it, and what is still to be written
//! ```
//! The controller answers what its memory has, and takes writes as long as there is room. Everything else waits for the arm,
//! which does one thing at a time: the command that it can begin first (seek and turn), or one that waited too long. When
//! no command waits it writes what is to be written; a flush makes it do so at once. While it has nothing to do it reads on.

mod arm;
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

/// See the module.
pub(crate) struct Platters {
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

    fn finish(&mut self, job: Job) {
        if let Some(ended) = job.of {
            self.put(ended);
        }
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
}

#[cfg(test)]
pub(crate) mod tests;
