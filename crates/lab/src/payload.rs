//! Programs in this executable that run elsewhere, packed there by the build script.

use super::LabError;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::OnceLock;
use worstcase_plan::Arch;

/// The programs that are part of lab results, with digests.
pub const DIGESTS: &str = env!("WORSTCASE_CARRIES");

/// One program, unpacked when it is first used.
pub(crate) struct CarriedProgram {
    packed: &'static [u8],
    whole: OnceLock<Vec<u8>>,
}

impl CarriedProgram {
    const fn new(packed: &'static [u8]) -> CarriedProgram {
        CarriedProgram {
            packed,
            whole: OnceLock::new(),
        }
    }

    /// Whether it was built: a packed file ends with the size of what is in it.
    fn is_there(&self) -> bool {
        !self.packed.ends_with(&[0; 4])
    }

    /// Its bytes.
    pub(crate) fn bytes(&'static self) -> &'static [u8] {
        self.whole.get_or_init(|| {
            let mut whole = Vec::new();
            let unpacked = GzDecoder::new(self.packed).read_to_end(&mut whole);
            unpacked.expect("the build script packed it");
            whole
        })
    }
}

macro_rules! carried {
    ($file:literal) => {
        CarriedProgram::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".gz")))
    };
}

/// The static init of a lab machine, and the QEMU plugin for each of its versions: of one architecture.
struct OfArch {
    guest: CarriedProgram,
    /// Empty where it could not be built.
    policy_loader: CarriedProgram,
    /// API version 1 (QEMU 7.2).
    plugin_v1: CarriedProgram,
    /// API version 4 (QEMU 10).
    plugin_v4: CarriedProgram,
    /// API version 7 (QEMU 11.1).
    plugin_v7: CarriedProgram,
}

/// Empty in an executable without the lab.
static X86: OfArch = OfArch {
    guest: carried!("guest"),
    policy_loader: carried!("policy-loader"),
    plugin_v1: carried!("plugin-v1.so"),
    plugin_v4: carried!("plugin-v4.so"),
    plugin_v7: carried!("plugin-v7.so"),
};

/// Empty where they could not be built.
static ARM64: OfArch = OfArch {
    guest: carried!("guest-arm64"),
    policy_loader: carried!("policy-loader-arm64"),
    plugin_v1: carried!("plugin-arm64-v1.so"),
    plugin_v4: carried!("plugin-arm64-v4.so"),
    plugin_v7: carried!("plugin-arm64-v7.so"),
};

/// The program that loads a scheduler into the kernel of such a lab machine.
pub(crate) fn policy_loader(arch: Arch) -> Result<&'static [u8], LabError> {
    let loader = &of(arch)?.policy_loader;
    loader
        .is_there()
        .then(|| loader.bytes())
        .ok_or(LabError::CarriesNoLoader)
}

static OPERATIONS: CarriedProgram = carried!("operations");

/// The program that does the operations of a calibration, on any x86-64 machine; empty in an executable for another one.
pub fn operations() -> &'static [u8] {
    OPERATIONS.bytes()
}

/// Versions of QEMU's interface for plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginApi {
    /// QEMU 7.2.
    V1,
    /// QEMU 10.
    V4,
    /// QEMU 11.1.
    V7,
}

fn of(arch: Arch) -> Result<&'static OfArch, LabError> {
    let of_arch = match arch {
        Arch::X86 => &X86,
        Arch::Arm64 => &ARM64,
    };
    let carried = of_arch.guest.is_there();
    carried.then_some(of_arch).ok_or(LabError::CarriesNone(arch))
}

/// The init of an architecture's machines.
pub(crate) fn guest(arch: Arch) -> Result<&'static [u8], LabError> {
    Ok(of(arch)?.guest.bytes())
}

/// The plugin for a QEMU of an architecture.
pub(crate) fn plugin(arch: Arch, api: PluginApi) -> Result<&'static [u8], LabError> {
    let of_arch = of(arch)?;
    let plugin = match api {
        PluginApi::V1 => &of_arch.plugin_v1,
        PluginApi::V4 => &of_arch.plugin_v4,
        PluginApi::V7 => &of_arch.plugin_v7,
    };
    Ok(plugin.bytes())
}

/// An error where machines of an architecture cannot run.
pub(crate) fn must_carry(arch: Arch) -> Result<(), LabError> {
    of(arch).map(|_| ())
}

/// Whether machines of an architecture can run.
pub fn carries(arch: Arch) -> bool {
    of(arch).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(bytes: &[u8]) -> CarriedProgram {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(bytes).unwrap();
        CarriedProgram::new(Box::leak(packed.finish().unwrap().into_boxed_slice()))
    }

    #[test]
    fn what_was_not_built_is_not_there() {
        assert!(packed(b"guest").is_there());
        assert!(!packed(b"").is_there());
        assert_eq!(X86.guest.is_there(), !X86.guest.bytes().is_empty());
        let refused = LabError::CarriesNone(Arch::X86).to_string();
        assert!(refused.ends_with("give 'make build' in its source"), "{refused}");
    }

    /// Its bytes are part of every key: builds of two distributions would share no result.
    #[test]
    fn a_plugin_has_nothing_of_the_distribution_s_compiler() {
        let holds = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
        for of_arch in [&X86, &ARM64] {
            for plugin in [&of_arch.plugin_v1, &of_arch.plugin_v4, &of_arch.plugin_v7] {
                let bytes = plugin.bytes();
                assert!(
                    bytes.is_empty() || holds(bytes, b"rustc version"),
                    "it tells its compilers"
                );
                assert!(!holds(bytes, b"GCC: ("), "crt*.o is linked into it");
                assert!(!holds(bytes, b".note.gnu.build-id"), "its linker adds a build id");
            }
        }
    }
}
