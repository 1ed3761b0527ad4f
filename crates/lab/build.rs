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

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What an executable for another processor tells in place of digests: it carries none of these.
const CARRIES_NONE: &str = "none, the lab needs an x86-64 controller";

struct Payload {
    package: &'static str,
    profile: &'static str,
    /// Cargo features, or none.
    features: &'static str,
    rustflags: &'static str,
    built: &'static str,
    file: &'static str,
}

const PAYLOADS: &[Payload] = &[
    Payload {
        package: "worstcase-guest",
        profile: "guest",
        features: "",
        rustflags: "-Ctarget-feature=+crt-static",
        built: "worstcase-guest",
        file: "guest",
    },
    Payload {
        package: "worstcase-policy-loader",
        profile: "guest",
        features: "static",
        rustflags: "-Ctarget-feature=+crt-static",
        built: "worstcase-policy",
        file: "policy-loader",
    },
    Payload {
        package: "worstcase-plugin",
        profile: "plugin",
        features: "api-v1",
        rustflags: "",
        built: "libworstcase_plugin.so",
        file: "plugin-v1.so",
    },
    Payload {
        package: "worstcase-plugin",
        profile: "plugin",
        features: "api-v4",
        rustflags: "",
        built: "libworstcase_plugin.so",
        file: "plugin-v4.so",
    },
    Payload {
        package: "worstcase-plugin",
        profile: "plugin",
        features: "api-v7",
        rustflags: "",
        built: "libworstcase_plugin.so",
        file: "plugin-v7.so",
    },
];

fn main() {
    let out = PathBuf::from(env("OUT_DIR"));
    let workspace = Path::new(&env("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is there");
    for part in [
        "crates/logs",
        "crates/instruments",
        "crates/io",
        "crates/wires",
        "crates/cell",
        "crates/disk",
        "crates/guest",
        "crates/policy-loader",
        "crates/plugin",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(part).display());
    }
    if env("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        for payload in PAYLOADS {
            pack(&[], &out.join(format!("{}.gz", payload.file)));
        }
        println!("cargo::rustc-env=WORSTCASE_CARRIES={CARRIES_NONE}");
        return;
    }
    // Cargo locks the folder of a profile.
    std::thread::scope(|scope| {
        for profile in ["guest", "plugin"] {
            let (workspace, out) = (&workspace, &out);
            scope.spawn(move || {
                for payload in PAYLOADS.iter().filter(|payload| payload.profile == profile) {
                    build(payload, workspace, out);
                }
            });
        }
    });
    println!("cargo::rustc-env=WORSTCASE_CARRIES={}", digests(&out));
}

/// Packs what was built, and tells what is part of every result, with the first half of its SHA-256: `guest 0123..., plugin-v1.so 4567...`.
fn digests(out: &Path) -> String {
    let digest = |file: &str| {
        let bytes = std::fs::read(out.join(file)).expect("it was built");
        pack(&bytes, &out.join(format!("{file}.gz")));
        let hex: String = Sha256::digest(bytes)[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{file} {hex}")
    };
    PAYLOADS
        .iter()
        .map(|payload| digest(payload.file))
        .collect::<Vec<_>>()
        .join(", ")
}

fn pack(bytes: &[u8], to: &Path) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).expect("it is packed in memory");
    let packed = packed.finish().expect("it is packed in memory");
    std::fs::write(to, packed).expect("the packed file can be written");
}

fn build(payload: &Payload, workspace: &Path, out: &Path) {
    let cargo_home = home::cargo_home().expect("cargo has a home");
    let flags = [
        payload.rustflags.to_string(),
        format!("--remap-path-prefix={}=/worstcase", workspace.display()),
        format!("--remap-path-prefix={}=/cargo", cargo_home.display()),
        format!("--remap-path-prefix={}=/target", out.display()),
    ];
    // A target folder of its own: cargo holds a lock on the one that this script runs under.
    let target_dir = out.join("payloads");
    let status = Command::new(env("CARGO"))
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
            TARGET,
        ])
        .arg("--target-dir")
        .arg(&target_dir)
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            flags
                .iter()
                .filter(|f| !f.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join("\x1f"),
        )
        .env("CFLAGS", c_flags(&cargo_home, out))
        .env("LIBBPF_SYS_LIBRARY_PATH", static_libraries())
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        // What is checked by a sanitizer is the controller.
        .env_remove("CARGO_CFG_SANITIZE")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{} could not be built", payload.package);
    let built = target_dir.join(TARGET).join(payload.profile).join(payload.built);
    std::fs::copy(&built, out.join(payload.file)).expect("the built file can be copied");
}

/// C of dependencies must not depend on where the source lies, either.
fn c_flags(cargo_home: &Path, out: &Path) -> String {
    let map = |from: &Path, to: &str| format!("-ffile-prefix-map={}={to}", from.display());
    [map(cargo_home, "/cargo"), map(out, "/target")].join(" ")
}

/// Where the distribution has libelf.a, which the loader of schedulers carries.
fn static_libraries() -> PathBuf {
    let said = Command::new("cc").arg("-print-file-name=libelf.a").output();
    let said = String::from_utf8(said.expect("cc runs").stdout).expect("a path");
    let library = PathBuf::from(said.trim());
    assert!(
        library.is_absolute(),
        "libelf.a is missing; 'make prepare' installs it (libelf-dev, zlib1g-dev)"
    );
    library.parent().expect("a file is in a folder").to_path_buf()
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
