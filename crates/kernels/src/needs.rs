//! What the lab needs in a kernel's configuration. Debian's kernels have all of it; if a kernel that a user built does
//! not boot, this is the usual reason.

use super::config::KernelConfig;
use super::{Kernel, KernelError};

/// Options that must be built in, and what each is for.
pub(crate) const NEEDS: [(&str, &str); 15] = [
    ("64BIT", "the guest is a 64-bit program"),
    ("BINFMT_ELF", "the guest is an ELF program"),
    ("BLK_DEV_INITRD", "the guest is in an initramfs"),
    ("SERIAL_8250", "the console"),
    ("SERIAL_8250_CONSOLE", "the console"),
    ("PRINTK", "the console"),
    ("DEVTMPFS", "/dev"),
    ("TMPFS", "/tmp"),
    ("PROC_FS", "/proc"),
    ("SYSFS", "/sys"),
    ("PCI", "the device at which the machine stops"),
    ("X86_IOPL_IOPERM", "the port that the record leaves through"),
    ("HIGH_RES_TIMERS", "due times"),
    ("KALLSYMS", "names of functions"),
    ("KALLSYMS_ALL", "where the kernel keeps its tasks"),
];

/// Refuses a kernel whose configuration is known and lacks an option.
pub fn check(kernel: &Kernel) -> Result<(), KernelError> {
    let config = match kernel.read_config() {
        Err(KernelError::NoConfig { .. }) => return Ok(()),
        config => config?,
    };
    let lacking = lacking(&config);
    match lacking.is_empty() {
        true => Ok(()),
        false => Err(KernelError::Lacks {
            kernel: kernel.label.clone(),
            options: lacking.join(", "),
        }),
    }
}

/// The missing options of a configuration, each with its purpose.
pub fn lacking(config: &KernelConfig) -> Vec<String> {
    let lacking = NEEDS.iter().filter(|(option, _)| !config.has(option));
    lacking
        .map(|(option, purpose)| format!("CONFIG_{option} ({purpose})"))
        .collect()
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
        let whole: String = NEEDS.iter().map(|(option, _)| format!("CONFIG_{option}=y\n")).collect();
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
}
