//! `worstcase kernels` as a user types it, above all with bad input. None of these needs a network: apt-get is a script
//! that the test writes.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use tempfile::TempDir;

/// A home of its own: a cache, a PATH with only what the test puts there, and sources that name an archive.
struct ArchiveController {
    dir: TempDir,
}

impl ArchiveController {
    fn new() -> ArchiveController {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        fs::write(
            dir.path().join("apt.list"),
            "deb http://archive.example/debian bookworm main\n",
        )
        .unwrap();
        ArchiveController { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn apt(self, script: &str) -> ArchiveController {
        let apt = self.path("bin/apt-get");
        fs::write(&apt, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
        fs::set_permissions(&apt, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn kernels(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("worstcase").unwrap();
        command
            .arg("kernels")
            .args(args)
            .current_dir(self.dir.path())
            .env_clear();
        command
            .env("PATH", self.path("bin"))
            .env("WORSTCASE_CACHE", self.path("cache"));
        command.env("WORSTCASE_APT_SOURCES", self.path("apt.list"));
        command
    }

    /// Runs and expects one line on standard error and an exit code.
    fn fails(&self, args: &[&str], code: i32, says: &str) {
        let one_line = predicate::function(|s: &str| s.lines().count() == 1);
        let assert = self.kernels(args).assert().code(code);
        assert
            .stderr(
                starts_with("worstcase: ")
                    .and(contains(says))
                    .and(contains(";"))
                    .and(one_line),
            )
            .stdout("");
    }
}

/// An apt-get that has one suite with two kernels, and "downloads" the file in the controller's folder called k.deb.
const APT: &str = r#"
conf=$2; state=${conf%/apt.conf}
case "$*" in
*update*)
  echo "Get:1 http://archive.example/debian bookworm InRelease"
  printf 'Origin: Debian\nCodename: bookworm\n' > "$state/lists/archive.example_debian_dists_bookworm_InRelease"
  for v in 55 56; do
    printf 'Package: linux-image-6.1.0-%s-amd64\nVersion: 6.1.%s-1\nArchitecture: amd64\nDepends: kmod\nSize: 9\n\n' $v $v
  done > "$state/lists/archive.example_debian_dists_bookworm_main_binary-amd64_Packages"
  echo "E: The repository 'http://archive.example/debian sid Release' does not have a Release file." >&2
  exit 100 ;;
*download*) for last; do :; done; cp "$state/../../k.deb" "./${last%=*}_1_amd64.deb" ;;
esac"#;

fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A .deb with the smallest thing that passes for a kernel.
fn deb(release: &str) -> Vec<u8> {
    let mut image = vec![0u8; 0x800];
    image[0x1f1] = 3;
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
    image[0x300..0x300 + release.len()].copy_from_slice(release.as_bytes());
    let config =
        b"CONFIG_HZ=250\n# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n";
    let control = b"Package: linux-image-6.1.0-56-amd64\nVersion: 6.1.56-1\nArchitecture: amd64\n";
    let data = tarball(&[
        (&format!("./boot/vmlinuz-{release}"), &image),
        (&format!("./boot/config-{release}"), config),
        (
            &format!("./lib/modules/{release}/modules.builtin"),
            b"kernel/drivers/block/brd.ko\n",
        ),
    ]);
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar", tarball(&[("./control", control)])),
        ("data.tar", data),
    ];
    let mut archive = ar::Builder::new(Vec::new());
    for (name, bytes) in members {
        archive
            .append(&ar::Header::new(name.into(), bytes.len() as u64), &bytes[..])
            .unwrap();
    }
    archive.into_inner().unwrap()
}

fn entries(dir: &Path) -> Vec<String> {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn names_that_are_none() {
    let controller = ArchiveController::new();
    controller.fails(&["show", "6.1"], 2, "debian:6.1");
    controller.fails(&["show", "debian:6.1-hot"], 2, "debian:6.1-rt");
    controller.fails(&["show", "./nothing"], 2, "cannot read");
    controller.fails(&["show", "nothing.deb"], 2, "cannot read");
    controller.kernels(&["get"]).assert().code(2);
}

#[test]
fn files_that_are_no_kernel() {
    let controller = ArchiveController::new();
    fs::write(controller.path("text"), "text").unwrap();
    fs::create_dir(controller.path("empty")).unwrap();
    fs::write(controller.path("text.deb"), "text").unwrap();
    controller.fails(&["show", "./text"], 2, "HdrS");
    controller.fails(&["show", "empty"], 2, "no vmlinuz");
    controller.fails(&["show", "text.deb"], 2, "damaged package");
}

#[test]
fn a_truncated_deb_leaves_nothing_and_the_whole_one_works() {
    let controller = ArchiveController::new();
    let whole = deb("6.1.0-56-amd64");
    for cut in [30, 200, whole.len() / 2, whole.len() - 600] {
        fs::write(controller.path("k.deb"), &whole[..cut]).unwrap();
        controller.fails(&["show", "k.deb"], 2, "damaged package");
        assert_eq!(
            entries(&controller.path("cache/kernels")),
            Vec::<String>::new(),
            "cut at {cut}"
        );
    }
    fs::write(controller.path("k.deb"), &whole).unwrap();
    let shown = controller.kernels(&["show", "k.deb"]).assert().success();
    shown.stdout(contains("none, voluntary (default), full").and(contains("built in     brd")));
}

#[test]
fn no_apt_no_sources_no_network() {
    let controller = ArchiveController::new();
    controller.fails(&["list"], 3, "apt-get");
    let controller = controller.apt("echo \"E: Failed to fetch http://archive.example  Temporary failure resolving 'archive.example'\" >&2; exit 100");
    controller.fails(&["get", "debian:6.1"], 3, "cannot reach the Debian archive");
    fs::write(
        controller.path("apt.list"),
        "deb http://archive.example/other noble main\n",
    )
    .unwrap();
    controller.fails(&["list"], 3, "WORSTCASE_APT_SOURCES");
}

#[test]
fn a_full_disk_and_an_unwritable_cache() {
    let controller = ArchiveController::new()
        .apt("echo 'Get:1 x'; echo 'E: Write error - write (28: No space left on device)' >&2; exit 100");
    controller.fails(&["list"], 5, "disk is full");
    // A file where the directory should be stops root as well.
    fs::write(controller.path("file"), "").unwrap();
    let mut command = controller.kernels(&["list"]);
    command
        .env("WORSTCASE_CACHE", controller.path("file/cache"))
        .assert()
        .code(5)
        .stderr(contains("WORSTCASE_CACHE"));
}

#[test]
fn root_refuses_a_cache_that_others_can_write_to() {
    worstcase_skips::needs_root!();
    let controller = ArchiveController::new();
    fs::create_dir(controller.path("open")).unwrap();
    fs::set_permissions(controller.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let list = |trust: &str| {
        let mut command = controller.kernels(&["list", "--refresh"]);
        let cache = controller.path("open/cache");
        command
            .env("WORSTCASE_CACHE", cache)
            .env("WORSTCASE_TRUST_OTHERS", trust);
        command.assert()
    };
    let says = "others can write to";
    list("")
        .code(2)
        .stderr(contains(says).and(contains("set WORSTCASE_CACHE to a directory")));
    assert!(!controller.path("open/cache").exists());
    list("1").stderr(contains(says).not());
}

#[test]
fn an_archive_is_listed_fetched_and_used_offline() {
    let controller = ArchiveController::new().apt(APT);
    fs::write(controller.path("k.deb"), deb("6.1.0-56-amd64")).unwrap();
    controller
        .kernels(&["list"])
        .assert()
        .success()
        .stdout(contains("6.1.0-56-amd64").and(contains("6.1.0-55-amd64").not()));
    controller
        .kernels(&["list", "--all", "--json"])
        .assert()
        .success()
        .stdout(contains("6.1.0-55-amd64"));
    controller.fails(&["get", "debian:6.1-rt"], 2, "debian:6.1");
    controller.fails(&["get", "linux-image-6.1.0-57-amd64"], 2, "linux-image-6.1.0-56-amd64");
    controller
        .kernels(&["get", "debian:6.1"])
        .assert()
        .success()
        .stderr("")
        .stdout(contains("6.1.56-1"));
    assert_eq!(
        entries(&controller.path("cache/kernels")),
        ["linux-image-6.1.0-56-amd64_6.1.56-1"]
    );

    let controller = controller.apt("echo \"E: Could not resolve 'archive.example'\" >&2; exit 100");
    controller
        .kernels(&["show", "debian:6.1"])
        .assert()
        .success()
        .stdout(contains("6.1.0-56-amd64"));
    controller
        .kernels(&["get", "debian:6.1", "--refresh"])
        .assert()
        .success()
        .stderr(contains("note: package lists"));
    controller.fails(
        &["get", "linux-image-6.1.0-55-amd64"],
        3,
        "what was fetched once works without",
    );
}

/// The same, and an older state of the archive, which has a third kernel in the same suite.
fn apt_of_two_archives() -> String {
    APT.replace(
        "  echo \"E: The repository",
        r#"  rm -f "$state"/lists/old.*
  grep -q Check-Valid-Until "$state/debian.sources" && {
    old="$state/lists/old.example_debian_20260101_dists_bookworm"
    printf 'Origin: Debian\nCodename: bookworm\n' > "${old}_InRelease"
    printf 'Package: linux-image-6.1.0-9-amd64\nVersion: 6.1.9-1\nArchitecture: amd64\nSize: 9\n\n' \
      > "${old}_main_binary-amd64_Packages"
  }
  echo "E: The repository"#,
    )
}

#[test]
fn every_version_of_a_series_is_a_kernel() {
    let controller = ArchiveController::new().apt(&apt_of_two_archives());
    fs::write(controller.path("k.deb"), deb("6.1.0-56-amd64")).unwrap();
    let versions = |args: &[&str]| {
        let listed = controller
            .kernels(&[&["list", "--all-versions", "debian:6.1"], args].concat())
            .assert()
            .success();
        let listed = String::from_utf8(listed.get_output().stdout.clone()).unwrap();
        let names = listed
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().next().unwrap().to_string());
        names.collect::<Vec<_>>()
    };
    let (newer, oldest) = (["debian:6.1@6.1.55-1", "debian:6.1@6.1.56-1"], "debian:6.1@6.1.9-1");
    assert_eq!(versions(&[]), newer);
    let archive = ["--archive", "http://old.example/debian/20260101 bookworm"];
    assert_eq!(versions(&archive), [&[oldest], &newer[..]].concat());
    assert_eq!(versions(&["--refresh"]).len(), 3, "an archive that was named stays");
    assert_eq!(versions(&["--archive", "none"]), newer);

    controller
        .kernels(&["get", "debian:6.1@6.1.56"])
        .assert()
        .success()
        .stdout(contains("6.1.56-1"));
    controller.fails(&["get", "debian:6.1@6.1"], 2, "it fits 6.1.55-1, 6.1.56-1");
    controller.fails(&["get", "debian:6.1@6.1.5"], 2, "there are 6.1.55-1, 6.1.56-1");
    controller.fails(&["list", "--all-versions", "debian:6.1@6.1.55"], 2, "name a series");
    let controller = controller.apt("exit 100");
    controller
        .kernels(&["show", "debian:6.1@6.1.56"])
        .assert()
        .success()
        .stdout(contains("6.1.56-1"));
}

#[test]
fn a_folder_of_kernels_is_listed_by_version() {
    let controller = ArchiveController::new();
    fs::create_dir(controller.path("built")).unwrap();
    for release in ["6.1.0-56-amd64", "6.1.0-9-amd64"] {
        let name = format!("built/linux-image-{release}.deb");
        fs::write(controller.path(&name), deb(release)).unwrap();
    }
    let listed = controller.kernels(&["list", "--kernels", "built"]).assert().success();
    listed.stdout(contains("linux-image-6.1.0-9-amd64.deb").and(contains("6.1.56-1")));
    fs::create_dir(controller.path("empty")).unwrap();
    controller.fails(&["list", "--kernels", "empty"], 2, "no package of a kernel");
}

#[test]
fn a_download_that_is_killed_leaves_nothing_half_usable() {
    // apt-get kills worstcase in the middle of its download.
    let killing = APT.replace(
        "*download*)",
        "*download*) echo half > half.deb; kill -9 $PPID; exit 1;; *never*)",
    );
    let controller = ArchiveController::new().apt(&killing);
    fs::write(controller.path("k.deb"), deb("6.1.0-56-amd64")).unwrap();
    controller.kernels(&["get", "debian:6.1"]).assert().failure();
    let left = entries(&controller.path("cache/kernels"));
    assert!(left.iter().all(|name| name.starts_with('.')), "{left:?}");
    let controller = controller.apt(APT);
    controller.kernels(&["get", "debian:6.1"]).assert().success();
    assert_eq!(
        entries(&controller.path("cache/kernels")),
        ["linux-image-6.1.0-56-amd64_6.1.56-1"],
        "the leftovers are gone"
    );
}
