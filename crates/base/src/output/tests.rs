use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use tempfile::{TempDir, tempdir};

const SOMEBODY: u32 = 12_345;

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn what_is_there_is_replaced_and_nothing_else_left() {
    let dir = tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    symlink("file", &link).unwrap();
    write(&file, b"old").unwrap();
    write(&link, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(names(dir.path()), ["file", "link"]);
    assert_eq!(write(dir.path(), b"").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    let said = write(&dir.path().join("no/file"), b"").unwrap_err().to_string();
    assert_eq!(said, "No such file or directory (os error 2)");
    let usual = fs::File::create(dir.path().join("usual")).unwrap().metadata().unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode(), usual.mode());
}

#[test]
fn a_null_device_takes_it_and_a_fifo_does_not() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("fifo");
    fifo(&path);
    let said = write(&path, b"text").unwrap_err().to_string();
    assert_eq!(said, "it is a FIFO; name a file, or /dev/stdout for a pipe");
    write(Path::new("/dev/null"), b"text").unwrap();
    let (mut reader, writer) = io::pipe().unwrap();
    write(Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())), b"text").unwrap();
    drop(writer);
    let mut text = String::new();
    io::Read::read_to_string(&mut reader, &mut text).unwrap();
    assert_eq!(text, "text");
}

#[test]
fn no_folder_is_made_in_the_place_of_a_file_or_below_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("run")] {
        let said = super::check_may_make(&place).unwrap_err().to_string();
        assert!(said.contains("/file is a file; name a folder"), "{said}");
    }
    super::check_may_make(&dir.path().join("run")).unwrap();
}

#[test]
fn what_cannot_be_named_leaves_nothing() {
    let dir = tempdir().unwrap();
    let folder = OutputFolder::create(dir.path()).unwrap();
    folder.write_synced("file", b"text").unwrap();
    let long = "x".repeat(300);
    assert!(folder.write(&long, b"text").is_err());
    fs::create_dir(dir.path().join("folder")).unwrap();
    assert!(folder.write("folder", b"text").is_err());
    assert_eq!(names(dir.path()), ["file", "folder"]);
}

#[test]
fn a_folder_is_the_one_that_was_opened() {
    let dir = tempdir().unwrap();
    let (named, moved, other) = (
        dir.path().join("a/out"),
        dir.path().join("moved"),
        dir.path().join("other"),
    );
    let folder = OutputFolder::create(&named).unwrap();
    fs::create_dir(&other).unwrap();
    fs::rename(&named, &moved).unwrap();
    symlink(&other, &named).unwrap();
    folder.write("file", b"text").unwrap();
    fs::write(folder.held().unwrap().join("through"), b"text").unwrap();
    assert_eq!(names(&moved), ["file", "through"]);
    assert_eq!(names(&other), [""; 0]);
}

#[test]
fn a_link_in_a_folder_is_replaced() {
    let dir = tempdir().unwrap();
    let target = dir.path().join("target");
    fs::write(&target, "mine").unwrap();
    let folder = OutputFolder::create(&dir.path().join("out")).unwrap();
    symlink(&target, dir.path().join("out/file")).unwrap();
    folder.write("file", b"text").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"mine");
    assert_eq!(fs::read(dir.path().join("out/file")).unwrap(), b"text");
    assert!(folder.open("file".as_ref()).is_err());
    assert!(folder.open("none".as_ref()).unwrap().is_none());
}

/// A folder of another user, with links into a folder of root's.
fn theirs() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempdir().unwrap();
    let (theirs, roots) = (dir.path().join("theirs"), dir.path().join("roots"));
    for folder in [&theirs, &roots] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(roots.join("file"), "root's").unwrap();
    for (link, target) in [
        ("file", roots.join("file")),
        ("folder", roots.clone()),
        ("new", roots.join("new")),
    ] {
        symlink(target, theirs.join(link)).unwrap();
        lchown(theirs.join(link), Some(SOMEBODY), None).unwrap();
    }
    lchown(&theirs, Some(SOMEBODY), None).unwrap();
    (dir, theirs, roots)
}

#[test]
fn root_follows_no_link_of_somebody_else() {
    worstcase_skips::needs_root!();
    let (_dir, theirs, roots) = theirs();
    for name in ["file", "folder/file", "folder/new", "new"] {
        let said = write(&theirs.join(name), b"text").unwrap_err().to_string();
        let link = theirs.join(name.split('/').next().unwrap());
        let wanted = "is a link of user 12345, which is not followed; name the place itself";
        assert_eq!(said, format!("{} {wanted}", link.display()));
    }
    for name in ["folder", "folder/below", "new"] {
        assert!(OutputFolder::create(&theirs.join(name)).is_err(), "{name}");
    }
    assert_eq!(names(&roots), ["file"]);
    assert_eq!(fs::read(roots.join("file")).unwrap(), b"root's");
    // Root's own link in the other user's folder is followed.
    symlink(&roots, theirs.join("own")).unwrap();
    write(&theirs.join("own/file"), b"text").unwrap();
    assert_eq!(fs::read(roots.join("file")).unwrap(), b"text");
}

#[test]
fn a_circle_of_links_ends() {
    let dir = tempdir().unwrap();
    symlink("two", dir.path().join("one")).unwrap();
    symlink("one", dir.path().join("two")).unwrap();
    let error = write(&dir.path().join("one"), b"").unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
}

#[test]
fn root_writes_no_run_into_anothers_folder() {
    worstcase_skips::needs_root!();
    let dir = tempdir().unwrap();
    let out = dir.path().join("out");
    let folder = OutputFolder::create(&out).unwrap();
    let mode = |bits| fs::set_permissions(&out, Permissions::from_mode(bits)).unwrap();
    let refused = || others_in(&folder, &out).unwrap().is_some();
    mode(0o755);
    assert!(!refused());
    mode(0o777);
    assert!(refused());
    mode(0o775);
    assert!(!refused(), "root's group");
    lchown(&out, None, Some(SOMEBODY)).unwrap();
    assert!(refused());
    mode(0o755);
    lchown(&out, Some(SOMEBODY), None).unwrap();
    assert!(refused());
}
