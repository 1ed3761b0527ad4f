//! Parameters of a part: loads, probes, seeds, timing, and how the probe is woken and scheduled.

use super::{
    Parameter, ParameterOwner, ValueCount, commas, group, maybe, one, parameter, part, read, time, typed, whole_number,
};
use crate::{CellLength, Seeds, Subjects, grammar};

/// The CPUs of a host that are measured.
pub(super) const CPUS: &[Parameter] = &[Parameter {
    help: "CPUs to measure, e.g. 0,2-5 [default: all that are online, isolated ones too; fewer where a cpuset, or taskset before \
           this command, leaves fewer]",
    short: Some('a'),
    group: group::WHERE,
    first: true,
    ..parameter(
        "cpus",
        "cpus",
        "LIST",
        part(
            |part, values| {
                part.subjects = Subjects::Cpus(Some(read(one(values)?)?));
                Ok(())
            },
            |part| match &part.subjects {
                Subjects::Cpus(cpus) => maybe(cpus.as_ref()),
                Subjects::Kernels(_) => Vec::new(),
            },
        ),
    )
}];

pub(super) const EVERYWHERE: &[Parameter] = &[
    Parameter {
        help: "Loads, separated by commas; several at once as A+B (worstcase loads lists them) [default: idle]",
        values: ValueCount::Several(grammar::split),
        group: group::WHAT,
        first: true,
        ..parameter(
            "loads",
            "load",
            "LOAD",
            part(
                |part, values| {
                    part.loads = values.iter().map(|word| read(word)).collect::<Result<_, _>>()?;
                    Ok(())
                },
                |part| part.loads.iter().map(ToString::to_string).collect(),
            ),
        )
    },
    Parameter {
        help: "Probes, separated by commas (worstcase probes lists them) [default: wakeup]",
        values: ValueCount::Several(commas),
        group: group::WHAT,
        first: true,
        ..parameter(
            "probes",
            "probe",
            "PROBE",
            part(
                |part, values| {
                    for word in values {
                        grammar::expand(word).map_err(super::InvalidValue::new)?;
                    }
                    part.probes = values.to_vec();
                    Ok(())
                },
                |part| part.probes.clone(),
            ),
        )
    },
    Parameter {
        help: "Number of seeds, 1 to this number: each shifts the phase of the samples against the kernel's tick",
        usual: Some(["10", "1"]),
        excludes: Some("seed"),
        group: group::HOW_LONG,
        first: true,
        ..parameter(
            "seeds",
            "seeds",
            "N",
            part(
                |part, values| {
                    part.seeds = Seeds::to(whole_number(one(values)?)?);
                    Ok(())
                },
                |part| maybe((part.seeds.first == 1).then_some(part.seeds.last)),
            ),
        )
    },
    Parameter {
        help: "One seed alone",
        excludes: Some("seeds"),
        group: group::HOW_LONG,
        ..parameter(
            "seed",
            "seed",
            "SEED",
            part(
                |part, values| {
                    part.seeds = Seeds::one(whole_number(one(values)?)?);
                    Ok(())
                },
                |part| maybe((part.seeds.first != 1).then_some(part.seeds.last)),
            ),
        )
    },
    Parameter {
        help: "Distance of two samples",
        usual: Some([
            "251us; one that divides the tick sees only one phase of it",
            "1ms; jitter: 2048 a second; noise: windows of 100ms",
        ]),
        short: Some('i'),
        group: group::HOW_LONG,
        ..parameter(
            "interval",
            "interval",
            "DURATION",
            part(
                |part, values| {
                    part.timing.interval = Some(time(one(values)?)?);
                    Ok(())
                },
                |part| maybe(part.timing.interval.map(typed)),
            ),
        )
    },
    Parameter {
        help: "Periods of each cell, every one a sample or counted as missed; or rounds",
        usual: Some([
            "2000, or what `worstcase probes NAME` tells",
            "what --time holds, or what `worstcase probes NAME` tells",
        ]),
        short: Some('l'),
        excludes: Some("time"),
        group: group::HOW_LONG,
        ..parameter(
            "samples",
            "samples",
            "N",
            part(
                |part, values| {
                    part.timing.length = Some(CellLength::Samples(whole_number(one(values)?)?));
                    Ok(())
                },
                |part| match part.timing.length {
                    Some(CellLength::Samples(number)) => vec![number.to_string()],
                    _ => Vec::new(),
                },
            ),
        )
    },
    Parameter {
        help: "How long each cell measures, instead of a number of samples",
        usual: Some(["", "60s"]),
        short: Some('D'),
        excludes: Some("samples"),
        group: group::HOW_LONG,
        first: true,
        ..parameter(
            "time",
            "time",
            "DURATION",
            part(
                |part, values| {
                    part.timing.length = Some(CellLength::Time(time(one(values)?)?));
                    Ok(())
                },
                |part| match part.timing.length {
                    Some(CellLength::Time(length)) => vec![typed(length)],
                    _ => Vec::new(),
                },
            ),
        )
    },
    Parameter {
        help: "The load runs alone for this long before the first sample",
        usual: Some(["100ms", "1s"]),
        group: group::HOW_LONG,
        ..parameter(
            "warmup",
            "warmup",
            "DURATION",
            part(
                |part, values| {
                    part.timing.warmup = time(one(values)?)?;
                    Ok(())
                },
                |part| vec![typed(part.timing.warmup)],
            ),
        )
    },
    Parameter {
        help: "Real-time priority of the probe, 1 to 99",
        usual: Some(["98", "90"]),
        short: Some('p'),
        ..parameter(
            "priority",
            "priority",
            "N",
            part(
                |part, values| {
                    part.method.priority = whole_number(one(values)?)?;
                    Ok(())
                },
                |part| vec![part.method.priority.to_string()],
            ),
        )
    },
];

