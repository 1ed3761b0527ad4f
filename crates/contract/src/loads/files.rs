//! Loads that work with files.

use super::info::{LoadInfo, number};
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const PROC_READ: LoadInfo = LoadInfo {
    kind: LoadKind::ProcRead,
    about: "reads /proc/kallsyms and other big files of /proc from end to end (long system calls)",
    rate: Some(1),
    ..LoadInfo::PLAIN
};

pub(super) const PROC: LoadInfo = LoadInfo {
    kind: LoadKind::Proc,
    about: "every 10 ms reads from /proc what top reads: the system's files and two of every process",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const FIND: LoadInfo = LoadInfo {
    kind: LoadKind::Find,
    about: "walks a generated tree of 4096 files and asks for the status of each (path lookup)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const WRITEBACK: LoadInfo = LoadInfo {
    kind: LoadKind::Writeback,
    about: "writes at random places of a file on ext4 in a RAM disk; the kernel writes the dirty pages back",
    rate: Some(0),
    modules: &["brd", "crc32c_generic", "ext4"],
    only: Only::lab("it mounts a file system and limits the dirty pages of the whole machine; on the host: disk"),
    ..LoadInfo::PLAIN
};

pub(super) const DISK: LoadInfo = LoadInfo {
    kind: LoadKind::Disk,
    takes: number("MIB", 1 << 20),
    about: "writes, copies and reads a file of 350 MiB in the work folder, through the device, in a loop",
    rate: Some(0),
    only: Only::host("no disk of the lab keeps what is written; in the lab: blockread"),
    ..LoadInfo::PLAIN
};
