//! Where these tests work: caches that share the downloaded kernels and nothing else.

use assert_cmd::Command;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use worstcase_results::record::{Record, Run};

/// The generic kernel, which boots none, voluntary and full, and its twin with PREEMPT_RT.
pub const GENERIC: &str = "debian:6.1";
pub const RT: &str = "debian:6.1-rt";
/// The smallest of the archive that loads schedulers of tasks.
pub const LOADS_SCHEDULERS: &str = "debian:6.18-cloud";

/// A cache of worstcase's, with the kernels in it.
pub struct Controller {
    cache: PathBuf,
    /// Removes the cache when dropped, or keeps other test processes out of it.
    _keep: Box<dyn Send + Sync>,
}

/// The subject that most tests are about, and which a [`Controller::booted`] has.
const USUAL: &str = "--kernel debian:6.1 --preempt full";

/// The controller of most tests: what one test booted, the others need not boot again.
pub fn shared() -> &'static Controller {
    static CONTROLLER: OnceLock<Controller> = OnceLock::new();
    CONTROLLER.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab");
        let lock = File::create(cache.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        // A static is never dropped: what the run before left goes now.
        let _ = fs::remove_dir_all(&cache);
        let usual = usual(&cache);
        fs::create_dir_all(&usual).unwrap();
        let booted = Controller::at(usual, ());
        booted.measure(&format!("{USUAL} --load idle --samples 1 --seeds 1"));
        copy_boot(&booted.cache, &cache);
        Controller::at(cache, lock)
    })
}

/// The cache in which nothing but [`USUAL`] is booted. A boot is six seconds of CPU time, and many tests have caches of their
/// own in which the boot is not what they test: they copy this one.
fn usual(shared: &Path) -> PathBuf {
    shared.join("usual")
}

/// Gives the boot of [`USUAL`] to a cache with which nobody works.
pub fn give_boot(cache: &Path) {
    copy_boot(&usual(&shared().cache), cache);
}

/// Copies what a cache has of its boots.
fn copy_boot(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut cp = std::process::Command::new("cp");
    // A machine's memory is a sparse file, which the user that QEMU is may read.
    cp.args(["--archive", "--sparse=always", "--reflink=auto"]);
    cp.args(["snapshots", "boots", "ready"].map(|area| from.join(area)));
    assert!(
        cp.arg(to).status().unwrap().success(),
        "{} cannot be copied",
        from.display()
    );
}

/// An empty folder on the disk of the build, which has room for a machine's memory.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // A QEMU of root's is another user, and may be in it.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A kernel's files, as `worstcase kernels show --json` names them; downloaded if this machine has none yet.
pub struct ListedKernelFiles {
    pub bzimage: PathBuf,
    pub config: PathBuf,
    /// Its entry of the user's cache.
    entry: PathBuf,
}

pub fn kernel(name: &str) -> ListedKernelFiles {
    let output = Command::cargo_bin("worstcase")
        .unwrap()
        .args(["kernels", "show", "--json", name])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the lab's tests need {name}, from Debian's archive or the cache: {said}"
    );
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let path = |key: &str| PathBuf::from(shown[key].as_str().unwrap_or_else(|| panic!("no {key} in {shown}")));
    let bzimage = path("bzimage");
    let entry = bzimage.ancestors().find(|p| p.join("manifest.json").is_file());
    ListedKernelFiles {
        entry: entry.expect("a kernel of the archive is an entry of the cache").into(),
        config: path("config"),
        bzimage,
    }
}

impl Controller {
    /// A controller of the test's own: it has booted and measured nothing.
    pub fn fresh() -> Controller {
        let folder = folder();
        Controller::at(folder.path().into(), folder)
    }

    /// One that has booted [`USUAL`], and measured nothing: for tests of what comes after a boot. What they do to its files is
    /// done to copies.
    pub fn booted() -> Controller {
        let controller = Controller::fresh();
        give_boot(&controller.cache);
        controller
    }

    /// One that has no snapshot, but knows what the boots of the shared one came to: its own must come to the same.
    pub fn held_to_shared() -> Controller {
        let controller = Controller::fresh();
        controller.link("boots");
        controller
    }

