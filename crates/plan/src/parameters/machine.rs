//! Parameters of the lab's machine.

use super::{
    InvalidValue, MachineField, Parameter, ParameterOwner, ValueCount, commas, group, parameter, read, read_optional,
    time, typed, whole, whole_number,
};
use crate::io_scheduler::split;
use crate::{DEFAULT_MEMORY_MB, DEFAULT_MIPS, DEFAULT_QUANTUM, IoScheduler, VirtualMachine};

pub(super) const TABLE: &[Parameter] = &[
    Parameter {
        help: "Virtual CPU speeds, separated by commas: 1000, 500, 250 or 125 million instructions a second [default: 1000]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "mips",
            "mips",
            "MIPS",
            of_machine(
                |machine, text| {
                    machine.mips = whole_number(text)?;
                    Ok(())
                },
                |machine| machine.mips.to_string(),
                |machine| unusual(machine.mips != DEFAULT_MIPS, || format!("{}mips", machine.mips)),
                |machine| format!("{} MIPS", machine.mips),
            ),
        )
    },
    Parameter {
        help: "Memory of the machine, in MiB; several, separated by commas [default: 1024]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "memory_mb",
            "memory",
            "MIB",
            of_machine(
                |machine, text| {
                    machine.memory_mb = whole_number(text)?;
                    Ok(())
                },
                |machine| machine.memory_mb.to_string(),
                |machine| {
                    unusual(machine.memory_mb != DEFAULT_MEMORY_MB, || {
                        format!("{}mb", machine.memory_mb)
                    })
                },
                |machine| format!("{} MB", machine.memory_mb),
            ),
        )
    },
    Parameter {
        help: "Architectures, separated by commas: x86-64, arm64; debian:6.12/arm64 is a kernel with its own [default: x86-64]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "arch",
            "arch",
            "ARCH",
            of_machine(
                |machine, text| {
                    machine.set_arch(read(text)?);
                    Ok(())
                },
                |machine| machine.arch().to_string(),
                |machine| unusual(!machine.arch().is_usual(), || machine.arch().to_string()),
                |machine| words(unusual(!machine.arch().is_usual(), || machine.arch().to_string())),
            ),
        )
    },
    Parameter {
        help: "CPUs of the machine, separated by commas: rome (AMD), skylake (Intel), max (all that QEMU emulates); of arm64 \
               cortex-a53, cortex-a72, cortex-a76, neoverse-n1 [default: rome, cortex-a72]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "cpu",
            "cpu",
            "CPU",
            of_machine(
                |machine, text| {
                    machine.cpu = read(text)?;
                    Ok(())
                },
                |machine| machine.cpu.to_string(),
                |machine| unusual(machine.cpu != machine.arch().usual_cpu(), || machine.cpu.to_string()),
                |machine| format!("CPU {}", machine.cpu),
            ),
        )
    },
    Parameter {
        help: "How many CPUs the machine has, 1 to 16; several, separated by commas [default: 1]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "cpus",
            "cpus",
            "NUMBER",
            of_machine(
                |machine, text| {
                    machine.smp.cpus = number_of_cpus(text)?;
                    Ok(())
                },
                |machine| machine.smp.cpus.to_string(),
                |machine| unusual(machine.smp.cpus != 1, || format!("{}cpus", machine.smp.cpus)),
                |machine| words(unusual(machine.smp.cpus != 1, || format!("{}cpus", machine.smp.cpus))),
            ),
        )
    },
    Parameter {
        help: "How far one CPU may be ahead of another in virtual time; several, separated by commas [default: 1us]",
        values: ValueCount::Several(commas),
        ..parameter(
            "quantum",
            "quantum",
            "TIME",
            of_machine(
                |machine, text| {
                    machine.smp.quantum = time(text)?;
                    Ok(())
                },
                |machine| typed(machine.smp.quantum),
                quantum,
                |machine| words(quantum(machine)),
            ),
        )
    },
    Parameter {
        help: "The CPU that the probe measures on; several, separated by commas [default: the last]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "probe_cpu",
            "probe-cpu",
            "CPU",
            of_machine(
                |machine, text| {
                    machine.smp.probe = Some(whole_number(text)?);
                    Ok(())
                },
                |machine| optional(machine.smp.probe.as_ref()),
                probe_cpu,
                |machine| words(probe_cpu(machine)),
            ),
        )
    },
    Parameter {
        help: "The CPUs that the load runs on, e.g. 0-2; given again: another subject [default: all that are not isolated]",
        values: ValueCount::Several(whole),
        group: group::WHERE,
        ..parameter(
            "load_cpus",
            "load-cpus",
            "CPUS",
            of_machine(
                |machine, text| {
                    machine.smp.load = Some(read(text)?);
                    Ok(())
                },
                |machine| optional(machine.smp.load.as_ref()),
                load_cpus,
                |machine| words(load_cpus(machine)),
            ),
        )
    },
    Parameter {
        help: "More boot parameters, e.g. 'threadirqs nohz=off'; given again: another subject; \"\": none",
        values: ValueCount::Several(whole),
        dashes: true,
        group: group::WHAT,
        ..parameter(
            "append",
            "append",
            "WORDS",
            of_machine(
                |machine, text| {
                    machine.append = read(text)?;
                    Ok(())
                },
                |machine| machine.append.to_string(),
                |machine| unusual(!machine.append.is_empty(), || machine.append.to_string()),
                |machine| words(unusual(!machine.append.is_empty(), || format!("'{}'", machine.append))),
            ),
        )
    },
    Parameter {
        help: "Priorities of the kernel's own threads, e.g. ktimers=90,irq=50 (1 to 99: SCHED_FIFO, 0: SCHED_OTHER); given again: \
               another subject; \"\": as the kernel has them",
        values: ValueCount::Several(whole),
        ..parameter(
            "chrt",
            "chrt",
            "THREAD=PRIORITY",
            of_machine(
                |machine, text| {
                    machine.chrt = read(text)?;
                    Ok(())
                },
                |machine| machine.chrt.to_string(),
                |machine| {
                    let name = || machine.chrt.to_string().replace('=', "-").replace(',', "+");
                    unusual(!machine.chrt.is_empty(), name)
                },
                |machine| machine.chrt.to_string(),
            ),
        )
    },
    Parameter {
        help: "Schedulers of tasks, separated by commas, each a subject: eevdf (the kernel's own), o-n (as Linux 2.4), o-1 (as \
               Linux 2.6.0), or a file: a sched_ext policy (PATH.bpf.o), or a program that loads one",
        values: ValueCount::Several(commas),
        group: group::WHAT,
        ..parameter(
            "scheduler",
            "scheduler",
            "SCHEDULER",
            of_machine(
                |machine, text| {
                    machine.scheduler = read_optional(text)?;
                    Ok(())
                },
                |machine| optional(machine.scheduler.as_ref()),
                |machine| machine.scheduler.iter().map(|one| one.word().to_string()).collect(),
                |machine| words(machine.scheduler.iter().map(|one| format!("scheduler {one}")).collect()),
            ),
        )
    },
    Parameter {
        help: "The machine's disk, in virtual time: hdd, laptop, ssd, nvme or a profile's file; several, separated by commas \
               [default: hdd for the probe io, else none]",
        values: ValueCount::Several(commas),
        group: group::WHERE,
        ..parameter(
            "disk",
            "disk",
            "DISK",
            of_machine(
                |machine, text| {
                    machine.disk = read_optional(text)?;
                    Ok(())
                },
                |machine| optional(machine.disk.as_ref()),
                |machine| machine.disk.iter().map(|disk| disk.word().to_string()).collect(),
                |machine| words(machine.disk.iter().map(|disk| format!("disk {disk}")).collect()),
            ),
        )
    },
    Parameter {
        help: "I/O schedulers of that disk, separated by commas, each a subject: none, mq-deadline, kyber, \
               bfq{slice_idle=0,low_latency=1} [default: the one that the kernel chooses]",
        values: ValueCount::Several(split),
        group: group::WHERE,
        ..parameter(
            "io_scheduler",
            "io-scheduler",
            "SCHEDULER,...",
            of_machine(
                |machine, text| {
                    machine.io_scheduler = read_optional(text)?;
                    Ok(())
                },
                |machine| optional(machine.io_scheduler.as_ref()),
                |machine| machine.io_scheduler.iter().flat_map(IoScheduler::words).collect(),
                |machine| optional(machine.io_scheduler.as_ref()),
            ),
        )
    },
];

