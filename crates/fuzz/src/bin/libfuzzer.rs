//! libFuzzer on the target that `WORSTCASE_FUZZ` names, whose seeds it leaves in the folder `WORSTCASE_FUZZ_SEEDS`;
//! scripts/fuzz builds and runs it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::OnceLock;
use worstcase_fuzz::{FuzzTarget, by_name};

fuzz_target!(|bytes: &[u8]| {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("WORSTCASE_FUZZ").unwrap_or_default();
        let target = by_name(&name).unwrap_or_else(|| panic!("WORSTCASE_FUZZ names no target: '{name}'"));
        if let Some(folder) = std::env::var_os("WORSTCASE_FUZZ_SEEDS") {
            for (number, seed) in (target.seeds)().into_iter().enumerate() {
                std::fs::write(Path::new(&folder).join(format!("made-{number}")), seed).expect("the folder takes it");
            }
        }
        if target.catches_panics {
            // libFuzzer's own hook would end the process before the panic is caught.
            std::panic::set_hook(Box::new(|_| {}));
        }
        target
    });
    (target.read)(bytes);
});
