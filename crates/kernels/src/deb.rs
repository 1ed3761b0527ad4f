//! Unpacks a kernel's files from a .deb (deb(5)): an `ar` archive of two compressed `tar` archives.
//!
//! Only the files of a kernel are written: the image, config, System.map and modules; no links, no scripts. Paths are
//! checked, so that a package can write nothing outside of its folder. A package that ends too early is an error, as is one
//! that unpacks to more than any real one, or whose checksums do not fit.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use worstcase_base::files;

use super::debuginfo::kept::MODULES;
use super::members::Members;
use super::modules::name_of;
use super::package_info::PackageInfo;
use super::unpacked::{Packing, Unpacked, most_of};
use super::{KernelError, ar, packages};

/// Reads the description in a .deb; unpacks nothing.
pub fn info(deb: &Path) -> Result<PackageInfo, KernelError> {
    read_all(deb, &|_| Ok(()))
}

/// Unpacks the kernel files of a .deb into a folder; `usr/lib/modules` becomes `lib/modules`.
pub fn unpack(deb: &Path, into: &Path) -> Result<PackageInfo, KernelError> {
    read_all(deb, &|reader| unpack_data(reader, Members::of_a_kernel(deb, into)))
}

/// Reads everything as [`unpack`] does, and writes nothing. For scripts/fuzz.
pub fn examine(deb: &Path) -> Result<PackageInfo, KernelError> {
    read_all(deb, &|reader| unpack_data(reader, Members::unwritten(deb)))
}

/// Unpacks everything into a folder, links too.
pub(crate) fn unpack_all(deb: &Path, into: &Path) -> Result<PackageInfo, KernelError> {
    read_all(deb, &|reader| {
        let unpacked = tar::Archive::new(reader).unpack(into);
        unpacked.map_err(|e| KernelError::BadPackage {
            path: deb.into(),
            why: e.to_string(),
        })
    })
}

/// Unpacks the kernel's own debug file, as `vmlinux`, and those of some modules, as `modules/NAME.ko`; gives the path of
/// the kernel's.
pub(crate) fn unpack_debug(deb: &Path, modules: &BTreeSet<String>, into: &Path) -> Result<PathBuf, KernelError> {
    let wanted = |path: &Path| debug_file(path).or_else(|| debug_module(path, modules));
    read_all(deb, &|reader| unpack_data(reader, Members::new(deb, into, &wanted)))?;
    Some(into.join(VMLINUX))
        .filter(|p| p.is_file())
        .ok_or_else(|| KernelError::BadPackage {
            path: deb.into(),
            why: "no vmlinux in it".into(),
        })
}

/// The function that gets the files of a package.
type OfData<'a> = &'a dyn Fn(&mut dyn Read) -> Result<(), KernelError>;

fn read_all(deb: &Path, of_data: OfData<'_>) -> Result<PackageInfo, KernelError> {
    let bad = |why: String| KernelError::BadPackage { path: deb.into(), why };
    let file = files::open(deb).map_err(|source| KernelError::Unreadable {
        path: deb.into(),
        source,
    })?;
    let mut archive = io::BufReader::new(file);
    let cut = |why: String| bad(format!("not a .deb or cut short ({why})"));
    ar::begin(&mut archive).map_err(cut)?;
    let (mut info, mut unpacked) = (None, false);
    while let Some(ar::ArMember { name, size }) = ar::next(&mut archive).map_err(cut)? {
        let mut member = (&mut archive).take(size);
        match name.split_once(".tar") {
            Some(("control", packing)) => info = Some(read_control(&mut member, packing).map_err(&bad)?),
            Some(("data", packing)) => {
                let mut reader = unpack_member(&mut member, packing, most_of(size)).map_err(&bad)?;
                of_data(&mut reader)?;
                reader.finish().map_err(|e| bad(e.to_string()))?;
                unpacked = true;
            }
            _ => {}
        }
        // tar stops at its end mark; the rest must still be there, or the file was cut.
        io::copy(&mut member, &mut io::sink()).map_err(|e| bad(e.to_string()))?;
        let lacking = member.limit();
        if lacking > 0 {
            return Err(bad(format!("cut short in {name}: {} of {size} bytes", size - lacking)));
        }
        ar::pad(&mut archive, size).map_err(cut)?;
    }
    let info = info.ok_or_else(|| bad("no control.tar in it: not a .deb, or cut short".into()))?;
    if unpacked {
        Ok(info)
    } else {
        Err(bad("no data.tar in it: cut short".into()))
    }
}

