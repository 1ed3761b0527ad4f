//! How these probes are asked for: `NAME[:DIMENSIONS][+OPTION]...`, with alternatives between slashes.
//!
//! ```text
//! switch[:PROCESSESxBYTES][+pipe|+eventfd|+futex][+threads][+same|+smt|+cache|+across|+free][+spinTIME][+againPERCENT][+mhzN]
//! hackbench[:GROUPS[xPAIRS[xMESSAGES[xBYTES]]]][+sockets|+pipes][+threads][+cpusN][+pinned][+latency]
//! inversion[:DEPTH][+inherit|+none|+protect][+sectionTIME][+middleTIME]
//! remote[+futex|+pipe|+eventfd]
//! pick[:TASKS]
//! spawn[+fork|+exec|+sh]
//! io[:SIZE][+WORK][+bsSIZE][+direct]
//! irq[:CHIPxOUTPUTxINPUT][+parport|+hpet|+gpio|+serial]
//! shootdown[:THREADS][+pagesN]
//! ```
//! `switch:2/16x0/16k+pipe/futex` is eight probes; a name without dimensions is the grid of the published study.

use crate::probes::io;
use crate::spec::SpecError;
use worstcase_instruments::bench::spelling::{BYTES, TIMES};
use worstcase_instruments::bench::{
    Bench, Hackbench, Inversion, Line, Pick, Pins, Placement, Protocol, Remote, Shootdown, Spawn, Step, Switch,
    Transport, Via,
};
use worstcase_logs::Nanos;

/// The grid of lat_ctx in the study.
const SWITCH_GRID: &str = "2/4/8/16/24/32/64/96x0/4k/8k/16k/32k/64k";
/// The article's groups; its senders, receivers and messages are the defaults below.
const HACKBENCH_GRID: &str = "1/2/4/8";
const INVERSION_GRID: &str = "1/2/4/8";
/// Three decades, and what hackbench makes runnable.
const PICK_GRID: &str = "1/2/5/10/20/50/100/200/500/1000/2000";
/// Without another CPU, and with one.
const SHOOTDOWN_GRID: &str = "0/1";

/// More tasks than anybody lets run on one CPU.
const MOST_TASKS: u64 = 2_000;

/// What the published test of priority inversion asks: nobody waits longer.
pub const INVERSION_CRITERION: Nanos = Nanos::from_micros(100);

/// The names without parameters.
pub(crate) const NAMES: [&str; 9] = [
    "switch",
    "hackbench",
    "pick",
    "spawn",
    "io",
    "inversion",
    "remote",
    "irq",
    "shootdown",
];

/// The name without parameters.
pub const fn name(bench: &Bench) -> &'static str {
    match bench {
        Bench::Switch(_) => "switch",
        Bench::Hackbench(_) => "hackbench",
        Bench::Inversion(_) => "inversion",
        Bench::Remote(_) => "remote",
        Bench::Pick(_) => "pick",
        Bench::Spawn(_) => "spawn",
        Bench::Io(_) => "io",
        Bench::Irq(_) => "irq",
        Bench::Shootdown(_) => "shootdown",
    }
}

/// How many samples are taken unless somebody asks for another number: ten values for the trimmed mean of a switch, the
/// article's four runs, enough rounds to see a rare inversion.
pub const fn usual_samples(bench: &Bench) -> u32 {
    match bench {
        Bench::Switch(_) => 10,
        Bench::Hackbench(_) => 4,
        Bench::Inversion(_) => 500,
        Bench::Remote(_) | Bench::Irq(_) => 2_000,
        Bench::Pick(_) => 1_000,
        Bench::Spawn(_) => 100,
        Bench::Io(work) => work.usual_samples(),
        Bench::Shootdown(_) => 1_000,
    }
}

