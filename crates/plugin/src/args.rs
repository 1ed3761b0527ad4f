//! The plugin's arguments: `-plugin libworstcase_plugin.so,log=PATH,progress=PATH,timer_entry=0xADDRESS,quantum=NS,disk=NS,port=NS`,
//! `untimed=0xFROM-0xTO+...,shared=...`, all optional; and those of a replay, all four or none: `windows=100-200+500-900,window_log=PATH,tasks=PLACES,memory=PATH`, and with them `locks=0xFROM-0xTO+...`; those of a census,
//! all or none but `audit=on`: `census=PATH,facts=PATH,memory=PATH`; those of costs: `costs=PATH` with `windows=` or
//! `cost_from=0xADDRESS,cost_to=0xADDRESS` or both, and `warm_up=INSTRUCTIONS`; and those of the modules' symbols:
//! `modules=PLACES,module_log=PATH,memory=PATH`.

use std::path::PathBuf;
use worstcase_logs::window::ask::{self, AskError, CodeRanges, ModulePlaces, TaskPlaces, Windows};

/// What QEMU's command line asks of the plugin.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// `log=PATH`: where the event log goes; without it nothing is logged.
    pub(crate) log: Option<PathBuf>,
    /// `progress=PATH`: where the count is written some times a second.
    pub(crate) progress: Option<PathBuf>,
    /// `timer_entry=0xADDRESS`: the first instruction of the guest's timer interrupt.
    pub(crate) timer_entry: Option<u64>,
    /// `vectors=0xADDRESS`: the kernel's vectors, by which interrupts enter it.
    #[cfg(feature = "guest-arm64")]
    pub(crate) vectors: Option<u64>,
    /// `quantum=NS`: how far one CPU may be ahead of another.
    pub(crate) quantum: Option<i64>,
    /// `untimed=0xFROM-0xTO+...`: code that takes no time; `shared=...`: code that takes none after it.
    pub(crate) untimed: UntimedCode,
    /// `kicks=SEED`: a thread interrupts the CPUs at random, as a busy host does. For tests: it may change nothing.
    pub(crate) kicks: Option<u32>,
    /// `follow=CPU`: whose blocks and sections are logged, if not those of the CPU that measures.
    pub(crate) follow: Option<usize>,
    /// `disk=NS`: how long the machine's disk takes for a request.
    pub(crate) disk: Option<i64>,
    /// `port=NS`: how long a word of 16 bits takes that INS fetches from a port.
    pub(crate) port: Option<i64>,
    /// What a replay logs.
    pub(crate) replay: Option<Replay>,
    /// What a census needs.
    pub(crate) census: Option<CensusArgs>,
    /// What the symbols of modules need.
    pub(crate) modules: Option<ModuleArgs>,
    /// What paths consist of.
    pub(crate) costs: Option<CostArgs>,
}

/// What paths consist of.
#[derive(Debug, PartialEq, Eq)]
pub struct CostArgs {
    /// `costs=PATH`: where it goes.
    pub(crate) out: PathBuf,
    /// `windows=...` of the replay: where events are told one by one.
    pub(crate) windows: Windows,
    /// `warm_up=INSTRUCTIONS`: how long before a window caches begin to be filled.
    pub(crate) warm_up: u64,
    /// `cost_from=0xADDRESS,cost_to=0xADDRESS`: between passing the one and passing the other events are told as counts.
    pub(crate) stretch: Option<(u64, u64)>,
}

/// The symbols of the modules that are in the kernel when measuring ends.
#[derive(Debug, PartialEq, Eq)]
pub struct ModuleArgs {
    /// `modules=...`: where the kernel keeps them.
    pub(crate) places: ModulePlaces,
    /// `module_log=PATH`: where they go.
    pub(crate) out: PathBuf,
    /// `memory=PATH`: the file that QEMU maps as the guest's memory.
    pub(crate) memory: PathBuf,
}

/// Code that takes no time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UntimedCode {
    /// Takes none.
    pub(crate) own: CodeRanges,
    /// Takes none after code that takes none.
    pub(crate) shared: CodeRanges,
}

/// A list of all sections in which a wake-up had to wait.
#[derive(Debug, PartialEq, Eq)]
pub struct CensusArgs {
    /// `census=PATH`: where it goes.
    pub(crate) out: PathBuf,
    /// `facts=PATH`: what is to be known of the kernel.
    pub(crate) facts: PathBuf,
    /// `memory=PATH`: the file that QEMU maps as the guest's memory.
    pub(crate) memory: PathBuf,
    /// `audit=on`: whether the tracked state is compared with the true one.
    pub(crate) audit: bool,
}

