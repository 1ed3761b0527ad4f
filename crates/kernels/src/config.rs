//! A kernel's build configuration, from its `config` file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

/// A kernel's build configuration: option (without `CONFIG_`) to value. `# CONFIG_X is not set` is kept as "n": an
/// option that was *asked* differs from one that does not exist (see `preempt`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelConfig {
    options: BTreeMap<String, String>,
}

/// The configuration's facts for `worstcase kernels show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Features {
    /// Timer interrupts a second.
    pub hz: Option<u32>,
    /// `preempt=` chooses the preemption model at boot.
    pub(crate) preempt_dynamic: bool,
    /// Fully preemptible (real-time) kernel.
    pub(crate) preempt_rt: bool,
    /// The lazy preemption model exists.
    pub(crate) preempt_lazy: bool,
    /// Schedulers can be loaded as BPF programs.
    pub sched_ext: bool,
    /// Tracers compiled in, by the names in `available_tracers`.
    pub tracers: Vec<&'static str>,
    /// I/O schedulers, by their names in sysfs.
    pub io_schedulers: Vec<KernelIoScheduler>,
}

/// An I/O scheduler a kernel has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelIoScheduler {
    /// Name as in `/sys/block/*/queue/scheduler`.
    pub name: &'static str,
    /// It is a module, which must be loaded first.
    pub module: bool,
}

const TRACERS: [(&str, &str); 9] = [
    ("FUNCTION_TRACER", "function"),
    ("FUNCTION_GRAPH_TRACER", "function_graph"),
    ("IRQSOFF_TRACER", "irqsoff"),
    ("PREEMPT_TRACER", "preemptoff"),
    ("SCHED_TRACER", "wakeup"),
    ("HWLAT_TRACER", "hwlat"),
    ("OSNOISE_TRACER", "osnoise"),
    ("TIMERLAT_TRACER", "timerlat"),
    ("MMIOTRACE", "mmiotrace"),
];

const IO_SCHEDULERS: [(&str, &str); 3] = [
    ("MQ_IOSCHED_DEADLINE", "mq-deadline"),
    ("MQ_IOSCHED_KYBER", "kyber"),
    ("IOSCHED_BFQ", "bfq"),
];

impl KernelConfig {
    /// Reads a config file.
    pub(crate) fn read(path: &Path) -> std::io::Result<KernelConfig> {
        Ok(KernelConfig::parse(&String::from_utf8_lossy(
            &worstcase_base::files::read(path)?,
        )))
    }

    /// Parses the text of a config file; lines of another form are skipped.
    pub fn parse(text: &str) -> KernelConfig {
        let unset = |line: &str| {
            let name = line.strip_prefix("# CONFIG_")?.strip_suffix(" is not set")?;
            Some((name.to_string(), "n".to_string()))
        };
        let set = |line: &str| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            Some((name.to_string(), value.trim_matches('"').to_string()))
        };
        KernelConfig {
            options: text
                .lines()
                .filter_map(|line| set(line).or_else(|| unset(line)))
                .collect(),
        }
    }

    /// An option's value: `y`, `m`, `n` (asked and refused), a number or a text; `None` if the file does not have it.
    pub fn get(&self, option: &str) -> Option<&str> {
        self.options.get(option).map(String::as_str)
    }

    /// Built in (`y`).
    pub fn has(&self, option: &str) -> bool {
        self.get(option) == Some("y")
    }

    /// Whether the kernel has an I/O scheduler, even an unusual one.
    pub fn has_io_scheduler(&self, name: &str) -> bool {
        let word = name.to_ascii_uppercase().replace('-', "_");
        let options = [format!("IOSCHED_{word}"), format!("MQ_IOSCHED_{word}")];
        let is_on = |option: &String| matches!(self.get(option), Some("y" | "m"));
        self.features().io_schedulers.iter().any(|s| s.name == name) || options.iter().any(is_on)
    }

    /// The options that matter for latency.
    pub fn features(&self) -> Features {
        let scheduler = |(option, name): &(&str, &'static str)| match self.get(option) {
            Some("y") => Some(KernelIoScheduler { name, module: false }),
            Some("m") => Some(KernelIoScheduler { name, module: true }),
            _ => None,
        };
        Features {
            hz: self.get("HZ").and_then(|v| v.parse().ok()),
            preempt_dynamic: self.has("PREEMPT_DYNAMIC"),
            preempt_rt: self.has("PREEMPT_RT"),
            preempt_lazy: self.has("ARCH_HAS_PREEMPT_LAZY"),
            sched_ext: self.has("SCHED_CLASS_EXT"),
            tracers: TRACERS
                .iter()
                .filter(|(option, _)| self.has(option))
                .map(|(_, name)| *name)
                .collect(),
            io_schedulers: std::iter::once(KernelIoScheduler {
                name: "none",
                module: false,
            })
            .chain(IO_SCHEDULERS.iter().filter_map(scheduler))
            .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_asked_and_refused_differ_from_options_that_are_absent() {
        let config =
            KernelConfig::parse("# CONFIG_PREEMPT_NONE is not set\nCONFIG_HZ=250\nCONFIG_V=\"x y\"\n# words\n");
        assert_eq!(config.get("PREEMPT_NONE"), Some("n"));
        assert_eq!(config.get("PREEMPT_VOLUNTARY"), None);
        assert_eq!(config.get("V"), Some("x y"));
        assert_eq!(config.features().hz, Some(250));
    }

    #[test]
    fn a_scheduler_may_be_an_unusual_one() {
        let config =
            KernelConfig::parse("CONFIG_MQ_IOSCHED_DEADLINE=y\nCONFIG_IOSCHED_BFQ=m\nCONFIG_MQ_IOSCHED_ADIOS=y\n");
        let has = ["none", "mq-deadline", "bfq", "adios", "kyber", "cfq"].map(|name| config.has_io_scheduler(name));
        assert_eq!(has, [true, true, true, true, false, false]);
    }

    #[test]
    fn features_name_tracers_and_schedulers_as_the_kernel_does() {
        let text = "CONFIG_OSNOISE_TRACER=y\n# CONFIG_IRQSOFF_TRACER is not set\nCONFIG_IOSCHED_BFQ=m\n\
            CONFIG_MQ_IOSCHED_DEADLINE=y\nCONFIG_SCHED_CLASS_EXT=y\n";
        let features = KernelConfig::parse(text).features();
        assert_eq!(features.tracers, ["osnoise"]);
        let names: Vec<_> = features.io_schedulers.iter().map(|s| (s.name, s.module)).collect();
        assert_eq!(names, [("none", false), ("mq-deadline", false), ("bfq", true)]);
        assert!(features.sched_ext);
    }
}