pub(super) const LAB: &[Parameter] = &[
    Parameter {
        help: "Scheduling policy of the probe: fifo, rr or other; for wakeup, response, jitter and noise [default: fifo; noise: other]",
        ..POLICY
    },
    Parameter {
        help: "Nice value of the probe, with --policy other: -20 to 19 [default: 0]",
        ..NICE
    },
];

pub(super) const HOST: &[Parameter] = &[
    Parameter {
        help: "Scheduling policy of the probe: fifo, rr, deadline (the interval as period; not pinned) or other [default: fifo]",
        ..POLICY
    },
    Parameter {
        help: "Nice value of the probe, with --policy other: -20 to 19; below 0 needs a right [default: 0]",
        ..NICE
    },
    Parameter {
        help: "What wakes the probe: nanosleep (clock_nanosleep), timerfd, posix (a POSIX timer that sends SIGALRM), setitimer (one \
               CPU only), rtc (the periodic interrupt of /dev/rtc, jitter on one CPU only) [default: nanosleep; response: posix; \
               jitter: rtc where there is one]",
        ..parameter(
            "timer",
            "timer",
            "TIMER",
            part(
                |part, values| {
                    part.method.timer = Some(read(one(values)?)?);
                    Ok(())
                },
                |part| maybe(part.method.timer),
            ),
        )
    },
    Parameter {
        help: "The due times of each CPU are this much after those of the CPU before it [default: 0us]",
        ..parameter(
            "distance",
            "distance",
            "DURATION",
            part(
                |part, values| {
                    part.method.distance = Some(time(one(values)?)?);
                    Ok(())
                },
                |part| maybe(part.method.distance.map(typed)),
            ),
        )
    },
    Parameter {
        help: "noise: gaps at least this long are kept [default: 1us]",
        ..parameter(
            "threshold",
            "threshold",
            "DURATION",
            part(
                |part, values| {
                    part.method.threshold = Some(time(one(values)?)?);
                    Ok(())
                },
                |part| maybe(part.method.threshold.map(typed)),
            ),
        )
    },
    Parameter {
        help: "Keep the trace around this many of the largest samples of each CPU, for `worstcase explain`; 0: not [default: \
               response, and wakeup with --criterion or --break: 10; others: none]",
        group: group::OUTPUT,
        ..parameter(
            "captures",
            "captures",
            "N",
            part(
                |part, values| {
                    part.method.captures = Some(whole_number(one(values)?)?);
                    Ok(())
                },
                |part| maybe(part.method.captures),
            ),
        )
    },
    Parameter {
        help: "End the run at the first sample above this, and tell why it was late. Exit code 1 then",
        short: Some('b'),
        group: group::OUTPUT,
        ..parameter(
            "break",
            "break",
            "DURATION",
            part(
                |part, values| {
                    part.method.break_at = Some(time(one(values)?)?);
                    Ok(())
                },
                |part| maybe(part.method.break_at.map(typed)),
            ),
        )
    },
];

const POLICY: Parameter = parameter("policy", "policy", "POLICY", policy());

const NICE: Parameter = Parameter {
    dashes: true,
    ..parameter("nice", "nice", "N", nice())
};

const fn policy() -> ParameterOwner {
    part(
        |part, values| {
            part.method.policy = Some(read(one(values)?)?);
            Ok(())
        },
        |part| maybe(part.method.policy),
    )
}

const fn nice() -> ParameterOwner {
    part(
        |part, values| {
            part.method.nice = Some(whole_number(one(values)?)?);
            Ok(())
        },
        |part| maybe(part.method.nice),
    )
}
