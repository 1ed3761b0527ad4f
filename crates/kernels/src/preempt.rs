//! Which preemption models a kernel can boot, found from its configuration before it is booted.
//!
//! The rules follow kernel/Kconfig.preempt and `sched_dynamic_mode()` in kernel/sched/core.c. They were checked by booting
//! Debian kernels with every `preempt=` and reading their "Dynamic Preempt" line: 5.10, 6.1, 6.12, 6.18, 7.0, 7.2 and 7.3
//! (generic or cloud), and rt of 6.1, 6.12 and 6.18. For rt of 7.2 and 7.3 only the configs were read.
//!
//! - PREEMPT_RT: `rt`, whatever else is set. From 6.12 on such a kernel also takes `preempt=full` or `lazy`, which
//!   choose how eagerly ordinary tasks are preempted; real-time tasks are served alike. It refuses none and voluntary.
//! - no PREEMPT_DYNAMIC: the one model that was compiled in; `preempt=` is not even known.
//! - PREEMPT_DYNAMIC: none, voluntary and full; `lazy` as well if the architecture has it (ARCH_HAS_PREEMPT_LAZY).
//! - From 7.0 on, an architecture that has lazy no longer has none and voluntary: they are out of
//!   `sched_dynamic_mode()`, and PREEMPT_NONE cannot be asked for. So the config tells: a kernel that has
//!   dropped them has no line for PREEMPT_NONE, neither set nor "is not set". Asked for `preempt=none`, it answers
//!   "unsupported mode" and runs its default.

use serde::{Deserialize, Serialize};
pub use worstcase_plan::PreemptName;

use super::config::KernelConfig;
use super::{Kernel, KernelError};

/// How a kernel gets its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelChoice {
    /// By `preempt=<model>` on the kernel command line.
    AtBoot,
    /// Compiled in: the kernel has no other model.
    Fixed,
}

/// A model that a kernel can boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreemptModel {
    /// The model.
    pub model: PreemptName,
    /// How it is chosen.
    pub chosen: ModelChoice,
    /// Whether it runs by default.
    pub default: bool,
}

impl PreemptModel {
    /// The argument on the kernel command line for this model.
    pub fn boot_argument(&self) -> Option<String> {
        (self.chosen == ModelChoice::AtBoot).then(|| format!("preempt={}", self.model))
    }
}

/// The models a kernel can boot; an error if its config is not known.
pub fn models(kernel: &Kernel) -> Result<Vec<PreemptModel>, KernelError> {
    Ok(from_config(&kernel.read_config()?))
}

/// The requested model, or an error that says which models this kernel has and why not this one.
pub fn choose(kernel: &Kernel, model: PreemptName) -> Result<PreemptModel, KernelError> {
    let config = kernel.read_config()?;
    let models = from_config(&config);
    let names = models.iter().map(|m| m.model.name()).collect::<Vec<_>>().join(", ");
    let why = note(&config).map(|n| format!(" ({n})")).unwrap_or_default();
    models
        .into_iter()
        .find(|m| m.model == model)
        .ok_or_else(|| KernelError::ModelNotInKernel {
            kernel: kernel.label.clone(),
            model: model.name(),
            why,
            models: names,
            elsewhere: match model {
                PreemptName::Rt => ". rt is a kernel of its own: debian:SERIES-rt, e.g. debian:6.1-rt",
                _ => "",
            },
        })
}

/// The models by the rules above.
pub fn from_config(config: &KernelConfig) -> Vec<PreemptModel> {
    let default = default_model(config);
    let fixed = |model| {
        vec![PreemptModel {
            model,
            chosen: ModelChoice::Fixed,
            default: true,
        }]
    };
    if config.has("PREEMPT_RT") {
        return fixed(PreemptName::Rt);
    }
    if !config.has("PREEMPT_DYNAMIC") {
        return fixed(default);
    }
    let mut models = vec![PreemptName::Full];
    if !dropped_none(config) {
        models.extend([PreemptName::None, PreemptName::Voluntary]);
    }
    if config.has("ARCH_HAS_PREEMPT_LAZY") {
        models.push(PreemptName::Lazy);
    }
    models.sort();
    models
        .into_iter()
        .map(|model| PreemptModel {
            model,
            chosen: ModelChoice::AtBoot,
            default: model == default,
        })
        .collect()
}

