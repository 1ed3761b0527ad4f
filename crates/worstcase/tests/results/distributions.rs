//! The recipes for boards' distributions and for containers, contrib/{yocto,buildroot,oci}: they are in step with the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use worstcase_skips::skip;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const YOCTO: &str = "contrib/yocto/recipes-worstcase/worstcase/worstcase_git.bb";
const BUILDROOT: &str = "contrib/buildroot/package/worstcase/worstcase.mk";

fn at(path: &str) -> PathBuf {
    Path::new(ROOT).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(at(path)).unwrap()
}

/// What stands behind `NAME =` in a recipe, without quotes.
fn value(recipe: &str, name: &str) -> String {
    let begin = format!("{name} = ");
    let text = read(recipe);
    let line = text.lines().find_map(|line| line.strip_prefix(&begin));
    line.unwrap_or_else(|| panic!("{recipe} sets no {name}"))
        .trim_matches('"')
        .to_string()
}

#[test]
fn version_licence_and_files_are_the_trees() {
    let version = value(YOCTO, "PV");
    assert_eq!(version.split('+').next(), Some(env!("CARGO_PKG_VERSION")));
    let told = Command::new("md5sum").arg(at("LICENSE")).output().unwrap();
    let digest = String::from_utf8(told.stdout).unwrap();
    let digest = digest.split_whitespace().next().unwrap();
    assert_eq!(value(YOCTO, "LIC_FILES_CHKSUM"), format!("file://LICENSE;md5={digest}"));
    assert!(at(&value(BUILDROOT, "WORSTCASE_LICENSE_FILES")).is_file());
    assert!(at(&value(BUILDROOT, "WORSTCASE_SUBDIR")).join("Cargo.toml").is_file());
    for unit in value(YOCTO, "SYSTEMD_SERVICE:${PN}").split(' ') {
        assert!(at("contrib").join(unit).is_file(), "{unit}");
    }
    // Both leave the lab out by the word that the build script knows.
    let switch = "WORSTCASE_LAB";
    assert_eq!(value(YOCTO, &format!("export {switch}")), "no");
    assert_eq!(value(BUILDROOT, "WORSTCASE_CARGO_ENV"), format!("{switch}=no"));
    assert!(read("crates/lab/build.rs").contains(&format!("= \"{switch}\"")));
}

#[test]
fn the_licences_of_all_that_is_carried_are_named() {
    let licence = value(YOCTO, "LICENSE");
    let named: Vec<&str> = licence.split(" AND ").collect();
    let notices = read("crates/worstcase/notices.txt");
    let list = notices.lines().take_while(|line| !line.starts_with("====="));
    // The C library is the distribution's own.
    let carried: Vec<(&str, &str)> = list
        .filter_map(|line| line.split_once('\t'))
        .filter(|(name, _)| *name != "glibc")
        .collect();
    assert!(carried.len() > 100, "{}", carried.len());
    for (name, choice) in carried {
        let fits = choice.split(" OR ").any(|one| named.contains(&one));
        assert!(fits, "{name}: {choice} is not in LICENSE of {YOCTO}");
    }
}

#[test]
fn an_image_holds_what_a_package_is_called() {
    let script = read("scripts/package");
    assert!(script.contains("worstcase_${version}_$deb.deb"));
    assert!(read("contrib/oci/Containerfile").contains("COPY worstcase_*.deb "));
    let refused = Command::new(at("scripts/image")).arg("--nonsense").output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn their_own_tools_read_them() {
    let is_named = |name: &&str| std::env::var_os(name).is_some();
    if !["BITBAKE", "OE_CORE", "BUILDROOT"].iter().all(is_named) {
        skip!("BITBAKE, OE_CORE and BUILDROOT name no trees of theirs");
    }
    let read = Command::new(at("scripts/check-recipes")).output().unwrap();
    assert!(read.status.success(), "{read:?}");
}
