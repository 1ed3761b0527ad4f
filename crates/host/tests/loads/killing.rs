//! Loads whose parents are killed: what [`clean`] has to find.

use crate::bench::{Folder, LeftBehind, PATIENCE, assert_nothing_left, children_of, load, reap_within, start, within};
use crate::running::LOADS;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use worstcase_contract::Nanos;
use worstcase_host::loads::{LoadPlace, Traces, cgroup, clean};
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::process::{self, Exit, Pid, Waited};
use worstcase_instruments::sys::signal::{self, SignalFd};

const MAKE_SEGMENT: &str = "--make-segment";

/// Makes a segment that is not marked for removal, and works, if that is what this program was started for.
pub fn child_main() {
    if std::env::args().nth(1).is_some_and(|first| first == MAKE_SEGMENT) {
        // SAFETY: no pointers are passed.
        let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, libc::IPC_CREAT | 0o600) };
        assert_ne!(segment, -1);
        loop {
            std::hint::spin_loop();
        }
    }
}

fn sleep_for_ever() -> ! {
    loop {
        clock::sleep_until(Nanos(u64::MAX / 2));
    }
}

/// A controller with a worker that runs the load; both can be killed. Returns when the load works.
struct Victims {
    controller: Pid,
    worker: Pid,
}

impl Victims {
    fn new(text: &str, place: &LoadPlace) -> Victims {
        let (mut reader, mut writer) = io::pipe().expect("pipe");
        let controller = process::fork(signal::SIGKILL, move || {
            process::fork(0, || {
                let _running = start(text, place);
                writer.write_all(&process::own_pid().to_le_bytes()).expect("write");
                sleep_for_ever()
            })
            .expect("fork");
            // Who reads is told that the load did not start.
            drop(writer);
            sleep_for_ever()
        })
        .expect("fork");
        let mut pid = [0; 4];
        reader
            .read_exact(&mut pid)
            .unwrap_or_else(|e| panic!("{text} does not start: {e}"));
        Victims {
            controller,
            worker: Pid::from_le_bytes(pid),
        }
    }

    fn kill(&self) {
        process::kill(self.controller, signal::SIGKILL).expect("kill");
        process::kill(self.worker, signal::SIGKILL).expect("kill");
    }
}

/// Reaps what `clean` ended: a dying process has left its group a little before it can be reaped.
fn reap_the_dead() -> bool {
    within(PATIENCE, || {
        loop {
            match process::wait(-1, false).expect("wait") {
                Waited::Ended(..) => {}
                Waited::Running => return false,
                Waited::NoChild => return true,
            }
        }
    })
}

pub fn kill_9_of_everybody_leaves_nothing() {
    let before = LeftBehind::now();
    for text in LOADS {
        let folder = Folder::new();
        let place = folder.place();
        let victims = Victims::new(text, &place);
        victims.kill();
        let traces = Traces::of(&load(text), &place, victims.worker);
        clean(&traces).unwrap_or_else(|e| panic!("{text}: {e}"));
        reap_the_dead();
        assert_nothing_left(text, &place, &before);
        clean(&traces).unwrap_or_else(|e| panic!("{text}, again: {e}"));
    }
}

/// While loads are being started, too.
pub fn kill_9_at_any_moment_leaves_nothing() {
    let before = LeftBehind::now();
    let text = "desktop:1+shm+compile+find@1000";
    for moment in 0..40 {
        let folder = Folder::new();
        let mut place = folder.place();
        place.cgroup = place.cgroup.filter(|_| moment % 2 == 0);
        let worker = process::fork(0, || {
            let _running = start(text, &place);
            sleep_for_ever()
        })
        .expect("fork");
        clock::sleep_until(clock::monotonic() + Nanos::from_micros(2000 * moment));
        process::kill(worker, signal::SIGKILL).expect("kill");
        process::wait(worker, true).expect("wait");
        clean(&Traces::of(&load(text), &place, worker)).unwrap_or_else(|e| panic!("moment {moment}: {e}"));
        // Workers that were not noted yet follow their parent by themselves.
        reap_the_dead();
        assert_nothing_left(&format!("moment {moment}"), &place, &before);
    }
}

/// Where nobody cleans, files stay, but no process.
pub fn processes_follow_their_parent() {
    for text in [
        "shm+fork@200+sockets+compile+disk:2+cpu+memory:16@50+timers:8+find",
        "desktop:1",
        "cmd:sh -c 'setsid sleep 1000 & while :; do :; done'",
    ] {
        let folder = Folder::new();
        let place = folder.place();
        let victims = Victims::new(text, &place);
        victims.kill();
        assert!(
            reap_the_dead(),
            "{text}: {:?} outlive their parent",
            children_of(process::own_pid())
        );
        clean(&Traces::of(&load(text), &place, victims.worker)).expect("clean");
    }
}

