//! Programs in this executable that run elsewhere, packed there by the build script.

use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::OnceLock;

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

/// The static init of a lab machine.
pub(crate) static GUEST: CarriedProgram = carried!("guest");
/// The program that loads a scheduler into a lab machine's kernel.
pub(crate) static POLICY_LOADER: CarriedProgram = carried!("policy-loader");
/// The QEMU plugin for API version 1 (QEMU 7.2).
pub(crate) static PLUGIN_V1: CarriedProgram = carried!("plugin-v1.so");
/// The QEMU plugin for API version 4 (QEMU 10).
pub(crate) static PLUGIN_V4: CarriedProgram = carried!("plugin-v4.so");
/// The QEMU plugin for API version 7 (QEMU 11.1).
pub(crate) static PLUGIN_V7: CarriedProgram = carried!("plugin-v7.so");
