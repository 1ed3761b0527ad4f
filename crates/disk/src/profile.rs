//! What a disk is, in numbers.

use serde::{Deserialize, Serialize};
use worstcase_logs::Nanos;

/// A disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Whose disk it is.
    pub name: String,
    /// Where the numbers are from, and which are assumed.
    pub source: String,
    /// Bytes.
    pub capacity: u64,
    /// Requests that it takes at once.
    pub queue_depth: u32,
    /// From a request to the beginning of its work.
    pub command: Nanos,
    /// Bytes a second over the cable.
    pub(crate) interface: u64,
    /// What it is made of.
    pub kind: Kind,
}

/// What a disk is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    /// Platters and an arm.
    Rotating(Rotating),
    /// Flash.
    Flash(Flash),
}

/// Platters and an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rotating {
    /// Turns a minute.
    pub rpm: u32,
    /// Surfaces with a head each.
    pub heads: u32,
    /// Bytes a second of a long read at the outer edge.
    pub outer: u64,
    /// The same at the inner edge.
    pub inner: u64,
    /// The arm to the next track.
    pub(crate) track_to_track: Nanos,
    /// The arm from one place to another, on average over all pairs of places.
    pub(crate) average_seek: Nanos,
    /// The arm from edge to edge.
    pub(crate) full_stroke: Nanos,
    /// More for a write: the head must be still.
    pub(crate) settle: Nanos,
    /// From the end of a track to the beginning of the next, on another surface or beside it.
    pub switch: Nanos,
    /// Bytes of one piece of the cache that a read and what follows it fill.
    pub segment: u64,
    /// How many there are.
    pub segments: u32,
    /// Bytes of the cache for writes; 0: a write is done when it is on the platter.
    pub(crate) write_cache: u64,
    /// A request that waits for longer is the next, wherever the arm is.
    pub patience: Nanos,
}

/// Flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flash {
    /// Pages that are read or written at once.
    pub(crate) channels: u32,
    /// Bytes of a page: what one channel does at a time.
    pub page: u32,
    /// A page is read.
    pub read: Latency,
    /// A page is written.
    pub write: Latency,
    /// Everything written before is safe.
    pub(crate) flush: Nanos,
    /// Bytes a second that all channels write.
    pub(crate) write_rate: u64,
}

/// How long something takes: so many of a million take at most so long, at the last step all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency(pub Vec<(u32, Nanos)>);

/// A profile whose numbers cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// It is no profile.
    #[error("{0}")]
    Unreadable(String),
    /// A number cannot be.
    #[error("{field} is {value}: {must}")]
    Impossible {
        /// Which.
        field: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        must: &'static str,
    },
}

impl Latency {
    /// How long it takes for this draw of 0 to 999 999.
    pub(crate) fn at(&self, draw: u32) -> Nanos {
        let fits = self.0.iter().find(|(most, _)| draw < *most);
        fits.or(self.0.last()).map_or(Nanos(0), |(_, time)| *time)
    }

    fn is_possible(&self) -> bool {
        let rises = self
            .0
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        rises && self.0.last().is_some_and(|(most, _)| *most == 1_000_000) && self.0[0].1 > Nanos(0)
    }
}

impl Profile {
    /// Refuses numbers that no disk has.
    pub fn check(&self) -> Result<(), ProfileError> {
        must(
            self.capacity >= 64 << 20,
            "capacity_gb",
            in_mb(self.capacity) / 1e3,
            "at least 0.0672",
        )?;
        must(
            (1..=1_024).contains(&self.queue_depth),
            "queue_depth",
            self.queue_depth,
            "1 to 1024",
        )?;
        must(
            self.command.0 < 1_000_000_000,
            "command_us",
            in_ms(self.command) * 1e3,
            "less than a second",
        )?;
        must(
            self.interface >= 1_000_000,
            "interface_mb_s",
            in_mb(self.interface),
            "at least 1",
        )?;
        match &self.kind {
            Kind::Rotating(rotating) => rotating.check(),
            Kind::Flash(flash) => flash.check(),
        }
    }
}

impl Rotating {
    fn check(&self) -> Result<(), ProfileError> {
        must((1_000..=30_000).contains(&self.rpm), "rpm", self.rpm, "1000 to 30000")?;
        must((1..=64).contains(&self.heads), "heads", self.heads, "1 to 64")?;
        must(self.inner >= 1_000_000, "inner_mb_s", in_mb(self.inner), "at least 1")?;
        must(
            self.outer >= self.inner,
            "outer_mb_s",
            in_mb(self.outer),
            "at least that of the inner edge",
        )?;
        must(
            self.outer < 10_000_000_000,
            "outer_mb_s",
            in_mb(self.outer),
            "less than 10000",
        )?;
        let turn = 60_000_000_000 / u64::from(self.rpm);
        must(
            self.switch.0 < turn,
            "switch_ms",
            in_ms(self.switch),
            "less than a turn",
        )?;
        must(
            self.track_to_track.0 > 0,
            "track_to_track_ms",
            in_ms(self.track_to_track),
            "more than 0",
        )?;
        must(
            self.average_seek > self.track_to_track,
            "average_seek_ms",
            in_ms(self.average_seek),
            "more than that to the next track",
        )?;
        must(
            self.full_stroke.0 >= self.average_seek.0 + self.average_seek.0 / 4,
            "full_stroke_ms",
            in_ms(self.full_stroke),
            "at least 1.25 average seeks",
        )?;
        must(
            self.full_stroke.0 < 1_000_000_000,
            "full_stroke_ms",
            in_ms(self.full_stroke),
            "less than a second",
        )?;
        must(
            self.settle.0 < 100_000_000,
            "write_settle_ms",
            in_ms(self.settle),
            "less than 100",
        )?;
        must(
            (1..=1_024).contains(&self.segments),
            "segments",
            self.segments,
            "1 to 1024",
        )?;
        must(
            self.segment <= 1 << 30,
            "segment_kib",
            self.segment / 1_024,
            "at most 1 GiB",
        )?;
        must(
            self.write_cache <= 1 << 30,
            "write_cache_kib",
            self.write_cache / 1_024,
            "at most 1 GiB",
        )?;
        must(self.patience.0 > 0, "patience_ms", in_ms(self.patience), "more than 0")
    }
}

impl Flash {
    fn check(&self) -> Result<(), ProfileError> {
        must(
            (1..=4_096).contains(&self.channels),
            "channels",
            self.channels,
            "1 to 4096",
        )?;
        let pages = 4_096..=1 << 20;
        must(
            pages.contains(&self.page) && self.page.is_power_of_two(),
            "page_kib",
            self.page / 1_024,
            "a power of two, 4 to 1024",
        )?;
        let steps = "parts of 1 that rise to 1, each with a time that does not fall";
        must(self.read.is_possible(), "read", format!("{:?}", self.read.0), steps)?;
        must(self.write.is_possible(), "write", format!("{:?}", self.write.0), steps)?;
        must(
            self.write_rate >= 1_000_000,
            "write_mb_s",
            in_mb(self.write_rate),
            "at least 1",
        )
    }
}

fn in_ms(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

fn in_mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn must(is: bool, field: &'static str, value: impl ToString, must: &'static str) -> Result<(), ProfileError> {
    match is {
        true => Ok(()),
        false => Err(ProfileError::Impossible {
            field,
            value: value.to_string(),
            must,
        }),
    }
}
