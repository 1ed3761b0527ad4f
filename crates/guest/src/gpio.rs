//! A simulated GPIO chip of two lines, for cells that want one (driver gpio-sim).

use crate::{GuestError, mounts};
use std::fs;
use std::path::Path;
use worstcase_wires::Line;

const CONFIGFS: &str = "/sys/kernel/config";

/// Makes it if a cell's line is one of such a chip.
pub(crate) fn simulate(line: Line) -> Result<(), GuestError> {
    match line {
        Line::Gpio(None) => make(),
        _ => Ok(()),
    }
}

fn make() -> Result<(), GuestError> {
    mounts::mount("configfs", CONFIGFS)?;
    let chip = Path::new(CONFIGFS).join("gpio-sim/worstcase");
    let failed = |what: &str| {
        let what = format!("{}: {what}", chip.display());
        move |e: std::io::Error| GuestError::new(format!("{what}: {e}"))
    };
    let lines = chip.join("bank0");
    fs::create_dir(&chip).map_err(failed("a chip cannot be made"))?;
    fs::create_dir(&lines).map_err(failed("it gets no lines"))?;
    fs::write(lines.join("num_lines"), "2").map_err(failed("it gets no lines"))?;
    fs::write(chip.join("live"), "1").map_err(failed("it does not start"))
}
