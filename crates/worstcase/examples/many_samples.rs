//! Writes a run with one cell of synthetic samples, to see what later steps cost: `many_samples FOLDER SAMPLES`.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use worstcase_contract::RawRecord;
use worstcase_contract::prng::SplitMix64;
use worstcase_contract::record::SelfCost;
use worstcase_contract::{CellSpec, Nanos, Probe};
use worstcase_plan::{Experiment, ExperimentPlan, Subjects, Venue};
use worstcase_results::record::parquet::{FileLabels, SamplesWriter};
use worstcase_results::record::samples::RunningDigest;
use worstcase_results::record::stream::FirstPass;
use worstcase_results::record::{
    Accounting, CellEntry, CellResult, HostMachine, Periods, Preempt, Run, RunPlan, SampleRow, Subject, SubjectKernel,
    SubjectMachine, folder,
};

const PERIOD: Nanos = Nanos::from_micros(100);

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [folder, samples] = words.get(1..3).ok_or("FOLDER SAMPLES")? else {
        unreachable!("two words")
    };
    write(Path::new(folder), samples.parse()?)
}

fn subject() -> Subject {
    Subject {
        kernel: SubjectKernel {
            name: "host".into(),
            label: "6.18.0".into(),
            release: "6.18.0".into(),
            version: "#1".into(),
            digest: "sha256:00".into(),
        },
        preempt: Preempt {
            asked: None,
            in_force: "full".into(),
        },
        machine: SubjectMachine::Host(HostMachine {
            cpu: "synthetic".into(),
            cpus: 1,
            memory_mb: 1,
            command_line: String::new(),
            io_scheduler: None,
            policy: None,
        }),
    }
}

/// A record without samples.
fn empty(samples: u32) -> Result<CellResult, Box<dyn Error>> {
    let spec = CellSpec {
        probe: Probe::Wakeup,
        load: "idle".into(),
        period: PERIOD,
        periods: samples,
        seed: 1,
        warmup: Nanos(0),
        priority: 90,
    };
    let raw = RawRecord {
        spec: spec.to_text()?,
        start: Nanos(0),
        expected: samples,
        samples: Vec::new(),
        self_cost: SelfCost {
            clock_read: Nanos(0),
            empty_sample: Nanos(0),
            cpu_time: Nanos(0),
            minor_faults: 0,
            major_faults: 0,
        },
        work: Vec::new(),
        warnings: Vec::new(),
        environment: BTreeMap::new(),
        details: None,
        counters: BTreeMap::new(),
        trace: None,
    };
    Ok(CellResult::new(subject(), &raw, &[], None)?)
}

/// Mostly 2 to 5 us, seldom up to 3 ms.
fn rows(samples: u32) -> impl Iterator<Item = SampleRow> {
    let mut random = SplitMix64::new(1);
    let mut before = 0;
    (0..samples).map(move |index| {
        let share = random.below(1 << 30) as f64 / f64::from(1 << 30);
        let latency = 2_000 + (3_000.0 * share.powi(3) + 3_000_000.0 * share.powi(400)) as u64;
        let jitter = latency as i64 - before;
        before = latency as i64;
        SampleRow {
            index,
            due: Nanos(1_000_000_000 + u64::from(index) * PERIOD.0),
            latency: Nanos(latency),
            irq_latency: None,
            after_irq: None,
            instructions: None,
            parts: None,
            cycle: None,
            jitter_ns: (index > 0).then_some(jitter),
        }
    })
}

fn write(dir: &Path, samples: u32) -> Result<(), Box<dyn Error>> {
    let mut record = empty(samples)?.record;
    let entry = CellEntry::named(&record.subject.id(), "idle", "wakeup", 1, None);
    let asked = ExperimentPlan::new("synthetic", Experiment::usual(Venue::Host, Subjects::Cpus(None)));
    let run = Run::create(dir, RunPlan::new(asked, vec![entry]))?;
    let scratch = run.scratch()?;
    let path = scratch.path().join("samples.parquet");
    let labels = FileLabels::new(&record.id, &record.subject);
    let mut writer = SamplesWriter::new(BufWriter::new(File::create_new(&path)?), &labels)?;
    let mut digest = RunningDigest::new(samples);
    let mut first = FirstPass::default();
    for row in rows(samples) {
        digest.add(&row);
        first.add(row.index, row.latency);
        writer.push(row)?;
    }
    let mut second = first.second(samples).ok_or("no samples")?;
    rows(samples).for_each(|row| second.add(row.index, row.latency));
    record.summary.latency = Some(second.finish());
    record.digest = digest.finish();
    record.accounting = Accounting::Periods(Periods {
        expected: u64::from(samples),
        taken: u64::from(samples),
        missed: 0,
        lost: 0,
        longest_missed_run: 0,
        missed_at_ends: 0,
    });
    writer.finish(&record.accounting)?.into_inner()?;
    record.samples.rows = u64::from(samples);
    record.samples.bytes = fs::metadata(&path)?.len();
    record.samples.sha256 = folder::sha256_of_file(&path)?;
    let mut group = run.group()?;
    group.move_in(&record, &[("samples.parquet", &path)])?;
    Ok(group.publish()?)
}
