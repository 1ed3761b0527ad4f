//! CPUs held at one frequency during a measurement: limits of cpufreq, set and undone through a journal.

use crate::facts::FileTree;
use crate::{HostError, Journal};
use std::path::PathBuf;
use worstcase_results::record::WasSet;

const KHZ: u64 = 1_000;

fn file(tree: &FileTree, cpu: u32, name: &str) -> PathBuf {
    tree.path(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}"))
}

fn read(tree: &FileTree, cpu: u32, name: &str) -> Option<u64> {
    tree.value(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}"))
}

/// Refuses a frequency that a CPU does not have; `who` names the requester.
pub fn check(tree: &FileTree, who: &str, cpus: &[u32], mhz: u32) -> Result<(), HostError> {
    for cpu in cpus {
        let ends = read(tree, *cpu, "cpuinfo_min_freq").zip(read(tree, *cpu, "cpuinfo_max_freq"));
        let Some((low, high)) = ends else {
            return Err(HostError::Missing(format!(
                "{who} needs cpufreq, and CPU {cpu} has none ({}); leave +mhz{mhz} out, or ask the lab: --mips",
                file(tree, *cpu, "cpuinfo_min_freq").display()
            )));
        };
        let khz = u64::from(mhz) * KHZ;
        if khz < low || khz > high {
            return Err(HostError::Argument(format!(
                "{who}: CPU {cpu} runs at {} to {} MHz, not at {mhz}",
                low.div_ceil(KHZ),
                high / KHZ
            )));
        }
    }
    Ok(())
}

/// Holds the CPUs at a frequency until the journal is finished.
pub(crate) fn hold(tree: &FileTree, journal: &mut Journal, cpus: &[u32], mhz: u32) -> Result<(), HostError> {
    let khz = u64::from(mhz) * KHZ;
    for cpu in cpus {
        let most = read(tree, *cpu, "scaling_max_freq").unwrap_or(0);
        // In this order the lower limit never exceeds the upper one, also when it is undone in reverse.
        let order = match khz < most {
            true => ["scaling_min_freq", "scaling_max_freq"],
            false => ["scaling_max_freq", "scaling_min_freq"],
        };
        for name in order {
            journal.set(&file(tree, *cpu, name), &khz.to_string())?;
        }
        for name in order {
            let now = read(tree, *cpu, name);
            if now != Some(khz) {
                let now = now.map_or("nothing".into(), |khz| format!("{khz} kHz"));
                return Err(HostError::Missing(format!(
                    "{} is {now} after {khz} was written: this machine's firmware or driver has the last word on it",
                    file(tree, *cpu, name).display()
                )));
            }
        }
    }
    Ok(())
}

/// The setting, for a record.
pub(crate) fn was_set(cpus: &[u32], mhz: u32) -> WasSet {
    WasSet {
        id: format!("cpu-speed={mhz}MHz"),
        made: cpus.len(),
        refused: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateFolder;
    use std::fs;

    /// A machine with two CPUs from 600 to 1000 MHz, and these limits now.
    fn machine(now: [&str; 2]) -> (tempfile::TempDir, FileTree) {
        let dir = tempfile::tempdir().unwrap();
        for cpu in 0..2 {
            let folder = dir.path().join(format!("root/sys/devices/system/cpu/cpu{cpu}/cpufreq"));
            fs::create_dir_all(&folder).unwrap();
            for (name, value) in [
                ("cpuinfo_min_freq", "600000"),
                ("cpuinfo_max_freq", "1000000"),
                ("scaling_min_freq", now[0]),
                ("scaling_max_freq", now[1]),
            ] {
                fs::write(folder.join(name), format!("{value}\n")).unwrap();
            }
        }
        let tree = FileTree::at(&dir.path().join("root"));
        (dir, tree)
    }

    fn limits(tree: &FileTree, cpu: u32) -> [Option<u64>; 2] {
        ["scaling_min_freq", "scaling_max_freq"].map(|name| read(tree, cpu, name))
    }

    #[test]
    fn a_series_of_speeds_is_held_and_set_back_each_time() {
        let before = [Some(700_000), Some(900_000)];
        let (dir, tree) = machine(["700000", "900000"]);
        let state = StateFolder::at(&dir.path().join("state")).unwrap();
        // A run has its own journal for everything else.
        let _of_the_run = Journal::begin(&state, "test").unwrap();
        for mhz in [600, 700, 800, 900, 1_000] {
            let mut journal = Journal::begin(&state, "test").unwrap();
            hold(&tree, &mut journal, &[0, 1], mhz).unwrap();
            let khz = Some(u64::from(mhz) * 1_000);
            assert_eq!([limits(&tree, 0), limits(&tree, 1)], [[khz; 2]; 2]);
            journal.finish().unwrap();
            assert_eq!([limits(&tree, 0), limits(&tree, 1)], [before; 2], "{mhz}");
        }
    }

    /// The kernel refuses a lower limit above the upper one, both when it is set and when it is undone.
    #[test]
    fn limits_never_cross() {
        for (now, mhz, first) in [
            (["600000", "1000000"], 700, "scaling_min_freq"),
            (["600000", "700000"], 900, "scaling_max_freq"),
        ] {
            let (dir, tree) = machine(now);
            let state = StateFolder::at(&dir.path().join("state")).unwrap();
            let mut journal = Journal::begin(&state, "test").unwrap();
            hold(&tree, &mut journal, &[0], mhz).unwrap();
            let undone: Vec<String> = journal.finish().unwrap().into_iter().map(|u| u.what).collect();
            let last = undone.last().unwrap();
            assert!(last.ends_with(first), "set first, set back last: {undone:?}");
        }
    }

    #[test]
    fn what_a_cpu_does_not_have_is_refused() {
        let (_dir, tree) = machine(["600000", "1000000"]);
        assert!(check(&tree, "switch:2x0+mhz600", &[0, 1], 600).is_ok());
        let error = |cpus: &[u32], mhz| check(&tree, "switch:2x0", cpus, mhz).unwrap_err().to_string();
        assert_eq!(
            error(&[0], 599),
            "switch:2x0: CPU 0 runs at 600 to 1000 MHz, not at 599"
        );
        assert!(error(&[1], 1_001).contains("not at 1001"));
        assert!(error(&[0, 7], 800).starts_with("switch:2x0 needs cpufreq, and CPU 7 has none ("));
    }
}
