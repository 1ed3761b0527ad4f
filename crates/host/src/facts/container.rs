//! Whether this process is in a container: its own name spaces, and the engine that made them.

use super::tree::FileTree;
use serde::Serialize;

/// Separation of this process from the machine. Everything is absent or false outside of containers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Container {
    /// The engine, where it says so: docker, podman, kubernetes, lxc, systemd-nspawn.
    pub engine: Option<String>,
    /// Processes outside of the container cannot be seen.
    pub own_processes: bool,
    /// Root in the container is not the machine's root: the kernel refuses it what needs that.
    pub own_users: bool,
}

/// The machine's own name spaces, from linux/proc_ns.h (PROC_PID_INIT_INO and its neighbours).
const PROCESSES: (&str, &str) = ("proc/self/ns/pid", "pid:[4026531836]");
const USERS: (&str, &str) = ("proc/self/ns/user", "user:[4026531837]");
/// Name spaces of which every engine makes at least one.
const OTHERS: [(&str, &str); 3] = [
    ("proc/self/ns/cgroup", "cgroup:[4026531835]"),
    ("proc/self/ns/uts", "uts:[4026531838]"),
    ("proc/self/ns/ipc", "ipc:[4026531839]"),
];

impl Container {
    /// Whether this process is in a container.
    pub fn is_one(&self) -> bool {
        self.engine.is_some() || self.own_processes || self.own_users
    }
}

/// Whether thread ids here differ from those of the kernel's trace.
pub(crate) fn has_own_processes(tree: &FileTree) -> bool {
    is_own(tree, PROCESSES)
}

fn is_own(tree: &FileTree, (link, machine): (&str, &str)) -> bool {
    tree.link(link).is_some_and(|own| own != machine)
}

pub(super) fn read(tree: &FileTree) -> Container {
    let (own_processes, own_users) = (has_own_processes(tree), is_own(tree, USERS));
    // A machine installed from an engine's image has the engine's files without being a container.
    let is_apart = own_processes || own_users || OTHERS.iter().any(|space| is_own(tree, *space));
    Container {
        engine: is_apart.then(|| engine(tree)).flatten(),
        own_processes,
        own_users,
    }
}

fn engine(tree: &FileTree) -> Option<String> {
    let environment = tree.bytes("proc/self/environ").unwrap_or_default();
    let variable = |name: &str| {
        let mut all = environment.split(|byte| *byte == 0);
        let value = all.find_map(|entry| entry.strip_prefix(format!("{name}=").as_bytes()))?;
        Some(String::from_utf8_lossy(value).into_owned()).filter(|value| !value.is_empty())
    };
    if variable("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("kubernetes".into());
    }
    // systemd's convention, which other engines follow.
    let told = variable("container").or_else(|| tree.text("run/systemd/container"));
    told.or_else(|| tree.exists("run/.containerenv").then(|| "podman".into()))
        .or_else(|| tree.exists(".dockerenv").then(|| "docker".into()))
}
