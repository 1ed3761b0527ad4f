//! The running kernel: release, configuration, preemption model and how it is known.

use super::tree::{FileTree, between};
use flate2::read::GzDecoder;
use serde::Serialize;
use std::io::Read;
use worstcase_kernels::config::KernelConfig;
use worstcase_kernels::preempt::{self, ModelChoice, PreemptName};

/// The kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunningKernel {
    /// As in `uname -r`.
    pub release: Option<String>,
    /// As in `uname -v`.
    pub version: Option<String>,
    /// The command line with which it was booted.
    pub command_line: Option<String>,
    /// Where this machine's bootloader has the command line, where it is one of a board's.
    pub parameters: Option<String>,
    /// The file of its build configuration.
    pub configuration: Option<String>,
    /// Whether real-time tasks are bandwidth-limited group by group (CONFIG_RT_GROUP_SCHED).
    pub(crate) rt_group_scheduling: Option<bool>,
    /// The preemption model.
    pub preemption: Preemption,
    /// Ticks a second.
    pub hz: Option<u32>,
}

/// The preemption model in force.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Preemption {
    /// `None` if it is not known.
    pub model: Option<PreemptName>,
    /// How the model is known, or what is known instead.
    pub how: String,
}

impl RunningKernel {
    /// Major and minor number of the release.
    pub fn series(&self) -> Option<(u32, u32)> {
        let mut numbers = self.release.as_deref()?.split(|c: char| !c.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// The value of an argument `name=value` of the command line; the last one counts.
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        let words = self.command_line.as_deref()?.split_ascii_whitespace();
        words.rev().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Files in which bootloaders of boards have the command line, and which of their lines it is.
const PARAMETERS: [(&str, &str); 5] = [
    ("boot/firmware/cmdline.txt", "the one line of"),
    ("boot/extlinux/extlinux.conf", "the line append of"),
    ("boot/armbianEnv.txt", "the line extraargs of"),
    ("boot/uEnv.txt", "the line cmdline or bootargs of"),
    ("boot/cmdline.txt", "the one line of"),
];

fn parameters(tree: &FileTree) -> Option<String> {
    match PARAMETERS.iter().find(|(file, _)| tree.exists(file)) {
        Some((file, line)) => Some(format!("{line} /{file}")),
        None if tree.exists("etc/default/grub") => None,
        None => tree
            .exists("proc/device-tree/chosen/bootargs")
            .then(|| "bootargs of the bootloader's environment, or of the device tree's node chosen".into()),
    }
}

/// `tick_ns` is the measured length of the tick: the configuration is not always readable.
pub(super) fn read(tree: &FileTree, tick_ns: Option<u64>) -> RunningKernel {
    let release = tree.text("proc/sys/kernel/osrelease");
    let (configuration, config) = release.as_deref().and_then(|release| config(tree, release)).unzip();
    let measured = tick_ns
        .filter(|ns| *ns > 0)
        .and_then(|ns| u32::try_from(1_000_000_000 / ns).ok());
    let mut kernel = RunningKernel {
        release,
        version: tree.text("proc/sys/kernel/version"),
        command_line: tree.text("proc/cmdline"),
        parameters: parameters(tree),
        configuration,
        rt_group_scheduling: config.as_ref().map(|c| c.has("RT_GROUP_SCHED")),
        preemption: Preemption::default(),
        hz: config.as_ref().and_then(|c| c.features().hz).or(measured),
    };
    kernel.preemption = preemption(tree, &kernel, config.as_ref());
    kernel
}

/// The configuration of the running kernel, and the file it is from.
fn config(tree: &FileTree, release: &str) -> Option<(String, KernelConfig)> {
    let unpacked = |name: &str| {
        let mut text = String::new();
        GzDecoder::new(&tree.bytes(name)?[..]).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let packed = "proc/config.gz";
    let plain = [
        format!("boot/config-{release}"),
        format!("lib/modules/{release}/config"),
        format!("lib/modules/{release}/build/.config"),
    ];
    let found = unpacked(packed).map(|text| (packed.to_string(), text));
    let found = found.or_else(|| {
        plain
            .into_iter()
            .find_map(|name| tree.text(&name).map(|text| (name, text)))
    });
    found.map(|(name, text)| (format!("/{name}"), KernelConfig::parse(&text)))
}

fn preemption(tree: &FileTree, kernel: &RunningKernel, config: Option<&KernelConfig>) -> Preemption {
    let known = |model, how: &str| Preemption {
        model: Some(model),
        how: how.into(),
    };
    let unknown = |how: &str| Preemption {
        model: None,
        how: how.into(),
    };
    let version = kernel.version.as_deref().unwrap_or_default();
    let says = |flag: &str| version.split_ascii_whitespace().any(|word| word == flag);
    if tree.text("sys/kernel/realtime").as_deref() == Some("1") {
        return known(PreemptName::Rt, "/sys/kernel/realtime says so");
    }
    if says("PREEMPT_RT") || says("PREEMPT_{RT,LAZY}") {
        return known(PreemptName::Rt, "the kernel's version says so");
    }
    let file = tree.text("sys/kernel/debug/sched/preempt");
    if let Some(model) = file.as_deref().and_then(|modes| between(modes, '(', ')')?.parse().ok()) {
        return known(model, "/sys/kernel/debug/sched/preempt says so");
    }
    let models = config.map(preempt::from_config);
    let dynamic = match &models {
        Some(models) => models.iter().any(|m| m.chosen == ModelChoice::AtBoot),
        None => says("PREEMPT_DYNAMIC"),
    };
    let switched = "unless it was switched since, which debugfs would tell";
    let asked: Option<PreemptName> = kernel.argument("preempt").and_then(|model| model.parse().ok());
    // A kernel that lacks the requested model runs its default.
    let served = |model: &PreemptName| models.as_ref().is_none_or(|all| all.iter().any(|m| m.model == *model));
    if let Some(model) = asked.filter(|model| dynamic && served(model)) {
        return known(model, &format!("preempt= on the kernel's command line, {switched}"));
    }
    if let Some(default) = models.as_ref().and_then(|all| all.iter().find(|m| m.default)) {
        return match dynamic {
            true => known(default.model, &format!("the configuration's default, {switched}")),
            false => known(default.model, "compiled in, the configuration says"),
        };
    }
    if dynamic {
        unknown("dynamic, not known which: neither debugfs nor the configuration can be read")
    } else if says("PREEMPT_LAZY") {
        known(PreemptName::Lazy, "the kernel's version says so")
    } else if says("PREEMPT") {
        known(PreemptName::Full, "the kernel's version says so")
    } else if version.is_empty() {
        unknown("not known: /proc/sys/kernel/version cannot be read")
    } else {
        unknown("none or voluntary: the version says neither PREEMPT nor PREEMPT_DYNAMIC")
    }
}
