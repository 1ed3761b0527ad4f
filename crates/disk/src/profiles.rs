//! Profiles as files (TOML), and those that come with worstcase.

use crate::{Flash, Kind, Latency, Profile, ProfileError, Rotating};
use serde::Deserialize;
use worstcase_logs::Nanos;

/// Those that come with worstcase; the first is the usual one.
pub const NAMES: [&str; 4] = ["hdd", "laptop", "ssd", "nvme"];

const FILES: [&str; 4] = [
    include_str!("../profiles/hdd.toml"),
    include_str!("../profiles/laptop.toml"),
    include_str!("../profiles/ssd.toml"),
    include_str!("../profiles/nvme.toml"),
];

/// One that comes with worstcase.
pub fn builtin(name: &str) -> Option<Profile> {
    file(name).and_then(|text| read(text).ok())
}

/// Its file, to begin one's own with.
pub fn file(name: &str) -> Option<&'static str> {
    let at = NAMES.iter().position(|known| *known == name)?;
    Some(FILES[at])
}

/// Reads a file.
pub fn read(text: &str) -> Result<Profile, ProfileError> {
    raw(text)?.profile()
}

/// What the data sheet says of the whole disk: figures that the model has to come near to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// The arm, on average.
    pub average_seek_ms: Option<f64>,
    /// A long read of the disk's beginning.
    pub read_mb_s: Option<f64>,
    /// The same of its end.
    pub read_at_end_mb_s: Option<f64>,
    /// A long write of the disk's beginning.
    pub write_mb_s: Option<f64>,
    /// Reads of 4 KiB a second anywhere, one at a time.
    pub random_read_iops_1: Option<f64>,
    /// Eight at a time.
    pub random_read_iops_8: Option<f64>,
    /// Thirty-two at a time.
    pub random_read_iops_32: Option<f64>,
    /// A hundred and twenty-eight at a time.
    pub random_read_iops_128: Option<f64>,
    /// Writes of 4 KiB a second anywhere, one at a time.
    pub random_write_iops_1: Option<f64>,
}

/// The figures of a file's `[sheet]`.
pub fn sheet(text: &str) -> Result<Sheet, ProfileError> {
    Ok(raw(text)?.sheet.unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    name: String,
    source: String,
    capacity_gb: f64,
    queue_depth: u32,
    command_us: f64,
    interface_mb_s: f64,
    rotating: Option<RawRotating>,
    flash: Option<RawFlash>,
    sheet: Option<Sheet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRotating {
    rpm: u32,
    heads: u32,
    outer_mb_s: f64,
    inner_mb_s: f64,
    track_to_track_ms: f64,
    average_seek_ms: f64,
    full_stroke_ms: f64,
    write_settle_ms: f64,
    switch_ms: f64,
    segment_kib: u64,
    segments: u32,
    write_cache_kib: u64,
    patience_ms: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFlash {
    channels: u32,
    page_kib: u32,
    /// `[part of all, at most so many us]`.
    read_us: Vec<(f64, f64)>,
    write_us: Vec<(f64, f64)>,
    flush_us: f64,
    write_mb_s: f64,
}

fn raw(text: &str) -> Result<RawProfile, ProfileError> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        ProfileError::Unreadable(format!("line {line}: {}", e.message().replace('\n', ", ")))
    })
}

impl RawProfile {
    fn profile(self) -> Result<Profile, ProfileError> {
        let kind = match (self.rotating, self.flash) {
            (Some(rotating), None) => Kind::Rotating(rotating.read()?),
            (None, Some(flash)) => Kind::Flash(flash.read()?),
            _ => return Err(ProfileError::Unreadable("a disk has [rotating] or [flash]".into())),
        };
        let profile = Profile {
            name: self.name,
            source: self.source,
            capacity: number("capacity_gb", self.capacity_gb, 1e9)?,
            queue_depth: self.queue_depth,
            command: us("command_us", self.command_us)?,
            interface: number("interface_mb_s", self.interface_mb_s, 1e6)?,
            kind,
        };
        profile.check()?;
        Ok(profile)
    }
}

