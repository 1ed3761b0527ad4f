//! Flash: channels that read a page each at a time, and a buffer that takes writes as fast as all of them write.

use crate::{Action, Ended, Flash, Parts, Profile, Request, SECTOR};
use std::collections::{BTreeMap, VecDeque};
use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// See the module.
pub(crate) struct Chips {
    of: Flash,
    depth: usize,
    command: Nanos,
    interface: u64,
    random: SplitMix64,
    /// Each channel is busy until then.
    channels: Vec<Nanos>,
    /// So are the controller, the cable and what is written.
    controller: Nanos,
    cable: Nanos,
    written: Nanos,
    waiting: VecDeque<(Nanos, Request)>,
    done: BTreeMap<(Nanos, u64), Ended>,
    number: u64,
}

impl Chips {
    pub fn new(profile: &Profile, of: &Flash, seed: u64) -> Chips {
        Chips {
            depth: profile.queue_depth as usize,
            command: profile.command,
            interface: profile.interface,
            random: SplitMix64::new(seed),
            channels: vec![Nanos(0); of.channels as usize],
            controller: Nanos(0),
            cable: Nanos(0),
            written: Nanos(0),
            waiting: VecDeque::new(),
            done: BTreeMap::new(),
            number: 0,
            of: of.clone(),
        }
    }

    pub fn submit(&mut self, now: Nanos, request: Request) {
        match self.done.len() < self.depth {
            true => self.begin(now, now, request),
            false => self.waiting.push_back((now, request)),
        }
    }

    pub fn next_event(&self) -> Option<Nanos> {
        self.done.first_key_value().map(|((end, _), _)| *end)
    }

    pub fn advance(&mut self, now: Nanos) -> Vec<Ended> {
        let mut all = Vec::new();
        while let Some(first) = self.done.first_entry().filter(|first| first.key().0 <= now) {
            let ended = first.remove();
            if let Some((arrived, request)) = self.waiting.pop_front() {
                self.begin(ended.ended, arrived, request);
            }
            all.push(ended);
        }
        all
    }

    fn begin(&mut self, now: Nanos, arrived: Nanos, request: Request) {
        let began = now.max(self.controller);
        let ready = began + self.command;
        self.controller = ready;
        let ended = match request.action {
            Action::Read => self.read(ready, &request),
            Action::Write => self.write(ready, &request),
            Action::Flush => ready.max(self.written) + self.of.flush,
            Action::Discard => ready,
        };
        self.number += 1;
        let ended = Ended {
            request,
            arrived,
            began,
            ended,
            parts: Parts {
                queued: began - arrived,
                overhead: self.command,
                transfer: ended - ready,
                ..Parts::default()
            },
        };
        self.done.insert((ended.ended, self.number), ended);
    }

    fn read(&mut self, ready: Nanos, request: &Request) -> Nanos {
        let of_page = u64::from(self.of.page) / SECTOR;
        let mut read = ready;
        for page in request.sector / of_page..request.end().div_ceil(of_page) {
            let time = self.of.read.at(self.random.below(1_000_000) as u32);
            let channel = (page % self.channels.len() as u64) as usize;
            let free = &mut self.channels[channel];
            *free = (*free).max(ready) + time;
            read = read.max(*free);
        }
        // Pages go over the cable as they come; the last one when it is there.
        self.cable = self.cable.max(ready) + self.over(request.sectors.into(), self.interface);
        let last = self.over(of_page.min(request.sectors.into()), self.interface);
        self.cable.max(read + last)
    }

    fn write(&mut self, ready: Nanos, request: &Request) -> Nanos {
        let time = self.of.write.at(self.random.below(1_000_000) as u32);
        let rate = self.of.write_rate.min(self.interface);
        self.written = self.written.max(ready) + self.over(request.sectors.into(), rate);
        self.written.max(ready + time)
    }

    fn over(&self, sectors: u64, rate: u64) -> Nanos {
        Nanos(sectors * SECTOR * 1_000_000_000 / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Latency};

    fn chips(depth: u32) -> Chips {
        let of = Flash {
            channels: 8,
            page: 4_096,
            read: Latency(vec![(990_000, Nanos(80_000)), (1_000_000, Nanos(500_000))]),
            write: Latency(vec![(1_000_000, Nanos(20_000))]),
            flush: Nanos(1_000_000),
            write_rate: 500_000_000,
        };
        let profile = Profile {
            name: "test".into(),
            source: "none".into(),
            capacity: 1 << 30,
            queue_depth: depth,
            command: Nanos(5_000),
            interface: 550_000_000,
            kind: Kind::Flash(of.clone()),
        };
        profile.check().unwrap();
        Chips::new(&profile, &of, 1)
    }

    /// So many random reads of 4 KiB at once, for a while: reads a second.
    fn reads_a_second(depth: u64) -> u64 {
        let mut chips = chips(32);
        let mut random = SplitMix64::new(2);
        let mut request = |id| Request {
            id,
            action: Action::Read,
            fua: false,
            sector: random.below(1 << 18) * 8,
            sectors: 8,
        };
        (0..depth).for_each(|id| chips.submit(Nanos(0), request(id)));
        let (mut now, mut count) = (Nanos(0), 0);
        while count < 5_000 {
            now = chips.next_event().unwrap();
            for ended in chips.advance(now) {
                assert_eq!(ended.parts.sum(), ended.ended - ended.arrived);
                count += 1;
                chips.submit(now, request(depth + count));
            }
        }
        count * 1_000_000_000 / now.0
    }

    #[test]
    fn channels_work_at_once() {
        let (one, eight, many) = (reads_a_second(1), reads_a_second(8), reads_a_second(32));
        assert!((8_000..12_000).contains(&one), "{one}");
        assert!(eight > 4 * one && many > eight, "{one} {eight} {many}");
    }

    #[test]
    fn more_than_it_takes_waits() {
        let mut chips = chips(1);
        for id in 0..2 {
            let (action, fua, sector, sectors) = (Action::Write, false, 0, 8);
            chips.submit(
                Nanos(0),
                Request {
                    id,
                    action,
                    fua,
                    sector,
                    sectors,
                },
            );
        }
        let ended = chips.advance(Nanos(1_000_000));
        assert_eq!(ended.len(), 2);
        assert_eq!(ended[1].began, ended[0].ended);
        assert_eq!(ended[1].parts.queued, ended[0].ended);
    }
}
