//! Kernel images that are none, or that do not get far.

use crate::controller::{Controller, GENERIC, ListedKernelFiles, entries, folder, kernel, shared};
use crate::failures::{machine_failed, one_line};
use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::cache::Cache;
use worstcase_kernels::{to_fetch, vmlinux};

pub fn boot(controller: &Controller, image: &Path, run: &Path) -> Command {
    let mut command = controller.run("--samples 200 --seeds 1 --preempt full", run);
    let ListedKernelFiles { config, .. } = kernel(GENERIC);
    let name = format!("{},config={}", image.display(), config.display());
    command.arg("--kernel").arg(name);
    command
}

/// A real image whose header does not tell where the packed kernel is, so that the machine unpacks it.
fn image_that_unpacks_itself() -> Vec<u8> {
    let mut image = fs::read(kernel(GENERIC).bzimage).unwrap();
    image[0x248..0x250].fill(0);
    image
}

/// A real image whose first instructions in protected mode are these.
pub fn image_that_begins(code: &[u8], folder: &Path) -> PathBuf {
    let mut image = image_that_unpacks_itself();
    // Behind the boot sector and the setup sectors, which it counts (Documentation/arch/x86/boot.rst).
    let start = (usize::from(image[0x1f1]) + 1) * 512;
    image[start..start + code.len()].copy_from_slice(code);
    let path = folder.join("bzImage");
    fs::write(&path, image).unwrap();
    path
}

#[test]
fn what_is_no_image() {
    let folder = folder();
    let (run, image) = (folder.path().join("run"), folder.path().join("bzImage"));
    one_line(
        boot(shared(), Path::new("/bin/true"), &run),
        2,
        &["not a kernel image, /bin/true", "HdrS"],
    );
    one_line(boot(shared(), &image, &run), 2, &["cannot read", "check the path"]);
    let whole = fs::read(kernel(GENERIC).bzimage).unwrap();
    for length in [0x206, 0x20f, 1_000, 100_000, whole.len() - 5_000] {
        fs::write(&image, &whole[..length]).unwrap();
        one_line(
            boot(shared(), &image, &run),
            2,
            &["not a kernel image", "it is cut short"],
        );
    }
    assert!(!run.exists(), "no run is begun");
}

#[test]
fn a_package_that_is_cut_short() {
    let folder = folder();
    let deb = folder.path().join("linux.deb");
    fs::write(
        &deb,
        b"!<arch>\ndebian-binary   1410122664  0     0     100644  4         `\n2.0\n",
    )
    .unwrap();
    let mut command = shared().run("", &folder.path().join("run"));
    command.arg("--kernel").arg(&deb);
    one_line(command, 2, &["damaged package", "fetch it again"]);
}

#[test]
fn a_kernel_that_hangs_before_its_first_word_is_stopped() {
    let (controller, folder) = (Controller::fresh(), folder());
    let image = image_that_begins(b"\xeb\xfe", folder.path()); // jmp to itself
    let mut hangs = boot(&controller, &image, &folder.path().join("run"));
    hangs.args(["--timeout", "2"]);
    machine_failed(hangs, &["time limit of 2 s", "--timeout"], "");
}

/// Nobody has to bound its time.
#[test]
fn a_kernel_that_stops_the_cpu_for_good_is_stopped() {
    let (controller, folder) = (Controller::fresh(), folder());
    let image = image_that_begins(b"\xfa\xf4", folder.path()); // cli, hlt
    let halts = boot(&controller, &image, &folder.path().join("run"));
    machine_failed(halts, &["it stood still for", "s after", "instructions"], "");
}

#[test]
fn a_kernel_that_resets_the_machine_is_no_result() {
    let (controller, folder) = (Controller::fresh(), folder());
    let image = image_that_begins(b"\x0f\x0b", folder.path()); // ud2 without a handler: triple fault
    let resets = boot(&controller, &image, &folder.path().join("run"));
    machine_failed(resets, &["QEMU ended unexpectedly"], "");
}

#[test]
fn a_kernel_without_memory_panics_and_says_so() {
    let (controller, folder) = (Controller::fresh(), folder());
    let big = folder.path().join("big");
    // It fits into the machine once, packed in the image, but not unpacked beside it.
    fs::File::create(&big).unwrap().set_len(100 << 20).unwrap();
    let mut command = controller.run(
        "--preempt full --memory 192 --samples 200 --seeds 1",
        &folder.path().join("run"),
    );
    command.args(["--kernel", GENERIC, "--add"]).arg(&big);
    machine_failed(command, &["QEMU ended unexpectedly"], "Kernel panic");
}