const fn of_machine(
    set: fn(&mut VirtualMachine, &str) -> Result<(), InvalidValue>,
    get: fn(&VirtualMachine) -> String,
    label: fn(&VirtualMachine) -> Vec<String>,
    phrase: fn(&VirtualMachine) -> String,
) -> ParameterOwner {
    ParameterOwner::Machine(MachineField {
        set,
        get,
        label,
        phrase,
    })
}

fn unusual(is: bool, word: impl FnOnce() -> String) -> Vec<String> {
    is.then(word).into_iter().collect()
}

fn optional(value: Option<&impl ToString>) -> String {
    value.map_or_else(String::new, ToString::to_string)
}

fn words(words: Vec<String>) -> String {
    words.join(", ")
}

fn quantum(machine: &VirtualMachine) -> Vec<String> {
    unusual(machine.smp.quantum != DEFAULT_QUANTUM, || {
        format!("q{}", machine.smp.quantum.0)
    })
}

fn probe_cpu(machine: &VirtualMachine) -> Vec<String> {
    machine.smp.probe.iter().map(|cpu| format!("probe-on-{cpu}")).collect()
}

fn load_cpus(machine: &VirtualMachine) -> Vec<String> {
    machine.smp.load.iter().map(|cpus| format!("load-on-{cpus}")).collect()
}

fn number_of_cpus(text: &str) -> Result<u32, InvalidValue> {
    let shown = text.escape_debug();
    let why = || InvalidValue(format!("in the lab 'cpus' is how many, like \"1,2,4\", not '{shown}'"));
    text.parse().map_err(|_| why())
}
