//! Which cells: options of `worstcase lab run|verify`.

use crate::cli::Error;
use crate::cli::asked::{Asked, judged};
use clap::Args;
use worstcase_base::duration;
use worstcase_lab::added::Added;
use worstcase_lab::additions::Additions;
use worstcase_lab::own_module::OwnModule;
use worstcase_plan::{
    BootParameters, CpuList, CpuModel, CpuScheduler, DEFAULT_MEMORY_MB, DEFAULT_MIPS, Disk, Experiment, IoScheduler,
    IoSchedulers, Model, Policy, Preempt, Smp, Subject, Subjects, Venue, VirtualMachine, check_product,
};
use worstcase_probe::Nanos;
use worstcase_probe::priorities::Priorities;

/// Which kernels.
#[derive(Debug, Args)]
pub struct Kernels {
    /// A kernel (see `worstcase kernels show --help`); may be given again
    #[arg(long = "kernel", value_name = "NAME", required = true)]
    pub kernels: Vec<String>,
}

/// Which cells of each kernel.
#[derive(Debug, Args)]
pub struct Selection {
    /// Preemption models, separated by commas; of several kernels each boots those that it has [default: all that each
    /// kernel can boot]
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    preempt: Vec<Model>,
    /// Virtual CPU speeds, separated by commas: 1000, 500, 250 or 125 million instructions a second
    #[arg(long, value_name = "MIPS", value_delimiter = ',', default_values_t = [DEFAULT_MIPS])]
    mips: Vec<u32>,
    /// Memory of the machine, in MiB; several, separated by commas
    #[arg(long, value_name = "MIB", value_delimiter = ',', default_values_t = [DEFAULT_MEMORY_MB])]
    memory: Vec<u32>,
    /// CPUs of the machine, separated by commas: rome (AMD), skylake (Intel), max (all that QEMU emulates)
    #[arg(long, value_name = "CPU", value_delimiter = ',', default_values_t = [CpuModel::default()])]
    cpu: Vec<CpuModel>,
    /// How many CPUs the machine has, 1 to 16; several, separated by commas
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_values_t = [1])]
    cpus: Vec<u32>,
    /// How far one CPU may be ahead of another in virtual time; several, separated by commas
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = duration::parse, default_value = "1us")]
    quantum: Vec<Nanos>,
    /// The CPU that the probe measures on [default: the last]
    #[arg(long, value_name = "CPU")]
    probe_cpu: Option<u32>,
    /// The CPUs that the load runs on, e.g. 0-2 [default: all that are not isolated]
    #[arg(long, value_name = "CPUS")]
    load_cpus: Option<CpuList>,
    /// More boot parameters, e.g. 'threadirqs nohz=off'; given again: another subject; "": none
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    append: Vec<BootParameters>,
    /// Priorities of the kernel's own threads, e.g. ktimers=90,irq=50 (1 to 99: SCHED_FIFO, 0: SCHED_OTHER); given again:
    /// another subject; "": as the kernel has them
    #[arg(long, value_name = "THREAD=PRIORITY")]
    chrt: Vec<Priorities>,
    /// Schedulers of tasks, separated by commas, each a subject: eevdf (the kernel's own), o-n (as Linux 2.4), o-1 (as
    /// Linux 2.6.0), or a file: a sched_ext policy (PATH.bpf.o), or a program that loads one
    #[arg(long, value_name = "SCHEDULER", value_delimiter = ',')]
    scheduler: Vec<CpuScheduler>,
    /// Scheduling policy of the probe: fifo, rr or other; for wakeup, response and jitter [default: fifo]
    #[arg(long, value_name = "POLICY")]
    policy: Option<Policy>,
    /// Nice value of the probe, with --policy other: -20 to 19 [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-20..=19))]
    nice: Option<i8>,
    /// The machine's disk, in virtual time: hdd, laptop, ssd, nvme or a profile's file; several, separated by commas
    /// [default: hdd for the probe io, else none]
    #[arg(long, value_name = "DISK", value_delimiter = ',')]
    disk: Vec<Disk>,
    /// I/O schedulers of that disk, separated by commas, each a subject: none, mq-deadline, kyber,
    /// bfq{slice_idle=0,low_latency=1} [default: the one that the kernel chooses]
    #[arg(long, value_name = "SCHEDULER,...")]
    io_scheduler: Option<IoSchedulers>,
    /// A program for cmd: loads, put into the machine with its libraries; may be given again
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    added: Vec<Added>,
    /// A kernel module of your own, loaded in every machine before it measures; may be given again, in the order of loading
    #[arg(long = "module", value_name = "PATH.ko[ PARAMETERS]")]
    modules: Vec<OwnModule>,
    #[command(flatten)]
    asked: Asked,
}