/// Distance of two rounds unless somebody asks for another; 0 where there are none, none where it is the venue's. Of
/// `inversion` a third of the time is left for everybody else, so that the kernel does not hold the threads back.
pub const fn usual_period(bench: &Bench) -> Option<Nanos> {
    match bench {
        Bench::Switch(_) | Bench::Hackbench(_) | Bench::Pick(_) | Bench::Spawn(_) | Bench::Io(_) => Some(Nanos(0)),
        Bench::Inversion(i) => Some(Nanos(3 * (i.section.0 + i.middle.0))),
        // So many times a second.
        Bench::Irq(Line::Hpet) => Some(Nanos::from_micros(250)),
        Bench::Remote(_) | Bench::Irq(_) | Bench::Shootdown(_) => None,
    }
}

/// Every probe that a text asks for, in order.
pub fn expand(text: &str) -> Result<Vec<Bench>, SpecError> {
    let (head, options) = text.split_once('+').unwrap_or((text, ""));
    let (name, dimensions) = head.split_once(':').unwrap_or((head, ""));
    let wrong = |what: String| SpecError(format!("probe '{text}': {what}"));
    let grid = match name {
        "switch" => SWITCH_GRID,
        "hackbench" => HACKBENCH_GRID,
        "inversion" => INVERSION_GRID,
        "pick" => PICK_GRID,
        "remote" | "irq" | "spawn" | "io" => "",
        "shootdown" => SHOOTDOWN_GRID,
        _ => return Err(wrong(format!("known are {}", NAMES.join(", ")))),
    };
    let given = !dimensions.is_empty();
    let mut tuples = vec![Vec::new()];
    let asked = if given { dimensions } else { grid };
    for dimension in asked.split('x').filter(|_| !asked.is_empty()) {
        tuples = product(&tuples, &dimension.split('/').collect::<Vec<_>>());
    }
    let mut chosen = vec![Vec::new()];
    for option in options.split('+').filter(|o| !o.is_empty()) {
        chosen = product(&chosen, &alternatives(option));
    }
    // Without a protocol, or a way to wake, the grid shows all of them: one alone answers nothing.
    match name {
        "inversion" if !given && !mentions(options, Protocol::ALL) => {
            chosen = product(&chosen, &["inherit", "none", "protect"]);
        }
        "spawn" if !mentions(options, Step::ALL) => chosen = product(&chosen, &["fork", "exec", "sh"]),
        "io" => chosen = io::chosen(&chosen),
        "remote" if !mentions(options, Via::ALL) => chosen = product(&chosen, &["futex", "pipe", "eventfd"]),
        _ => {}
    }
    let mut all = Vec::new();
    for options in &chosen {
        for tuple in &tuples {
            let bench = one(name, tuple, options).map_err(wrong)?;
            check(&bench).map_err(wrong)?;
            if all.contains(&bench) && is_of_set(&bench, options) {
                continue;
            }
            if all.contains(&bench) {
                return Err(wrong(format!("'{bench}' is asked for twice")));
            }
            all.push(bench);
        }
    }
    Ok(all)
}

/// One probe; a text that asks for several is refused.
pub fn parse(text: &str) -> Result<Bench, SpecError> {
    match expand(text)?.as_slice() {
        [one] => Ok(*one),
        several => Err(SpecError(format!(
            "probe '{text}' is {} probes, one is wanted here",
            several.len()
        ))),
    }
}

/// Whether it is of a set that stands for several, whatever size that is asked for.
fn is_of_set(bench: &Bench, options: &[String]) -> bool {
    matches!(bench, Bench::Io(_)) && options.iter().any(|option| option == io::BONNIE)
}

