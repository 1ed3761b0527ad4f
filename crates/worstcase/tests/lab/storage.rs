//! Disks that are full or read-only, and files that were cut short: never read as results.

use crate::controller::{Controller, GENERIC, entries, folder, give_boot, link_kernels, qemu_that, shared};
use crate::failures::{failure, one_line};
use assert_cmd::Command;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command as Program;

fn cell() -> String {
    format!("--kernel {GENERIC} --preempt full --samples 200 --seeds 1")
}

/// Cuts a file to half its length.
fn cut(file: &Path) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

/// Flips a bit in its middle; of guest memory one that is written to.
fn flip(file: &Path) {
    let length = fs::metadata(file).unwrap().len();
    let file = File::options().read(true).write(true).open(file).unwrap();
    let data = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(0)).unwrap();
    let at = if length > 1 << 28 { data + 4_096 } else { length / 2 };
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
}

/// Runs the cell, which succeeds, and says in one line what was made again, or nothing.
fn again(controller: &Controller, run: &Path, says: &[&str]) {
    let _ = fs::remove_dir_all(run);
    let ended = controller.run(&cell(), run).assert().success();
    let told = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
    assert_eq!(told.lines().count(), usize::from(!says.is_empty()), "{told}");
    assert!(says.iter().all(|word| told.contains(word)), "{told}");
}

/// Whether two runs have the same bytes; then the second goes.
fn same(first: &Path, second: &Path) {
    assert!(crate::controller::tree(first) == crate::controller::tree(second));
    fs::remove_dir_all(second).unwrap();
}

/// The one entry of a folder.
fn only_entry(folder: &Path) -> PathBuf {
    let names = entries(folder);
    assert_eq!(names.len(), 1, "{names:?}");
    folder.join(&names[0])
}

#[test]
fn a_cache_that_cannot_be_written() {
    let folder = folder();
    // A file where the folder should be stops root as well.
    fs::write(folder.path().join("file"), "").unwrap();
    let mut command = shared().run(&cell(), &folder.path().join("run"));
    command.env("WORSTCASE_CACHE", folder.path().join("file/cache"));
    one_line(command, 5, &["cannot write to the cache", "WORSTCASE_CACHE"]);
}

#[test]
fn damage_in_the_cache_and_in_the_run_is_found_and_mended() {
    let (controller, folder) = (Controller::booted(), folder());
    let at = |name: &str| folder.path().join(name);
    controller.run(&cell(), &at("run")).assert().success();

    // A cell is read from the cache; a run of a cell that is not there reads the snapshot.
    let cells = controller.cache().join("cells");
    let snapshot = only_entry(&controller.cache().join("snapshots"));
    let kept = only_entry(&cells);
    for file in ["record", "events", "console"] {
        for harm in [cut, flip] {
            harm(&kept.join(file));
            again(
                &controller,
                &at("second"),
                &[kept.to_str().unwrap(), "the cell is measured again"],
            );
            same(&at("run"), &at("second"));
        }
    }
    // QEMU would fill up a memory file that was cut short with zeros and run on.
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 2] = [("memory", cut), ("state", flip)];
    let says = [snapshot.to_str().unwrap(), "the subject is booted again"];
    // The boot would be as the one below: here it ends at once.
    qemu_that("exit 1", &at("qemu"));
    for (file, harm) in harms {
        fs::remove_dir_all(&kept).unwrap();
        harm(&snapshot.join(file));
        let mut boots = controller.run(&cell(), &at("broken"));
        boots.arg("--qemu").arg(at("qemu"));
        let failed = failure(boots, 4);
        assert!(says.iter().all(|word| failed.line.contains(word)), "{}", failed.line);
        assert!(failed.console.contains("QEMU ended unexpectedly"), "{}", failed.console);
        give_boot(controller.cache());
        again(&controller, &at("second"), &[]);
    }
    fs::remove_dir_all(&kept).unwrap();
    flip(&snapshot.join("memory"));
    again(&controller, &at("second"), &says);
    same(&at("run"), &at("second"));
    controller.run(&cell(), &at("second")).assert().success().stderr("");

    let measured = only_entry(&at("run/cells"));
    for file in ["record.json", "samples.parquet", "SHA256SUMS"] {
        let whole = fs::read(measured.join(file)).unwrap();
        cut(&measured.join(file));
        let says = ["is damaged", "aside", measured.to_str().unwrap()];
        one_line(controller.run(&cell(), &at("run")), 2, &says);
        fs::write(measured.join(file), whole).unwrap();
    }
    fs::remove_dir_all(&measured).unwrap();
    controller.run(&cell(), &at("run")).assert().success();
    assert!(crate::controller::tree(&at("run")) == crate::controller::tree(&at("second")));
}

