//! Ctrl-C, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends at once.

use crate::cli::error::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_base::format::shell;
use worstcase_results::record::{CompletedCells, Run};

/// A shell's exit code for a command that a signal ended: 128 and the signal's number.
const BY_SIGNAL: i32 = 128;

/// Becomes true when the user wants an end.
pub(crate) fn on_signals() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let second = flag::register_conditional_shutdown(signal, BY_SIGNAL + signal, stop.clone());
        second.map_err(Error::Signals)?;
        flag::register(signal, stop.clone()).map_err(Error::Signals)?;
    }
    Ok(stop)
}

/// Prints how many measurements the run had before and, after an early end, how many it has now.
pub fn tell(outcome: CompletedCells, run: &Run) {
    let CompletedCells { before, measured, of } = outcome;
    let dir = run.dir().display();
    match before {
        0 => {}
        before if before == of => eprintln!("worstcase: {dir} had every measurement already: nothing was measured"),
        before => eprintln!("worstcase: {dir} had {before} of {of} measurements already"),
    }
    if measured < of {
        let command = shell(&run.to_go_on());
        eprintln!("worstcase: ended early, {measured} of {of} measurements are kept; to go on: {command}");
    }
}
