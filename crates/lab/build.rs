//! Builds what runs elsewhere (the guest's init, the QEMU plugin once for each API version) and puts it, packed, where
//! `payload.rs` includes it, so that the executable is the whole tool.
//!
//! The guest's bytes are part of every lab result: they must not depend on where the source lies, so paths are remapped.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "build/libraries.rs"]
mod libraries;
use libraries::Libraries;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const ARM64: &str = "aarch64-unknown-linux-gnu";
/// What links the guest of arm64.
const ARM64_LINKER: &str = "aarch64-linux-gnu-gcc";

/// What an executable for another processor tells in place of digests: it carries none of these.
const CARRIES_NONE: &str = "none, the lab needs an x86-64 controller";
/// Set to `no`, a build is the host part alone: whoever builds for a board's distribution has no compiler for a PC.
const LAB: &str = "WORSTCASE_LAB";
const WITHOUT_LAB: &str = "none, it was built without the lab";

struct Payload {
    package: &'static str,
    profile: &'static str,
    /// Cargo features, or none.
    features: &'static str,
    rustflags: &'static [&'static str],
    /// Whether lab results depend on its bytes.
    of_results: bool,
    /// The processor that executes it.
    target: &'static str,
    /// Only where programs for arm64 can be built.
    of_arm64: bool,
    built: &'static str,
    file: &'static str,
}

/// Names a folder with the C library that goes into what a lab machine runs (libc.a and the like, libgcc_eh.a, crt*.o) instead of
/// this distribution's: with the same, the guest's bytes are the same everywhere.
const LIBC: &str = "WORSTCASE_LIBC";

/// Without the distribution's crt*.o and what its compiler adds: a plugin's bytes are part of every key, and so are equal
/// wherever the same Rust builds them. The linker is Rust's own.
const OF_RUST_ALONE: &[&str] = &[
    "-Clink-arg=-nostartfiles",
    "-Clink-arg=-Wl,--build-id=none,--hash-style=gnu",
];
const STATIC: &[&str] = &["-Ctarget-feature=+crt-static"];
/// The plugin is told addresses of its code.
const STATIC_AT_FIXED_PLACES: &[&str] = &["-Ctarget-feature=+crt-static", "-Crelocation-model=static"];

const GUEST: Payload = Payload {
    package: "worstcase-guest",
    profile: "guest",
    features: "",
    rustflags: STATIC,
    of_results: true,
    target: TARGET,
    of_arm64: false,
    built: "worstcase-guest",
    file: "guest",
};

const fn plugin(features: &'static str, file: &'static str, of_arm64: bool) -> Payload {
    Payload {
        package: "worstcase-plugin",
        profile: "plugin",
        features,
        rustflags: OF_RUST_ALONE,
        of_results: true,
        target: TARGET,
        of_arm64,
        built: "libworstcase_plugin.so",
        file,
    }
}

/// The one that a lab without policies does without.
const LOADER: Payload = Payload {
    package: "worstcase-policy-loader",
    features: "static",
    built: "worstcase-policy",
    file: "policy-loader",
    ..GUEST
};

const PAYLOADS: &[Payload] = &[
    GUEST,
    LOADER,
    Payload {
        package: "worstcase-operations",
        rustflags: STATIC_AT_FIXED_PLACES,
        of_results: false,
        built: "worstcase-operations",
        file: "operations",
        ..GUEST
    },
    plugin("api-v1", "plugin-v1.so", false),
    plugin("api-v4", "plugin-v4.so", false),
    plugin("api-v7", "plugin-v7.so", false),
    Payload {
        target: ARM64,
        of_arm64: true,
        file: "guest-arm64",
        ..GUEST
    },
    Payload {
        target: ARM64,
        of_arm64: true,
        file: "policy-loader-arm64",
        ..LOADER
    },
    plugin("api-v1,guest-arm64", "plugin-arm64-v1.so", true),
    plugin("api-v4,guest-arm64", "plugin-arm64-v4.so", true),
    plugin("api-v7,guest-arm64", "plugin-arm64-v7.so", true),
];

fn main() {
    let out = PathBuf::from(env("OUT_DIR"));
    let workspace = Path::new(&env("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there");
    for part in [
        "crates/logs",
        "crates/costs",
        "crates/instruments",
        "crates/io",
        "crates/wires",
        "crates/cell",
        "crates/disk",
        "crates/guest",
        "crates/policy-loader",
        "crates/lab/build",
        "crates/operations",
        "crates/plugin",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(part).display());
    }
    println!("cargo::rerun-if-env-changed={LAB}");
    let with_lab = std::env::var(LAB).as_deref() != Ok("no");
    let is_controller = env("CARGO_CFG_TARGET_ARCH") == "x86_64";
    if !is_controller || !with_lab {
        for payload in PAYLOADS {
            pack(&[], &out.join(format!("{}.gz", payload.file)));
        }
        let why = if is_controller { WITHOUT_LAB } else { CARRIES_NONE };
        println!("cargo::rustc-env=WORSTCASE_CARRIES={why}");
        return;
    }
    let with_arm64 = builds_arm64();
    let carried = || PAYLOADS.iter().filter(|payload| with_arm64 || !payload.of_arm64);
    for payload in PAYLOADS.iter().filter(|payload| payload.of_arm64 && !with_arm64) {
        pack(&[], &out.join(format!("{}.gz", payload.file)));
    }
    // Cargo locks the folder of a profile.
    std::thread::scope(|scope| {
        for profile in ["guest", "plugin"] {
            let (workspace, out) = (&workspace, &out);
            scope.spawn(move || {
                for payload in carried().filter(|payload| payload.profile == profile) {
                    let Err(why) = build(payload, workspace, out) else {
                        continue;
                    };
                    let is_loader = payload.package == LOADER.package;
                    assert!(is_loader, "{} could not be built: {why}", payload.package);
                    println!("cargo::warning=this lab cannot load schedulers (--scheduler) on {}: their loader could not be built: {why}", payload.target);
                    // One of an earlier build is another version's.
                    std::fs::write(out.join(payload.file), []).expect("the output folder can be written");
                }
            });
        }
    });
    println!("cargo::rustc-env=WORSTCASE_CARRIES={}", digests(carried(), &out));
}

