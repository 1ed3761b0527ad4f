//! `compile`: a synthetic build, two jobs at once, each in a folder of its own.
//!
//! A unit is a forked child that executes this very program again with a hidden argument ([`child_main`]): it
//! reads the job's headers, hashes their text many times over (the CPU-bound part), writes an object file
//! under a temporary name and renames it. After 16 units the job reads all objects, writes one
//! program and removes them.

use super::LoadError;
use super::board::Board;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::sys::process::{self, Exit, Waited};
use crate::sys::signal;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_logs::prng::SplitMix64;

/// The argument by which a program that carries this load knows that it is to compile one unit.
const UNIT_ARGUMENT: &str = "--worstcase-compile-unit";
const JOBS: u64 = 2;
const HEADERS: usize = 24;
const HEADER_LEN: usize = 8 * 1024;
const UNITS_A_LINK: usize = 16;
const HASH_ROUNDS: usize = 8;
const OBJECT_LEN: usize = 32 * 1024;
const UNITS: usize = 0;
const LINKS: usize = 1;

/// A synthetic build.
pub const COMPILE: LoadCode = LoadCode {
    name: "compile",
    units: &["units", "links"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let root = load.folder()?;
    for job in 0..JOBS {
        let folder = root.join(format!("job{job}"));
        write_headers(&folder, &mut SplitMix64::new(seed.wrapping_add(job << 32)))
            .map_err(load.preparing("writing header files"))?;
        load.spawn(Ending::Anywhere, move |board| {
            loop {
                build(&folder, board)?;
            }
        })?;
    }
    Ok(())
}

/// Compiles one unit and ends the process, if that is what it was started for.
pub(crate) fn child_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != UNIT_ARGUMENT) {
        return;
    }
    // It would be called `exe`; that is all that a failure changes.
    let _ = process::set_name("load-compile");
    let done = match (arguments.next(), arguments.next()) {
        (Some(folder), Some(object)) => compile(Path::new(&folder), Path::new(&object)),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    process::exit_now(if done.is_ok() { 0 } else { 1 });
}

fn write_headers(folder: &Path, random: &mut SplitMix64) -> io::Result<()> {
    fs::create_dir(folder)?;
    for i in 0..HEADERS {
        let text: Vec<u8> = (0..HEADER_LEN / 8)
            .flat_map(|_| random.next_u64().to_le_bytes())
            .collect();
        fs::write(folder.join(format!("header{i}.h")), text)?;
    }
    Ok(())
}

/// One program: its units, then the link.
fn build(folder: &Path, board: &Board) -> Result<(), String> {
    let objects: Vec<PathBuf> = (0..UNITS_A_LINK).map(|i| folder.join(format!("unit{i}.o"))).collect();
    for object in &objects {
        run_unit(folder, object)?;
        board.add(UNITS, 1);
    }
    link(folder, &objects).map_err(|e| format!("linking: {e}"))?;
    board.add(LINKS, 1);
    Ok(())
}

fn run_unit(folder: &Path, object: &Path) -> Result<(), String> {
    let arguments = [
        UNIT_ARGUMENT.to_string(),
        folder.to_string_lossy().into_owned(),
        object.to_string_lossy().into_owned(),
    ];
    // Exit code 127 as shells use it: could not be executed.
    let child = process::fork(signal::SIGKILL, || {
        process::exec("/proc/self/exe", &arguments);
        127
    })
    .map_err(|e| format!("fork: {e}"))?;
    match process::wait(child, true) {
        Ok(Waited::Ended(_, Exit::Code(0))) => Ok(()),
        Ok(Waited::Ended(_, Exit::Code(127))) => Err("cannot execute /proc/self/exe".into()),
        Ok(Waited::Ended(_, exit)) => Err(format!("compiling a unit ended with {exit}")),
        other => Err(format!("waiting for a unit: {other:?}")),
    }
}

fn compile(folder: &Path, object: &Path) -> io::Result<()> {
    let mut text = Vec::with_capacity(HEADERS * HEADER_LEN);
    for i in 0..HEADERS {
        text.extend(fs::read(folder.join(format!("header{i}.h")))?);
    }
    let temporary = object.with_extension("tmp");
    fs::write(&temporary, object_code(hash(&text)))?;
    fs::rename(&temporary, object)
}

/// FNV-1a over the text, several times: work for the CPU that no optimiser removes.
fn hash(text: &[u8]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    for _ in 0..HASH_ROUNDS {
        for byte in text {
            h = (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    h
}

fn object_code(seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    (0..OBJECT_LEN / 8)
        .flat_map(|_| random.next_u64().to_le_bytes())
        .collect()
}

fn link(folder: &Path, objects: &[PathBuf]) -> io::Result<()> {
    let mut program = Vec::with_capacity(objects.len() * OBJECT_LEN);
    for object in objects {
        program.extend(fs::read(object)?);
    }
    let temporary = folder.join("program.tmp");
    fs::write(&temporary, program)?;
    fs::rename(&temporary, folder.join("program"))?;
    objects.iter().try_for_each(fs::remove_file)
}