#[test]
fn two_kernels_of_one_release_have_names_of_their_own() {
    let folder = folder();
    let ListedKernelFiles { bzimage, config, .. } = kernel(GENERIC);
    let copy = |name: &str| {
        let image = folder.path().join(name).join("bzImage");
        fs::create_dir_all(image.parent().unwrap()).unwrap();
        fs::copy(&bzimage, &image).unwrap();
        format!("--kernel {},config={}", image.display(), config.display())
    };
    let kernels = format!("{} {}", copy("old"), copy("new"));
    let cells = "--preempt none --load idle --seeds 1 --samples 200";
    let records = shared().measure(&format!("{kernels} {cells}"));
    let ids: Vec<&str> = records.iter().map(|r| r.id.as_str()).collect();
    let release = &records[0].subject.kernel.release;
    let of = |name: &str| format!("{release}+{name}.none.idle.wakeup.s1");
    assert_eq!(ids, [of("old"), of("new")]);
    // It is the same kernel.
    assert_eq!(records[0].digest, records[1].digest);
}

/// As docs/lab.md says of Debian's kernels; those that are here.
#[test]
fn which_kernels_boot_uncompressed() {
    let cache = Cache::open().unwrap();
    for series in ["5.10", "6.1", "6.12", "6.18", "7.3"] {
        for flavour in ["", "-cloud", "-rt"] {
            let name = format!("debian:{series}{flavour}");
            if to_fetch(&name, &cache).is_none() {
                let image = fs::read(kernel(&name).bzimage).unwrap();
                let is_packed_otherwise = ["debian:5.10-cloud", "debian:6.1-cloud"].contains(&name.as_str());
                assert_eq!(vmlinux::direct(&image).is_some(), !is_packed_otherwise, "{name}");
            }
        }
    }
}

/// By itself it is the same machine but for what the boot left in memory, and takes many times as long.
#[test]
fn a_kernel_boots_uncompressed_where_it_can() {
    let (controller, folder) = (Controller::booted(), folder());
    let unpacks = folder.path().join("bzImage");
    fs::write(&unpacks, image_that_unpacks_itself()).unwrap();
    boot(&controller, &unpacks, &folder.path().join("run"))
        .assert()
        .success();
    let snapshots = controller.cache().join("snapshots");
    let boots = entries(&snapshots).into_iter().map(|key| {
        let state = fs::read(snapshots.join(&key).join("boot.json")).unwrap();
        let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
        let is_direct = snapshots.join(&key).join("vmlinux").exists();
        (is_direct, state["instructions"].as_u64().unwrap())
    });
    let boots: BTreeMap<bool, u64> = boots.collect();
    assert!(boots[&true] * 5 < boots[&false], "{boots:?}");
    let kept = controller.cache().join("vmlinux");
    let files: Vec<bool> = entries(&kept)
        .iter()
        .map(|key| kept.join(key).join("vmlinux").exists())
        .collect();
    assert_eq!(files, [false], "that this image has none is known, too");
}

/// A damaged copy of the kernel is replaced; so is a snapshot that has lost its own.
#[test]
fn a_damaged_uncompressed_kernel_is_unpacked_again() {
    let (controller, folder) = (Controller::booted(), folder());
    let cell = |run: &str| {
        controller.run(
            &format!("--kernel {GENERIC} --preempt full --samples 200 --seeds 1"),
            &folder.path().join(run),
        )
    };
    let file = |area: &str| {
        let area = controller.cache().join(area);
        area.join(&entries(&area)[0]).join("vmlinux")
    };
    fs::remove_file(file("snapshots")).unwrap();
    let said = cell("first").assert().success().get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("its file 'vmlinux' does not fit its checksum; the subject is booted again"),
        "{said}"
    );
    let whole = fs::read(file("vmlinux")).unwrap();
    assert_eq!(fs::read(file("snapshots")).unwrap(), whole);

    fs::write(file("vmlinux"), &whole[..whole.len() - 1]).unwrap();
    fs::remove_dir_all(controller.cache().join("snapshots")).unwrap();
    let said = cell("second").assert().success().get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("its file 'vmlinux' does not fit its checksum; the kernel is unpacked again"),
        "{said}"
    );
    assert_eq!(fs::read(file("snapshots")).unwrap(), whole);
}
