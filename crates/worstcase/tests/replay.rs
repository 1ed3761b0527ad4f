//! A replay on a real kernel: the same execution, every step of it right, and a whole breakdown of every sample. Needs QEMU, and
//! Debian's 6.1 kernels: cloud, generic and rt, and 6.12 of arm64 (fetched once). `WORSTCASE_QEMU` chooses a QEMU.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_analysis::breakdown::spans::{CodePlace, ExplainedSample, Since, Span, SpanKind};
use worstcase_analysis::breakdown::{Breakdown, LabSurroundings, tell};
use worstcase_base::cache::Cache;
use worstcase_base::progress::Silent;
use worstcase_contract::Probe;
use worstcase_contract::costs::{CostEvent, EventCounts};
use worstcase_contract::{CellSpec, Instructions, Nanos};
use worstcase_kernels::ResolveOptions;
use worstcase_lab::boot;
use worstcase_lab::cell::{self, CellRun, RawResult};
use worstcase_lab::checkpoints;
use worstcase_lab::execution::{Execution, Symbols};
use worstcase_lab::matrix::LabMatrix;
use worstcase_lab::payload;
use worstcase_lab::qemu::Qemus;
use worstcase_lab::replay::{Counted, LEAD, LONGEST_LEAD, replay, replay_each};
use worstcase_lab::symbols::KernelSymbols;
use worstcase_lab::{LabError, matrix};
use worstcase_plan::{Arch, CpuModel, PlannedCell, VirtualMachine};
use worstcase_skips::skip;

/// A cell of 200 samples.
fn cell(mips: u32, probe: Probe) -> PlannedCell {
    PlannedCell {
        kernel: "debian:6.1-cloud".into(),
        preempt: "none".into(),
        machine: VirtualMachine {
            mips,
            ..VirtualMachine::default()
        },
        spec: CellSpec {
            probe,
            load: "procread".into(),
            period: Nanos::from_micros(251 * 1000 / u64::from(mips)),
            periods: 200,
            seed: 1,
            warmup: Nanos::from_millis(20),
            priority: 98,
        },
    }
}

/// Runs a cell and hands over all that a replay needs.
fn with_cell(planned: PlannedCell, test: impl FnOnce(&ResolveOptions, &CellRun, &RawResult, &KernelSymbols)) {
    let options = ResolveOptions::from_cache(&Silent).unwrap();
    let named = std::env::var_os("WORSTCASE_QEMU").map(PathBuf::from);
    let qemus = Qemus::new(named.as_deref(), &options.cache, &Silent);
    let matrix = LabMatrix::prepare(std::slice::from_ref(&planned), &Default::default(), &qemus, &options).unwrap();
    let prepared = matrix.subject(&matrix.cells()[0]);
    let snapshot = boot::obtain(&options.cache, prepared, None).unwrap();
    let run = CellRun {
        prepared,
        snapshot: &snapshot,
        spec: &planned.spec,
        limit: None,
    };
    let raw = cell::execute(&run, tempfile::tempdir().unwrap().path()).unwrap();
    let kernel = KernelSymbols::obtain(&options.cache, prepared, &snapshot, &planned.spec.load).unwrap();
    test(&options, &run, &raw, &kernel);
}

/// The names of the functions that ran, in order; nothing of user code.
fn functions<'a>(execution: &Execution, symbols: &'a Symbols) -> Vec<&'a str> {
    let addresses = execution
        .steps
        .iter()
        .map(|s| execution.blocks[s.block as usize].address);
    let kernel = addresses.filter(|address| *address >= 1 << 52);
    kernel
        .map(|address| symbols.lookup(address).unwrap().name.as_str())
        .collect()
}

/// The address of each instruction from the due time to the sample. How they are cut into blocks hangs on when the machine's
/// host interrupts QEMU.
fn path(execution: &Execution) -> Vec<u64> {
    let mut addresses = Vec::new();
    execution.for_each_address(execution.due.0..execution.sample.0, |address| addresses.push(address));
    addresses
}

/// What must hold of every execution.
fn check(execution: &Execution) {
    for (i, step) in execution.steps.iter().enumerate() {
        let (span, block) = (execution.span(i), &execution.blocks[step.block as usize]);
        let executed = span.end - span.start;
        assert!(
            (1..=block.lengths.len() as u64).contains(&executed),
            "step {i} executed {executed}"
        );
    }
    assert!(execution.steps[0].count < execution.due && execution.due < execution.sample);
    assert!(execution.sample <= execution.end);
    assert!(
        execution
            .timer_entry
            .is_none_or(|e| execution.due <= e && e < execution.sample)
    );
    assert!(execution.tasks[0].count <= execution.steps[0].count);
    assert_eq!(
        execution.time_of(execution.sample.0 - execution.due.0),
        execution.latency
    );
    assert!(ends_in_clock_read(execution));
}

