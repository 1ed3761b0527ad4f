//! `worstcase host run`, `host follow` or `host calibrate` on another machine: copies worstcase there, measures, fetches what came,
//! and leaves nothing behind.

use super::command::SshMachine;
use super::hosts::Host;
use crate::RemoteError;
use crate::executable::Executable;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tar::EntryType;
use worstcase_base::ExitKind;
use worstcase_base::format::shell;
use worstcase_base::output::{FolderPlace, MissingFolders};
use worstcase_base::tail::ByteTail;

/// The name of the measurement's folder there, and in the archive that comes back.
pub const RUN: &str = "run";
/// Exit codes of a run that is kept: all of it; up to the first sample above `--break`, or above a deadline; without enough to
/// tell; up to the user's end.
const KEPT: [i32; 4] = [
    0,
    ExitKind::Fail as i32,
    ExitKind::Inconclusive as i32,
    ExitKind::Interrupted as i32,
];
/// Limit in bytes for a run that comes back, because it is held in memory.
const LARGEST: u64 = 1 << 30;
/// Limit for files and folders of a run that comes back; each cell has a few.
const MOST_MEMBERS: usize = 100_000;

/// A machine, and what measures it.
pub struct RemoteBoard<'a> {
    /// The machine's name for ssh.
    pub name: &'a str,
    /// worstcase for the machine's architecture.
    pub executable: &'a Executable,
    /// Arguments of worstcase, with the folder `run` for its output.
    pub arguments: &'a [String],
    /// Whether that folder has to be there before.
    pub needs_folder: bool,
}

/// Measures there, and puts the run into the folder `into`, which must not exist; gives the exit code of a run that is kept.
/// When `stop` becomes true the measurement ends early, as by Ctrl-C there.
pub fn measure_on(board: &RemoteBoard, into: &Path, stop: &AtomicBool) -> Result<i32, RemoteError> {
    let host = Host {
        name: board.name.into(),
        ..Host::default()
    };
    let remote = SshMachine::new(&host)?;
    let mut command = remote.command(&script(board));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| remote.no_ssh(&e))?;
    let (output, errors) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let said = std::thread::spawn(move || ByteTail::of(errors));
    let mut input = child.stdin.take().expect("piped");
    // If the machine ends early, its exit code and its message say why.
    let _ = File::open(&board.executable.path).and_then(|mut file| io::copy(&mut file, &mut input));
    let received = std::thread::spawn(move || {
        let mut archive = Vec::new();
        output.take(LARGEST).read_to_end(&mut archive).map(|_| archive)
    });
    while !received.is_finished() {
        std::thread::sleep(Duration::from_millis(50));
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    // The machine ends the measurement when its standard input is closed.
    drop(input);
    let archive = received.join().expect("reading does not panic").unwrap_or_default();
    let code = child.wait().ok().and_then(|status| status.code());
    let said = said.join().expect("reading does not panic");
    if archive.is_empty() || !code.is_some_and(|code| KEPT.contains(&code)) {
        let last = said.last_line().unwrap_or_else(|| "it said nothing".into());
        return Err(remote.error(code, last.trim_start_matches("worstcase: ")));
    }
    if archive.len() as u64 == LARGEST {
        return Err(remote.wrong(format!("its run is larger than {LARGEST} bytes")));
    }
    unpack(&archive, into).map_err(RemoteError::io(into))?;
    Ok(code.unwrap_or_default())
}

/// The shell removes its folder however it ends. Standard input is the executable of worstcase, and then stays open as long
/// as the controller is there.
fn script(board: &RemoteBoard) -> String {
    let bytes = board.executable.bytes;
    let arguments = shell(board.arguments);
    let folder = if board.needs_folder {
        format!("mkdir {RUN}")
    } else {
        "true".into()
    };
    format!(
        "d=$(mktemp -d) || exit 3; trap 'rm -rf \"$d\"' EXIT; trap 'exit 3' HUP INT TERM PIPE\n\
         exec 3<&0; head -c {bytes} <&3 > \"$d/worstcase\" && test $(wc -c < \"$d/worstcase\") -eq {bytes} && chmod 700 \"$d/worstcase\" && cd \"$d\" && {folder} || exit 3\n\
         ./worstcase {arguments} </dev/null 3<&- >/dev/null & m=$!\n\
         {{ cat <&3 >/dev/null; kill -TERM $m; }} 2>/dev/null & w=$!\n\
         exec 3<&-; wait $m; c=$?; kill $w 2>/dev/null\n\
         test -d {RUN} && tar -cf - {RUN}; cd /; exit $c"
    )
}

/// Takes only files and folders inside of the run's folder, and not more than a run has.
fn unpack(archive: &[u8], into: &Path) -> io::Result<()> {
    let place = FolderPlace::of(into, MissingFolders::Refused)?;
    let parent = place.parent.held()?;
    let temporary = tempfile::Builder::new().prefix(".board-").tempdir_in(&parent)?;
    let opened = place.parent.open(temporary.path().file_name().unwrap_or_default())?;
    let folder = opened.ok_or(io::ErrorKind::NotFound)?;
    let held = folder.held()?;
    for (number, entry) in tar::Archive::new(archive).entries()?.enumerate() {
        if number == MOST_MEMBERS {
            let what = format!("it sent more than {MOST_MEMBERS} files and folders; measure fewer cells at once");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        let is_ours = matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Directory);
        if !is_ours || !name.starts_with(RUN) || !entry.unpack_in(&held)? {
            let what = format!("it sent '{}', which is no part of a run", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
    }
    std::fs::rename(held.join(RUN), parent.join(&place.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, Header};

    fn archive(members: &[(&str, EntryType)]) -> Vec<u8> {
        let mut archive = Builder::new(Vec::new());
        for (name, kind) in members {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_mode(0o755);
            header.set_size(0);
            // By hand: the builder refuses names that a hostile machine may send.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            if *kind == EntryType::Symlink {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            archive.append(&header, io::empty()).unwrap();
        }
        archive.into_inner().unwrap()
    }

    #[test]
    fn a_machine_writes_nothing_but_its_run() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let good = [("run/", EntryType::Directory), ("run/run.json", EntryType::Regular)];
        unpack(&archive(&good), &at("good")).unwrap();
        assert!(at("good/run.json").is_file());
        for bad in [
            ("run/run.json", EntryType::Symlink),
            ("run/fifo", EntryType::Fifo),
            ("run/../../out", EntryType::Regular),
            ("other", EntryType::Regular),
            ("/out", EntryType::Regular),
        ] {
            let said = unpack(&archive(&[good[0], bad]), &at("bad")).unwrap_err().to_string();
            assert!(said.contains("no part of a run"), "{said}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left");
    }

    /// One file again and again: its archive is 50 MB, and two million would be as many files.
    #[test]
    fn a_machine_sends_no_more_files_than_a_run_has() {
        let dir = tempfile::tempdir().unwrap();
        let folder = archive(&[("run/", EntryType::Directory)]);
        let whole = archive(&[("run/x", EntryType::Regular)]);
        let member = &whole[..512];
        let sent = [&folder[..512], &member.repeat(MOST_MEMBERS), &[0; 1024]].concat();
        let said = unpack(&sent, &dir.path().join("run")).unwrap_err().to_string();
        assert!(said.contains("it sent more than 100000 files and folders"), "{said}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    }
}
