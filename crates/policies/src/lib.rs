//! The policies that worstcase carries: schedulers of the past as sched_ext schedulers, compiled.
//!
//! Their source is in `bpf/`; `scripts/policies` compiles it.

/// Names, each with its object.
const BUILT_IN: [(&str, &[u8]); 2] = [
    ("o-n", include_bytes!("../bpf/o-n.bpf.o")),
    ("o-1", include_bytes!("../bpf/o-1.bpf.o")),
];

/// The compiled policy of this name.
pub fn built_in(name: &str) -> Option<&'static [u8]> {
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    found.map(|(_, object)| *object)
}