/// Whether the sample comes just behind a `rdtsc` or `rdtscp`, or `mrs x0, cntvct_el0` and the like.
fn ends_in_clock_read(execution: &Execution) -> bool {
    let i = execution.steps.partition_point(|s| s.count < execution.sample) - 1;
    let step = execution.steps[i];
    let block = &execution.blocks[step.block as usize];
    let nth = (execution.sample.0 - step.count.0 - 1) as usize;
    let at: usize = block.lengths[..nth].iter().map(|l| usize::from(*l)).sum();
    let instruction = &block.code[at..at + usize::from(block.lengths[nth])];
    let of_arm64 = matches!(instruction, [0x40..=0x5f, 0xe0, 0x3b, 0xd5]);
    of_arm64 || [&[0x0f, 0x31][..], &[0x0f, 0x01, 0xf9]].contains(&instruction)
}

#[test]
fn every_sample_is_replayed_and_every_step_fits() {
    with_cell(cell(1000, Probe::Wakeup), |options, run, raw, kernel| {
        let all: Vec<usize> = (0..raw.record.samples.len()).collect();
        let mut seen = Vec::new();
        replay_each(&options.cache, run, raw, kernel, &all, LEAD, |sample, execution, _| {
            check(&execution);
            assert_eq!(execution.latency, raw.record.samples[sample].latency);
            seen.push(sample);
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, all);
    });
}

/// Where interrupts of the kernel's own code enter it, and of user code: behind the beginning of the vectors.
const INTERRUPTS: [u64; 2] = [0x280, 0x480];

/// A cell of an arm64 machine.
fn cell_of_board(kernel: &str, preempt: &str, load: &str) -> PlannedCell {
    let mut planned = cell(1000, Probe::Wakeup);
    (planned.kernel, planned.preempt) = (kernel.into(), preempt.into());
    planned.machine.cpu = CpuModel::CortexA72;
    planned.spec.load = load.into();
    planned
}

/// Why machines of arm64 cannot run here.
fn no_board() -> Option<&'static str> {
    let qemu = std::process::Command::new("qemu-system-aarch64")
        .arg("--version")
        .output();
    match (qemu.is_ok(), payload::carries(Arch::Arm64)) {
        (false, _) => Some("there is no qemu-system-aarch64"),
        (_, false) => Some("this build carries nothing for arm64"),
        _ => None,
    }
}

#[test]
fn so_is_that_of_a_board() {
    if let Some(why) = no_board() {
        skip!(why, "qemu-system-arm");
    }
    let cells = [
        ("debian:6.12/arm64", "voluntary", "shm", "__arm64_sys_shmdt", None),
        ("debian:6.12-rt/arm64", "rt", "fork", "__arm64_sys_clone", None),
        (
            "debian:6.12/arm64",
            "voluntary",
            "blockread",
            "__arm64_sys_io_submit",
            Some("null_blk"),
        ),
    ];
    for (kernel, preempt, load, call, module) in cells {
        with_cell(cell_of_board(kernel, preempt, load), |options, run, raw, kernel| {
            let vectors = kernel.code.address_of("vectors").unwrap();
            assert!(kernel.build_id(run.snapshot).unwrap().is_some());
            let all: Vec<usize> = (0..raw.record.samples.len()).collect();
            let (mut seen, mut calls, mut by_timer) = (Vec::new(), BTreeSet::new(), 0);
            let each = |sample, execution: Execution, modules: &Symbols| {
                check(&execution);
                let functions = functions(&execution, &kernel.code);
                assert!(functions.contains(&"__schedule"));
                assert!(functions.iter().all(|name| !name.starts_with('$')));
                let taker = execution.tasks.iter().rfind(|t| t.count <= execution.sample).unwrap();
                assert_eq!((taker.pid, taker.comm.as_str()), (1, "probe"));
                let made = execution.contexts.iter().filter_map(|context| context.system_call);
                calls.extend(made.map(|number| kernel.code.system_call(number).unwrap().to_string()));
                if let Some(entry) = execution.timer_entry {
                    let step = execution.steps.iter().find(|s| s.count == entry).unwrap();
                    let at = execution.blocks[step.block as usize].address - vectors;
                    assert!(INTERRUPTS.contains(&at), "{at:x}");
                    by_timer += 1;
                }
                assert!(module.is_none_or(|module| modules.modules().contains(module)));
                seen.push(sample);
                Ok(())
            };
            replay_each(&options.cache, run, raw, kernel, &all, LEAD, each).unwrap();
            assert_eq!(seen, all);
            assert!(
                calls.contains(call) && calls.contains("__arm64_sys_clock_nanosleep"),
                "{calls:?}"
            );
            assert!(by_timer > seen.len() / 2, "{by_timer}");
        });
    }
}

