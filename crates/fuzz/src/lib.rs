//! Everything of worstcase that reads what others wrote, as functions of bytes. None may panic, hang or take much memory,
//! whatever the bytes are.
//!
//! `scripts/fuzz` looks for bytes that break one, with libFuzzer; `tests/found.rs` hands over those that it found, and some
//! that are changed a little, in every `make test`.

mod on_disk;
mod seeds;

use std::hint::black_box;
use worstcase_contract::costs::CostEvent;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::{CellSpec, RawRecord, census, trace, window};
use worstcase_results::compare::baseline;
use worstcase_results::record::Record;
use worstcase_results::record::parquet::SamplesReader;
use worstcase_timing::{Calibration, Predictor};

/// One reader.
pub struct FuzzTarget {
    /// Its name.
    pub name: &'static str,
    /// Hands it bytes; what it makes of them does not matter.
    pub read: fn(&[u8]),
    /// Bytes that it takes, made here; scripts/fuzz adds real files.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// It expects panics of a library, and catches them.
    pub catches_panics: bool,
}

const fn target(name: &'static str, read: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> FuzzTarget {
    FuzzTarget {
        name,
        read,
        seeds,
        catches_panics: false,
    }
}

/// The reader of a tool's files, whatever their content tells.
macro_rules! reader {
    ($tool:literal) => {
        target(
            concat!("import-", $tool),
            |b| worstcase_foreign::fuzz(Some($tool), b),
            || seeds::foreign($tool),
        )
    };
}

/// All.
pub static TARGETS: &[FuzzTarget] = &[
    // Packages and kernels' files.
    target("package", on_disk::package, worstcase_kernels::fuzz::debs),
    target(
        "packages",
        |b| worstcase_kernels::fuzz::lists(&text(b)),
        seeds::packages,
    ),
    target("config", |b| worstcase_kernels::fuzz::config(&text(b)), seeds::config),
    target(
        "modules-dep",
        |b| worstcase_kernels::fuzz::modules_dep(&text(b)),
        seeds::modules_dep,
    ),
    target(
        "modinfo",
        |b| drop(black_box(worstcase_kernels::modinfo::parse(b))),
        seeds::none,
    ),
    target("module", on_disk::module, seeds::none),
    target("image", on_disk::image, seeds::none),
    FuzzTarget {
        catches_panics: true,
        ..target("debug-info", on_disk::debug_info, seeds::none)
    },
    // What a guest and the plugin say.
    target(
        "kallsyms",
        |b| drop(black_box(SymbolTable::from_kallsyms(&text(b)))),
        seeds::kallsyms,
    ),
    target("symbols", symbols, seeds::symbols),
    target("btf", worstcase_lab::fuzz::btf, || {
        vec![worstcase_lab::fuzz::sample_btf()]
    }),
    target("kernel-memory", worstcase_lab::fuzz::kernel_memory, seeds::none),
    target("record-frame", record_frame, seeds::record_frame),
    target("events", |b| drop(black_box(trace::decode(b))), seeds::events),
    target("windows", |b| drop(black_box(window::log::decode(b))), seeds::windows),
    target("census", |b| drop(black_box(census::log::decode(b))), seeds::census),
    // Folders and files of ours, and of other tools.
    target("run", on_disk::run, seeds::none),
    target(
        "record",
        |b| json::<Record>(b, |record| drop(record.check())),
        seeds::none,
    ),
    FuzzTarget {
        catches_panics: true,
        ..target("samples", samples, seeds::none)
    },
    target(
        "baseline",
        |b| on_disk::with_file(b, |path| drop(baseline::read(path))),
        seeds::none,
    ),
    target(
        "study",
        |b| drop(black_box(worstcase_plan::study::parse("study", &text(b)))),
        seeds::studies,
    ),
    target("words", words, seeds::words),
    target("import", |b| worstcase_foreign::fuzz(None, b), seeds::none),
    reader!("cyclictest"),
    reader!("timerlat"),
    reader!("osnoise"),
    reader!("oslat"),
    reader!("jitterdebugger"),
    reader!("fio"),
    reader!("bonnie++"),
    reader!("hdparm"),
    reader!("pmqtest"),
    reader!("ptsematest"),
    reader!("svsematest"),
    reader!("sigwaittest"),
    reader!("signaltest"),
    reader!("cyclicdeadline"),
    reader!("pi_stress"),
    reader!("hwlatdetect"),
    reader!("rteval"),
    reader!("stress-ng"),
    reader!("schbench"),
    reader!("linuxcnc"),
    reader!("xenomai"),
    reader!("osnoise-tracer"),
    reader!("timerlat-tracer"),
    reader!("perf-sched"),
    // The host.
    target("perf-ring", worstcase_host::fuzz::perf_ring, seeds::ring),
    target(
        "trace-format",
        |b| worstcase_host::fuzz::trace_format(&text(b)),
        seeds::none,
    ),
    target("trace-pages", worstcase_traces::pages::fuzz_pages, seeds::trace_pages),
    target("timerlat", worstcase_host::fuzz::timerlat, seeds::timerlat),
    target(
        "worker",
        |b| worstcase_host::fuzz::worker_message(&text(b)),
        seeds::none,
    ),
    target("journal", |b| worstcase_host::fuzz::journal(&text(b)), seeds::none),
    target("http", worstcase_host::fuzz::http, seeds::http),
    target("calibration", calibration, seeds::none),
];

