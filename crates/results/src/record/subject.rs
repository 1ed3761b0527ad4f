//! Measured subjects, and the names of cells.
//!
//! A cell's name is readable, safe as a file name, and says everything in which the cells of one run may differ:
//! `6.1.0-50-amd64.none.shm.wakeup.s1`.

use serde::{Deserialize, Serialize};
use std::fmt;
use worstcase_base::format::{file_name, is_file_name};
pub use worstcase_contract::Venue;
use worstcase_contract::{Instructions, Nanos};
use worstcase_plan::{Arch, VirtualMachine};

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectKernel {
    /// The name as the user typed it, e.g. `debian:6.1`.
    pub name: String,
    /// Its short name in tables and cell names, unique within a run; the release unless two share one.
    pub label: String,
    /// `uname -r`.
    pub release: String,
    /// `uname -v`.
    pub version: String,
    /// SHA-256 of its image, `sha256:` and hexadecimal digits.
    pub digest: String,
}

/// The preemption model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preempt {
    /// The model that was asked for, if any.
    pub asked: Option<String>,
    /// The model that the kernel says is in force.
    pub in_force: String,
}

/// The lab's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabMachine {
    /// QEMU's version.
    pub qemu: String,
    /// The machine that was asked for.
    #[serde(flatten)]
    pub machine: VirtualMachine,
    /// The CPU in QEMU's words.
    pub qemu_cpu: String,
    /// The kernel's command line, to the byte.
    pub command_line: String,
    /// Modules of the user's own that it loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<LoadedModule>,
    /// Digest of everything that makes the subject (kernel, guest, plugin, added programs and modules, all arguments):
    /// equal keys, equal machines.
    pub key: String,
}

/// A kernel module of the user's own, in the lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedModule {
    /// Its name in the kernel.
    pub name: String,
    /// The parameters as insmod takes them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// SHA-256 of its file, `sha256:` and hexadecimal digits.
    pub digest: String,
}

/// Digits of a digest that tell two modules apart.
const DIGEST_LEN: usize = "sha256:".len() + 12;

impl fmt::Display for LoadedModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.parameters.is_empty() {
            write!(f, " {}", self.parameters)?;
        }
        write!(f, " ({})", self.digest.get(..DIGEST_LEN).unwrap_or(&self.digest))
    }
}

/// A real machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMachine {
    /// The CPU's name.
    pub cpu: String,
    /// CPUs online.
    pub cpus: u32,
    /// Memory.
    pub memory_mb: u32,
    /// The kernel's command line.
    pub command_line: String,
    /// The I/O scheduler that was chosen for the disk with the files, with its settings; none: the disk kept its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_scheduler: Option<String>,
    /// The probe's policy, in a run that has several: `fifo:90`, `other:5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// The machine under the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "venue", rename_all = "lowercase")]
pub enum SubjectMachine {
    /// A machine of the lab.
    Lab(Box<LabMachine>),
    /// The host.
    Host(HostMachine),
    /// Another tool measured a real machine.
    Foreign(ForeignMachine),
}

/// A real machine, as far as another tool's file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignMachine {
    /// The tool that measured it.
    pub tool: String,
    /// Its host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// CPUs online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
}

impl SubjectKernel {
    /// Stands for an unknown fact.
    pub const UNKNOWN: &str = "unknown";
}

/// Whether no boot parameter gives another preemption model, by `uname -v` and the model in force. A kernel that has them all
/// says PREEMPT_DYNAMIC, an old one PREEMPT; PREEMPT_RT hides whether it has others.
fn is_compiled_in(version: &str, model: &str) -> bool {
    let says = |begin: &str| version.split_ascii_whitespace().any(|word| word.starts_with(begin));
    let dynamic = match model {
        "none" | "voluntary" => says("PREEMPT"),
        _ => says("PREEMPT_DYNAMIC") || model.starts_with("rt"),
    };
    version != SubjectKernel::UNKNOWN && !dynamic
}

/// A measured subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The kernel.
    pub kernel: SubjectKernel,
    /// Its preemption model.
    pub preempt: Preempt,
    /// The machine under it.
    pub machine: SubjectMachine,
}

impl Subject {
    /// The venue of the measurement: the lab, or a real machine.
    pub fn venue(&self) -> Venue {
        match self.machine {
            SubjectMachine::Lab(_) => Venue::Lab,
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => Venue::Host,
        }
    }