fn unpack_member<R: Read>(reader: R, packing: &str, most: u64) -> Result<Unpacked<R>, String> {
    let packing = Packing::of_name(packing).ok_or_else(|| format!("compressed in an unknown way ({packing})"))?;
    Unpacked::new(reader, packing, most).map_err(|e| e.to_string())
}

/// Limit in bytes. The unpacked control archives of Debian's largest packages have some MiB of checksums.
const MOST_CONTROL: u64 = 16 << 20;

fn read_control(reader: impl Read, packing: &str) -> Result<PackageInfo, String> {
    let mut reader = unpack_member(reader, packing, MOST_CONTROL)?;
    let mut info = Err("its control file names no package".to_string());
    for entry in tar::Archive::new(&mut reader).entries().map_err(|e| e.to_string())? {
        let mut entry = entry.map_err(|e| e.to_string())?;
        if entry.path().is_ok_and(|p| p.ends_with("control")) {
            let mut text = String::new();
            entry.read_to_string(&mut text).map_err(|e| e.to_string())?;
            info = info_of(&text);
            break;
        }
    }
    reader.finish().map_err(|e| e.to_string())?;
    info
}

fn info_of(control: &str) -> Result<PackageInfo, String> {
    let fields = packages::fields(control);
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
    };
    let (Some(package), Some(version)) = (field("Package"), field("Version")) else {
        return Err("its control file names no package".into());
    };
    let depends = field("Depends").unwrap_or_default();
    let names = depends.split(',').filter_map(|one| one.split_whitespace().next());
    PackageInfo {
        package,
        version,
        depends: names.map(str::to_string).collect(),
    }
    .checked()
}

fn unpack_data(reader: impl Read, mut members: Members<'_>) -> Result<(), KernelError> {
    let mut archive = tar::Archive::new(reader);
    let mut longer = LongName::default();
    let bad = |members: &Members<'_>, e: io::Error| members.bad(e.to_string());
    // Raw, because tar otherwise keeps names of any length in memory.
    for entry in archive.entries().map_err(|e| bad(&members, e))?.raw(true) {
        let mut entry = entry.map_err(|e| members.cut(&e))?;
        if longer.take(&mut entry).map_err(|e| bad(&members, e))? {
            continue;
        }
        let path = match longer.0.take() {
            Some(path) => path,
            None => entry.header().path().map_err(|e| bad(&members, e))?.into_owned(),
        };
        if entry.header().entry_type().is_file()
            && let Some(target) = members.target(&path)?
        {
            members.write(&target, &mut entry)?;
        }
    }
    Ok(())
}

/// The name of the next member, if it did not fit into its header.
#[derive(Default)]
struct LongName(Option<PathBuf>);

/// Limit in bytes for a name, or the attributes of a member.
const MOST_NAME: u64 = 1 << 20;

