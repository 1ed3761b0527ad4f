//! Parameters of a whole experiment: files for the lab's machines, and the setup of a host.

use super::{InvalidValue, Parameter, ValueCount, experiment, group, maybe, one, parameter, read, whole};
use crate::io_scheduler::split;
use crate::{Apply, IoSchedulers};

pub(super) const LAB: &[Parameter] = &[
    Parameter {
        help: "A program for cmd: loads, put into the machine with its libraries, another file, or a folder with all that is in it (to its own place); \
               may be given again",
        values: ValueCount::Several(whole),
        group: group::WHAT,
        ..parameter(
            "add",
            "add",
            "PATH[:DEST]",
            experiment(
                |experiment, values| {
                    experiment.added = values.iter().map(|text| read(text)).collect::<Result<_, _>>()?;
                    Ok(())
                },
                |experiment| experiment.added.iter().map(ToString::to_string).collect(),
            ),
        )
    },
    Parameter {
        help: "A program of your own, static or with its libraries, as the probe: the cycles of its control thread are the \
               samples; it runs for --time (or --samples times --interval), or to its end",
        group: group::WHAT,
        ..parameter(
            "program",
            "program",
            "PATH[:DEST]",
            experiment(
                |experiment, values| {
                    experiment.program = Some(read(one(values)?)?);
                    Ok(())
                },
                |experiment| maybe(experiment.program.as_ref()),
            ),
        )
    },
    Parameter {
        help: "Arguments of --program, in one word with quotes as a shell takes them",
        group: group::WHAT,
        dashes: true,
        ..parameter(
            "program_args",
            "program-args",
            "ARGUMENTS",
            experiment(
                |experiment, values| {
                    experiment.program_args = one(values)?.to_string();
                    Ok(())
                },
                |experiment| maybe(Some(&experiment.program_args).filter(|text| !text.is_empty())),
            ),
        )
    },
    Parameter {
        help: "A kernel module of your own, loaded in every machine before it measures; may be given again, in the order of loading",
        values: ValueCount::Several(whole),
        group: group::WHAT,
        ..parameter(
            "module",
            "module",
            "PATH.ko[ PARAMETERS]",
            experiment(
                |experiment, values| {
                    experiment.modules = values.iter().map(|text| read(text)).collect::<Result<_, _>>()?;
                    Ok(())
                },
                |experiment| experiment.modules.iter().map(ToString::to_string).collect(),
            ),
        )
    },
];

pub(super) const HOST: &[Parameter] = &[
    Parameter {
        help: "CPUs that the loads run on [default: those that are not isolated; all if none is]",
        group: group::WHERE,
        ..parameter(
            "load_cpus",
            "load-cpus",
            "LIST",
            experiment(
                |experiment, values| {
                    experiment.setup.load_cpus = Some(read(one(values)?)?);
                    Ok(())
                },
                |experiment| maybe(experiment.setup.load_cpus.as_ref()),
            ),
        )
    },
    Parameter {
        help: "The loads make their files in a new folder of this one [default: the temporary folder]",
        group: group::WHERE,
        ..parameter(
            "work_dir",
            "work-dir",
            "DIR",
            experiment(
                |experiment, values| {
                    let folder = std::path::absolute(one(values)?).map_err(InvalidValue::new)?;
                    experiment.setup.work_dir = Some(folder);
                    Ok(())
                },
                |experiment| maybe(experiment.setup.work_dir.as_ref().map(|folder| folder.display())),
            ),
        )
    },
    Parameter {
        help: "I/O schedulers of the disk that --work-dir is on, one after the other, e.g. none,mq-deadline,bfq{slice_idle=0}; set \
               back even if worstcase is killed (root) [default: the one that it has]",
        values: ValueCount::Several(split),
        group: group::WHERE,
        ..parameter(
            "io_scheduler",
            "io-scheduler",
            "SCHEDULER,...",
            experiment(
                |experiment, values| {
                    experiment.setup.io_schedulers = read::<IoSchedulers>(&values.join(","))?;
                    Ok(())
                },
                |experiment| {
                    experiment
                        .setup
                        .io_schedulers
                        .0
                        .iter()
                        .map(ToString::to_string)
                        .collect()
                },
            ),
        )
    },
    Parameter {
        help: "Set what `worstcase host doctor` can set, or what is named of it, as long as it is measured; set back even if \
               worstcase is killed",
        values: ValueCount::OneOrAll,
        group: group::WHERE,
        first: true,
        ..parameter(
            "apply",
            "apply",
            "SETTING,...",
            experiment(
                |experiment, values| {
                    experiment.setup.apply = read(&values.join(","))?;
                    Ok(())
                },
                |experiment| match &experiment.setup.apply {
                    Apply::Nothing => Vec::new(),
                    Apply::Everything => vec![String::new()],
                    Apply::Only(names) => vec![names.join(",")],
                },
            ),
        )
    },
    Parameter {
        help: "Priorities of the kernel's own threads meanwhile, e.g. ktimers=90,irq/30=0 (1 to 99: SCHED_FIFO, 0: SCHED_OTHER); \
               set back even if worstcase is killed (root)",
        ..parameter(
            "chrt",
            "chrt",
            "THREAD=PRIORITY,...",
            experiment(
                |experiment, values| {
                    experiment.setup.chrt = read(&values.join(","))?;
                    Ok(())
                },
                |experiment| {
                    let chrt = &experiment.setup.chrt;
                    maybe((!chrt.is_empty()).then_some(chrt))
                },
            ),
        )
    },
];