/// Refuses what no machine is asked for.
fn check(bench: &Bench) -> Result<(), String> {
    let within = |what: &str, value: u64, low: u64, high: u64| match (low..=high).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what}: {low} to {high}, not {value}")),
    };
    match bench {
        Bench::Switch(s) => {
            within("processes", s.processes.into(), 2, 4096)?;
            within("bytes", s.size.into(), 0, 64 << 20)?;
            within("spin in ns", s.spin.0, 0, 1_000_000_000)?;
            within("again in percent", s.again.into(), 0, 50)?;
            within("MHz", s.mhz.into(), 0, 100_000)
        }
        Bench::Hackbench(h) => {
            within("groups", h.groups.into(), 1, 1000)?;
            within("senders", h.pairs.into(), 1, 1000)?;
            within("messages", h.messages.into(), 1, 1_000_000)?;
            within("bytes", h.size.into(), if h.latency { 8 } else { 1 }, 64 << 10)
        }
        Bench::Inversion(i) => {
            within("depth", i.depth.into(), 1, 8)?;
            within("section in ns", i.section.0, 1_000, 1_000_000_000)?;
            within("middle in ns", i.middle.0, 1_000, 1_000_000_000)
        }
        Bench::Pick(p) => within("tasks", p.tasks.into(), 1, MOST_TASKS),
        Bench::Remote(_) | Bench::Irq(_) | Bench::Spawn(_) => Ok(()),
        Bench::Io(work) => io::check(work),
        Bench::Shootdown(s) => {
            within("threads", s.threads.into(), 0, Shootdown::MOST_THREADS.into())?;
            within("pages", s.pages.into(), 1, 16_384)
        }
    }
}

