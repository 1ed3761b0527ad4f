//! Programs in this executable that run elsewhere, put there by the build script.

/// The programs that are part of lab results, with digests.
pub const DIGESTS: &str = env!("WORSTCASE_CARRIES");

/// The static init of a lab machine.
pub(crate) static GUEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest"));
/// The program that loads a scheduler into a lab machine's kernel.
pub(crate) static POLICY_LOADER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/policy-loader"));
/// The QEMU plugin for API version 1 (QEMU 7.2).
pub(crate) static PLUGIN_V1: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin-v1.so"));
/// The QEMU plugin for API version 4 (QEMU 10).
pub(crate) static PLUGIN_V4: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin-v4.so"));
/// The QEMU plugin for API version 7 (QEMU 11.1).
pub(crate) static PLUGIN_V7: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin-v7.so"));