impl LongName {
    /// Whether this entry only names the next one.
    fn take(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> io::Result<bool> {
        let kind = entry.header().entry_type();
        let mut bytes = Vec::new();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            files::all(&mut *entry, MOST_NAME, &mut bytes)?;
        }
        if kind.is_gnu_longname() {
            let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            self.0 = Some(path_of(name));
        }
        if kind.is_pax_local_extensions() {
            for record in tar::PaxExtensions::new(&bytes) {
                let record = record?;
                if record.key_bytes() == b"path" {
                    self.0 = Some(path_of(record.value_bytes()));
                }
            }
        }
        Ok(kind.is_gnu_longname()
            || kind.is_pax_local_extensions()
            || kind.is_gnu_longlink()
            || kind.is_pax_global_extensions())
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The name under which a kernel's debug file is unpacked.
const VMLINUX: &str = "vmlinux";

/// The place of a kernel's debug file: a debug package has several vmlinux, of which one is a regular file.
fn debug_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let is_it = name == VMLINUX || name.starts_with("vmlinux-");
    let path = path.strip_prefix(".").unwrap_or(path);
    (is_it && path.starts_with("usr/lib/debug")).then(|| VMLINUX.into())
}

/// The place of a module's debug file, if the module is one of these.
fn debug_module(path: &Path, modules: &BTreeSet<String>) -> Option<PathBuf> {
    let path = path.strip_prefix(".").unwrap_or(path);
    let is_debug = path.starts_with("usr/lib/debug") && path.extension().is_some_and(|end| end == "ko");
    let name = name_of(path);
    (is_debug && modules.contains(&name)).then(|| Path::new(MODULES).join(format!("{name}.ko")))
}

/// A .deb made of the given files, for tests.
#[cfg(test)]
pub fn sample(package: &str, version: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let tarball = |files: &[(&str, &[u8])]| {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, *bytes).unwrap();
        }
        let mut packed = Vec::new();
        let tar = builder.into_inner().unwrap();
        liblzma::read::XzEncoder::new(&tar[..], 1)
            .read_to_end(&mut packed)
            .unwrap();
        packed
    };
    let control = format!("Package: {package}\nVersion: {version}\nArchitecture: amd64\n");
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.xz", tarball(&[("control", control.as_bytes())])),
        ("data.tar.xz", tarball(files)),
    ];
    archive(&members)
}

/// An `ar` archive, for tests.
#[cfg(test)]
pub fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ::ar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let header = ::ar::Header::new(name.as_bytes().to_vec(), bytes.len() as u64);
        archive.append(&header, &bytes[..]).unwrap();
    }
    archive.into_inner().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn of_a_debug_package_only_the_kernel_itself_and_some_modules_are_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dbg.deb");
        let module: (&str, &[u8]) = ("./usr/lib/debug/lib/modules/6.1/kernel/brd.ko", b"module");
        let wanted: (&str, &[u8]) = ("./usr/lib/debug/lib/modules/6.1/kernel/null-blk.ko", b"wanted");
        let modules = BTreeSet::from(["null_blk".to_string()]);
        for place in [
            "./usr/lib/debug/boot/vmlinux-6.1",
            "./usr/lib/debug/lib/modules/6.1/vmlinux",
        ] {
            let deb = sample("linux-image-6.1-dbg", "6.1-1", &[module, wanted, (place, b"debug")]);
            fs::write(&path, deb).unwrap();
            let found = unpack_debug(&path, &modules, dir.path()).unwrap();
            assert_eq!(fs::read(&found).unwrap(), b"debug");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
            assert_eq!(fs::read(dir.path().join("modules/null_blk.ko")).unwrap(), b"wanted");
            assert_eq!(fs::read_dir(dir.path().join("modules")).unwrap().count(), 1);
            fs::remove_file(found).unwrap();
        }
        fs::write(&path, sample("linux-image-6.1-dbg", "6.1-1", &[module])).unwrap();
        let error = unpack_debug(&path, &modules, dir.path()).unwrap_err();
        assert!(error.to_string().contains("no vmlinux"), "{error}");
    }

    #[test]
    fn a_package_cut_anywhere_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let noise: Vec<u8> = (0u32..4096)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        let whole = sample(
            "linux-image-6.1.0-1-amd64",
            "6.1-1",
            &[("./boot/vmlinuz-6.1.0-1-amd64", &noise)],
        );
        let path = dir.path().join("k.deb");
        fs::write(&path, &whole).unwrap();
        let info = unpack(&path, &dir.path().join("whole")).unwrap();
        assert_eq!(
            (info.package.as_str(), info.version.as_str()),
            ("linux-image-6.1.0-1-amd64", "6.1-1")
        );
        assert_eq!(
            fs::read(dir.path().join("whole/boot/vmlinuz-6.1.0-1-amd64")).unwrap(),
            noise
        );
        for cut in (0..whole.len() - 1).step_by(97).chain([whole.len() - 2]) {
            fs::write(&path, &whole[..cut]).unwrap();
            let error = unpack(&path, &dir.path().join(format!("cut-{cut}"))).unwrap_err();
            assert!(matches!(error, KernelError::BadPackage { .. }), "cut at {cut}: {error}");
        }
    }
}
