//! Where a sector is: its track, and when it passes under the head.
//!
//! Tracks are numbered from the outer edge, all surfaces of a cylinder before the next cylinder. Each begins so much later than
//! the one before that the head reaches it in time (skew).

use crate::{Profile, Rotating, SECTOR};
use worstcase_logs::Nanos;

/// Tracks of one zone have the same number of sectors.
const ZONES: u64 = 32;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    heads: u64,
    /// Time of a turn.
    turn: u64,
    /// Time from a track's end to the next one's beginning.
    switch: u64,
    zones: Vec<Zone>,
    sectors: u64,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    sector: u64,
    track: u64,
    tracks: u64,
    /// Sectors of a track.
    of_track: u64,
}

/// A sector's track, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from the outer edge.
    pub track: u64,
    within: u64,
    of_track: u64,
}

impl Geometry {
    pub fn new(profile: &Profile, of: &Rotating) -> Geometry {
        let turn = 60_000_000_000 / u64::from(of.rpm);
        // A long read also waits at each track's end, so a track holds more than the rate says.
        let of_track = |rate: u64| {
            let bytes = u128::from(rate) * u128::from(turn + of.switch.0) / 1_000_000_000;
            (bytes as u64 / SECTOR).max(1)
        };
        let (outer, inner) = (of_track(of.outer), of_track(of.inner));
        let heads = u64::from(of.heads);
        let all = (profile.capacity / SECTOR).max(1);
        let mean = (outer + inner) / 2;
        let cylinders = all.div_ceil(mean * heads).div_ceil(ZONES).max(1);
        let mut zones = Vec::new();
        let (mut sector, mut track) = (0, 0);
        for nth in 0..ZONES {
            let zone = Zone {
                sector,
                track,
                tracks: cylinders * heads,
                of_track: outer - (outer - inner) * nth / (ZONES - 1),
            };
            sector += zone.tracks * zone.of_track;
            track += zone.tracks;
            zones.push(zone);
        }
        Geometry {
            heads,
            turn,
            switch: of.switch.0,
            zones,
            sectors: all.min(sector),
        }
    }

    /// Sectors of the disk.
    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Cylinders, for the arm.
    pub(crate) fn cylinders(&self) -> u64 {
        self.zones.iter().map(|zone| zone.tracks).sum::<u64>() / self.heads
    }

    /// Where the arm is for a track.
    pub(crate) fn cylinder(&self, track: u64) -> u64 {
        track / self.heads
    }

    /// Time of a turn.
    pub(crate) fn turn(&self) -> Nanos {
        Nanos(self.turn)
    }

    /// Where a sector is; the last one's place for any behind it.
    pub fn place(&self, sector: u64) -> Place {
        let sector = sector.min(self.sectors - 1);
        let nth = self.zones.partition_point(|zone| zone.sector <= sector) - 1;
        let zone = &self.zones[nth];
        let inside = sector - zone.sector;
        Place {
            track: zone.track + inside / zone.of_track,
            within: inside % zone.of_track,
            of_track: zone.of_track,
        }
    }

    /// Time of a turn at which the sector begins to pass.
    fn angle(&self, place: Place) -> u64 {
        (place.track * self.switch + self.passed(place)) % self.turn
    }

    /// Time from the beginning of its track.
    fn passed(&self, place: Place) -> u64 {
        place.within * self.turn / place.of_track
    }

    /// How long a head that is on the track at this time waits for the sector.
    pub fn wait(&self, place: Place, at: Nanos, phase: Nanos) -> Nanos {
        let now = (at.0 + phase.0) % self.turn;
        Nanos((self.angle(place) + self.turn - now) % self.turn)
    }

    /// How long it takes until all these sectors went by, from the beginning of the first.
    pub(crate) fn pass(&self, sector: u64, sectors: u64) -> Nanos {
        if sectors == 0 {
            return Nanos(0);
        }
        let (first, last) = (self.place(sector), self.place(sector + sectors - 1));
        let tracks = last.track - first.track;
        let behind = (last.within + 1) * self.turn / last.of_track;
        Nanos(tracks * (self.turn + self.switch) + behind - self.passed(first))
    }

    /// How many of at most `most` sectors went by in this time, from the beginning of the first.
    pub(crate) fn passed_in(&self, sector: u64, time: Nanos, most: u64) -> u64 {
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = (low + high).div_ceil(2);
            match self.pass(sector, middle) <= time {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotating::tests::{profile, rotating};

    fn geometry() -> Geometry {
        Geometry::new(&profile(), &rotating())
    }

    #[test]
    fn sectors_pass_one_after_the_other() {
        let geometry = geometry();
        for sector in [0, 3_000, 5_000, 1 << 30, geometry.sectors() - 20_000] {
            let (at, phase) = (Nanos(123_456_789), Nanos(77));
            let first = at + geometry.wait(geometry.place(sector), at, phase);
            let later = first + geometry.pass(sector, 9_000);
            let waited = geometry.wait(geometry.place(sector + 9_000), later, phase);
            // But for a track's end between the two and what is rounded away.
            let switch = Nanos(rotating().switch.0);
            assert!(
                waited.0 < 2 || waited.0 > geometry.turn - 2 || waited.0.abs_diff(switch.0) < 2,
                "{sector}: {waited}"
            );
        }
    }

    #[test]
    fn a_long_read_has_the_rate_of_its_place() {
        let geometry = geometry();
        let rate = |sector| {
            let sectors = 2_000_000;
            sectors as f64 * 512e9 / geometry.pass(sector, sectors).0 as f64
        };
        let near = |is: f64, must: u64| (is / must as f64 - 1.0).abs() < 0.01;
        assert!(near(rate(0), rotating().outer), "{}", rate(0));
        let last = geometry.sectors() - 2_100_000;
        assert!(near(rate(last), rotating().inner), "{}", rate(last));
    }

    #[test]
    fn what_went_by_is_what_would_pass() {
        let geometry = geometry();
        for sectors in [0, 1, 255, 4_000, 12_345] {
            let time = geometry.pass(1_000_000, sectors);
            assert_eq!(geometry.passed_in(1_000_000, time, 100_000), sectors);
        }
        assert_eq!(geometry.passed_in(0, Nanos(u64::MAX / 2), 500), 500);
    }
}
