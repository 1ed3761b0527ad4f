//! Kernel images that are none, or that do not get far.

use crate::controller::{Controller, GENERIC, ListedKernelFiles, folder, kernel, shared};
use crate::failures::{machine_failed, one_line};
use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

pub fn boot(controller: &Controller, image: &Path, run: &Path) -> Command {
    let mut command = controller.run("--samples 200 --seeds 1 --preempt full", run);
    let ListedKernelFiles { config, .. } = kernel(GENERIC);
    let name = format!("{},config={}", image.display(), config.display());
    command.arg("--kernel").arg(name);
    command
}

/// A real image whose first instructions in protected mode are these.
pub fn image_that_begins(code: &[u8], folder: &Path) -> PathBuf {
    let mut image = fs::read(kernel(GENERIC).bzimage).unwrap();
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