#[test]
fn the_worst_sample_shows_what_delayed_it() {
    with_cell(cell(1000, Probe::Wakeup), |options, run, raw, kernel| {
        let worst = (0..raw.record.samples.len())
            .max_by_key(|i| raw.record.samples[*i].latency)
            .unwrap();
        let execution = &replay(&options.cache, run, raw, kernel, &[worst], LEAD, Counted::Nothing)
            .unwrap()
            .executions[0];
        let seen = functions(execution, &kernel.code);
        for name in [
            "asm_sysvec_apic_timer_interrupt",
            "s_show",
            "seq_read_iter",
            "__schedule",
        ] {
            assert!(seen.contains(&name), "{name} was not seen");
        }
        let entry = execution.timer_entry.unwrap();
        let step = execution.steps.iter().find(|s| s.count == entry).unwrap();
        let address = execution.blocks[step.block as usize].address;
        assert_eq!(
            kernel.code.lookup(address).unwrap().name,
            "asm_sysvec_apic_timer_interrupt"
        );
        // The load's task ran when the timer was due; the probe's, which is the guest's first, takes the sample.
        let at = |count: Instructions| execution.tasks.iter().rev().find(|t| t.count <= count).unwrap();
        assert_ne!(at(execution.due).pid, 1);
        assert_eq!(
            (at(execution.sample).pid, at(execution.sample).comm.as_str()),
            (1, "probe")
        );
    });
}

#[test]
fn slower_machines_and_signals_too() {
    with_cell(cell(250, Probe::Response), |options, run, raw, kernel| {
        let executions = replay(&options.cache, run, raw, kernel, &[7, 3], LEAD, Counted::Nothing)
            .unwrap()
            .executions;
        assert_eq!(executions.len(), 2);
        assert!(executions[0].due > executions[1].due, "in the order asked for");
        for execution in &executions {
            assert_eq!(execution.shift, 2);
            let counted = execution.time_of(execution.sample.0 - execution.due.0);
            assert!(execution.latency.0 - counted.0 < 4, "due to the instruction");
            assert!(ends_in_clock_read(execution));
        }
    });
}

/// A longer lead begins at the sample before, and what follows is the same.
#[test]
fn a_longer_lead_shows_what_was_before() {
    with_cell(cell(1000, Probe::Wakeup), |options, run, raw, kernel| {
        let samples = &raw.record.samples;
        let behind_a_prompt_one = (1..samples.len())
            .find(|i| samples[i - 1].latency < Nanos(10_000))
            .unwrap();
        let [short, long] = [LEAD, LONGEST_LEAD].map(|lead| {
            let one = [behind_a_prompt_one];
            let mut replay = replay(&options.cache, run, raw, kernel, &one, lead, Counted::Nothing).unwrap();
            replay.executions.remove(0)
        });
        let lead = |execution: &Execution| execution.due.0 - execution.steps[0].count.0;
        let (short_lead, long_lead) = (lead(&short), lead(&long));
        assert!(
            short_lead < 201_000 && (230_000..251_000).contains(&long_lead),
            "{short_lead} {long_lead}"
        );
        assert!(path(&short) == path(&long));
    });
}

/// A replay of a whole cell leaves checkpoints. From each the machine goes on as if it had never been stopped, and what is told
/// of a part is what was told of the whole.
#[test]
fn a_machine_goes_on_from_each_of_its_checkpoints() {
    for load in ["shm", "fork", "procread"] {
        let mut planned = cell(1000, Probe::Wakeup);
        planned.spec.load = load.into();
        goes_on_from_checkpoints(planned);
    }
}

#[test]
fn so_does_a_board() {
    if let Some(why) = no_board() {
        skip!(why, "qemu-system-arm");
    }
    goes_on_from_checkpoints(cell_of_board("debian:6.12/arm64", "voluntary", "shm"));
}

