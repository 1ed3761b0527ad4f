//! From the files of a measuring process to rows: packed samples, and their parts.

use crate::HostSpec;
use crate::message::CpuDone;
use crate::packed::Unpacker;
use crate::spec::WakeSource;
use std::fs::File;
use std::io::{self, BufReader, Read};
use worstcase_contract::{Nanos, Probe};
use worstcase_plan::TimerKind;
use worstcase_results::record::{RowParts, SampleRow};

/// The periodic interrupt of the real-time clock.
const CLOCK: WakeSource = WakeSource::Timer(TimerKind::Rtc);

/// Hands every sample of a CPU to `each`, in order.
pub(super) fn for_each_row(
    spec: &HostSpec,
    cpu: &CpuDone,
    mut each: impl FnMut(SampleRow) -> io::Result<()>,
) -> io::Result<()> {
    let mut words = BufReader::with_capacity(1 << 16, File::open(spec.samples_file(cpu.cpu))?);
    let mut unpacker = Unpacker::default();
    let mut rows = RowMaker::new(spec, cpu);
    let mut word = [0; 8];
    let mut parts = match cpu.parts {
        true => Some(BufReader::with_capacity(1 << 16, File::open(spec.parts_file(cpu.cpu))?)),
        false => None,
    };
    for _ in 0..words.get_ref().metadata()?.len() / 8 {
        words.read_exact(&mut word)?;
        if let Some((step, value)) = unpacker.push(u64::from_le_bytes(word)) {
            let mut row = rows.next(step, value);
            if let Some(parts) = &mut parts {
                match spec.probe {
                    Probe::Timerlat => add_irq_latency(&mut row, parts)?,
                    _ => add_parts(&mut row, parts)?,
                }
            }
            each(row)?;
        }
    }
    Ok(())
}

fn next_part(parts: &mut impl Read) -> io::Result<Nanos> {
    let mut number = [0; 8];
    parts.read_exact(&mut number)?;
    Ok(Nanos(u64::from_le_bytes(number)))
}

/// Reads the IRQ latency of the next sample, the one part that timerlat reports.
fn add_irq_latency(row: &mut SampleRow, parts: &mut impl Read) -> io::Result<()> {
    let irq_latency = next_part(parts)?;
    row.irq_latency = Some(irq_latency);
    row.after_irq = Some(row.latency.saturating_sub(irq_latency));
    Ok(())
}

/// Reads the parts of the next sample.
fn add_parts(row: &mut SampleRow, parts: &mut impl Read) -> io::Result<()> {
    add_irq_latency(row, parts)?;
    let mut next = || next_part(parts);
    row.parts = Some(RowParts {
        handler: next()?,
        scheduling: next()?,
        return_: next()?,
        unexplained: next()?,
    });
    Ok(())
}

struct RowMaker {
    interval: u64,
    start: u64,
    /// The file holds distances to the sample before instead of latencies.
    distances: bool,
    jitter: bool,
    index: i64,
    /// The samples are gaps: begin since the start, and length.
    gaps: bool,
    /// The instant of the previous sample.
    before: Option<u64>,
}

impl RowMaker {
    fn new(spec: &HostSpec, cpu: &CpuDone) -> RowMaker {
        RowMaker {
            interval: spec.interval.0,
            start: cpu.start.0,
            distances: spec.waker == CLOCK,
            jitter: spec.probe == Probe::Jitter,
            gaps: spec.probe == Probe::Noise,
            index: -1,
            // Distances count from an interrupt one interval before the first due time.
            before: (spec.waker == CLOCK).then(|| cpu.start.0 - spec.interval.0),
        }
    }

    fn next(&mut self, step: u64, value: u64) -> SampleRow {
        if self.gaps {
            self.index += 1;
            return row(self.index as u32, self.start + step, value);
        }
        self.index += step as i64;
        let (due, now) = match self.before {
            Some(before) if self.distances => (before + step * self.interval, before + value),
            _ => {
                let due = self.start + self.index as u64 * self.interval;
                (due, due + value)
            }
        };
        let length = self.before.filter(|_| step == 1).map(|before| now - before);
        let jitter_ns = length
            .filter(|_| self.jitter)
            .map(|length| length as i64 - self.interval as i64);
        self.before = Some(now);
        SampleRow {
            jitter_ns,
            ..row(self.index as u32, due, now.saturating_sub(due))
        }
    }
}