fn of_word<T: Copy>(all: &[(&str, T)], word: &str) -> Option<T> {
    all.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

fn line(word: &str, numbers: &[u16]) -> Result<Line, String> {
    match (word, numbers) {
        ("parport", []) => Ok(Line::Parport),
        ("hpet", []) => Ok(Line::Hpet),
        ("gpio", []) => Ok(Line::Gpio(None)),
        ("gpio", &[chip, output, input]) => Ok(Line::Gpio(Some(Pins { chip, output, input }))),
        ("gpio", _) => Err("gpio takes the chip and two of its lines, the output first, e.g. irq:0x17x27+gpio".into()),
        ("serial", []) => Ok(Line::Serial(0)),
        ("serial", &[port]) => Ok(Line::Serial(port)),
        ("serial", _) => Err("serial takes the number of one port, e.g. irq:0+serial".into()),
        ("parport" | "hpet", _) => Err(format!("no numbers: irq+{word}")),
        _ => Err(format!("no option '{word}'; there are parport, hpet, gpio, serial")),
    }
}

/// Whether some option is a word that `known` knows.
fn mentions<T: Copy>(options: &str, all: &[(&str, T)]) -> bool {
    options.split(['+', '/']).any(|word| of_word(all, word).is_some())
}

/// Every row with every one of `values` behind it.
pub(crate) fn product<T: ToString>(rows: &[Vec<String>], values: &[T]) -> Vec<Vec<String>> {
    let with = |row: &Vec<String>, value: &T| row.iter().cloned().chain([value.to_string()]).collect();
    let each = |row| values.iter().map(move |value| with(row, value));
    rows.iter().flat_map(each).collect()
}

/// `cpus1/2/4` is `cpus1`, `cpus2`, `cpus4`; `spin5us/1ms` is `spin5us`, `spin1ms`; `pipe/futex` is `pipe`, `futex`.
fn alternatives(option: &str) -> Vec<String> {
    let mut parts = option.split('/');
    let first = parts.next().unwrap_or_default();
    let prefix = &first[..first.find(|c: char| c.is_ascii_digit()).unwrap_or(first.len())];
    let numbered = prefix.len() < first.len();
    let rest = parts.map(|part| match numbered {
        true => format!("{prefix}{part}"),
        false => part.to_string(),
    });
    [first.to_string()].into_iter().chain(rest).collect()
}

fn one(name: &str, dimensions: &[String], options: &[String]) -> Result<Bench, String> {
    let most = match name {
        "switch" => 2,
        "hackbench" => 4,
        "remote" | "spawn" => 0,
        "irq" => 3,
        _ => 1,
    };
    if most == 0 && !dimensions.is_empty() {
        return Err(match name {
            "spawn" => "no numbers: spawn, or e.g. spawn+exec".into(),
            _ => format!("no numbers: {name}, or e.g. {name}+futex"),
        });
    }
    if dimensions.len() > most {
        return Err(format!(
            "at most {most} numbers with 'x' between them, not {}",
            dimensions.len()
        ));
    }
    let dimension = |at: usize, default: u64| match dimensions.get(at) {
        Some(text) => bytes(text),
        None => Ok(default),
    };
    let number = |at, default: u32| {
        let value = dimension(at, default.into())?;
        u32::try_from(value).map_err(|_| format!("{value} is too many"))
    };
    let small = |at: usize, default: u16| {
        let value = dimension(at, default.into())?;
        u16::try_from(value).map_err(|_| format!("{value} is too many"))
    };
    let mut bench = match name {
        "switch" => Bench::Switch(Switch {
            processes: small(0, 2)?,
            size: number(1, 0)?,
            via: Via::Pipe,
            threads: false,
            placement: Placement::Same,
            spin: Nanos(0),
            again: 0,
            mhz: 0,
        }),
        "hackbench" => Bench::Hackbench(Hackbench {
            groups: small(0, 1)?,
            pairs: small(1, 25)?,
            messages: number(2, 100)?,
            size: number(3, 100)?,
            transport: Transport::Sockets,
            threads: false,
            cpus: 0,
            pinned: false,
            latency: false,
        }),
        "inversion" => Bench::Inversion(Inversion {
            depth: u8::try_from(small(0, 1)?).map_err(|_| "a depth is 1 to 8".to_string())?,
            protocol: Protocol::Inherit,
            section: Inversion::SECTION,
            middle: Inversion::MIDDLE,
        }),
        "pick" => Bench::Pick(Pick { tasks: small(0, 1)? }),
        "remote" => Bench::Remote(Remote { via: Via::Futex }),
        "spawn" => Bench::Spawn(Spawn { step: Step::Fork }),
        "io" => return io::parse(dimensions, options).map(Bench::Io),
        "irq" => {
            let numbers: Vec<u16> = (0..dimensions.len()).map(|at| small(at, 0)).collect::<Result<_, _>>()?;
            let word = match options {
                [] => "parport",
                [word] => word,
                _ => return Err("one of parport, hpet, gpio, serial".into()),
            };
            return line(word, &numbers).map(Bench::Irq);
        }
        _ => Bench::Shootdown(Shootdown {
            threads: u8::try_from(small(0, 0)?).map_err(|_| "threads are 0 to 15".to_string())?,
            pages: Shootdown::PAGES,
        }),
    };
    for option in options {
        apply(&mut bench, option)?;
    }
    Ok(bench)
}

fn apply(bench: &mut Bench, option: &str) -> Result<(), String> {
    match bench {
        Bench::Switch(s) => {
            if let Some(via) = of_word(Via::ALL, option) {
                s.via = via;
            } else if let Some(placement) = of_word(Placement::ALL, option) {
                s.placement = placement;
            } else if let Some(spin) = option.strip_prefix("spin") {
                s.spin = time(spin)?;
            } else if let Some(mhz) = option.strip_prefix("mhz") {
                s.mhz = mhz
                    .parse()
                    .ok()
                    .filter(|mhz| *mhz > 0)
                    .ok_or_else(|| format!("'{option}' is not a number of MHz, e.g. mhz600"))?;
            } else if let Some(percent) = option.strip_prefix("again") {
                s.again = percent
                    .parse()
                    .ok()
                    .filter(|percent| *percent > 0)
                    .ok_or_else(|| format!("'{option}' is not a number of percent, e.g. again1"))?;
            } else if option == "threads" || option == "processes" {
                s.threads = option == "threads";
            } else {
                return Err(format!(
                    "no option '{option}'; there are pipe, eventfd, futex, threads, processes, same, smt, cache, across, free, spinTIME, againPERCENT, mhzN"
                ));
            }
        }
        Bench::Hackbench(h) => {
            if let Some(transport) = of_word(Transport::ALL, option) {
                h.transport = transport;
            } else if let Some(cpus) = option.strip_prefix("cpus") {
                h.cpus = cpus
                    .parse()
                    .map_err(|_| format!("'{option}' is not a number of CPUs, e.g. cpus2"))?;
            } else if option == "threads" || option == "processes" {
                h.threads = option == "threads";
            } else if option == "pinned" || option == "free" {
                h.pinned = option == "pinned";
            } else if option == "latency" {
                h.latency = true;
            } else {
                return Err(format!(
                    "no option '{option}'; there are sockets, pipes, threads, processes, cpusN, pinned, free, latency"
                ));
            }
        }
        Bench::Inversion(i) => {
            if let Some(protocol) = of_word(Protocol::ALL, option) {
                i.protocol = protocol;
            } else if let Some(section) = option.strip_prefix("section") {
                i.section = time(section)?;
            } else if let Some(middle) = option.strip_prefix("middle") {
                i.middle = time(middle)?;
            } else {
                return Err(format!(
                    "no option '{option}'; there are inherit, none, protect, sectionTIME, middleTIME"
                ));
            }
        }
        Bench::Remote(r) => {
            r.via = of_word(Via::ALL, option)
                .ok_or_else(|| format!("no option '{option}'; there are futex, pipe, eventfd"))?;
        }
        Bench::Pick(_) => return Err(format!("no option '{option}'; pick has none")),
        Bench::Spawn(s) => {
            s.step =
                of_word(Step::ALL, option).ok_or_else(|| format!("no option '{option}'; there are fork, exec, sh"))?;
        }
        // Their words have been read already.
        Bench::Irq(_) | Bench::Io(_) => {}
        Bench::Shootdown(s) => {
            let pages = option
                .strip_prefix("pages")
                .ok_or_else(|| format!("no option '{option}'; there is pagesN"))?;
            s.pages = pages
                .parse()
                .map_err(|_| format!("'{option}' is not a number of pages, e.g. pages64"))?;
        }
    }
    Ok(())
}

pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let with_unit = BYTES
        .iter()
        .find_map(|(unit, factor)| Some((lower.strip_suffix(*unit)?, *factor)));
    let (digits, factor) = with_unit.unwrap_or((text, 1));
    let value = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
    value.ok_or_else(|| format!("'{text}' is not a number, e.g. 16 or 16k"))
}