/// A disk of its own, in memory; only root can have one.
struct MemoryDisk(PathBuf);

impl MemoryDisk {
    fn mount(place: &Path, size: &str) -> Result<MemoryDisk, &'static str> {
        fs::create_dir_all(place).unwrap();
        let mut mount = Program::new("mount");
        mount
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={size},mode=755"))
            .arg("worstcase-test")
            .arg(place);
        match mount.output().is_ok_and(|out| out.status.success()) {
            true => Ok(MemoryDisk(place.to_path_buf())),
            false => Err("mounting a tmpfs needs root"),
        }
    }

    fn resize(&self, size: &str) {
        let mut mount = Program::new("mount");
        mount.arg("-o").arg(format!("remount,size={size}")).arg(&self.0);
        assert!(mount.status().unwrap().success());
    }

    fn used_kib(&self) -> u64 {
        let stat = rustix::fs::statvfs(&self.0).unwrap();
        (stat.f_blocks - stat.f_bfree) * stat.f_frsize / 1024
    }
}

impl Drop for MemoryDisk {
    fn drop(&mut self) {
        let _ = Program::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_is_full_of_cache() {
    let folder = folder();
    let disk = worstcase_skips::or_skip!(MemoryDisk::mount(&folder.path().join("disk"), "100m"));
    link_kernels(&disk.0);
    let at_disk = |run: &str| -> Command {
        let mut command = shared().run(&cell(), &folder.path().join(run));
        command.env("WORSTCASE_CACHE", &disk.0);
        command
    };
    let says = ["the disk is full", "WORSTCASE_CACHE"];
    // Not enough for a machine's memory: refused before QEMU, which would die of it, is started at all.
    let broken = folder.path().join("qemu");
    qemu_that("exit 1", &broken);
    let mut refused = at_disk("run");
    refused.arg("--qemu").arg(&broken);
    one_line(refused, 5, &says);
    disk.resize("1300m");
    give_boot(&disk.0);
    at_disk("run").assert().success();
    // Enough for nothing more: the cell cannot be kept.
    fs::remove_dir_all(disk.0.join("cells")).unwrap();
    disk.resize(&format!("{}k", disk.used_kib() + 8));
    one_line(at_disk("second"), 5, &says);
    assert_eq!(entries(&disk.0.join("cells")), Vec::<String>::new());
    disk.resize("1300m");
    at_disk("second").assert().success();

    // What can be made again gives way to what is asked for: a warm machine of a cell that nobody asks for now.
    for area in ["cells", "snapshots"] {
        fs::remove_dir_all(disk.0.join(area)).unwrap();
    }
    let warm = disk.0.join("warm/old");
    fs::create_dir_all(&warm).unwrap();
    fs::write(warm.join("pages"), vec![1; 300 << 20]).unwrap();
    disk.resize(&format!("{}k", disk.used_kib() + (1_100 << 10)));
    at_disk("third").assert().success();
    assert!(!warm.exists());
}

#[test]
fn a_disk_that_is_full_of_results() {
    let folder = folder();
    let disk = worstcase_skips::or_skip!(MemoryDisk::mount(&folder.path().join("disk"), "48k"));
    let run = disk.0.join("run");
    let four = cell().replace("--seeds 1", "--seeds 4");
    one_line(
        shared().run(&four, &run),
        5,
        &["No space left on device", run.to_str().unwrap()],
    );
    let done = entries(&run.join("cells")).len();
    assert!(done < 4, "{done} cells fit");
    disk.resize("1m");
    shared().run(&four, &run).assert().success();
    assert_eq!(entries(&run.join("cells")).len(), 4);
}
