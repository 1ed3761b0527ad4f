//! The exit codes that scripts decide by: wrong input is 2 and what may not be written 5, whatever the command.

use crate::fixture::write;
use crate::program::copy_to;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use worstcase_skips::is_root;

/// The user who may not write, where the tests run as root.
const NOBODY: u32 = 65_534;

/// Each command that reads a file or folder of the user's. NONE is none, RUN is a run.
const READERS: [&str; 36] = [
    "show NONE",
    "report NONE -o page.html",
    "verdict NONE --criterion 1ms",
    "compare NONE RUN",
    "compare RUN NONE",
    "gate NONE --write-baseline baseline.json",
    "gate NONE --baseline RUN",
    "gate RUN --baseline NONE",
    "history NONE",
    "plot NONE",
    "explain NONE",
    "explain RUN --compare NONE",
    "explain RUN --against NONE",
    "report RUN --against NONE -o page.html",
    "census NONE",
    "census RUN --cell 6.1.0-50-amd64.none.shm.wakeup.s1 --diff NONE",
    "import NONE",
    "import NONE --format cyclictest",
    "study show NONE.toml",
    "study run NONE.toml",
    "study run NONE.toml --host",
    "kernels show NONE",
    "kernels get NONE",
    "kernels list --kernels NONE",
    "lab run --kernel NONE",
    "lab run --kernel NONE,config=NONE",
    "lab run --kernel debian:6.1 --add NONE",
    "lab run --kernel debian:6.1 --module NONE.ko",
    "lab run --kernel debian:6.1 --qemu NONE",
    "lab verify --kernel NONE",
    "lab sensitivity NONE",
    "bisect --kernels NONE --good a --bad b --load fork --criterion 1us",
    "bisect --tree NONE --config NONE --good a --bad b --load fork --criterion 1us",
    "bisect --step NONE --load fork --criterion 1us",
    "bisect --good debian:6.1@1 --bad debian:6.1@2 --load cmd:/x --add RUN/run.json:/x --load-source NONE",
    "host run --on localhost --on-executable NONE",
];

/// Each command that writes where the user says: OUT is in a folder that may not be written.
const WRITERS: [&str; 22] = [
    "report RUN -o OUT.html",
    "plot RUN -o OUT",
    "gate RUN --write-baseline OUT",
    "gate RUN --baseline RUN --junit OUT",
    "gate RUN --baseline RUN --markdown OUT",
    "history RUN -o OUT.svg",
    "man -o OUT",
    "import DATA/cyclictest-histogram.txt -o OUT",
    "lab run --kernel debian:6.1 -o OUT",
    "lab run --kernel debian:6.1 -o OUT/below/it",
    "study run preemption-models --quick -o OUT",
    "study run realfeel-jitter --host --quick -o OUT",
    "bisect --good debian:6.1@1 --bad debian:6.1@2 --load fork --criterion 1us -o OUT",
    "host run --time 1s -o OUT",
    "host run --on localhost -o OUT",
    "host watch --time 1s -o OUT",
    "host watch --time 1s -o watch --textfile OUT",
    "host isolate --cpus 0 -o OUT",
    "host calibrate -o OUT",
    "host follow --time 1s -o OUT -- true",
    "host try --switch true --back true --time 1s --rounds 1 -o OUT",
    "kernels get debian:6.1",
];

/// Each command that begins a folder of its own, given one that holds a run.
const BEGINNERS: [&str; 8] = [
    "import DATA/cyclictest-histogram.txt -o RUN",
    "host run --time 1s -o RUN",
    "host run --on localhost -o RUN",
    "host watch --time 1s -o RUN",
    "host check --period 1ms --deadline 1ms --time 1s -o RUN",
    "host isolate --cpus 0 --time 1s -o RUN",
    "host follow --time 1s -o RUN -- true",
    "host try --switch true --back true --time 1s --rounds 1 -o RUN",
];

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("run"));
        for name in ["here", "locked", "home"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let place = Place { dir };
        // Where the tests run from may not be for everybody.
        copy_to(&place.at("worstcase"));
        for (name, mode) in [("", 0o755), ("here", 0o777), ("home", 0o777), ("locked", 0o555)] {
            fs::set_permissions(place.at(name), Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Types the words as a user without rights.
    fn types(&self, words: &str, cache: &Path) -> Output {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/data");
        let said = |path: PathBuf| path.display().to_string();
        let words = words
            .replace("RUN", &said(self.at("run")))
            .replace("NONE", &said(self.at("none")))
            .replace("OUT", &said(self.at("locked/out")))
            .replace("DATA", &said(data));
        let mut command = Command::new(self.at("worstcase"));
        command.args(words.split_whitespace()).current_dir(self.at("here"));
        command.env("WORSTCASE_CACHE", cache).env("HOME", self.at("home"));
        command.env_remove("XDG_STATE_HOME").env("WORSTCASE_TRUST_OTHERS", "1");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap()
    }

    /// What ends with another code than `code`, or says more than a line, or leaves anything.
    fn wrong(&self, words: &[&str], code: i32, cache: &Path) -> Vec<String> {
        let judge = |words: &&str| {
            let output = self.types(words, cache);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let lines = said
                .lines()
                .filter(|line| !line.contains("apt") && !line.contains("note: "));
            let is_right = output.status.code() == Some(code) && lines.count() == 1 && !said.contains("/proc/");
            (!is_right).then(|| format!("{words}: {:?}: {said}", output.status))
        };
        let mut wrong: Vec<String> = words.iter().filter_map(judge).collect();
        wrong.extend(
            fs::read_dir(self.at("here"))
                .unwrap()
                .flatten()
                .map(|left| format!("left: {left:?}")),
        );
        wrong
    }
}

#[test]
fn a_file_that_is_not_there_is_wrong_input() {
    let place = Place::new();
    let wrong = place.wrong(&READERS, 2, &place.at("home/cache"));
    // git takes other numbers for answers.
    let (step, wrong): (Vec<_>, Vec<_>) = wrong.into_iter().partition(|said| said.starts_with("bisect --step"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(step[0].contains("unix_wait_status(33280)"), "128 and 2: {step:#?}");
}

#[test]
fn what_may_not_be_written_is_5() {
    let place = Place::new();
    let (none, cached): (Vec<&str>, Vec<&str>) = WRITERS.iter().partition(|words| !words.starts_with("kernels"));
    let mut wrong = place.wrong(&none, 5, &place.at("home/cache"));
    wrong.extend(place.wrong(&cached, 5, &place.at("locked/cache")));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_command_puts_its_own_into_anothers_run() {
    let place = Place::new();
    let wrong = place.wrong(&BEGINNERS, 2, &place.at("home/cache"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    for words in BEGINNERS {
        let said = String::from_utf8(place.types(words, &place.at("home/cache")).stderr).unwrap();
        assert!(said.contains("another folder"), "{words}: {said}");
        assert!(
            !said.contains("--resume") || words.starts_with("host run --time") || words.starts_with("host watch"),
            "{words}: {said}"
        );
    }
}

#[test]
fn who_reads_the_errors_may_be_gone_and_their_disk_full() {
    let place = Place::new();
    let (reader, gone) = std::io::pipe().unwrap();
    drop(reader);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for errors in [Stdio::from(gone), Stdio::from(full)] {
        let mut command = Command::new(place.at("worstcase"));
        command
            .args(["show", "none"])
            .current_dir(place.at("here"))
            .stderr(errors);
        assert_eq!(command.status().unwrap().code(), Some(2));
    }
}