fn goes_on_from_checkpoints(mut planned: PlannedCell) {
    planned.spec.periods = 1_000;
    let load = planned.spec.load.clone();
    with_cell(planned, |_, run, raw, kernel| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        // A QEMU of root's is another user, and may be in it.
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let cache = Cache::at(folder.path().join("cache"));
        let told = || {
            let executions = replay(&cache, run, raw, kernel, &[3, 500, 999], LEAD, Counted::Nothing)
                .unwrap()
                .executions;
            executions.iter().map(path).collect::<Vec<_>>()
        };
        let whole = told();
        let runs = folder.path().join("runs");
        std::fs::create_dir(&runs).unwrap();
        let count = checkpoints::verify(&cache, run, raw, &runs).unwrap();
        assert!(count >= 1, "{load}: {count}");
        assert!(told() == whole, "{load}");
        for (sample, whole) in [3, 500, 999].into_iter().zip(&whole) {
            let part = replay(&cache, run, raw, kernel, &[sample], LEAD, Counted::Nothing)
                .unwrap()
                .executions
                .remove(0);
            assert!(path(&part) == *whole, "{load}: sample {sample}");
        }
    });
}

/// Instructions of an execution with these bytes, and the count of each.
fn with_bytes<'a>(execution: &'a Execution, bytes: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
    let mut found = Vec::new();
    for number in 0..execution.steps.len() {
        let block = &execution.blocks[execution.steps[number].block as usize];
        let mut rest = &block.code[..];
        for (count, length) in execution.span(number).zip(&block.lengths) {
            let (code, after) = rest.split_at(usize::from(*length));
            rest = after;
            found.extend((code == bytes).then_some(count));
        }
    }
    found.into_iter()
}

/// Events, and the instructions that are one.
fn codes_of_events() -> [(CostEvent, &'static [&'static [u8]]); 3] {
    [
        (CostEvent::SystemCall, &[&[0x0f, 0x05]]),
        (CostEvent::InterruptReturn, &[&[0x48, 0xcf]]),
        (
            CostEvent::PageTableLoad,
            &[&[0x0f, 0x22, 0xdf], &[0x0f, 0x22, 0xd8], &[0x0f, 0x22, 0xd9]],
        ),
    ]
}

/// Counting costs changes neither samples, which a replay checks, nor what is told of them; what is counted is the same from
/// wherever the replay begins.
#[test]
fn costs_are_counted_beside_everything_else() {
    let mut planned = cell(1000, Probe::Wakeup);
    planned.spec.load = "fork".into();
    planned.spec.periods = 500;
    with_cell(planned, |_, run, raw, kernel| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let cache = Cache::at(folder.path().join("cache"));
        let executions = |samples: &[usize], counted| {
            replay(&cache, run, raw, kernel, samples, LEAD, counted)
                .unwrap()
                .executions
        };
        // Which samples' paths have all of these instructions depends on the kernel's version.
        let samples: Vec<usize> = (440..460).collect();
        let has = |execution: &Execution, codes: &[&[u8]]| {
            codes.iter().any(|code| with_bytes(execution, code).next().is_some())
        };
        let (sample, uncounted) = std::iter::zip(samples.clone(), executions(&samples, Counted::Nothing))
            .find(|(_, execution)| codes_of_events().iter().all(|(_, codes)| has(execution, codes)))
            .expect("one in twenty calls the kernel, is interrupted, and switches");
        let one = || executions(&[sample], Counted::Costs).remove(0);
        let counted = one();
        assert_eq!(one().costs, counted.costs, "from a checkpoint");
        let names = |execution| functions(execution, &kernel.code).join(" ");
        assert!(names(&uncounted) == names(&counted) && uncounted.costs.is_none());
        // Steps add up to the window, each to its own length.
        let (mut sum, mut blocks) = (EventCounts::default(), 0);
        for step in 0..counted.steps.len() {
            let range = counted.span(step);
            let counts = counted.costs_in(range.clone()).unwrap();
            assert_eq!(counts.lab_instructions(), range.end - range.start);
            sum += counts;
            blocks += 1;
        }
        let all = counted.steps[0].count.0..counted.end.0;
        assert_eq!(counted.costs_in(all), Some(sum), "of {blocks} blocks");
        // Each event is where its instruction is.
        for (event, codes) in codes_of_events() {
            let found = counted.costs.iter().flatten().filter(|counted| counted.event == event);
            let mut expected: Vec<u64> = codes.iter().flat_map(|code| with_bytes(&counted, code)).collect();
            expected.sort_unstable();
            assert!(found.map(|counted| counted.at).eq(expected), "{event:?}");
        }
        assert!(
            sum[CostEvent::DataL3] > 0 && sum[CostEvent::StringByte] > 0 && sum[CostEvent::Locked] > 0,
            "{sum:?}"
        );
    });
}