    /// One that works with the snapshots of the shared one, and measured nothing.
    pub fn on_shared_snapshots() -> Controller {
        let controller = Controller::held_to_shared();
        controller.link("snapshots");
        controller
    }

    /// Links to all that an area of the shared one has now.
    fn link(&self, area: &str) {
        let (from, to) = (shared().cache.join(area), self.cache.join(area));
        fs::create_dir_all(&to).unwrap();
        for key in entries(&from) {
            std::os::unix::fs::symlink(from.join(&key), to.join(&key)).unwrap();
        }
    }

    fn at(cache: PathBuf, keep: impl Send + Sync + 'static) -> Controller {
        let qemu = std::process::Command::new("qemu-system-x86_64")
            .arg("--version")
            .output();
        assert!(qemu.is_ok(), "the lab's tests need QEMU: run 'make prepare'");
        link_kernels(&cache);
        Controller {
            cache,
            _keep: Box::new(keep),
        }
    }

    /// The cache's folder.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// `worstcase ...` with this controller's cache; `words` are separated by spaces.
    pub fn worstcase(&self, words: &str) -> Command {
        let mut command = Command::cargo_bin("worstcase").unwrap();
        // Whether there is a line of progress depends on how busy the machine is.
        command
            .arg("--quiet")
            .args(words.split_whitespace())
            .env("WORSTCASE_CACHE", &self.cache);
        command
    }

    /// `worstcase lab run ... --output RUN`, with one job unless the words say another number.
    pub fn run(&self, words: &str, run: &Path) -> Command {
        let jobs = if words.contains("--jobs") { "" } else { "--jobs 1" };
        let mut command = self.worstcase(&format!("lab run {jobs} {words}"));
        command.arg("--output").arg(run);
        command
    }

    /// Measures, and gives the records in the plan's order.
    pub fn measure(&self, words: &str) -> Vec<Record> {
        let folder = folder();
        let run = folder.path().join("run");
        self.run(words, &run).assert().success();
        Run::open(&run).unwrap().records().unwrap()
    }
}

/// Makes the downloaded kernels known to a cache.
pub fn link_kernels(cache: &Path) {
    let kernels = cache.join("kernels");
    fs::create_dir_all(&kernels).unwrap();
    for name in [GENERIC, RT, LOADS_SCHEDULERS] {
        link_kernel(cache, name);
    }
}

/// Makes another one known to it.
pub fn link_kernel(cache: &Path, name: &str) {
    let entry = kernel(name).entry;
    let link = cache.join("kernels").join(entry.file_name().unwrap());
    std::os::unix::fs::symlink(&entry, link).unwrap();
}

/// The newest generic kernel of the archive, with its series; none where the archive cannot be read.
pub fn newest() -> Option<(String, (u32, u32))> {
    let output = Command::cargo_bin("worstcase")
        .unwrap()
        .args(["kernels", "list", "--json"])
        .output();
    let list: serde_json::Value = serde_json::from_slice(&output.ok()?.stdout).ok()?;
    let generic = list.as_array()?.iter().find(|entry| entry["flavour"] == "generic")?;
    let (major, minor) = generic["series"].as_str()?.split_once('.')?;
    Some((
        generic["name"].as_str()?.into(),
        (major.parse().ok()?, minor.parse().ok()?),
    ))
}

/// An executable shell script.
pub fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A program that is the real QEMU as long as it gets no machine, and then does `instead`.
pub fn qemu_that(instead: &str, path: &Path) {
    let alone = "case \"$*\" in --version|'-L help'|*'-machine none'*) exec qemu-system-x86_64 \"$@\";; esac";
    script(path, &format!("{alone}\n{instead}"));
}

/// All files below a folder with their bytes, and all folders with none.
pub fn tree(folder: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut ahead = vec![folder.to_path_buf()];
    while let Some(path) = ahead.pop() {
        let name = path.strip_prefix(folder).unwrap().to_path_buf();
        if path.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            found.insert(name, Vec::new());
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Names in a folder but hidden ones; none if there is no such folder.
pub fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names.map(|e| e.file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

/// Waits until something has come; the limit is far beyond what a busy machine needs.
pub fn wait_until(what: &str, mut come: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !come() {
        assert!(begin.elapsed() < Duration::from_secs(900), "{what} did not come");
        sleep(Duration::from_millis(50));
    }
}