    /// Whether its preemption model was compiled in, so that no boot parameter gives another.
    pub fn has_fixed_preempt(&self) -> bool {
        is_compiled_in(&self.kernel.version, &self.preempt.in_force)
    }

    /// The lab's machine that was asked for.
    pub fn virtual_machine(&self) -> Option<&VirtualMachine> {
        match &self.machine {
            SubjectMachine::Lab(lab) => Some(&lab.machine),
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => None,
        }
    }

    /// The subject's name. It has the requested preemption model, so that it is known before anything ran.
    pub fn id(&self) -> SubjectId {
        let preempt = self.preempt.asked.as_deref().unwrap_or(&self.preempt.in_force);
        match &self.machine {
            SubjectMachine::Lab(lab) => SubjectId::lab(&self.kernel.label, preempt, &lab.machine),
            SubjectMachine::Host(host) => SubjectId::host(&self.kernel.label, preempt, host),
            SubjectMachine::Foreign(foreign) => SubjectId::foreign(&self.kernel.label, preempt, &foreign.tool),
        }
    }

    /// Microseconds of its clock, for sentences.
    pub(crate) fn micros_name(&self) -> &'static str {
        match self.venue() {
            Venue::Lab => "virtual us",
            Venue::Host => "us",
        }
    }

    /// Lab: virtual time of so many instructions of one CPU.
    pub fn time_of(&self, instructions: Instructions) -> Nanos {
        match &self.machine {
            SubjectMachine::Lab(lab) => Nanos(instructions.0 * (1000 / u64::from(lab.machine.mips))),
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => Nanos(0),
        }
    }

    /// The unit of its times in microseconds, as every table must name it.
    pub fn time_unit(&self) -> String {
        match &self.machine {
            SubjectMachine::Lab(lab) => format!("virtual us at {} MIPS", lab.machine.mips),
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => "us".to_string(),
        }
    }
}

/// A subject's name within a run, the first part of its cells' names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SubjectId(String);

impl SubjectId {
    /// The name of a subject in the lab; of the machine it has only what is unusual.
    pub fn lab(label: &str, preempt: &str, machine: &VirtualMachine) -> SubjectId {
        let mut id = format!("{}.{}", safe(label), safe(preempt));
        // A release of Debian's ends with its architecture.
        let told = Arch::in_release(label).map(|(_, arch, _)| arch.to_string());
        for word in machine.unusual().iter().filter(|word| told.as_ref() != Some(word)) {
            id += &format!(".{}", safe(word));
        }
        SubjectId(id)
    }

    /// The name of a subject on the host.
    fn host(label: &str, preempt: &str, machine: &HostMachine) -> SubjectId {
        let scheduler = machine.io_scheduler.as_deref().unwrap_or_default();
        let words = scheduler.split(['{', ',', '}']).chain(machine.policy.as_deref());
        let chosen = words
            .filter(|word| !word.is_empty())
            .map(|word| safe(&word.replace(['=', ':'], "-")));
        let parts = [safe(label), safe(preempt), "host".into()].into_iter().chain(chosen);
        SubjectId(parts.collect::<Vec<_>>().join("."))
    }