#[test]
fn another_execution_is_refused() {
    with_cell(cell(1000, Probe::Wakeup), |_, run, raw, kernel| {
        let refused = |change: &dyn Fn(&mut RawResult)| {
            let mut other = RawResult {
                record: raw.record.clone(),
                events: raw.events.clone(),
                console: Vec::new(),
            };
            change(&mut other);
            let none = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            std::fs::set_permissions(none.path(), Permissions::from_mode(0o755)).unwrap();
            replay(
                &Cache::at(none.path()),
                run,
                &other,
                kernel,
                &[5],
                LEAD,
                Counted::Nothing,
            )
            .unwrap_err()
        };
        let error = refused(&|other| other.record.samples[5].latency.0 += 1);
        assert!(matches!(error, LabError::Contradicted(..)), "{error}");
        let error = refused(&|other| other.events[5].count.0 += 1);
        assert!(matches!(error, LabError::OtherExecution(..)), "{error}");
        // What the cell gives is the same to the digest with all of it logged: see above; and the record is whole.
        assert!(matrix::result(run.prepared, &run.snapshot.ready, raw, None).is_ok());
    });
}

/// Enough to see what ran when the timer was due; where a longer section began is not asked here.
const SHORT_LEAD: Instructions = Instructions(20_000);

/// What must hold of every breakdown.
fn is_whole(breakdown: &Breakdown) {
    let (cause, what) = (
        breakdown.cause(),
        format!("{:?}: {}", breakdown.sample(), breakdown.cause().sentence),
    );
    let mut end = Nanos(0);
    for span in breakdown.spans() {
        assert_eq!(span.start_ns, end, "{what}");
        assert!(
            span.length_ns > Nanos(0) && span.what != SpanKind::Unexplained,
            "{what}"
        );
        assert!(!span.task.comm.is_empty(), "{span:?} of {what}");
        assert!(!span.functions.is_empty(), "{span:?} of {what}");
        end = end + span.length_ns;
    }
    assert_eq!(end, breakdown.sample().latency_ns, "{what}");
    let of_cause = || {
        breakdown
            .spans()
            .iter()
            .filter(|s| Mechanism::of(&s.what) == cause.mechanism)
    };
    let length: u64 = of_cause().map(|s| s.length_ns.0).sum();
    assert_eq!(cause.length_ns.0, length, "{what}");
    let function = cause.function.as_deref().unwrap_or_else(|| panic!("no name in {what}"));
    assert!(
        of_cause().any(|s| mentions(s, function)),
        "no span with {function}: {what}"
    );
}

/// Whether a function is one in which a span ran, or where it began or ended.
fn mentions(span: &Span, function: &str) -> bool {
    let at = |place: &Option<CodePlace>| place.as_ref().is_some_and(|p| p.function == function);
    let place = match &span.what {
        SpanKind::IrqsOff { off, on, .. } => at(off) || at(on),
        SpanKind::PreemptOff { lock, released, .. } => at(lock) || at(released),
        _ => false,
    };
    place || span.chain.iter().any(|f| f.function == function) || span.functions.iter().any(|f| f.function == function)
}

#[test]
fn every_sample_of_a_cell_has_a_breakdown_that_adds_up() {
    let cells = [
        ("debian:6.1", "none", "procread"),
        ("debian:6.1", "full", "shm"),
        ("debian:6.1-rt", "rt", "blockread"),
    ];
    for (kernel, preempt, load) in cells {
        let mut planned = cell(1000, Probe::Wakeup);
        (planned.kernel, planned.preempt) = (kernel.into(), preempt.into());
        (planned.spec.load, planned.spec.periods) = (load.into(), 100);
        with_cell(planned, |options, run, raw, kernel| {
            let samples = &raw.record.samples;
            let around = LabSurroundings {
                floor: samples.iter().map(|s| s.latency).min().unwrap(),
                peers: Vec::new(),
            };
            let all: Vec<usize> = (0..samples.len()).collect();
            let mut told = 0;
            replay_each(&options.cache, run, raw, kernel, &all, SHORT_LEAD, |i, execution, _| {
                let sample = ExplainedSample {
                    cell: format!("{preempt}.{load}"),
                    subject: preempt.into(),
                    load: load.into(),
                    preempt: preempt.into(),
                    preempt_fixed: false,
                    unit: "ns".into(),
                    index: samples[i].index,
                    latency_ns: samples[i].latency,
                    since: Since::Due,
                    scheduler: None,
                };
                is_whole(&tell(&execution, &kernel.code, &(), sample, &around).unwrap().breakdown);
                told += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!(told, samples.len());
        });
    }
}
