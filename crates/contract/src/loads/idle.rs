//! The load that does nothing.

use super::info::LoadInfo;
use worstcase_cell::loads::LoadKind;

pub(super) const IDLE: LoadInfo = LoadInfo {
    kind: LoadKind::Idle,
    about: "nothing: the machine waits for the probe",
    example: "idle",
    ..LoadInfo::PLAIN
};
