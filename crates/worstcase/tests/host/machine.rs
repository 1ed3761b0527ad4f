//! A virtual machine of two CPUs with a stock kernel, in which a script types worstcase's commands.

use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use worstcase_lab::cpio::CpioArchive;

/// What scripts may type besides worstcase.
const PROGRAMS: [&str; 8] = ["sh", "mount", "mkdir", "grep", "cat", "sleep", "stty", "taskset"];
const KERNEL: &str = "debian:6.1";
/// It takes some ten seconds; a machine that hangs is ended after this.
const PATIENCE: &str = "600";

/// A machine that has ended.
pub struct EndedMachine {
    /// All that its script said.
    pub said: String,
}

impl EndedMachine {
    /// Boots with these parameters, runs the script, and waits for its end.
    pub fn boot(parameters: &str, script: &str) -> EndedMachine {
        let qemu = ["qemu-system-x86_64", "-cpu", "max"];
        EndedMachine::of(&qemu, "ttyS0", &kernel(), &image(script), parameters)
    }

    /// The same with the kernel and the initramfs of any machine that this command line of QEMU begins.
    pub fn of(qemu: &[&str], console: &str, kernel: &Path, image: &[u8], parameters: &str) -> EndedMachine {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (initramfs, output) = (folder.path().join("initramfs"), folder.path().join("console"));
        fs::write(&initramfs, image).unwrap();
        let status = Command::new("timeout")
            .arg(PATIENCE)
            .args(qemu)
            .args(["-nodefaults", "-no-user-config", "-no-reboot"])
            .args(["-display", "none", "-accel", "tcg", "-smp", "2", "-m", "1024"])
            .arg("-kernel")
            .arg(kernel)
            .arg("-initrd")
            .arg(&initramfs)
            .arg("-serial")
            .arg(format!("file:{}", output.display()))
            .args(["-append", &format!("console={console} quiet panic=-1 {parameters}")])
            .stdin(Stdio::null())
            .status();
        let said = fs::read_to_string(output).unwrap_or_default().replace('\r', "");
        assert!(
            status.is_ok_and(|s| s.success()),
            "the tests of isolated CPUs need QEMU: run 'make prepare'; {said}"
        );
        EndedMachine { said }
    }

    /// What was said after the line `== NAME`.
    pub fn part(&self, name: &str) -> &str {
        let begin = format!("== {name}\n");
        let from = self
            .said
            .find(&begin)
            .unwrap_or_else(|| panic!("no {name} in {}", self.said));
        let rest = &self.said[from + begin.len()..];
        rest.split("== ").next().unwrap_or(rest)
    }
}

fn kernel() -> PathBuf {
    let output = Command::new(cargo_bin("worstcase"))
        .args(["kernels", "show", "--json", KERNEL])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    PathBuf::from(shown["bzimage"].as_str().unwrap())
}

fn image(script: &str) -> Vec<u8> {
    let mut files: BTreeSet<(String, PathBuf)> = BTreeSet::new();
    let worstcase = cargo_bin("worstcase");
    let system = PROGRAMS.map(on_path);
    for program in system.iter().chain([&worstcase]) {
        let name = program.file_name().unwrap().to_str().unwrap();
        files.insert((format!("bin/{name}"), program.clone()));
        files.extend(libraries(program).map(|library| (library.trim_start_matches('/').to_string(), library.into())));
    }
    let mut folders: BTreeSet<String> = ["proc", "sys", "dev", "tmp", "run"].map(String::from).into();
    for (name, _) in &files {
        let above = Path::new(name).ancestors().skip(1).filter(|p| *p != Path::new(""));
        folders.extend(above.map(|p| p.display().to_string()));
    }
    let mut archive = CpioArchive::default();
    folders.iter().for_each(|folder| archive.directory(folder));
    for (name, path) in &files {
        archive.file(name, &fs::read(path).unwrap());
    }
    archive.file("init", init("#!/bin/sh\n", "ttyS0", script).as_bytes());
    archive.finish()
}

/// The machine is reset as soon as its serial port has sent all: stty waits for that.
pub fn init(shell: &str, console: &str, script: &str) -> String {
    format!(
        "{shell}export PATH=/bin\nmount -t proc proc /proc\nmount -t sysfs sys /sys\nmount -t devtmpfs dev /dev\n\
         mount -t tmpfs tmp /tmp\nmount -t cgroup2 cgroup /sys/fs/cgroup\nexec > /dev/{console} 2>&1\n{script}\n\
         echo '== end'\nstty cs8 < /dev/{console}\necho b > /proc/sysrq-trigger\nsleep 600\n"
    )
}

fn on_path(program: &str) -> PathBuf {
    let mut folders = ["/bin", "/usr/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(program));
    folders
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no {program} here"))
}

/// The shared libraries that a program needs.
fn libraries(program: &Path) -> impl Iterator<Item = String> {
    let output = Command::new("ldd").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let paths: Vec<String> = text
        .lines()
        .filter_map(|line| {
            line.split_whitespace()
                .find(|word| word.starts_with('/'))
                .map(String::from)
        })
        .collect();
    paths.into_iter()
}