/// The target of this name.
pub fn by_name(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json<T: serde::de::DeserializeOwned>(bytes: &[u8], then: impl FnOnce(T)) {
    if let Ok(value) = serde_json::from_slice(bytes) {
        then(value);
    }
}

/// What is read must predict.
fn calibration(bytes: &[u8]) {
    if let Ok(calibration) = Calibration::decode(bytes) {
        let counts = [(CostEvent::Instruction, 1_000), (CostEvent::Port, 1)];
        black_box(Predictor::of(&calibration).predict(&counts.into_iter().collect()));
    }
}

/// As it is, and with a length and a checksum that fit.
fn record_frame(bytes: &[u8]) {
    let _ = black_box(RawRecord::decode(bytes));
    if let Some(payload) = bytes.get(16..) {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
        let fitting = [&bytes[..8], &length, &crc32fast::hash(payload).to_le_bytes(), payload].concat();
        let _ = black_box(RawRecord::decode(&fitting));
    }
}

/// As they are, and as a table behind a checksum that fits.
fn symbols(bytes: &[u8]) {
    let _ = black_box(SymbolTable::decode(bytes));
    // Behind the magic there is a checksum, and a table of three empty lists.
    let empty = SymbolTable::default().encode();
    let fitting = [&empty[..empty.len() - 7], &crc32fast::hash(bytes).to_le_bytes(), bytes].concat();
    if let Ok(table) = SymbolTable::decode(&fitting) {
        black_box((table.code().count(), table.data("current_task")));
    }
}

fn samples(bytes: &[u8]) {
    if let Ok(mut reader) = SamplesReader::new(bytes::Bytes::copy_from_slice(bytes)) {
        while let Ok(Some(rows)) = reader.next_group() {
            black_box(rows);
        }
    }
}

/// Words of the command line and of study files, one a line.
fn words(bytes: &[u8]) {
    use worstcase_contract::Venue;
    use worstcase_plan::{BootParameters, CpuList, CpuScheduler, DiskSpec, IoSchedulers, grammar, parameters};
    for word in text(bytes).lines() {
        let _ = black_box(word.parse::<CellSpec>());
        for venue in [Venue::Lab, Venue::Host] {
            parameters::all(venue).for_each(|parameter| drop(black_box(parameter.check(venue, word))));
        }
        let _ = black_box(grammar::probes(Venue::Lab, word));
        let _ = black_box(word.parse::<CpuList>());
        let _ = black_box(word.parse::<DiskSpec>());
        let _ = black_box(word.parse::<CpuScheduler>());
        let _ = black_box(word.parse::<IoSchedulers>());
        let _ = black_box(word.parse::<BootParameters>());
        let _ = black_box(worstcase_base::duration::parse(word));
    }
}
