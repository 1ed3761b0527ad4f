//! How CPUs are scheduled, decided before there are any.

use std::sync::OnceLock;

/// How CPUs are scheduled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The machine's CPUs.
    pub(crate) cpus: usize,
    /// How far a CPU may be ahead of another, in ns.
    pub(crate) quantum: i64,
    /// For tests: the seed of a thread that interrupts CPUs at random.
    pub(crate) kicks: Option<u32>,
    /// The CPU that replays follow, if not the one that measures.
    pub(crate) follow: Option<usize>,
    /// How long the machine's disk takes for a request, in ns, if there is one.
    pub(crate) disk: Option<i64>,
    /// How long a word of 16 bits takes that INS fetches from a port, in ns, if longer than an instruction.
    pub(crate) port: Option<i64>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// How CPUs are to be scheduled, before there are any.
pub(crate) fn set(settings: Settings) {
    // It is set once: QEMU installs a plugin once.
    let _ = SETTINGS.set(settings);
}

/// How they are.
pub(super) fn settings() -> Settings {
    SETTINGS.get().copied().unwrap_or(Settings {
        cpus: 1,
        quantum: 1,
        kicks: None,
        follow: None,
        disk: None,
        port: None,
    })
}

/// Whether there is one CPU only.
pub(crate) fn is_alone() -> bool {
    settings().cpus == 1
}

/// Whether a word that INS fetches takes longer than an instruction.
pub(crate) fn is_port_slow() -> bool {
    settings().port.is_some()
}