    /// The name of a subject that another tool measured.
    fn foreign(label: &str, preempt: &str, tool: &str) -> SubjectId {
        SubjectId(format!(
            "{}.{}.{}",
            safe(label),
            safe(preempt),
            safe(&tool.replace(' ', "-"))
        ))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SubjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A cell's name, also its folder's: letters, digits and `._+-`, and no dot at its front.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CellId(String);

/// A text that is no cell's name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{}' is not a cell's name", .0.escape_debug())]
pub struct CellIdError(String);

impl CellId {
    /// Longest name; what most file systems take, less a temporary folder's prefix.
    const MAX_LEN: usize = 200;

    /// The name of a subject's cell; on the host it names the CPU that was measured.
    pub fn new(subject: &SubjectId, load: &str, probe: &str, seed: u64, cpu: Option<u32>) -> CellId {
        let cpu = cpu.map_or_else(String::new, |cpu| format!(".c{cpu}"));
        CellId(format!(
            "{subject}.{}.{}.s{seed}{cpu}",
            safe(&load.replacen(':', "-", 1)),
            safe(&probe.replacen(':', "-", 1))
        ))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CellId {
    type Error = CellIdError;
    fn try_from(text: String) -> Result<CellId, CellIdError> {
        if !is_file_name(&text, Self::MAX_LEN) {
            return Err(CellIdError(text));
        }
        Ok(CellId(text))
    }
}

impl From<CellId> for String {
    fn from(id: CellId) -> String {
        id.0
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Longest part of a name that stays as it is.
const PART_LEN: usize = 56;

/// A part of a name. Text that cannot stay as it is keeps its readable beginning and gets a piece of its
/// SHA-256, so that two different texts never share a name.
pub fn safe(text: &str) -> String {
    match is_file_name(text, PART_LEN) {
        true => text.to_string(),
        false => file_name(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(load: &str) -> CellId {
        CellId::new(
            &SubjectId::lab("6.1.0-50-amd64", "none", &VirtualMachine::default()),
            load,
            "wakeup",
            1,
            None,
        )
    }

    fn host() -> HostMachine {
        HostMachine {
            cpu: String::new(),
            cpus: 1,
            memory_mb: 1,
            command_line: String::new(),
            io_scheduler: None,
            policy: None,
        }
    }

    #[test]
    fn whether_the_model_was_compiled_in_is_known_by_the_version() {
        for (version, model, fixed) in [
            ("#1 SMP Debian 6.12.118-1 (2026-11-12)", "voluntary", true),
            ("#1 SMP PREEMPT Debian 7.3.4-1", "lazy", true),
            ("#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)", "none", false),
            ("#1 SMP PREEMPT Debian 5.16.1-1", "voluntary", false),
            ("#1 SMP PREEMPT_RT Debian 7.3.4-1", "rt lazy", false),
            (SubjectKernel::UNKNOWN, "none", false),
        ] {
            assert_eq!(is_compiled_in(version, model), fixed, "{version}, {model}");
        }
    }

    #[test]
    fn names_are_readable() {
        assert_eq!(id("shm").as_str(), "6.1.0-50-amd64.none.shm.wakeup.s1");
        assert_eq!(id("apps:30").as_str(), "6.1.0-50-amd64.none.apps-30.wakeup.s1");
        let switch = CellId::new(
            &SubjectId::lab("6.1", "none", &VirtualMachine::default()),
            "idle",
            "switch:16x16k+futex",
            2,
            None,
        );
        assert_eq!(switch.as_str(), "6.1.none.idle.switch-16x16k+futex.s2");
        let mut machine = VirtualMachine {
            mips: 500,
            memory_mb: 256,
            ..VirtualMachine::default()
        };
        assert_eq!(SubjectId::lab("6.1", "rt", &machine).as_str(), "6.1.rt.500mips.256mb");
        machine.append = "threadirqs nohz=off".parse().unwrap();
        let id = SubjectId::lab("6.1", "rt", &machine);
        assert!(
            id.as_str().starts_with("6.1.rt.500mips.256mb.threadirqs-nohz-off-"),
            "{id}"
        );
        let machine = |io_scheduler: Option<&str>, policy: Option<&str>| HostMachine {
            io_scheduler: io_scheduler.map(Into::into),
            policy: policy.map(Into::into),
            ..host()
        };
        let host = |machine: &HostMachine| SubjectId::host("6.18", "full", machine);
        let with_scheduler = host(&machine(Some("bfq{low_latency=0,slice_idle=0}"), None));
        assert_eq!(with_scheduler.as_str(), "6.18.full.host.bfq.low_latency-0.slice_idle-0");
        assert_eq!(host(&machine(None, Some("other:5"))).as_str(), "6.18.full.host.other-5");
        let host = CellId::new(&host(&machine(None, None)), "cpu+disk", "wakeup", 1, Some(3));
        assert_eq!(host.as_str(), "6.18.full.host.cpu+disk.wakeup.s1.c3");
    }

    #[test]
    fn different_programs_have_different_names() {
        assert_ne!(id("cmd:a b"), id("cmd:a/b"));
        assert!(id("cmd:stress-ng --cpu 1").as_str().contains("cmd-stress-ng---cpu-1-"));
    }

    #[test]
    fn names_that_leave_their_folder_are_refused() {
        for bad in ["", "..", ".hidden", "a/b", "a b", "a\0", "\u{e9}", &"x".repeat(201)] {
            assert!(CellId::try_from(bad.to_string()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_cell_has_a_valid_name(load in "\\PC{0,250}", label in "\\PC{0,80}", seed: u64) {
            let id = CellId::new(&SubjectId::host(&label, "full", &host()), &load, "wakeup", seed, Some(u32::MAX));
            prop_assert_eq!(CellId::try_from(id.as_str().to_string()), Ok(id));
        }
    }
}
