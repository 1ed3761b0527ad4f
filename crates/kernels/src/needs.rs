//! What the lab needs in a kernel's configuration. Debian's kernels have all of it; if a kernel that a user built does
//! not boot, this is the usual reason.

use super::config::KernelConfig;
use super::{Arch, Kernel, KernelError};

/// Options that must be built in, and what each is for.
const EVERYWHERE: [(&str, &str); 11] = [
    ("64BIT", "the guest is a 64-bit program"),
    ("BINFMT_ELF", "the guest is an ELF program"),
    ("BLK_DEV_INITRD", "the guest is in an initramfs"),
    ("PRINTK", "the console"),
    ("DEVTMPFS", "/dev"),
    ("TMPFS", "/tmp"),
    ("PROC_FS", "/proc"),
    ("SYSFS", "/sys"),
    ("PCI", "the device at which the machine stops"),
    ("HIGH_RES_TIMERS", "due times"),
    ("KALLSYMS", "names of functions"),
];
const X86: [(&str, &str); 4] = [
    ("SERIAL_8250", "the console"),
    ("SERIAL_8250_CONSOLE", "the console"),
    ("X86_IOPL_IOPERM", "the port that the record leaves through"),
    ("KALLSYMS_ALL", "where the kernel keeps its tasks"),
];
const ARM64: [(&str, &str); 4] = [
    ("SERIAL_AMBA_PL011", "the console"),
    ("SERIAL_AMBA_PL011_CONSOLE", "the console"),
    ("PCI_HOST_GENERIC", "the device at which the machine stops"),
    ("DEVMEM", "the device that has the cell"),
];

/// All of an architecture.
pub(crate) fn of(arch: Arch) -> impl Iterator<Item = (&'static str, &'static str)> {
    let own: &[_] = match arch {
        Arch::X86 => &X86,
        Arch::Arm64 => &ARM64,
    };
    EVERYWHERE.iter().chain(own).copied()
}

/// Refuses a kernel whose configuration is known and lacks an option.
pub fn check(kernel: &Kernel) -> Result<(), KernelError> {
    let config = match kernel.read_config() {
        Err(KernelError::NoConfig { .. }) => return Ok(()),
        config => config?,
    };
    let lacking = lacking(&config, kernel.arch);
    match lacking.is_empty() {
        true => Ok(()),
        false => Err(KernelError::Lacks {
            kernel: kernel.label.clone(),
            options: lacking.join(", "),
        }),
    }
}

/// The missing options of a configuration, each with its purpose.
pub fn lacking(config: &KernelConfig, arch: Arch) -> Vec<String> {
    let lacking = of(arch).filter(|(option, _)| !config.has(option));
    lacking
        .chain(lacking_of_dynamic(config))
        .map(|(option, purpose)| format!("CONFIG_{option} ({purpose})"))
        .collect()
}

/// What a kernel whose preemption model is chosen at boot must have, to tell which is in force: 6.15 and later have no SCHED_DEBUG.
fn lacking_of_dynamic(config: &KernelConfig) -> Option<(&'static str, &'static str)> {
    let is_off = |option: &&str| match *option {
        "SCHED_DEBUG" => config.get(option) == Some("n"),
        _ => !config.has(option),
    };
    let is_dynamic = config.has("PREEMPT_DYNAMIC") && !config.has("PREEMPT_RT");
    let off = ["DEBUG_FS", "SCHED_DEBUG"].into_iter().find(is_off);
    off.filter(|_| is_dynamic)
        .map(|option| (option, "the preemption model in force"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(config: &str) -> Result<(), KernelError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config");
        std::fs::write(&path, config).unwrap();
        check(&Kernel {
            config: Some(path),
            ..Kernel::for_tests()
        })
    }

    #[test]
    fn what_is_lacking_is_named_at_once() {
        let whole: String = of(Arch::X86)
            .map(|(option, _)| format!("CONFIG_{option}=y\n"))
            .collect();
        with(&whole).unwrap();
        let cut = whole
            .replace("CONFIG_DEVTMPFS=y", "# CONFIG_DEVTMPFS is not set")
            .replace("CONFIG_PCI=y", "CONFIG_PCI=m")
            .replace("CONFIG_PRINTK=y\n", "");
        let said = with(&cut).unwrap_err().to_string();
        assert_eq!(said.matches("CONFIG_").count(), 3, "{said}");
        assert!(said.contains("CONFIG_DEVTMPFS (/dev)") && said.contains("CONFIG_PCI") && !said.contains('\n'));
        check(&Kernel::for_tests()).unwrap();
    }

    #[test]
    fn a_kernel_of_several_models_must_tell_which_is_in_force() {
        let own: String = of(Arch::X86)
            .map(|(option, _)| format!("CONFIG_{option}=y\n"))
            .collect();
        let said = |more: &str| with(&format!("{own}CONFIG_PREEMPT_DYNAMIC=y\n{more}")).map_err(|e| e.to_string());
        let debugfs = "CONFIG_DEBUG_FS=y\n";
        assert!(
            said("")
                .unwrap_err()
                .contains("CONFIG_DEBUG_FS (the preemption model in force)")
        );
        let silent = said(&format!("{debugfs}# CONFIG_SCHED_DEBUG is not set\n")).unwrap_err();
        assert!(
            silent.contains("CONFIG_SCHED_DEBUG (") && !silent.contains("CONFIG_DEBUG_FS"),
            "{silent}"
        );
        said(&format!("{debugfs}CONFIG_SCHED_DEBUG=y\n")).unwrap();
        said(debugfs).unwrap();
        said("CONFIG_PREEMPT_RT=y\n").unwrap();
    }
}