impl RawRotating {
    fn read(self) -> Result<Rotating, ProfileError> {
        Ok(Rotating {
            rpm: self.rpm,
            heads: self.heads,
            outer: number("outer_mb_s", self.outer_mb_s, 1e6)?,
            inner: number("inner_mb_s", self.inner_mb_s, 1e6)?,
            track_to_track: ms("track_to_track_ms", self.track_to_track_ms)?,
            average_seek: ms("average_seek_ms", self.average_seek_ms)?,
            full_stroke: ms("full_stroke_ms", self.full_stroke_ms)?,
            settle: ms("write_settle_ms", self.write_settle_ms)?,
            switch: ms("switch_ms", self.switch_ms)?,
            segment: number("segment_kib", self.segment_kib as f64, 1024.0)?,
            segments: self.segments,
            write_cache: number("write_cache_kib", self.write_cache_kib as f64, 1024.0)?,
            patience: ms("patience_ms", self.patience_ms)?,
        })
    }
}

impl RawFlash {
    fn read(self) -> Result<Flash, ProfileError> {
        let latency = |name, steps: Vec<(f64, f64)>| {
            let step = |(part, time): (f64, f64)| Ok((number(name, part, 1e6)? as u32, us(name, time)?));
            steps.into_iter().map(step).collect::<Result<_, _>>().map(Latency)
        };
        Ok(Flash {
            channels: self.channels,
            page: self.page_kib.saturating_mul(1_024),
            read: latency("read_us", self.read_us)?,
            write: latency("write_us", self.write_us)?,
            flush: us("flush_us", self.flush_us)?,
            write_rate: number("write_mb_s", self.write_mb_s, 1e6)?,
        })
    }
}

fn ms(field: &'static str, value: f64) -> Result<Nanos, ProfileError> {
    number(field, value, 1e6).map(Nanos)
}

fn us(field: &'static str, value: f64) -> Result<Nanos, ProfileError> {
    number(field, value, 1e3).map(Nanos)
}

fn number(field: &'static str, value: f64, unit: f64) -> Result<u64, ProfileError> {
    match value.is_finite() && value >= 0.0 && value * unit < 1e18 {
        true => Ok((value * unit).round() as u64),
        false => Err(ProfileError::Impossible {
            field,
            value: value.to_string(),
            must: "a number, not below 0",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_come_with_worstcase_are_right() {
        for name in NAMES {
            let text = file(name).unwrap();
            let profile = read(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(profile.source.len() > 40 && sheet(text).unwrap() != Sheet::default());
        }
        assert_eq!(builtin("floppy"), None);
    }

    #[test]
    fn impossible_numbers_are_one_line_each() {
        let hdd = file("hdd").unwrap();
        for (from, to, says) in [
            ("rpm = 7200", "rpm = 0", "rpm is 0: 1000 to 30000"),
            ("rpm = 7200", "rpm = -1", "line "),
            ("rpm = 7200", "turns = 7200", "unknown field `turns`"),
            ("heads = 6", "heads = 0", "heads is 0"),
            (
                "average_seek_ms = 8.5",
                "average_seek_ms = 0.5",
                "average_seek_ms is 0.5: more than",
            ),
            (
                "full_stroke_ms = 17.0",
                "full_stroke_ms = 9.0",
                "full_stroke_ms is 9: at least",
            ),
            ("switch_ms = 0.9", "switch_ms = 9", "less than a turn"),
            ("queue_depth = 32", "queue_depth = 0", "queue_depth is 0"),
            ("inner_mb_s = 100", "inner_mb_s = 300", "outer_mb_s is 210: at least"),
            ("capacity_gb = 3000", "capacity_gb = nan", "capacity_gb is NaN"),
            ("[rotating]", "[spinning]", "line "),
        ] {
            assert!(hdd.contains(from), "{from}");
            let error = read(&hdd.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{to}: {error}");
        }
        let ssd = file("ssd").unwrap();
        let error = read(&ssd.replace("[1.0, 2000]", "[0.9, 2000]")).unwrap_err();
        assert!(error.to_string().contains("write is"), "{error}");
    }
}