fn time(text: &str) -> Result<Nanos, String> {
    let parsed = TIMES.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*factor)
    });
    parsed
        .map(Nanos)
        .ok_or_else(|| format!("'{text}' is not a time in ns, us, ms or s, e.g. 20us"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let all = expand(text).unwrap();
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_text_is_a_grid() {
        assert_eq!(
            names("switch:2/16x0/16k+pipe/futex"),
            [
                "switch:2x0",
                "switch:2x16k",
                "switch:16x0",
                "switch:16x16k",
                "switch:2x0+futex",
                "switch:2x16k+futex",
                "switch:16x0+futex",
                "switch:16x16k+futex"
            ]
        );
        assert_eq!(
            names("hackbench:2+cpus1/2"),
            [
                "hackbench:2x25x100x100+sockets+cpus1",
                "hackbench:2x25x100x100+sockets+cpus2"
            ]
        );
        assert_eq!(names("inversion:3"), ["inversion:3+inherit"]);
        assert_eq!(
            names("inversion:1+section20us/1ms"),
            ["inversion:1+inherit+section20us", "inversion:1+inherit+section1ms"]
        );
        assert_eq!(names("switch").len(), 48);
        assert_eq!(names("hackbench").len(), 4);
        assert_eq!(names("inversion").len(), 12);
        assert_eq!(names("inversion+none").len(), 4);
        assert_eq!(names("remote"), ["remote+futex", "remote+pipe", "remote+eventfd"]);
        assert_eq!(names("remote+pipe/futex"), ["remote+pipe", "remote+futex"]);
        assert_eq!(names("pick:1/2000"), ["pick:1", "pick:2000"]);
        assert_eq!(names("pick").len(), 11);
        assert_eq!(names("spawn"), ["spawn+fork", "spawn+exec", "spawn+sh"]);
        assert_eq!(names("irq"), ["irq"]);
        assert_eq!(
            names("irq+parport/hpet/gpio/serial"),
            ["irq", "irq+hpet", "irq+gpio", "irq:0+serial"]
        );
        assert_eq!(names("irq:0x17x27+gpio"), ["irq:0x17x27+gpio"]);
        assert_eq!(names("shootdown"), ["shootdown:0", "shootdown:1"]);
        assert_eq!(names("shootdown:3+pages16/64"), ["shootdown:3", "shootdown:3+pages64"]);
    }

    #[test]
    fn every_name_reads_back() {
        for text in [
            "switch",
            "switch:16x16k+threads+futex+across+spin20us",
            "switch:2x0+again1/50+mhz600/1000",
            "hackbench:10x20x1000x1500+pipes+threads+cpus2+pinned+latency",
            "inversion:1/8+none/protect+section200us+middle3ms",
            "pick",
            "remote",
            "irq",
            "shootdown:0/15+pages1/16/16384",
        ] {
            for bench in expand(text).unwrap() {
                assert_eq!(parse(&bench.to_string()), Ok(bench));
            }
        }
    }

    #[test]
    fn what_cannot_be_asked_is_refused_in_words() {
        for (text, says) in [
            ("switch:1x0", "processes: 2 to 4096, not 1"),
            ("switch:2x0x3", "at most 2 numbers"),
            ("switch:2x0+pipes", "no option 'pipes'"),
            ("switch:2/2x0", "asked for twice"),
            ("switch:2x0+mhz0", "'mhz0' is not a number of MHz"),
            ("switch:2x0+again51", "again in percent: 0 to 50, not 51"),
            ("switch:2x0+again0", "'again0' is not a number of percent"),
            ("switch:axb", "'a' is not a number"),
            ("hackbench:1x1x1x4+latency", "bytes: 8 to"),
            ("hackbench:1+cpusmany", "not a number of CPUs"),
            ("inversion:9", "depth: 1 to 8, not 9"),
            ("inversion:1+section5", "'5' is not a time"),
            ("remote:2", "no numbers: remote, or e.g. remote+futex"),
            ("remote+pipes", "no option 'pipes'; there are futex, pipe, eventfd"),
            ("remote+pipe/pipe", "asked for twice"),
            ("pick:0", "tasks: 1 to 2000, not 0"),
            ("pick:2001", "tasks: 1 to 2000, not 2001"),
            ("pick:2+pipe", "no option 'pipe'"),
            ("spawn:2", "no numbers: spawn, or e.g. spawn+exec"),
            ("spawn+vfork", "no option 'vfork'; there are fork, exec, sh"),
            ("irq:2", "no numbers: irq+parport"),
            ("irq:1x2+gpio", "e.g. irq:0x17x27+gpio"),
            ("irq+pipe", "no option 'pipe'; there are parport, hpet, gpio, serial"),
            ("shootdown:16", "threads: 0 to 15, not 16"),
            ("shootdown:256", "threads are 0 to 15"),
            ("shootdown:1x2", "at most 1 numbers"),
            ("shootdown:a", "'a' is not a number"),
            ("shootdown:1+pages0", "pages: 1 to 16384, not 0"),
            ("shootdown:1+pages4k", "'pages4k' is not a number of pages"),
            ("shootdown:1+futex", "no option 'futex'; there is pagesN"),
            ("shootdown:1+pages16/16", "asked for twice"),
            (
                "swich",
                "known are switch, hackbench, pick, spawn, io, inversion, remote, irq, shootdown",
            ),
        ] {
            let error = expand(text).unwrap_err().0;
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!("switch".parse::<crate::Probe>().unwrap_err().0.contains("48 probes"));
    }
}
