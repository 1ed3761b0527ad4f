//! Takes the census of one cell and prints its longest sections: `census KERNEL PREEMPT LOAD PERIODS [audit|plain [QEMU]]`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use worstcase::kernels::{ResolveOptions, Silent};
use worstcase::lab::cell::{self, Run};
use worstcase::lab::census;
use worstcase::lab::matrix::Matrix;
use worstcase::lab::qemu::Qemu;
use worstcase::lab::snapshot::Snapshot;
use worstcase::lab::symbols::KernelSymbols;
use worstcase::study::PlannedCell;
use worstcase_probe::census::Kind;
use worstcase_probe::spec::ProbeKind;
use worstcase_probe::{CellSpec, Nanos};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [kernel, preempt, load, periods] = words.get(1..5).ok_or("KERNEL PREEMPT LOAD PERIODS")? else {
        unreachable!("four words")
    };
    let planned = PlannedCell {
        kernel: kernel.clone(),
        preempt: preempt.clone(),
        mips: 1000,
        memory_mb: 256,
        spec: CellSpec {
            probe: ProbeKind::Wakeup,
            load: load.clone(),
            period: Nanos::from_micros(251),
            periods: periods.parse()?,
            seed: 1,
            warmup: Nanos::from_millis(100),
            priority: 98,
        },
    };
    let audit = words.get(5).is_some_and(|word| word == "audit");
    let qemu = Qemu::find(words.get(6).map(Path::new))?;
    let options = ResolveOptions::from_cache(&Silent)?;
    let cache = &options.cache;
    let matrix = Matrix::prepare(std::slice::from_ref(&planned), &[], &qemu, &options)?;
    let prepared = matrix.subject(&matrix.cells()[0]);
    let snapshot = Snapshot::obtain(cache, prepared, None)?;
    let run = Run {
        prepared,
        snapshot: &snapshot,
        spec: &planned.spec,
        limit: None,
    };
    let scratch = tempfile::tempdir()?;
    let start = Instant::now();
    let raw = cell::execute(&run, scratch.path())?;
    println!("cell {:.2} s", start.elapsed().as_secs_f64());
    let kernel = KernelSymbols::obtain(cache, prepared, &snapshot, load)?;
    let start = Instant::now();
    let taken = census::take(cache, &run, &raw, &kernel, audit)?;
    let census = taken.census;
    println!(
        "census {:.2} s, audited {} blocks, polls known {}, mask {:x}",
        start.elapsed().as_secs_f64(),
        census.audited,
        taken.polls_known,
        kernel.facts.as_ref().map_or(0, |f| f.resched_mask)
    );
    let worst = raw.record.samples.iter().map(|s| s.latency.0).max();
    println!("{} samples, maximum {worst:?}", raw.record.samples.len());
    for kind in Kind::ALL {
        let sites = census.sites.iter().filter(|s| s.kind == kind);
        let mut sites: Vec<_> = sites.collect();
        let (count, total): (u64, u64) = sites.iter().fold((0, 0), |(c, t), s| (c + s.count, t + s.total));
        let all = census.observed.end.0 - census.observed.start.0;
        println!("{kind:?}: {count} sections, {total} of {all} instructions");
        sites.sort_by_key(|s| std::cmp::Reverse(s.longest));
        for site in sites.iter().take(6) {
            let name = |at| kernel.code.lookup(at).map_or("?", |s| s.name.as_str());
            println!(
                "  {:8} net {:8} x{:6}  {} -> {}",
                site.longest,
                site.longest_net,
                site.count,
                name(site.from),
                name(site.to)
            );
        }
    }
    Ok(())
}
