//! The measuring process: a spec on standard input, messages on standard output. It ends early when its input ends, which
//! happens however the controller ends.

use crate::HostSpec;
use crate::measure;
use crate::message::Message;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_instruments::sys::process;

/// Runs the measurement. An error becomes a message, too.
pub fn run() -> io::Result<()> {
    // It was started as /proc/self/exe: breakdowns name it by what it is. Best effort.
    let _ = process::set_name("worstcase");
    let mut input = io::stdin().lock();
    let mut line = String::new();
    input.read_line(&mut line)?;
    drop(input);
    let spec: HostSpec = serde_json::from_str(&line).map_err(io::Error::other)?;
    let stop = Arc::new(AtomicBool::new(false));
    let measured = measure::run(&spec, &stop, &mut say, || watch_input(stop.clone()));
    if let Err(e) = measured {
        say(&Message::Failed {
            missing: e.is_missing(),
            storage: e.is_storage(),
            reason: e.to_string(),
        })?;
    }
    Ok(())
}

fn say(message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(message).expect("plain values are serialised");
    line.push(b'\n');
    io::stdout().lock().write_all(&line)
}

/// From now on the process may have threads: one of them waits for the input's end.
fn watch_input(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        // The content and errors do not matter: the controller wants to stop, or is gone.
        let _ = io::stdin().lock().read_line(&mut String::new());
        stop.store(true, Ordering::Relaxed);
    });
}
