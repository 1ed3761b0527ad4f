//! Loads that build or run programs.

use super::info::{LoadInfo, Takes, number};
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const COMPILE: LoadInfo = LoadInfo {
    kind: LoadKind::Compile,
    about: "a synthetic build, two jobs at once: fork, exec, many small files, hashing, renames",
    details: "Two jobs: a unit forks and executes worstcase, which hashes 24 headers of 8 KiB 8 times and writes an object \
              of 32 KiB; after 16 units a link.",
    example: "compile",
    ..LoadInfo::PLAIN
};

pub(super) const BUILD: LoadInfo = LoadInfo {
    kind: LoadKind::Build,
    takes: Takes::Path("PATH"),
    about: "copies the tree PATH into the work folder and builds it there with make from clean, in a loop",
    needs: "make and a compiler",
    details: "make -j with as many jobs as CPUs in a fresh copy of PATH (what git tracks and .config; else all but .git, \
              after make clean), without ccache. In PATH a + separates only if a load's name follows.",
    example: "compile:/usr/src/linux",
    only: Only::host("the lab's machine has no compiler; in the lab: compile"),
    ..LoadInfo::PLAIN
};

pub(super) const DESKTOP: LoadInfo = LoadInfo {
    kind: LoadKind::Desktop,
    takes: number("FILES", 1000),
    about: "walks the root partition, and builds two trees of FILES (48) C files from clean, in a loop",
    needs: "make and a compiler",
    details: "Walks the root partition with lstat, and builds two trees of FILES (48) C files (from the seed): that of the \
              Realfeel measurements, Linux Journal 2005.",
    example: "desktop",
    only: Only::host("the lab's machine has neither a root partition nor a compiler; in the lab: find+compile+compile"),
    ..LoadInfo::PLAIN
};

pub(super) const CMD: LoadInfo = LoadInfo {
    kind: LoadKind::Cmd,
    takes: Takes::Command("PROGRAM [ARGUMENT...]"),
    about: "any program; started again when it ends with success",
    needs: "in the lab --add for a program of this machine",
    details: "The text is split at spaces, with quotes and backslashes as in a shell, and takes the rest of its option. \
              After success the program starts again; its error is one of the cell (the last 512 bytes of its standard \
              error are kept), and so is one that only sleeps. CPU time is exact for living processes, in steps of 10 ms \
              for those that ended.",
    example: "cmd:stress-ng --vm 1",
    lab_options: "--add /usr/bin/stress-ng",
    ..LoadInfo::PLAIN
};

pub(super) const CMD_READY: LoadInfo = LoadInfo {
    kind: LoadKind::CmdReady,
    takes: Takes::Command("PROGRAM [ARGUMENT...]"),
    about: "the same, measured once the program has made the file $WORSTCASE_READY",
    needs: "in the lab --add for a program of this machine",
    details: "For a program that must fill something first: one that has not made the file within 120 s (in the lab: \
              virtual) is an error.",
    example: "cmd-ready:fill-and-query",
    lab_options: "--add ./fill-and-query",
    ..LoadInfo::PLAIN
};
