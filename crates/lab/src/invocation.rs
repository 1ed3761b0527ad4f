//! QEMU's whole command line for a prepared subject, and the files in the folder that it works in.

use super::board;
use super::handed::Handed;
use super::machine;
use super::prepared::Prepared;
use super::qemu::Qemu;

/// Whether a machine's memory is written to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySharing {
    /// A boot: the file becomes the snapshot's memory.
    Shared,
    /// A fork: copy on write, the file stays as it is.
    Private,
}

/// The open files that one machine inherits.
#[derive(Debug)]
pub struct MachineFiles {
    /// The kernel image.
    pub kernel: Handed,
    /// The initramfs.
    pub initrd: Handed,
    /// Guest memory.
    pub memory: Handed,
}

/// The order to the guest.
pub const ORDER: &str = "order";
/// The plugin.
pub const PLUGIN: &str = "plugin.so";
/// The plugin's log.
pub const EVENTS: &str = "events";
/// The file in which the plugin writes the machine's progress.
pub const PROGRESS: &str = "progress";
/// The guest's message.
pub const RECORD: &str = "record";
/// The kernel's console.
pub const CONSOLE: &str = "console";
/// The files that a machine reads in its folder.
pub const READ: [&str; 2] = [ORDER, PLUGIN];
/// The files that every machine writes in its folder.
pub const WRITTEN: [&str; 4] = [EVENTS, PROGRESS, RECORD, CONSOLE];

/// All arguments of a QEMU that works in its folder. `plugin_arguments` are further ones for the plugin, each with a
/// comma before it.
pub fn arguments(
    prepared: &Prepared,
    memory: MemorySharing,
    given: &MachineFiles,
    plugin_arguments: &str,
) -> Vec<String> {
    let subject = &prepared.subject;
    let mut args = machine::shape(&subject.machine, subject.mips);
    let share = if memory == MemorySharing::Shared { "on" } else { "off" };
    let mut option = |flag: &str, value: String| args.extend([flag.to_string(), value]);
    option(
        "-object",
        format!(
            "memory-backend-file,id=ram,size={}M,mem-path={},share={share}",
            subject.machine.memory_mb,
            given.memory.path().display()
        ),
    );
    option("-sandbox", SANDBOX.into());
    option("-kernel", given.kernel.path().display().to_string());
    option("-initrd", given.initrd.path().display().to_string());
    option("-append", prepared.command_line.clone());
    option("-fw_cfg", format!("name=opt/worstcase/order,file={ORDER}"));
    if let Some(disk) = &subject.disk {
        option("-fw_cfg", format!("name=opt/worstcase/disk,string={disk}"));
    }
    for [flag, value] in board::record_device(&subject.machine, RECORD) {
        option(&flag, value);
    }
    option("-chardev", format!("file,id=console,path={CONSOLE}"));
    option("-serial", "chardev:console".into());
    option(
        "-plugin",
        format!(
            // Without `./` QEMU would search the plugin among the system's libraries.
            "./{PLUGIN},quantum={}{},log={EVENTS},progress={PROGRESS}{plugin_arguments}",
            subject.machine.smp.quantum.0,
            machine::disk_arguments(&subject.machine),
        ),
    );
    option("-qmp", "stdio".into());
    if memory == MemorySharing::Private {
        option("-incoming", "defer".into());
    }
    args
}

/// What QEMU may not do (`-sandbox`, seccomp): use obsolete calls, gain rights, start programs, change its scheduling.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

/// The URI from which a QEMU reads the devices' state.
pub fn restore_uri(qemu: &Qemu, state: &Handed) -> String {
    match qemu.restores_from_paths() {
        true => format!("file:{}", state.path().display()),
        false => format!("fd:{}", state.number()),
    }
}