/// Whether the standard library for arm64 is here, and what links programs for it. The script runs again when that changes.
fn builds_arm64() -> bool {
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed={LIBC}");
    let said = Command::new(env("RUSTC")).args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(said.expect("rustc runs").stdout).expect("a path");
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
    println!("cargo::rerun-if-changed={}", libraries.display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let linker = |program: &str| {
        std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    };
    if let Some(beside) = linker("cc").as_deref().and_then(Path::parent) {
        println!("cargo::rerun-if-changed={}", beside.display());
    }
    libraries.join(ARM64).join("lib").is_dir() && linker(ARM64_LINKER).is_some()
}

/// Packs what was built, and tells what is part of every result, with the first half of its SHA-256: `guest 0123..., plugin-v1.so 4567...`.
fn digests<'a>(carried: impl Iterator<Item = &'a Payload>, out: &Path) -> String {
    let digest = |payload: &Payload| {
        let file = payload.file;
        let bytes = std::fs::read(out.join(file)).expect("it was built");
        pack(&bytes, &out.join(format!("{file}.gz")));
        if !payload.of_results || bytes.is_empty() {
            return None;
        }
        let hex: String = Sha256::digest(bytes)[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Some(format!("{file} {hex}"))
    };
    carried.filter_map(digest).collect::<Vec<_>>().join(", ")
}

fn pack(bytes: &[u8], to: &Path) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).expect("it is packed in memory");
    let packed = packed.finish().expect("it is packed in memory");
    std::fs::write(to, packed).expect("the packed file can be written");
}

/// Builds a program; an error says in one line why not.
fn build(payload: &Payload, workspace: &Path, out: &Path) -> Result<(), String> {
    let cargo_home = home::cargo_home().expect("cargo has a home");
    let mut flags: Vec<String> = payload.rustflags.iter().map(ToString::to_string).collect();
    flags.extend([
        format!("--remap-path-prefix={}=/worstcase", workspace.display()),
        format!("--remap-path-prefix={}=/cargo", cargo_home.display()),
        format!("--remap-path-prefix={}=/target", out.display()),
    ]);
    let libc = std::env::var(LIBC)
        .ok()
        .filter(|_| payload.rustflags == STATIC && !payload.of_arm64);
    flags.extend(
        libc.iter()
            .flat_map(|folder| ["-B", "-L"].map(|option| format!("-Clink-arg={option}{folder}"))),
    );
    // A target folder of its own: cargo holds a lock on the one that this script runs under.
    let target_dir = out.join("payloads");
    let c_flags = c_flags(&cargo_home, out);
    let mut command = Command::new(env("CARGO"));
    if payload.package == LOADER.package {
        let libraries = Libraries::build(&env("CARGO"), workspace, out, payload.target, &c_flags)?;
        command
            .env("LIBBPF_SYS_LIBRARY_PATH", libraries.folder)
            .env("LIBBPF_SYS_EXTRA_CFLAGS", libraries.flags);
    }
    let output = command
        .current_dir(workspace)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            payload.package,
            "--profile",
            payload.profile,
        ])
        .args([
            "--no-default-features",
            "--features",
            payload.features,
            "--target",
            payload.target,
        ])
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env("CFLAGS", c_flags.join(" "))
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", ARM64_LINKER)
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        // What is checked by a sanitizer is the controller.
        .env_remove("CARGO_CFG_SANITIZE")
        .output()
        .expect("cargo runs");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        eprintln!("{said}");
        let why = said.lines().find(|line| line.contains("ld: error: "));
        let why = why.or_else(|| said.lines().find(|line| line.starts_with("error")));
        let why = why.unwrap_or("cargo failed");
        return Err(why.trim().to_string());
    }
    let built = target_dir
        .join(payload.target)
        .join(payload.profile)
        .join(payload.built);
    std::fs::copy(&built, out.join(payload.file)).expect("the built file can be copied");
    Ok(())
}

/// C of dependencies must not depend on where the source lies, either.
fn c_flags(cargo_home: &Path, out: &Path) -> Vec<String> {
    let map = |from: &Path, to: &str| format!("-ffile-prefix-map={}={to}", from.display());
    vec![map(cargo_home, "/cargo"), map(out, "/target")]
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