/// A note for the user about the list of models.
pub fn note(config: &KernelConfig) -> Option<&'static str> {
    if config.has("PREEMPT_RT") && config.has("PREEMPT_DYNAMIC") {
        Some(match default_model(config) {
            PreemptName::Lazy => {
                "this rt kernel also takes preempt=full or preempt=lazy for ordinary tasks; lazy unless asked"
            }
            _ => "this rt kernel also takes preempt=full or preempt=lazy for ordinary tasks; full unless asked",
        })
    } else if !config.has("PREEMPT_RT") && config.has("PREEMPT_DYNAMIC") && dropped_none(config) {
        Some("Linux 7.0 and later dropped none and voluntary where lazy exists")
    } else if !config.has("PREEMPT_DYNAMIC") && !config.has("PREEMPT_RT") {
        Some("the model was compiled in: this kernel has no PREEMPT_DYNAMIC")
    } else {
        None
    }
}

fn dropped_none(config: &KernelConfig) -> bool {
    config.has("ARCH_HAS_PREEMPT_LAZY") && config.get("PREEMPT_NONE").is_none()
}

fn default_model(config: &KernelConfig) -> PreemptName {
    // PREEMPT_LAZY without ARCH_HAS_PREEMPT_LAZY is the older patch of the rt tree, a refinement and no model.
    if config.has("PREEMPT_LAZY") && config.has("ARCH_HAS_PREEMPT_LAZY") {
        PreemptName::Lazy
    } else if config.has("PREEMPT_VOLUNTARY") || config.has("PREEMPT_VOLUNTARY_BEHAVIOUR") {
        PreemptName::Voluntary
    } else if config.has("PREEMPT_NONE") || config.has("PREEMPT_NONE_BEHAVIOUR") {
        // The _BEHAVIOUR names stood for the default for a short while (around 5.16), when PREEMPT was set beside them.
        PreemptName::None
    } else if config.has("PREEMPT") {
        PreemptName::Full
    } else {
        PreemptName::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The lines of Debian's configs, and what these kernels reported when they were booted.
    const CASES: [(&str, &str, &str); 9] = [
        (
            "5.10 amd64",
            "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\n",
            "voluntary!*",
        ),
        (
            "6.1 amd64",
            "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n",
            "none voluntary* full",
        ),
        (
            "6.1 rt",
            "CONFIG_PREEMPT_LAZY=y\n# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_RT=y\n",
            "rt!*",
        ),
        (
            "6.12 rt",
            "CONFIG_ARCH_HAS_PREEMPT_LAZY=y\nCONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_RT=y\nCONFIG_PREEMPT_DYNAMIC=y\n",
            "rt!*",
        ),
        (
            "6.18 cloud",
            "CONFIG_ARCH_HAS_PREEMPT_LAZY=y\n# CONFIG_PREEMPT_NONE is not set\n# CONFIG_PREEMPT_VOLUNTARY is not set\n\
             CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y\n",
            "none voluntary full lazy*",
        ),
        (
            "7.2",
            "CONFIG_ARCH_HAS_PREEMPT_LAZY=y\nCONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y\n",
            "full lazy*",
        ),
        (
            "7.3 rt",
            "CONFIG_ARCH_HAS_PREEMPT_LAZY=y\nCONFIG_PREEMPT=y\nCONFIG_PREEMPT_RT=y\nCONFIG_PREEMPT_DYNAMIC=y\n",
            "rt!*",
        ),
        ("server", "CONFIG_PREEMPT_NONE=y\n", "none!*"),
        (
            "low latency",
            "CONFIG_PREEMPT=y\n# CONFIG_PREEMPT_NONE is not set\n",
            "full!*",
        ),
    ];

    #[test]
    fn models_follow_from_the_config() {
        for (kernel, config, expected) in CASES {
            let shown = |m: PreemptModel| {
                let fixed = if m.chosen == ModelChoice::Fixed { "!" } else { "" };
                format!("{}{fixed}{}", m.model, if m.default { "*" } else { "" })
            };
            let models: Vec<String> = from_config(&KernelConfig::parse(config))
                .into_iter()
                .map(shown)
                .collect();
            assert_eq!(models.join(" "), expected, "{kernel}");
        }
    }

    #[test]
    fn a_dropped_model_is_explained() {
        let note = |config: &str| note(&KernelConfig::parse(config));
        assert!(note(CASES[5].1).unwrap().contains("dropped none and voluntary"));
        assert!(note(CASES[3].1).unwrap().contains("lazy unless asked"));
        assert_eq!(note(CASES[1].1), None);
    }
}
