//! What every worker of a load is: an ordinary process.

use crate::sys::process::{self, Pid};
use crate::sys::{clock, sched};
use std::io;
use worstcase_logs::Nanos;

/// The slack of an ordinary process's timers, whatever the measuring process asked for itself.
const TIMER_SLACK: Nanos = Nanos(50_000);

/// Makes the calling process what every worker is: of the load's name, in its group, SCHED_OTHER, nice 0, with the usual
/// slack of timers, and without a way back to rights that were laid down.
pub(super) fn ordinary_process(name: &str, group: Pid) -> Result<(), String> {
    let failed = |what: &'static str| move |e: io::Error| format!("cannot {what}: {e}");
    process::set_name(name).map_err(failed("take the load's name"))?;
    process::set_group(0, group).map_err(failed("join the load's process group"))?;
    sched::Policy::OTHER.apply().map_err(failed("run at SCHED_OTHER"))?;
    if sched::nice() != 0 {
        sched::set_nice(0).map_err(failed("run at nice 0 (the caller is niced)"))?;
    }
    clock::set_timer_slack(TIMER_SLACK).map_err(failed("set the timer slack"))?;
    process::forget_saved_rights().map_err(failed("lay down the caller's rights"))
}
