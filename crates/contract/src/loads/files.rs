//! Loads that work with files.

use super::info::{LoadInfo, number};
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const PROC_READ: LoadInfo = LoadInfo {
    kind: LoadKind::ProcRead,
    about: "reads /proc/kallsyms and other big files of /proc from end to end (long system calls)",
    details: "Reads /proc/kallsyms four times, then one of vmallocinfo, timer_list, slabinfo, zoneinfo and self/smaps. \
              @RATE counts files.",
    example: "procread",
    rate: Some(1),
    ..LoadInfo::PLAIN
};

pub(super) const PROC: LoadInfo = LoadInfo {
    kind: LoadKind::Proc,
    about: "every 10 ms reads from /proc what top reads: the system's files and two of every process",
    details: "Reads /proc/stat, loadavg, meminfo, uptime, and stat and statm of every process, 100 times a second or \
              @RATE. As in latencytest (top every 10 ms).",
    example: "proc",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const FIND: LoadInfo = LoadInfo {
    kind: LoadKind::Find,
    about: "walks a generated tree of 4096 files and asks for the status of each (path lookup)",
    details: "Walks 16 x 16 x 16 empty files with names of 40 characters (from the seed), with lstat of each.",
    example: "find",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const PIPES: LoadInfo = LoadInfo {
    kind: LoadKind::Pipes,
    takes: number("N", 100_000),
    about: "opens N (480) pipes, writes a byte to each, and closes all at once (lists of free pages)",
    details: "The pages that the pipes give back are a list that the kernel empties in one go, interrupts off \
              (free_pcppages_bulk; 6.12, not 6.1).",
    needs: "twice as many open files (ulimit -Hn)",
    example: "pipes:200@5000",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const WRITEBACK: LoadInfo = LoadInfo {
    kind: LoadKind::Writeback,
    about: "writes at random places of a file on ext4 in a RAM disk; the kernel writes the dirty pages back",
    details: "Writes 16 KiB at random places (from the seed) of a file of 32 MiB, on ext4 in a RAM disk of 64 MiB with a \
              journal. More than 2 MiB of dirty pages start the flusher thread, more than 16 MiB hold the writer up \
              (vm.dirty_background_bytes, vm.dirty_bytes).",
    example: "writeback",
    rate: Some(0),
    modules: &["brd", "crc32c_generic", "ext4"],
    only: Only::lab("it mounts a file system and limits the dirty pages of the whole machine; on the host: disk"),
    ..LoadInfo::PLAIN
};

pub(super) const DISK: LoadInfo = LoadInfo {
    kind: LoadKind::Disk,
    takes: number("MIB", 1 << 20),
    about: "writes, copies and reads a file of 350 MiB in the work folder, through the device, in a loop",
    needs: "--work-dir on a disk with room for two such files (not tmpfs)",
    details: "Writes, copies and reads a file of MIB (350) MiB in blocks of 1 MiB of random contents (from the seed), \
              synced and dropped from the page cache. As in latencytest (B. Senoner).",
    example: "disk:64",
    rate: Some(0),
    only: Only::host("no disk of the lab keeps what is written; in the lab: blockread"),
    ..LoadInfo::PLAIN
};