/// The workers are killed too, so that nobody is left who knows of the programs that they started.
pub fn kill_9_without_a_group_leaves_nothing() {
    let before = LeftBehind::now();
    for text in [
        "shm",
        "desktop:1",
        "cmd:sh -c 'setsid sleep 1000 & while :; do :; done'",
        "fork+compile+timers:4",
    ] {
        let folder = Folder::new();
        let place = LoadPlace {
            cgroup: None,
            ..folder.place()
        };
        let victims = Victims::new(text, &place);
        let workers = children_of(victims.worker);
        assert!(!workers.is_empty());
        for worker in workers {
            process::kill(worker, signal::SIGKILL).expect("kill");
        }
        victims.kill();
        clean(&Traces::of(&load(text), &place, victims.worker)).unwrap_or_else(|e| panic!("{text}: {e}"));
        reap_the_dead();
        assert_nothing_left(text, &place, &before);
    }
}

/// A worker that ends its loads when it is asked to, as worstcase's does.
pub fn signals_to_the_worker_leave_nothing() {
    let before = LeftBehind::now();
    for (text, asked) in [
        ("desktop:1+shm", signal::SIGTERM),
        ("disk:2+cpu", libc::SIGINT),
        ("compile+fork@100", signal::SIGTERM),
    ] {
        let folder = Folder::new();
        let place = folder.place();
        let (mut reader, mut writer) = io::pipe().expect("pipe");
        let worker = process::fork(signal::SIGKILL, || {
            let signals = SignalFd::new(&[signal::SIGTERM, libc::SIGINT]).expect("signalfd");
            let running = start(text, &place);
            writer.write_all(b"!").expect("write");
            assert_eq!(signals.next().expect("a signal"), asked);
            running.stop().expect("stop");
            0
        })
        .expect("fork");
        drop(writer);
        reader.read_exact(&mut [0]).expect("the load does not start");
        process::kill(worker, asked).expect("kill");
        assert_eq!(reap_within(worker, PATIENCE), Some(Exit::Code(0)), "{text}");
        assert_nothing_left(text, &place, &before);
    }
}

/// Where null_blk is loaded.
pub fn the_device_of_blockread_goes_with_it() {
    if !Path::new("/sys/kernel/config/nullb").exists() {
        worstcase_skips::skip!("null_blk is not loaded");
    }
    let before = LeftBehind::now();
    let folder = Folder::new();
    let place = folder.place();
    let running = start("blockread+cpu:1", &place);
    assert_ne!(LeftBehind::now(), before);
    running.stop().expect("stop");
    assert_nothing_left("blockread", &place, &before);

    let victims = Victims::new("blockread+cpu:1", &place);
    victims.kill();
    let traces = Traces::of(&load("blockread+cpu:1"), &place, victims.worker);
    for _ in 0..2 {
        clean(&traces).expect("clean");
        reap_the_dead();
        assert_nothing_left("blockread", &place, &before);
    }
}

pub fn segments_of_the_killed_are_removed() {
    let before = LeftBehind::now();
    let program = std::env::current_exe().expect("own path");
    let text = format!("cmd:'{}' {MAKE_SEGMENT}", program.display());
    for with_group in [true, false] {
        let folder = Folder::new();
        let mut place = folder.place();
        place.cgroup = place.cgroup.filter(|_| with_group);
        let victims = Victims::new(&text, &place);
        // A supervisor that does nothing more: the program lives until it is cleaned away.
        let supervisor = *children_of(victims.worker).first().expect("a supervisor");
        process::kill(supervisor, libc::SIGSTOP).expect("stop");
        let maker = *children_of(supervisor).first().expect("the program");
        let made = || LeftBehind::segments_by(maker) == 1;
        assert!(within(PATIENCE, made), "no segment was made");
        victims.kill();
        clean(&Traces::of(&load(&text), &place, victims.worker)).expect("clean");
        reap_the_dead();
        assert_eq!(LeftBehind::segments_by(maker), 0);
        assert_nothing_left(&text, &place, &before);
    }
}

/// Version 2 with and without cgroup.kill cannot both be had; both kinds of version 1 can.
pub fn every_kind_of_group_is_emptied() {
    worstcase_skips::needs_root!();
    let mut groups: Vec<PathBuf> = cgroup::propose().into_iter().collect();
    for hierarchy in ["freezer", "pids", "devices"] {
        let mounted_at = Path::new("/sys/fs/cgroup").join(hierarchy);
        if mounted_at.join("tasks").exists() {
            groups.push(mounted_at.join(format!("worstcase-{}", process::own_pid())));
        }
    }
    for group in groups {
        fs::create_dir(&group).expect("make a group");
        let (mut reader, mut writer) = io::pipe().expect("pipe");
        process::fork(signal::SIGKILL, || {
            fs::write(group.join("cgroup.procs"), "0").expect("join");
            for _ in 0..8 {
                // A chain of short lives: whoever lists the group finds processes that are gone.
                process::fork(0, || {
                    while process::fork(0, || 0).is_ok() {
                        let _ = process::wait(-1, true);
                    }
                    0
                })
                .expect("fork");
            }
            writer.write_all(b"!").expect("write");
            sleep_for_ever()
        })
        .expect("fork");
        drop(writer);
        reader.read_exact(&mut [0]).expect("the group has no members");
        cgroup::kill_and_remove(&group).unwrap_or_else(|e| panic!("{}: {e}", group.display()));
        assert!(!group.exists());
        assert!(reap_the_dead(), "{}", group.display());
    }
}
