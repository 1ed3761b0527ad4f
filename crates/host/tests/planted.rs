//! Ground truth: a thread of higher priority that spins at known moments must be found, by name, in the parts and the
//! recording of each sample that it delays. Needs root; fails where root has no perf.

use std::sync::mpsc;
use std::time::Duration;
use worstcase_contract::Nanos;
use worstcase_host::trace::{AskedSample, EventRecorder, Purpose, Splitter, TracedChange, Tracer};
use worstcase_instruments::sys::clock;

const PERIOD: Nanos = Nanos::from_millis(2);
const SAMPLES: u64 = 300;
/// Every so many samples one is planted.
const EACH: u64 = 10;
const SPIN: Nanos = Nanos::from_micros(300);
const AHEAD: Nanos = Nanos::from_micros(100);

fn real_time(cpu: usize, priority: i32) -> u32 {
    // SAFETY: a CPU set is plain data; the calls get valid sets and parameters of the calling thread.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        let pinned = libc::sched_setaffinity(0, size_of_val(&set), &set);
        assert_eq!(pinned, 0, "cannot run on CPU {cpu}");
        let parameters = libc::sched_param {
            sched_priority: priority,
        };
        let raised = libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters);
        assert_eq!(
            raised,
            0,
            "root, and no SCHED_FIFO: {}",
            std::io::Error::last_os_error()
        );
        libc::syscall(libc::SYS_gettid) as u32
    }
}

fn probe(first: Nanos, told: mpsc::Sender<u32>, go: mpsc::Receiver<()>, cpu: usize) -> Vec<(Nanos, Nanos)> {
    told.send(real_time(cpu, 80)).unwrap();
    go.recv().unwrap();
    let due = |n: u64| Nanos(first.0 + n * PERIOD.0);
    let sample = |n| {
        clock::sleep_until(due(n));
        (due(n), clock::monotonic())
    };
    (0..SAMPLES).map(sample).collect()
}

/// Returns when it surely ran, from then until then.
fn culprit(first: Nanos, cpu: usize) -> Vec<(Nanos, Nanos)> {
    real_time(cpu, 90);
    let spin = |n: u64| {
        clock::sleep_until(Nanos(first.0 + n * PERIOD.0 - AHEAD.0));
        let began = clock::monotonic();
        while clock::monotonic() < began + SPIN {}
        (began, clock::monotonic())
    };
    (EACH..SAMPLES).step_by(EACH as usize).map(spin).collect()
}

#[test]
fn planted_threads_are_found() {
    worstcase_skips::needs_root!();
    let cpus: Vec<u32> = (0..std::thread::available_parallelism().unwrap().get() as u32).collect();
    let cpu = cpus.len() - 1;
    let first = clock::monotonic() + Nanos::from_millis(500);
    let (told, tid) = mpsc::channel();
    let (go, wait) = mpsc::channel();
    let probe = std::thread::spawn(move || probe(first, told, wait, cpu));
    let tid = tid.recv().unwrap();
    let tracer = Tracer::open(&cpus, &Purpose::Recorder { tids: vec![tid] });
    let mut tracer = tracer.unwrap_or_else(|e| panic!("root, and no trace: {e}"));
    let culprit = std::thread::Builder::new()
        .name("planted".into())
        .spawn(move || culprit(first, cpu));
    go.send(()).unwrap();
    let mut splitter = Splitter::new(&[tid]);
    let window = Nanos(PERIOD.0 * SAMPLES + 1_000_000_000);
    let mut recorder = EventRecorder::new(window, AHEAD + Nanos(50_000), SAMPLES as usize);
    let mut drain = |tracer: &mut Tracer| {
        tracer.drain(|event| {
            splitter.feed(event);
            recorder.feed(event);
        })
    };
    while !probe.is_finished() {
        drain(&mut tracer);
        std::thread::sleep(Duration::from_millis(10));
    }
    let spins = culprit.unwrap().join().unwrap();
    let samples = probe.join().unwrap();
    drain(&mut tracer);
    assert_eq!(tracer.lost(), 0);
    let (mut delayed, mut untold) = (0, 0);
    for (n, (due, now)) in samples.iter().enumerate() {
        let ask = AskedSample {
            cpu: cpu as u32,
            tid,
            due: *due,
            now: *now,
        };
        let parts = splitter.split(&ask);
        assert_eq!(parts.sum(), *now - *due, "sample {n}: {parts:?}");
        // The probe was due and had the CPU's second place for as long as the two overlap.
        let overlaps = spins
            .iter()
            .map(|(began, ended)| ended.min(now).saturating_sub(*began.max(due)));
        let overlap = overlaps.max().unwrap();
        if overlap < Nanos::from_micros(100) {
            continue;
        }
        // Some virtual machines' kernels record nothing while the idle thread runs: if it was woken there, nothing tells.
        if parts.unexplained > Nanos(0) {
            untold += 1;
            continue;
        }
        let not_woken = parts.irq_latency + parts.handler;
        assert!(
            parts.scheduling + not_woken >= overlap,
            "sample {n}: {overlap} of {parts:?}"
        );
        // A hypervisor may hold the timer interrupt back meanwhile.
        delayed += usize::from(parts.scheduling > not_woken);
        assert!(recorder.keep(n as u64, &ask, parts));
        let snapshot = recorder.snapshots().iter().find(|s| s.index == n as u64).unwrap();
        // Between the two another real-time thread of this machine may have come.
        let mut gone = snapshot.events.iter().filter_map(|event| match event.what {
            TracedChange::Switch { from, .. } if event.at > *due => Some(from.comm.to_string()),
            _ => None,
        });
        assert!(gone.any(|name| name == "planted"), "sample {n}: {snapshot:?}");
    }
    // By construction every such sample is due while the culprit spins, unless something else had the CPU.
    assert!(
        delayed * 2 > spins.len(),
        "{delayed} of {} delayed the probe",
        spins.len()
    );
    println!(
        "{delayed} of {} planted threads delayed a sample and were found; of {untold} the trace told nothing",
        spins.len()
    );
}
