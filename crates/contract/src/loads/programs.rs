//! Loads that build or run programs.

use super::info::{LoadInfo, Takes, number};
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const COMPILE: LoadInfo = LoadInfo {
    kind: LoadKind::Compile,
    about: "a synthetic build, two jobs at once: fork, exec, many small files, hashing, renames",
    ..LoadInfo::PLAIN
};

pub(super) const BUILD: LoadInfo = LoadInfo {
    kind: LoadKind::Build,
    takes: Takes::Path("PATH"),
    about: "copies the tree PATH into the work folder and builds it there with make from clean, in a loop",
    only: Only::host("the lab's machine has no compiler; in the lab: compile"),
    ..LoadInfo::PLAIN
};

pub(super) const DESKTOP: LoadInfo = LoadInfo {
    kind: LoadKind::Desktop,
    takes: number("FILES", 1000),
    about: "walks the root partition, and builds two trees of FILES (48) C files from clean, in a loop",
    only: Only::host("the lab's machine has neither a root partition nor a compiler; in the lab: find+compile+compile"),
    ..LoadInfo::PLAIN
};

pub(super) const CMD: LoadInfo = LoadInfo {
    kind: LoadKind::Cmd,
    takes: Takes::Command("PROGRAM [ARGUMENT...]"),
    about: "any program; started again when it ends with success",
    ..LoadInfo::PLAIN
};

pub(super) const CMD_READY: LoadInfo = LoadInfo {
    kind: LoadKind::CmdReady,
    takes: Takes::Command("PROGRAM [ARGUMENT...]"),
    about: "the same, measured once the program has made the file $WORSTCASE_READY",
    ..LoadInfo::PLAIN
};
