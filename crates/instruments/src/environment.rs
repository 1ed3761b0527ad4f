//! What the machine says of itself, for the record.

use crate::sys::clock::{self, Clock};
use std::collections::BTreeMap;
use std::fs;

/// All that is known; a key that cannot be read is left out.
pub fn read() -> BTreeMap<String, String> {
    let file = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_string());
    let version = file("/proc/sys/kernel/version");
    let dynamic = file("/sys/kernel/debug/sched/preempt").and_then(|text| chosen(&text));
    let real_time = file("/sys/kernel/realtime").as_deref() == Some("1");
    let resolution = |clock| clock::resolution(clock).ok().map(|n| n.0);
    let facts = [
        ("release", file("/proc/sys/kernel/osrelease")),
        (
            "preempt",
            preemption(version.as_deref().unwrap_or(""), real_time, dynamic.as_deref()),
        ),
        ("version", version),
        (
            "clocksource",
            file("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ),
        (
            "clock_resolution_ns",
            resolution(Clock::Monotonic).map(|n| n.to_string()),
        ),
        // The coarse clock moves with the tick, so its resolution is the tick's length.
        (
            "hz",
            resolution(Clock::Tick)
                .filter(|n| *n > 0)
                .map(|n| (1_000_000_000 / n).to_string()),
        ),
        ("cmdline", file("/proc/cmdline")),
        ("mem_total_kb", file("/proc/meminfo").and_then(|text| mem_total(&text))),
        ("cpus", std::thread::available_parallelism().ok().map(|n| n.to_string())),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_string(), value?)));
    facts.chain(mitigations()).collect()
}

/// What the kernel does against each bug of the CPU.
fn mitigations() -> Vec<(String, String)> {
    let Ok(folder) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else {
        return Vec::new();
    };
    let bug = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let says = fs::read_to_string(entry.path()).ok()?;
        Some((format!("bug.{}", entry.file_name().display()), says.trim().to_string()))
    };
    folder.filter_map(bug).collect()
}

/// The mode in brackets of "none voluntary (full)".
fn chosen(modes: &str) -> Option<String> {
    let (_, rest) = modes.split_once('(')?;
    Some(rest.split_once(')')?.0.to_string())
}

/// The preemption model in force: `none`, `voluntary`, `full`, `lazy` or `rt`, as far as the kernel tells.
fn preemption(version: &str, real_time: bool, dynamic: Option<&str>) -> Option<String> {
    let has = |word: &str| version.split_ascii_whitespace().any(|w| w == word);
    let model = if real_time || has("PREEMPT_RT") || has("PREEMPT_{RT,LAZY}") {
        // From 6.13 on RT kernels may be lazy too: both are said.
        return Some(match dynamic {
            Some("lazy") => "rt lazy".into(),
            _ => "rt".into(),
        });
    } else if let Some(mode) = dynamic {
        mode
    } else if has("PREEMPT_DYNAMIC") {
        "one of the dynamic ones (unknown: debugfs is not readable)"
    } else if has("PREEMPT_LAZY") {
        "lazy"
    } else if has("PREEMPT") {
        "full"
    } else if version.is_empty() {
        return None;
    } else {
        "none or voluntary"
    };
    Some(model.to_string())
}

fn mem_total(meminfo: &str) -> Option<String> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preemption_model_is_the_one_in_force() {
        let model = |version, real_time, dynamic| preemption(version, real_time, dynamic).unwrap();
        let mode = chosen("none voluntary (full)");
        assert_eq!(model("#1 SMP PREEMPT_DYNAMIC Debian", false, mode.as_deref()), "full");
        assert!(model("#1 SMP PREEMPT_DYNAMIC Debian", false, None).contains("unknown"));
        assert_eq!(model("#1 SMP PREEMPT_RT Debian", false, None), "rt");
        assert_eq!(model("#1 SMP PREEMPT_RT Debian", true, Some("full")), "rt");
        assert_eq!(model("#1 SMP PREEMPT_RT Debian", true, Some("lazy")), "rt lazy");
        assert_eq!(model("#1 SMP PREEMPT Debian", false, None), "full");
        assert_eq!(model("#1 SMP Debian", false, None), "none or voluntary");
        assert_eq!(preemption("", false, None), None);
    }

    #[test]
    fn the_machine_of_the_tests_says_the_main_things() {
        let facts = read();
        for key in [
            "release",
            "version",
            "clock_resolution_ns",
            "hz",
            "mem_total_kb",
            "cpus",
        ] {
            assert!(
                facts.get(key).is_some_and(|value| !value.is_empty()),
                "{key}: {facts:?}"
            );
        }
    }
}
