//! The occupant: a process that keeps CPUs busy with one thread each, which never calls the kernel.
//!
//! It is `worstcase host-occupant CPUS`, a process of its own, so that changes to worstcase's own memory send no interrupts
//! to these threads. It ends when its standard input ends, which happens however worstcase ends.

use crate::{CpuList, HostError};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_instruments::sys::affinity;

/// The occupant prints this when every thread is on its CPU.
const READY: &[u8] = b"ready\n";

/// A running occupant; ended when dropped.
#[derive(Debug)]
pub(crate) struct Occupant(Child);

impl Occupant {
    /// Starts it, and returns when all CPUs are occupied.
    pub(crate) fn start(cpus: &CpuList) -> Result<Occupant, HostError> {
        let failed = |e: io::Error| HostError::Worker(format!("CPUs {cpus} cannot be occupied: {e}"));
        // A new build may have replaced the file at our path.
        let mut process = Command::new("/proc/self/exe")
            .arg0("worstcase")
            .arg("host-occupant")
            .arg(cpus.to_string())
            // Ctrl-C must reach worstcase alone, which ends the occupant.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let output = process.stdout.take().expect("piped");
        let occupant = Occupant(process);
        let mut said = Vec::new();
        output.take(READY.len() as u64).read_to_end(&mut said).map_err(failed)?;
        match said == READY {
            true => Ok(occupant),
            false => Err(failed(io::Error::other("it ended at once"))),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Occupant {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Waiting fails only if the occupant was waited for before.
        let _ = self.0.wait();
    }
}

/// Runs the occupant to its end.
pub fn run(cpus: &CpuList) -> io::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let (ready, count) = std::sync::mpsc::channel();
    let mut threads = Vec::new();
    for cpu in cpus.iter() {
        let (stop, ready) = (stop.clone(), ready.clone());
        threads.push(std::thread::spawn(move || {
            let placed = affinity::set(&[cpu]);
            let is_placed = placed.is_ok();
            // The starting thread waits for this.
            let _ = ready.send(placed);
            while is_placed && !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }));
    }
    let placed: io::Result<Vec<()>> = count.iter().take(threads.len()).collect();
    if placed.is_ok() {
        let mut out = io::stdout();
        out.write_all(READY)?;
        out.flush()?;
        io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    }
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("it only spins");
    }
    placed.map(|_| ())
}
