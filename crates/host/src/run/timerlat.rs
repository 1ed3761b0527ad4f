//! Prepares what the kernel's timerlat tracer needs; the journal undoes all of it.

use crate::HostSpec;
use crate::trace::timerlat_available;
use crate::{HostError, Journal};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::unforeseen;

const TRACEFS: &str = "/sys/kernel/tracing";

/// Whether this kernel has the tracer, and this user may use it.
pub fn check() -> Result<(), HostError> {
    match timerlat_available() {
        Ok(true) if Path::new(TRACEFS).join("osnoise").is_dir() => Ok(()),
        Ok(true) => Err(HostError::Missing(format!(
            "tracefs is not mounted at {TRACEFS}, or not for you; run as root: mount -t tracefs tracefs {TRACEFS}"
        ))),
        Ok(false) => Err(HostError::Missing(
            "this kernel has no timerlat tracer (CONFIG_TIMERLAT_TRACER); use --probe response".into(),
        )),
        Err(e) => Err(HostError::Missing(e.to_string())),
    }
}

/// Makes an instance for the tracer and sets its period and CPUs.
pub fn prepare(spec: &HostSpec, journal: &mut Journal) -> Result<PathBuf, HostError> {
    let tracefs = Path::new(TRACEFS);
    if let Some(user) = user(tracefs) {
        return Err(HostError::Missing(format!(
            "timerlat or osnoise is in use ({}), and their settings are shared; end that first",
            user.display()
        )));
    }
    let cpus: Vec<String> = spec.cpus.iter().map(u32::to_string).collect();
    let settings = [
        ("cpus", cpus.join(",")),
        ("timerlat_period_us", (spec.interval.0 / 1_000).to_string()),
        // A tracer that stops by itself would look like missed periods.
        ("stop_tracing_us", "0".to_string()),
        ("stop_tracing_total_us", "0".to_string()),
        ("print_stack", "0".to_string()),
    ];
    for (file, value) in settings {
        journal.set(&tracefs.join("osnoise").join(file), &value)?;
    }
    let instances = tracefs.join("instances");
    let name = unforeseen::name("worstcase-").map_err(|source| HostError::Read {
        path: instances.clone(),
        source,
    })?;
    let instance = instances.join(&name);
    journal.make_tracing(&name, &instance)?;
    Ok(instance)
}

/// Another instance in which timerlat or osnoise runs.
fn user(tracefs: &Path) -> Option<PathBuf> {
    let instances = fs::read_dir(tracefs.join("instances")).into_iter().flatten().flatten();
    let mut all = std::iter::once(tracefs.to_path_buf()).chain(instances.map(|entry| entry.path()));
    all.find(|instance| {
        let tracer = fs::read_to_string(instance.join("current_tracer")).unwrap_or_default();
        matches!(tracer.trim(), "timerlat" | "osnoise")
    })
}
