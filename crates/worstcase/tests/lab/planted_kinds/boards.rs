//! The same on kernels for arm64: those of 6.12 for which this machine has a compiler. Newer ones: `scripts/planted`.

use super::Planted;
use super::rows::{ALONE, CALLED, VOLUNTARY};
use super::told::MustTell;
use crate::arm64;
use crate::controller::{link_kernel, shared};
use crate::planted_module::{built, for_this_compiler};
use worstcase_kernels::Flavour;
use worstcase_skips::{or_skip, skip};

/// What must be told on kernels of this series, alone on a CPU: the archive's of 6.12 do not preempt, or are rt.
pub(super) fn rows(kernel: &str) -> Vec<&'static MustTell> {
    match kernel.starts_with("debian:6.12") {
        true => {
            let of_rt = ALONE.iter().filter(|row| row.preempt == "rt");
            VOLUNTARY.iter().chain(of_rt).collect()
        }
        false => {
            let is_called = |row: &MustTell| {
                CALLED
                    .iter()
                    .any(|own| (own.planted, own.preempt) == (row.planted, row.preempt))
            };
            let others = ALONE.iter().filter(|row| !is_called(row));
            others.chain(CALLED).collect()
        }
    }
}

/// The models of such kernels, of both flavours.
pub(super) fn models(kernel: &str) -> &'static str {
    match kernel.starts_with("debian:6.12") {
        true => "voluntary,rt",
        false => "lazy,rt",
    }
}

#[test]
fn delays_on_boards_are_named_with_their_length() {
    if let Some(why) = arm64::missing() {
        skip!(why, arm64::PACKAGE);
    }
    let generic = or_skip!(for_this_compiler(Flavour::Generic));
    let rt = or_skip!(for_this_compiler(Flavour::Rt));
    let kernels = [&generic, &rt].map(|kernel| {
        link_kernel(shared().cache(), kernel);
        (kernel.as_str(), built(kernel))
    });
    let planted = Planted::in_kernels(&kernels);
    planted.check(
        &rows(&generic),
        &format!("--kernel {generic},{rt} --preempt {}", models(&generic)),
    );
}
