//! Names of the cores of arm, which tell numbers alone. Source: the kernel's arch/arm64/include/asm/cputype.h.

/// A number, a name, and its cores by number.
type Implementer = (u32, &'static str, &'static [(u32, &'static str)]);

/// The implementers whose cores have names of their own, and these by part.
const CORES: &[Implementer] = &[
    (
        0x41,
        "ARM",
        &[
            (0xc05, "Cortex-A5"),
            (0xc07, "Cortex-A7"),
            (0xc08, "Cortex-A8"),
            (0xc09, "Cortex-A9"),
            (0xc0f, "Cortex-A15"),
            (0xd03, "Cortex-A53"),
            (0xd04, "Cortex-A35"),
            (0xd05, "Cortex-A55"),
            (0xd07, "Cortex-A57"),
            (0xd08, "Cortex-A72"),
            (0xd09, "Cortex-A73"),
            (0xd0a, "Cortex-A75"),
            (0xd0b, "Cortex-A76"),
            (0xd0c, "Neoverse-N1"),
            (0xd0d, "Cortex-A77"),
            (0xd0e, "Cortex-A76AE"),
            (0xd40, "Neoverse-V1"),
            (0xd41, "Cortex-A78"),
            (0xd42, "Cortex-A78AE"),
            (0xd44, "Cortex-X1"),
            (0xd46, "Cortex-A510"),
            (0xd47, "Cortex-A710"),
            (0xd48, "Cortex-X2"),
            (0xd49, "Neoverse-N2"),
            (0xd4b, "Cortex-A78C"),
            (0xd4d, "Cortex-A715"),
            (0xd4e, "Cortex-X3"),
            (0xd4f, "Neoverse-V2"),
            (0xd80, "Cortex-A520"),
            (0xd81, "Cortex-A720"),
            (0xd82, "Cortex-X4"),
            (0xd84, "Neoverse-V3"),
            (0xd8e, "Neoverse-N3"),
        ],
    ),
    (0x43, "Cavium", &[(0x0a1, "ThunderX"), (0x0af, "ThunderX2")]),
    (0x46, "Fujitsu", &[(0x001, "A64FX")]),
    (0x4e, "NVIDIA", &[(0x003, "Denver"), (0x004, "Carmel")]),
    (0x51, "Qualcomm", &[(0x800, "Kryo"), (0xc00, "Falkor")]),
    (0xc0, "Ampere", &[(0xac3, "Ampere-1"), (0xac4, "Ampere-1A")]),
];

/// The core's name, or its numbers.
pub(super) fn core(implementer: u32, part: u32) -> String {
    let of = CORES.iter().find(|(number, ..)| *number == implementer);
    let known = of.and_then(|(_, _, cores)| cores.iter().find(|(number, _)| *number == part));
    match (known, of) {
        (Some((_, name)), _) => (*name).to_string(),
        (None, Some((_, maker, _))) => format!("{maker} core {part:#05x}"),
        (None, None) => format!("arm core {part:#05x} of implementer {implementer:#04x}"),
    }
}