/// A sample without parts.
pub(crate) fn row(index: u32, due: u64, latency: u64) -> SampleRow {
    SampleRow {
        index,
        due: Nanos(due),
        latency: Nanos(latency),
        irq_latency: None,
        after_irq: None,
        instructions: None,
        parts: None,
        cycle: None,
        jitter_ns: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ThreadCounts;
    use crate::packed::{pack, wide};
    use crate::spec::ThreadScheduling;
    use std::path::Path;
    use worstcase_contract::record::Periods;
    use worstcase_plan::SchedulingPolicy;

    const NANOSLEEP: WakeSource = WakeSource::Timer(TimerKind::Nanosleep);

    fn spec(probe: Probe, waker: WakeSource, dir: &Path) -> HostSpec {
        HostSpec {
            probe,
            waker,
            scheduling: ThreadScheduling::new(SchedulingPolicy::Fifo, 90),
            cpus: vec![0],
            interval: Nanos(1_000),
            distance: Nanos(0),
            periods: 10,
            warmup: Nanos(0),
            seed: 1,
            load: "idle".parse().expect("a load"),
            io_scheduler: None,
            load_cpus: Vec::new(),
            isolated: Default::default(),
            threshold: Nanos(1),
            captures: 0,
            captures_if_permitted: false,
            captures_refused: None,
            break_at: None,
            work_dir: dir.into(),
            cgroup: None,
            tracing: None,
            samples_dir: dir.into(),
            segments: None,
        }
    }

    fn done(parts: bool) -> CpuDone {
        CpuDone {
            cpu: 0,
            start: Nanos(50_000),
            seen: ThreadCounts::Periods(Periods::default()),
            lost_lines: 0,
            early: 0,
            clock_read: Nanos(0),
            empty_sample: Nanos(0),
            cpu_time: Nanos(0),
            minor_faults: 0,
            major_faults: 0,
            steal: None,
            parts,
            captures: 0,
            causes: Vec::new(),
        }
    }

    /// (index, due, latency, jitter) of each row.
    fn rows(probe: Probe, waker: WakeSource, words: &[u64]) -> Vec<(u32, u64, u64, Option<i64>)> {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec(probe, waker, dir.path());
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(spec.samples_file(0), bytes).unwrap();
        let mut rows = Vec::new();
        for_each_row(&spec, &done(false), |row| {
            rows.push((row.index, row.due.0, row.latency.0, row.jitter_ns));
            Ok(())
        })
        .unwrap();
        rows
    }

    fn words(samples: &[(u64, u64)]) -> Vec<u64> {
        let packed = samples.iter().map(|(step, value)| pack(*step, *value));
        packed.flat_map(|(words, used)| words[..used].to_vec()).collect()
    }

    #[test]
    fn a_sample_after_a_late_one_is_early_and_a_missed_period_has_no_jitter() {
        let rows = rows(Probe::Jitter, NANOSLEEP, &words(&[(1, 10), (1, 300), (1, 10), (2, 10)]));
        let expected = [
            (0, 50_000, 10, None),
            (1, 51_000, 300, Some(290)),
            (2, 52_000, 10, Some(-290)),
            (4, 54_000, 10, None),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn the_clocks_interrupts_have_distances() {
        let rows = rows(Probe::Jitter, CLOCK, &words(&[(1, 1_007), (1, 990), (2, 2_100)]));
        let expected = [
            (0, 50_000, 7, Some(7)),
            (1, 51_007, 0, Some(-10)),
            (3, 52_997, 100, None),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn gaps_are_where_they_were() {
        let words: Vec<u64> = [wide(5, 70), wide(900, 3_000)].concat();
        let expected = [(0, 50_005, 70, None), (1, 50_900, 3_000, None)];
        assert_eq!(rows(Probe::Noise, NANOSLEEP, &words), expected);
    }

    #[test]
    fn parts_follow_the_samples() {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec(Probe::Response, NANOSLEEP, dir.path());
        std::fs::write(spec.samples_file(0), words(&[(1, 15)])[0].to_le_bytes()).unwrap();
        let parts: Vec<u8> = [1_u64, 2, 3, 4, 5].iter().flat_map(|n| n.to_le_bytes()).collect();
        std::fs::write(spec.parts_file(0), parts).unwrap();
        let mut rows = Vec::new();
        let read = |rows: &mut Vec<SampleRow>| {
            for_each_row(&spec, &done(true), |row| {
                rows.push(row);
                Ok(())
            })
        };
        read(&mut rows).unwrap();
        let p = rows[0].parts.unwrap();
        assert_eq!(
            (rows[0].irq_latency, rows[0].after_irq),
            (Some(Nanos(1)), Some(Nanos(14)))
        );
        assert_eq!(
            [p.handler, p.scheduling, p.return_, p.unexplained],
            [2, 3, 4, 5].map(Nanos)
        );
        // Fewer parts than samples is an error, not a sample without parts.
        std::fs::write(spec.parts_file(0), [0; 39]).unwrap();
        assert!(read(&mut rows).is_err());
    }

    #[test]
    fn timerlat_tells_one_part_and_no_other_is_invented() {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec(Probe::Timerlat, WakeSource::Timerlat, dir.path());
        let samples: Vec<u8> = words(&[(1, 15), (2, 9)]).iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(spec.samples_file(0), samples).unwrap();
        let parts: Vec<u8> = [4_u64, 9].iter().flat_map(|n| n.to_le_bytes()).collect();
        std::fs::write(spec.parts_file(0), parts).unwrap();
        let mut seen = Vec::new();
        for_each_row(&spec, &done(true), |row| {
            assert_eq!(row.parts, None);
            seen.push((row.index, row.irq_latency.unwrap().0, row.after_irq.unwrap().0));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [(0, 4, 11), (2, 9, 0)]);
    }
}