impl Selection {
    /// What it asks for of these kernels.
    pub fn experiment(&self, kernels: &[String], criterion: Option<Nanos>) -> Result<Experiment, Error> {
        check_product([
            kernels.len(),
            self.preempt.len(),
            self.mips.len(),
            self.memory.len(),
            self.cpu.len(),
            self.cpus.len(),
            self.quantum.len(),
            self.append.len(),
            self.chrt.len(),
            self.scheduler.len(),
            self.disk.len(),
            self.io_scheduler.as_ref().map_or(0, |all| all.0.len()),
        ])?;
        let mut experiment = self.asked.of(Venue::Lab, Subjects::Kernels(self.subjects(kernels)));
        for part in &mut experiment.parts {
            part.method.policy = self.policy;
            part.method.nice = self.nice;
        }
        let additions = Additions {
            programs: self.added.clone(),
            modules: self.modules.clone(),
        };
        additions.plan_into(&mut experiment)?;
        Ok(judged(experiment, criterion)?)
    }

    /// Every kernel with every model and machine.
    fn subjects(&self, kernels: &[String]) -> Vec<Subject> {
        let models: Vec<Preempt> = match &self.preempt[..] {
            [] => vec![Preempt::All],
            models => models.iter().copied().map(Preempt::One).collect(),
        };
        let optional = kernels.len() > 1 && !self.preempt.is_empty();
        let mut subjects = Vec::new();
        for kernel in kernels {
            for preempt in &models {
                subjects.extend(self.machines().into_iter().map(|machine| Subject {
                    kernel: kernel.clone(),
                    preempt: *preempt,
                    optional,
                    machine,
                }));
            }
        }
        subjects
    }

    fn machines(&self) -> Vec<VirtualMachine> {
        let appended = or_usual(&self.append);
        let priorities = or_usual(&self.chrt);
        let of_tasks = each_or_none(&self.scheduler);
        let disks = each_or_none(&self.disk);
        let schedulers = each_or_none(self.io_scheduler.as_ref().map_or(&[], |all| &all.0));
        let mut machines = Vec::new();
        for mips in &self.mips {
            for memory_mb in &self.memory {
                for cpu in &self.cpu {
                    for smp in self.smp() {
                        for append in &appended {
                            machines.extend(priorities.iter().map(|chrt| VirtualMachine {
                                mips: *mips,
                                memory_mb: *memory_mb,
                                cpu: *cpu,
                                smp: smp.clone(),
                                append: append.clone(),
                                chrt: chrt.clone(),
                                ..VirtualMachine::default()
                            }));
                        }
                    }
                }
            }
        }
        let on_disk = |machine: VirtualMachine| {
            let on = |disk: &Option<Disk>, scheduler: &Option<IoScheduler>| VirtualMachine {
                disk: disk.clone(),
                io_scheduler: scheduler.clone(),
                ..machine.clone()
            };
            let pairs = disks.iter().flat_map(|disk| schedulers.iter().map(move |s| (disk, s)));
            pairs.map(|(disk, scheduler)| on(disk, scheduler)).collect::<Vec<_>>()
        };
        let scheduled = |machine: VirtualMachine| {
            let by = |scheduler: &Option<CpuScheduler>| VirtualMachine {
                scheduler: scheduler.clone(),
                ..machine.clone()
            };
            of_tasks.iter().map(by).collect::<Vec<_>>()
        };
        machines.into_iter().flat_map(scheduled).flat_map(on_disk).collect()
    }

    fn smp(&self) -> Vec<Smp> {
        let of = |cpus: u32| {
            self.quantum.iter().map(move |quantum| Smp {
                cpus,
                quantum: *quantum,
                probe: self.probe_cpu,
                load: self.load_cpus.clone(),
            })
        };
        self.cpus.iter().flat_map(|cpus| of(*cpus)).collect()
    }
}

/// What was asked for; none alone if nothing was.
fn each_or_none<T: Clone>(asked: &[T]) -> Vec<Option<T>> {
    match asked {
        [] => vec![None],
        asked => asked.iter().cloned().map(Some).collect(),
    }
}

/// What was asked for, or what is usual.
fn or_usual<T: Clone + Default>(asked: &[T]) -> Vec<T> {
    match asked {
        [] => vec![T::default()],
        asked => asked.to_vec(),
    }
}