/// What to log of every block that runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Replay {
    /// `windows=FROM-TO+...`: while the instruction count is in one of these.
    pub(crate) windows: Windows,
    /// `window_log=PATH`: where that log goes.
    pub(crate) log: PathBuf,
    /// `tasks=...`: where the kernel's tasks are.
    pub(crate) tasks: TaskPlaces,
    /// `memory=PATH`: the file that QEMU maps as the guest's memory.
    pub(crate) memory: PathBuf,
    /// `locks=0xFROM-0xTO+...`: the code of the kernel's lock functions; empty if it is not known.
    pub(crate) locks: CodeRanges,
}

/// An argument that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgError {
    /// Not an argument of this plugin.
    #[error(
        "unknown argument '{0}' (known: log=PATH, progress=PATH, timer_entry=0xADDRESS, quantum=NS, untimed=, shared=, kicks=SEED, follow=CPU, disk=NS, port=NS, windows=, window_log=, tasks=, locks=, memory=, census=, facts=, audit=on, modules=, module_log=, costs=, warm_up=, cost_from=, cost_to=)"
    )]
    Unknown(String),
    /// The same argument again.
    #[error("argument '{0}' is given twice")]
    Twice(&'static str),
    /// `log=` and the like without a path.
    #[error("{0}= needs a path")]
    EmptyPath(&'static str),
    /// Not a list of windows, or not places of tasks.
    #[error(transparent)]
    Replay(#[from] AskError),
    /// Only some of the arguments of a replay.
    #[error("windows=, window_log=, tasks= and memory= go together")]
    PartOfReplay,
    /// No range of code.
    #[error("{0}= needs ranges such as 0xffffffff81a00000-0xffffffff81a00ec0")]
    BadRanges(&'static str),
    /// Shared code without the code that it is shared with.
    #[error("shared= goes with untimed=")]
    SharedAlone,
    /// Locks without a replay.
    #[error("locks= goes with windows=")]
    LocksAlone,
    /// Only some of the arguments of a census.
    #[error("census=, facts= and memory= go together, and audit=on with them")]
    PartOfCensus,
    /// Only some of the arguments of the modules' symbols.
    #[error("modules=, module_log= and memory= go together")]
    PartOfModules,
    /// Only some of the arguments of costs.
    #[error("costs= goes with windows=, or with cost_from= and cost_to=; these two and warm_up= go with costs=")]
    PartOfCosts,
    /// Not a number of instructions.
    #[error("warm_up= needs a number of instructions, not '{0}'")]
    BadWarmUp(String),
    /// Nothing that reads memory.
    #[error("memory= is for windows=, census= or modules=")]
    MemoryAlone,
    /// What this plugin cannot do.
    #[cfg(feature = "guest-arm64")]
    #[error("{0} is not there for arm64 machines yet")]
    NotOnArm64(&'static str),
    /// Not an address.
    #[error("{0}= needs a hexadecimal address such as 0xffffffff81a00ec0, not '{1}'")]
    BadAddress(&'static str, String),
    /// Not a quantum.
    #[error("quantum= needs a number of ns from 1 to {MOST_QUANTUM}, not '{0}'")]
    BadQuantum(String),
    /// Not a time.
    #[error("{0}= needs a number of ns from 1 to {LONGEST_REQUEST}, not '{1}'")]
    BadTime(&'static str, String),
    /// Not a seed.
    #[error("kicks= needs a number, not '{0}'")]
    BadSeed(String),
    /// Not a CPU.
    #[error("follow= needs the number of a CPU, not '{0}'")]
    BadCpu(String),
}

/// A second: CPUs that far apart are not side by side.
const MOST_QUANTUM: i64 = 1_000_000_000;
/// A second, too.
const LONGEST_REQUEST: i64 = 1_000_000_000;

/// Refuses what is there for x86-64 alone.
#[cfg(feature = "guest-arm64")]
pub(crate) fn refuse_what_is_not_there(arguments: &[String]) -> Result<(), ArgError> {
    let there = |name: &str| arguments.iter().any(|argument| argument.starts_with(name));
    match ["port=", "costs="].into_iter().find(|name| there(name)) {
        Some(name) => Err(ArgError::NotOnArm64(name)),
        None => Ok(()),
    }
}

/// Reads the arguments as QEMU hands them over, `name=value` each.
pub(crate) fn parse<S: AsRef<str>>(arguments: &[S]) -> Result<Args, ArgError> {
    let mut args = Args::default();
    let (mut windows, mut window_log, mut tasks, mut memory, mut locks) = (None, None, None, None, None);
    let (mut census, mut facts, mut audit) = (None, None, None);
    let (mut modules, mut module_log) = (None, None);
    let (mut untimed, mut shared) = (None, None);
    let (mut costs, mut warm_up, mut cost_from, mut cost_to) = (None, None, None, None);
    for argument in arguments {
        let argument = argument.as_ref();
        match argument.split_once('=') {
            Some(("log", path)) => set(&mut args.log, "log", non_empty(path, "log")?)?,
            Some(("progress", path)) => set(&mut args.progress, "progress", non_empty(path, "progress")?)?,
            Some(("timer_entry", value)) => set(&mut args.timer_entry, "timer_entry", address(value, "timer_entry")?)?,
            #[cfg(feature = "guest-arm64")]
            Some(("vectors", value)) => set(&mut args.vectors, "vectors", address(value, "vectors")?)?,
            Some(("quantum", value)) => set(&mut args.quantum, "quantum", quantum(value)?)?,
            Some(("disk", value)) => set(&mut args.disk, "disk", time(value, "disk")?)?,
            Some(("port", value)) => set(&mut args.port, "port", time(value, "port")?)?,
            Some(("untimed", value)) => set(&mut untimed, "untimed", ranges("untimed", value)?)?,
            Some(("shared", value)) => set(&mut shared, "shared", ranges("shared", value)?)?,
            Some(("kicks", value)) => set(&mut args.kicks, "kicks", seed(value)?)?,
            Some(("follow", value)) => set(&mut args.follow, "follow", cpu(value)?)?,
            Some(("windows", value)) => set(&mut windows, "windows", value.parse()?)?,
            Some(("window_log", path)) => set(&mut window_log, "window_log", non_empty(path, "window_log")?)?,
            Some(("tasks", value)) => set(&mut tasks, "tasks", value.parse()?)?,
            Some(("locks", value)) => set(&mut locks, "locks", ranges("locks", value)?)?,
            Some(("memory", path)) => set(&mut memory, "memory", non_empty(path, "memory")?)?,
            Some(("census", path)) => set(&mut census, "census", non_empty(path, "census")?)?,
            Some(("facts", path)) => set(&mut facts, "facts", non_empty(path, "facts")?)?,
            Some(("modules", value)) => set(&mut modules, "modules", value.parse()?)?,
            Some(("module_log", path)) => set(&mut module_log, "module_log", non_empty(path, "module_log")?)?,
            Some(("costs", path)) => set(&mut costs, "costs", non_empty(path, "costs")?)?,
            Some(("warm_up", value)) => set(&mut warm_up, "warm_up", instructions(value)?)?,
            Some(("cost_from", value)) => set(&mut cost_from, "cost_from", address(value, "cost_from")?)?,
            Some(("cost_to", value)) => set(&mut cost_to, "cost_to", address(value, "cost_to")?)?,
            Some(("audit", "on")) => set(&mut audit, "audit", true)?,
            _ => return Err(ArgError::Unknown(argument.to_owned())),
        }
    }
    if memory.is_some() && windows.is_none() && census.is_none() && modules.is_none() {
        return Err(ArgError::MemoryAlone);
    }
    if shared.is_some() && untimed.is_none() {
        return Err(ArgError::SharedAlone);
    }
    args.untimed = UntimedCode {
        own: untimed.unwrap_or_default(),
        shared: shared.unwrap_or_default(),
    };
    if locks.is_some() && windows.is_none() {
        return Err(ArgError::LocksAlone);
    }
    let is_whole = costs.is_some() && (windows.is_some() || cost_from.is_some());
    let asks_for_costs = costs.is_some() || warm_up.is_some() || cost_from.is_some() || cost_to.is_some();
    if cost_from.is_some() != cost_to.is_some() || (asks_for_costs && !is_whole) {
        return Err(ArgError::PartOfCosts);
    }
    args.costs = costs.map(|out| CostArgs {
        out,
        windows: windows.clone().unwrap_or_default(),
        warm_up: warm_up.unwrap_or(worstcase_costs::WARM_UP),
        stretch: cost_from.zip(cost_to),
    });
    args.replay = match (windows, window_log, tasks, memory.clone()) {
        (None, None, None, _) => None,
        (Some(windows), Some(log), Some(tasks), Some(memory)) => Some(Replay {
            windows,
            log,
            tasks,
            memory,
            locks: locks.unwrap_or_default(),
        }),
        _ => return Err(ArgError::PartOfReplay),
    };
    args.modules = match (modules, module_log, memory.clone()) {
        (None, None, _) => None,
        (Some(places), Some(out), Some(memory)) => Some(ModuleArgs { places, out, memory }),
        _ => return Err(ArgError::PartOfModules),
    };
    args.census = match (census, facts, memory, audit) {
        (None, None, _, None) => None,
        (Some(out), Some(facts), Some(memory), audit) => Some(CensusArgs {
            out,
            facts,
            memory,
            audit: audit.is_some(),
        }),
        _ => return Err(ArgError::PartOfCensus),
    };
    Ok(args)
}

fn cpu(value: &str) -> Result<usize, ArgError> {
    value.parse().map_err(|_| ArgError::BadCpu(value.to_owned()))
}

fn non_empty(path: &str, name: &'static str) -> Result<PathBuf, ArgError> {
    if path.is_empty() {
        return Err(ArgError::EmptyPath(name));
    }
    Ok(path.into())
}

fn set<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), ArgError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(ArgError::Twice(name)),
    }
}

fn address(value: &str, name: &'static str) -> Result<u64, ArgError> {
    ask::address(value).ok_or_else(|| ArgError::BadAddress(name, value.to_owned()))
}

fn instructions(value: &str) -> Result<u64, ArgError> {
    value.parse().map_err(|_| ArgError::BadWarmUp(value.to_owned()))
}

fn ranges(name: &'static str, value: &str) -> Result<CodeRanges, ArgError> {
    value.parse().map_err(|_| ArgError::BadRanges(name))
}

fn seed(value: &str) -> Result<u32, ArgError> {
    value.parse().map_err(|_| ArgError::BadSeed(value.to_owned()))
}

fn quantum(value: &str) -> Result<i64, ArgError> {
    up_to(MOST_QUANTUM, value).ok_or_else(|| ArgError::BadQuantum(value.to_owned()))
}

fn time(value: &str, name: &'static str) -> Result<i64, ArgError> {
    up_to(LONGEST_REQUEST, value).ok_or_else(|| ArgError::BadTime(name, value.to_owned()))
}

fn up_to(most: i64, value: &str) -> Option<i64> {
    value.parse().ok().filter(|ns| (1..=most).contains(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arguments_are_optional() {
        assert_eq!(parse::<&str>(&[]), Ok(Args::default()));
        assert_eq!(
            parse(&["timer_entry=0xffffffff81a00ec0", "log=/tmp/a=b", "progress=/p"]),
            Ok(Args {
                log: Some("/tmp/a=b".into()),
                progress: Some("/p".into()),
                timer_entry: Some(0xffff_ffff_81a0_0ec0),
                replay: None,
                census: None,
                ..Args::default()
            })
        );
    }

    #[test]
    fn a_replay_is_asked_for_whole() {
        let all = [
            "windows=5-9",
            "window_log=/w",
            "tasks=1:2:3:4:5:6:7:8:9:c:0",
            "memory=/m",
        ];
        let replay = parse(&all).unwrap().replay.unwrap();
        assert_eq!(replay.windows.to_string(), "5-9");
        assert_eq!((replay.log, replay.memory), ("/w".into(), "/m".into()));
        assert_eq!(replay.tasks.comm, 4);
        for n in 0..4 {
            let mut some = all.to_vec();
            some.remove(n);
            let error = parse(&some).unwrap_err();
            assert!(matches!(error, ArgError::PartOfReplay | ArgError::MemoryAlone), "{n}");
        }
        assert!(matches!(parse(&["windows=9-5"]), Err(ArgError::Replay(_))));
        let with = |locks: &'static str| parse(&[&all[..], &[locks]].concat());
        assert_eq!(
            with("locks=0x10-0x20+0x30-0x40").unwrap().replay.unwrap().locks,
            [16..32, 48..64].into_iter().collect()
        );
        for bad in ["locks=0x20-0x10", "locks=0x10", "locks=16-32", "locks=0x10-0x20+"] {
            assert_eq!(with(bad), Err(ArgError::BadRanges("locks")), "{bad}");
        }
        assert_eq!(parse(&["locks=0x10-0x20"]), Err(ArgError::LocksAlone));
    }

    #[test]
    fn a_census_is_asked_for_whole() {
        let all = ["census=/c", "facts=/f", "memory=/m", "audit=on"];
        let census = parse(&all).unwrap().census.unwrap();
        assert_eq!((census.out, census.audit), ("/c".into(), true));
        assert!(!parse(&all[..3]).unwrap().census.unwrap().audit);
        assert_eq!(parse(&all[..2]), Err(ArgError::PartOfCensus));
        assert_eq!(parse(&all[3..]), Err(ArgError::PartOfCensus));
        assert_eq!(parse(&["memory=/m"]), Err(ArgError::MemoryAlone));
    }

    #[test]
    fn symbols_of_modules_are_asked_for_whole() {
        let all = ["modules=1:2:3:4:5:6:7:8:4:c", "module_log=/o", "memory=/m"];
        let modules = parse(&all).unwrap().modules.unwrap();
        assert_eq!((modules.out, modules.places.page_levels), ("/o".into(), 4));
        assert_eq!(parse(&all[..2]), Err(ArgError::PartOfModules));
        assert_eq!(parse(&[all[0], all[2]]), Err(ArgError::PartOfModules));
    }

    #[test]
    fn costs_are_asked_for_in_windows_or_between_addresses() {
        let between = ["costs=/c", "cost_from=0x10", "cost_to=0x20", "warm_up=50"];
        let costs = parse(&between).unwrap().costs.unwrap();
        assert_eq!((costs.stretch, costs.warm_up), (Some((16, 32)), 50));
        let replay = [
            "costs=/c",
            "windows=5-9",
            "window_log=/w",
            "tasks=1:2:3:4:5:6:7:8:9:c:0",
            "memory=/m",
        ];
        let costs = parse(&replay).unwrap().costs.unwrap();
        assert_eq!((costs.windows.to_string(), costs.stretch), ("5-9".into(), None));
        for part in [&between[..1], &between[..2], &between[1..3], &between[3..]] {
            assert_eq!(parse(part), Err(ArgError::PartOfCosts), "{part:?}");
        }
        assert_eq!(parse(&["warm_up=1s"]), Err(ArgError::BadWarmUp("1s".into())));
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for bad in ["12", "0x", "0xfg", "0x+1", "0x1ffffffffffffffff", ""] {
            assert_eq!(
                parse(&[format!("timer_entry={bad}")]),
                Err(ArgError::BadAddress("timer_entry", bad.into()))
            );
        }
        for bad in ["0", "-5", "1s", "1000000001"] {
            assert_eq!(
                parse(&[format!("quantum={bad}")]),
                Err(ArgError::BadQuantum(bad.into()))
            );
            for name in ["disk", "port"] {
                let error = ArgError::BadTime(name, bad.into());
                assert_eq!(parse(&[format!("{name}={bad}")]), Err(error));
            }
        }
        assert_eq!(parse(&["kicks=x"]), Err(ArgError::BadSeed("x".into())));
        assert_eq!(parse(&["quantum=500"]).unwrap().quantum, Some(500));
        let untimed = parse(&["shared=0x50-0x60+0x70-0x80", "untimed=0x10-0x20+0x30-0x31"]);
        let [own, shared] = [[16..32, 48..49], [80..96, 112..128]].map(CodeRanges::from_iter);
        assert_eq!(untimed.unwrap().untimed, UntimedCode { own, shared });
        assert_eq!(parse(&["shared=0x50-0x60"]), Err(ArgError::SharedAlone));
        assert_eq!(parse(&["untimed=16-32"]), Err(ArgError::BadRanges("untimed")));
        let disk = parse(&["disk=50000", "port=120"]).unwrap();
        assert_eq!((disk.disk, disk.port), (Some(50_000), Some(120)));
        assert_eq!(parse(&["log="]), Err(ArgError::EmptyPath("log")));
        assert_eq!(parse(&["log=a", "log=b"]), Err(ArgError::Twice("log")));
        assert_eq!(parse(&["logs=a"]), Err(ArgError::Unknown("logs=a".into())));
        assert_eq!(parse(&["log"]), Err(ArgError::Unknown("log".into())));
    }
}
