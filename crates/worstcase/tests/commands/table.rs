//! What becomes of each command. The row whose words begin a command, and of several the longest, is its own.

use Place::{Host, Lab, Settings};

/// Where a command is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a folder with a run of the lab.
    Lab,
    /// On this machine, in a folder with a run of it.
    Host,
    /// On this machine, whose settings it changes: while no other test looks at them.
    Settings,
}

/// What becomes of the commands that begin so.
pub struct Row {
    pub begins: &'static str,
    pub way: Way,
}

/// Done, or why not.
pub enum Way {
    Done {
        at: Place,
        /// What its small form has instead, beside what all small forms have.
        small: &'static [(&'static str, &'static str)],
        code: i32,
        /// Stands in what it prints.
        says: &'static str,
    },
    Not(&'static str),
}

const fn done(at: Place, begins: &'static str, says: &'static str) -> Row {
    Row {
        begins,
        way: Way::Done {
            at,
            small: &[],
            code: 0,
            says,
        },
    }
}

const fn small(
    at: Place,
    begins: &'static str,
    small: &'static [(&'static str, &'static str)],
    code: i32,
    says: &'static str,
) -> Row {
    Row {
        begins,
        way: Way::Done { at, small, code, says },
    }
}

const fn not(begins: &'static str, why: &'static str) -> Row {
    Row {
        begins,
        way: Way::Not(why),
    }
}

const OTHER_MACHINES: &str = "other machines: the tests of Slurm and ssh have theirs";
const DOWNLOADS: &str = "some hundred MB are downloaded";
const SEVERAL_KERNELS: &str = "downloads and boots many kernels, each for a quarter of a minute and more";
const OWN_KERNEL: &str = "a kernel of the user's own, or its source; tests images and kernels_cli have such";
const OWN_MODULE: &str = "a module of the user's own, to be built first; test planted_module has one";
const OWN_POLICY: &str = "a policy of the user's own, to be built first; test policies has one";
const ARCHIVE: &str = "asks the archive of the day; test kernels_cli has an archive of its own";
const FIVE_RUNS: &str = "five runs of a side; test several_runs has them";
const ELSEWHERE_WRITTEN: &str = "a file of another tool; test import has them";
const NO_END: &str = "a watch without an end, or of days; tests of watch have short ones";
const FREQUENCIES: &str = "a machine whose frequency can be set";
const ISOLATED: &str = "CPUs that were isolated at boot; test isolated has such a machine";
const BOTH_PLACES: &str = "a run of this machine and one of the lab; test against has both";
const RUNNING: &str = "a program that runs already; test follow has one";

/// A machine's calibration, measured once.
const CALIBRATED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/zen4-vm.json");

/// The cell's name is of another run, or stands for one.
const ONE_CELL: &[(&str, &str)] = &[("ID", "s1")];

pub static ROWS: &[Row] = &[
    // Lists and pages.
    done(Lab, "worstcase completions bash", "WORSTCASE_COMPLETE"),
    done(Lab, "worstcase loads", "where"),
    small(Lab, "worstcase loads NAME", &[("NAME", "memfd")], 0, "memfd"),
    done(Lab, "worstcase probes", "where"),
    small(Lab, "worstcase man COMMAND", &[("COMMAND", "show")], 0, ".SH EXAMPLES"),
    done(Lab, "worstcase study list", "preemption-models"),
    done(Lab, "worstcase study show kernel-flavours", "kernel-flavours"),
    done(Lab, "worstcase study show kernel-flavours --toml", "[full]"),
    done(Lab, "worstcase study show kernel-history --toml", "[full]"),
    not(
        "worstcase study run ./mine.toml",
        "whatever the file asks, for an hour or more",
    ),
    not(
        "worstcase study run isolation --quick",
        "machines of several CPUs, each booted anew; a minute or more",
    ),
    not("worstcase study run kernel-flavours", SEVERAL_KERNELS),
    not("worstcase study run NAME --host", "stands for any study"),
    not("worstcase study run scheduler-scaling", "some hundred cells"),
    // Kernels.
    not("worstcase kernels get debian:6.1 debian:6.1-rt", ARCHIVE),
    done(Lab, "worstcase kernels show debian:6.1", "preemption"),
    not("worstcase kernels get --debug", DOWNLOADS),
    not("worstcase kernels get --headers", DOWNLOADS),
    not("worstcase kernels list", ARCHIVE),
    // Measuring in the lab.
    done(Lab, "worstcase lab run --kernel", "kept in out-"),
    small(
        Lab,
        "worstcase lab run --kernel debian:6.1 --add /usr/bin/stress-ng",
        &[
            ("/usr/bin/stress-ng", "/bin/true"),
            ("stress-ng --vm 1 --vm-bytes 64M", "true"),
        ],
        0,
        "kept in out-",
    ),
    small(
        Lab,
        "worstcase lab run --kernel debian:6.1 --preempt full --load idle --probe io:64m",
        &[("io:64m+read/randread", "io:1m+read")],
        0,
        "kept in out-",
    ),
    small(
        Lab,
        "worstcase lab run --kernel debian:6.1 --preempt full --cpus 3 --load-cpus 0-1 --load hotplug@20",
        &[("hotplug@20", "hotplug@200")],
        0,
        "kept in out-",
    ),
    small(
        Lab,
        "worstcase lab run --kernel debian:6.18,debian:7.2 --preempt full --probe hackbench:2x25x100+pipes",
        &[("2x25x100", "1x1x1"), ("--load idle ", ""), ("0.2", "0.01")],
        0,
        "kept in out-",
    ),
    not(
        "worstcase lab run --kernel debian:6.12 --program ./control",
        "a program of the user's own, to be compiled first; test followed has one",
    ),
    not("worstcase lab run --kernel ./", OWN_KERNEL),
    not("worstcase lab run --kernel core.rpm", OWN_KERNEL),
    not(
        "worstcase lab run --kernel debian:6.1 --load fork,shm --seeds 200 --executor",
        OTHER_MACHINES,
    ),
    not(
        "worstcase lab run --kernel debian:6.1 --preempt full --module",
        OWN_MODULE,
    ),
    not("worstcase lab run --kernel debian:6.1-cloud", SEVERAL_KERNELS),
    not(
        "worstcase lab run --kernel debian:6.12-cloud --all-versions",
        SEVERAL_KERNELS,
    ),
    not("worstcase lab run --kernel debian:6.18 --preempt lazy", OWN_POLICY),
    not("worstcase lab run ...", "stands for a command above it"),
    not("worstcase lab sensitivity", "boots a machine for each of nine lines"),
    // Looking at a run.
    done(Lab, "worstcase show mine", "latency"),
    done(Lab, "worstcase show tried", "latency"),
    done(Lab, "worstcase report RUN", "open it in a browser"),
    done(Lab, "worstcase report RUN -o -", "<html"),
    done(Lab, "worstcase report RUN --small", "open it in a browser"),
    done(Lab, "worstcase report BEFORE AFTER", "both.html"),
    done(Lab, "worstcase report flavours", "flavours.html"),
    done(Lab, "worstcase report mine", "report.html"),
    small(
        Lab,
        "worstcase verdict RUN --criterion 100us",
        &[("100us", "1ns")],
        1,
        "FAIL",
    ),
    small(
        Lab,
        "worstcase verdict RUN --tail",
        &[("--tail", "--tail --criterion 1ns")],
        1,
        "FAIL",
    ),
    small(
        Lab,
        "worstcase verdict --json",
        &[("verdict", "verdict RUN --criterion 1ns")],
        1,
        "worstcase-verdict",
    ),
    small(
        Lab,
        "worstcase verdict mine",
        &[("mine", "mine --criterion 1ns")],
        1,
        "FAIL",
    ),
    done(Lab, "worstcase compare BEFORE AFTER", "identical"),
    done(Lab, "worstcase compare without with", "identical"),
    small(
        Lab,
        "worstcase compare --json",
        &[("compare", "compare BEFORE AFTER")],
        0,
        "worstcase-compare",
    ),
    small(
        Lab,
        "worstcase compare OLD-RUN RUN --explain",
        &[("OLD-RUN RUN --explain", "OLD-RUN RUN")],
        0,
        "identical",
    ),
    not("worstcase compare A1", FIVE_RUNS),
    done(Lab, "worstcase gate RUN --write-baseline", "baseline.json"),
    done(Lab, "worstcase gate NEW --baseline", "PASS"),
    done(Lab, "worstcase gate RUN --baseline", "PASS"),
    small(
        Lab,
        "worstcase gate --json",
        &[("gate", "gate RUN --baseline baseline.json")],
        0,
        "worstcase-gate",
    ),
    not("worstcase gate B1", FIVE_RUNS),
    done(Lab, "worstcase history RUNS", "6.1"),
    small(
        Lab,
        "worstcase history --json",
        &[("history", "history RUNS")],
        0,
        "worstcase-history",
    ),
    small(Lab, "worstcase history versions", &[("versions", "RUNS")], 0, "6.1"),
    done(Lab, "worstcase plot RUN --list", "dots"),
    done(Lab, "worstcase plot RUN -o figures", "figures"),
    // Replaying cells.
    done(Lab, "worstcase explain", "late"),
    small(
        Lab,
        "worstcase explain --json",
        &[("explain", "explain RUN")],
        0,
        "worstcase-breakdown",
    ),
    done(Lab, "worstcase explain RUN --all", "samples"),
    small(
        Lab,
        "worstcase explain RUN --cell ID --compare OTHER",
        &[("ID", "s1"), ("OTHER", "s2")],
        0,
        "left: ",
    ),
    small(
        Lab,
        "worstcase explain RUN --cell ID --sample p99.9",
        &[("ID", "s1"), ("p99.9", "p50")],
        0,
        "late",
    ),
    done(Lab, "worstcase explain RUN --costs", "memory"),
    small(
        Lab,
        "worstcase explain RUN --on-machine here.json",
        &[("here.json", CALIBRATED)],
        0,
        "This path would take about",
    ),
    small(
        Lab,
        "worstcase explain RUN --all --on-machine here.json",
        &[("here.json", CALIBRATED)],
        0,
        "four in five",
    ),
    small(Lab, "worstcase explain RUN --sample p98", &[("p98", "p50")], 0, "late"),
    small(
        Lab,
        "worstcase explain found --cell ID --compare ID",
        &[("--cell ID --compare ID", "--cell s1 --compare s2")],
        0,
        "left: ",
    ),
    not("worstcase explain RUN --debug-info", DOWNLOADS),
    not("worstcase explain HOSTRUN --against LABRUN", BOTH_PLACES),
    done(Lab, "worstcase census RUN", "section"),
    done(Lab, "worstcase census with", "section"),
    small(
        Lab,
        "worstcase census --json",
        &[("census", "census RUN")],
        0,
        "worstcase-census",
    ),
    small(Lab, "worstcase census RUN --cell ID", ONE_CELL, 0, "section"),
    small(Lab, "worstcase census RUN --cell ID --cpu 0", ONE_CELL, 0, "section"),
    small(
        Lab,
        "worstcase census RUN --cell ID --diff OTHER",
        &[("ID", "s1"), ("OTHER", "s2")],
        0,
        "section",
    ),
    small(
        Lab,
        "worstcase census found --cell ID --diff ID",
        &[("--cell ID --diff ID", "--cell s1 --diff s2")],
        0,
        "section",
    ),
    small(
        Lab,
        "worstcase census RUN --cell full.2cpus.fork.wakeup.s1",
        &[("full.2cpus.fork.wakeup.s1", "s1")],
        0,
        "section",
    ),
    not("worstcase census RUN --executor", OTHER_MACHINES),
    not("worstcase bisect", SEVERAL_KERNELS),
    // Other tools' files.
    not("worstcase import", ELSEWHERE_WRITTEN),
    not("worstcase report import-timerlat", ELSEWHERE_WRITTEN),
    // This machine.
    small(
        Host,
        "worstcase host check --period 1ms",
        &[("100us", "100s --time 300ms --cpus 0 -o checked")],
        10,
        "a PASS needs",
    ),
    small(
        Host,
        "worstcase host check --period 250us",
        &[
            ("--period 250us", "--period 1ms"),
            ("--deadline 50us", "--deadline 100s --time 300ms -o checked-more"),
            ("2-3", "0"),
        ],
        10,
        "a PASS needs",
    ),
    done(Host, "worstcase host run", "kept in out-"),
    small(
        Host,
        "worstcase host run --probe hackbench",
        &[("host run", "host run -q")],
        0,
        "kept in out-",
    ),
    small(
        Host,
        "worstcase host run --load 'cmd:stress-ng --vm 1'",
        &[("stress-ng --vm 1", "dd if=/dev/zero of=/dev/null count=10000")],
        0,
        "kept in out-",
    ),
    small(
        Host,
        "worstcase host run --load 'cmd-ready:./fill-and-query'",
        &[("./fill-and-query", "./fill-and-query")],
        0,
        "kept in out-",
    ),
    small(
        Host,
        "worstcase host run --break 100us --time 24h",
        &[("100us", "10s")],
        0,
        "kept in out-",
    ),
    small(
        Host,
        "worstcase host run -b 100us",
        &[("100us", "10s")],
        0,
        "kept in out-",
    ),
    small(
        Host,
        "worstcase host run --load idle --probe io:1g+bonnie,io+unpack --io-scheduler",
        &[(
            "io:1g+bonnie,io+unpack --io-scheduler none,mq-deadline,kyber,bfq",
            "io:1m+write --work-dir .",
        )],
        0,
        "kept in out-",
    ),
    small(
        Host,
        "worstcase host run --load idle --probe io:64m",
        &[(
            "io:64m+read/randread+direct,io:32m+putc/rewrite,io+create/unpack",
            "io:1m+write,io+create --work-dir .",
        )],
        0,
        "kept in out-",
    ),
    not(
        "worstcase host run --probe io:1g+read --io-scheduler",
        "an I/O scheduler named bfq",
    ),
    not("worstcase host run --probe switch:16x16k+mhz500", FREQUENCIES),
    not(
        "worstcase host run --apply",
        "changes settings of the machine that tests measure; tests of setup and try have their own",
    ),
    not("worstcase host run --on", OTHER_MACHINES),
    done(Host, "worstcase host doctor", ""),
    not(
        "worstcase host doctor --apply -- docker",
        "Docker; test containers has another",
    ),
    not(
        "worstcase host doctor --cpus 2-3 --apply",
        "changes settings of the machine that tests measure; test setup has its own",
    ),
    small(
        Host,
        "worstcase host isolate --cpus 1",
        &[("--time", "--occupy none --time")],
        0,
        "CPU 1",
    ),
    small(
        Host,
        "worstcase host isolate --cpus 1 --time 2s --occupy none",
        &[("2s", "1s")],
        0,
        "CPU 1",
    ),
    not("worstcase host isolate --cpus 2-3", ISOLATED),
    done(Host, "worstcase host calibrate", "system_call"),
    small(
        Host,
        "worstcase host isolate --json",
        &[("--json", "--json --cpus 1 --time 1s --occupy none")],
        0,
        "worstcase-isolate",
    ),
    small(
        Host,
        "worstcase host follow --deadline 1ms",
        &[("./motion --rate 1000", "true")],
        10,
        "INCONCLUSIVE",
    ),
    not("worstcase host follow --pid", RUNNING),
    done(Host, "worstcase host restore", ""),
    small(
        Settings,
        "worstcase host try --json",
        &[("--json", "--json --time 100ms --rounds 2")],
        0,
        "worstcase-trial",
    ),
    small(
        Settings,
        "worstcase host try --load fork --time 5s",
        &[("5s --criterion 100us", "100ms --rounds 2")],
        0,
        "as-it-is",
    ),
    not("worstcase host watch", NO_END),
    small(
        Host,
        "worstcase explain why/",
        &[("why/20261123-050000", "mine")],
        0,
        "late",
    ),
    small(
        Host,
        "worstcase report week/",
        &[("week/20261123-050000", "mine")],
        0,
        "open it in a browser",
    ),
    small(
        Host,
        "worstcase show week/",
        &[("week/20261123-050000", "mine")],
        0,
        "latency",
    ),
];
