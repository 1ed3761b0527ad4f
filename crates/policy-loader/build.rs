//! libelf may be built with zstd (Debian 13), and a static executable must then have it, too.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let asked = Command::new("pkg-config")
        .args(["--static", "--libs", "libelf"])
        .output()
        .expect("pkg-config runs; scripts/prepare installs it");
    let libraries = String::from_utf8_lossy(&asked.stdout);
    // Last on the command line: a linker looks for what an archive lacks only in those that follow it.
    if libraries.split_whitespace().any(|word| word == "-lzstd") {
        println!("cargo::rustc-link-arg-bins=-lzstd");
    }
}
