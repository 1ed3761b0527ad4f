//! Names that a user may type for a kernel.
//!
//! ```text
//! debian:6.1  debian:6.1-rt  debian:7.2-cloud      newest of a series in Debian's archive, by flavour
//! debian:6.12@6.12.74  debian:6.12-cloud@6.12.74-2 a version of a series; its beginning will do
//! debian:6.12/arm64  debian:6.12-16k@6.12.74/arm64 the same for another architecture
//! linux-image-6.1.0-56-amd64                       an exact Debian package, with or without "debian:"
//! debian:6.1.0-56-amd64                            the same by its release
//! ./linux-image-6.1.0-56-amd64_6.1.192-2_amd64.deb a package file; others of its kernel are looked for beside it
//! core.rpm,modules.rpm                             package files of one kernel
//! ./unpacked/                                      a folder that holds one kernel, or its packages
//! /boot/vmlinuz-6.1.0-56-amd64                     an image; what belongs to it is looked for beside it
//! bzImage,modules=DIR,config=FILE,map=FILE         an image and, each optional, what belongs to it
//! ./linux+CONFIG_PREEMPT=y                         a source tree, built with options changed
//! ./linux,config=FILE+CONFIG_HZ_1000=y             and the configuration that is changed
//! old=./bzImage                                    any of these, with the name that tables show
//! ```

use std::fmt;
use std::path::{Path, PathBuf};

use super::build::options::BuildOptions;
use super::catalog::release_in_name;
use super::siblings::is_package;
use super::{Arch, Flavour, KernelError};

/// A parsed kernel name. Nothing has been looked up yet, except whether a path is a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelName {
    /// The newest kernel of a series in Debian's archive.
    Series {
        /// The series.
        series: DebianSeries,
        /// The beginning of a version, instead of the newest.
        version: Option<String>,
    },
    /// An exact Debian package.
    Package(String),
    /// The package files of one kernel: all of them; or one, with the others perhaps beside it.
    Packages(Vec<PathBuf>),
    /// An unpacked folder.
    Folder(PathBuf),
    /// A source tree, to be built with some options changed.
    Changed {
        /// The tree.
        tree: PathBuf,
        /// The configuration to change; `None` for the tree's own.
        config: Option<PathBuf>,
        /// The changed options.
        options: BuildOptions,
    },
    /// A bzImage and the files that the user named for it.
    Image {
        /// The image.
        bzimage: PathBuf,
        /// `lib/modules/<release>`, or a folder that holds that.
        modules: Option<PathBuf>,
        /// The build configuration.
        config: Option<PathBuf>,
        /// The symbols.
        system_map: Option<PathBuf>,
    },
}

/// A series of the archive's kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebianSeries {
    /// As `6.1`.
    pub series: String,
    /// Generic by default.
    pub flavour: Flavour,
    /// The usual one by default.
    pub arch: Arch,
}

impl DebianSeries {
    /// One of its versions: `debian:6.1-rt@6.1.192-2`.
    pub fn version(&self, version: &str) -> String {
        self.named(&format!("@{version}"))
    }

    fn named(&self, version: &str) -> String {
        let flavour = match self.flavour {
            Flavour::Generic => String::new(),
            other => format!("-{other}"),
        };
        let arch = match self.arch {
            usual if usual.is_usual() => String::new(),
            other => format!("/{other}"),
        };
        format!("debian:{}{flavour}{version}{arch}", self.series)
    }
}

/// As it is typed: `debian:6.1`, `debian:6.1-rt`, `debian:6.12/arm64`.
impl fmt::Display for DebianSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(""))
    }
}

impl KernelName {
    /// The architecture that the name tells; an image's is found in it.
    pub fn arch(&self) -> Option<Arch> {
        match self {
            KernelName::Series { series, .. } => Some(series.arch),
            KernelName::Package(package) => release_in_name(package)
                .and_then(|(release, _)| Arch::in_release(release))
                .map(|(_, arch, _)| arch),
            _ => None,
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Result<KernelName, KernelError> {
        if let Some(rest) = name.strip_prefix("debian:") {
            return debian(rest).ok_or_else(|| {
                bad(name, "after debian: comes a series and flavour (debian:6.1, debian:6.1-rt, debian:7.2-cloud, debian:6.12/arm64), a version of it (debian:6.12@6.12.74), or a package name")
            });
        }
        if let Some((tree, options)) = changed(name) {
            return with_options(name, tree, options);
        }
        if let Some((path, options)) = name.split_once(',') {
            return match is_package(Path::new(path)) {
                true => packages(name),
                false => image(name, path, options),
            };
        }
        let path = PathBuf::from(name);
        if path.is_dir() {
            Ok(KernelName::Folder(path))
        } else if is_package(&path) {
            Ok(KernelName::Packages(vec![path]))
        } else if is_debian_package(name) && !path.exists() {
            Ok(KernelName::Package(name.into()))
        } else if name.contains('/') || path.exists() {
            Ok(KernelName::Image {
                bzimage: path,
                modules: None,
                config: None,
                system_map: None,
            })
        } else if debian(name).is_some() {
            Err(bad(name, &format!("do you mean debian:{name}?")))
        } else {
            Err(bad(
                name,
                "take debian:6.1, debian:6.1-rt, a package name, or the path of a .deb, an .rpm, a folder or a bzImage",
            ))
        }
    }
}

/// The kernels of a text that names several, separated by commas: what belongs to an image, and package files one after the
/// other, are of one kernel.
pub fn several(text: &str) -> Vec<String> {
    let belongs = |before: &str, piece: &str| {
        let last = before.rsplit(',').next().unwrap_or(before);
        let is_part = ["modules=", "config=", "map="].iter().any(|key| piece.starts_with(key));
        is_part || (is_package(Path::new(last)) && is_package(Path::new(piece)))
    };
    let mut names: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match names.last_mut() {
            Some(before) if belongs(before, piece) => {
                before.push(',');
                before.push_str(piece);
            }
            _ => names.push(piece.to_string()),
        }
    }
    names
}

/// `old` and `./bzImage` of `old=./bzImage`; none if the name has no label. A path that contains a `=` itself has none.
pub fn labelled(name: &str) -> Option<(&str, &str)> {
    let (label, rest) = name.split_once('=')?;
    let in_label = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let is_label = label.starts_with(|c: char| c.is_ascii_alphanumeric()) && label.chars().all(in_label);
    (is_label
        && changed(name).is_none_or(|(tree, _)| tree.contains('='))
        && !rest.is_empty()
        && !PathBuf::from(name).exists())
    .then_some((label, rest))
}

fn bad(name: &str, hint: &str) -> KernelError {
    KernelError::BadName {
        name: format!("\"{name}\""),
        hint: hint.into(),
    }
}

fn is_debian_package(name: &str) -> bool {
    name.starts_with("linux-image-") || name.starts_with("linux-binary-")
}

fn debian(rest: &str) -> Option<KernelName> {
    if is_debian_package(rest) {
        return Some(KernelName::Package(rest.into()));
    }
    if rest.starts_with(|c: char| c.is_ascii_digit()) && Arch::in_release(rest).is_some() {
        return Some(KernelName::Package(format!("linux-image-{rest}")));
    }
    let (rest, arch) = Arch::behind(rest);
    let arch = arch.unwrap_or_default();
    let (rest, version) = match rest.split_once('@') {
        Some((rest, version)) => (rest, Some(version)),
        None => (rest, None),
    };
    let in_version = |c: char| c.is_ascii_alphanumeric() || ".+~-:".contains(c);
    if version.is_some_and(|v| !v.starts_with(|c: char| c.is_ascii_digit()) || !v.chars().all(in_version)) {
        return None;
    }
    let (series, flavour) = match rest.split_once('-') {
        Some((series, flavour)) => (series, flavour.parse().ok()?),
        None => (rest, Flavour::Generic),
    };
    let (major, minor) = series.split_once('.')?;
    let number = |s: &str| !s.is_empty() && s.len() <= 4 && s.bytes().all(|b| b.is_ascii_digit());
    (number(major) && number(minor)).then(|| KernelName::Series {
        series: DebianSeries {
            series: series.into(),
            flavour,
            arch,
        },
        version: version.map(str::to_string),
    })
}

/// The tree and the options of `TREE+CONFIG_X=y+CONFIG_Y=n`, from the first `CONFIG_` on.
fn changed(name: &str) -> Option<(&str, &str)> {
    let at = name.find("+CONFIG_")?;
    (!Path::new(name).exists()).then(|| (&name[..at], &name[at + 1..]))
}

fn with_options(name: &str, tree: &str, options: &str) -> Result<KernelName, KernelError> {
    let (tree, config) = match tree.split_once(',') {
        None => (tree, None),
        Some((tree, more)) => match more.strip_prefix("config=") {
            Some(config) => (tree, Some(PathBuf::from(config))),
            None => {
                return Err(bad(
                    name,
                    "between a tree and its options comes config=FILE, or nothing",
                ));
            }
        },
    };
    Ok(KernelName::Changed {
        tree: tree.into(),
        config,
        options: BuildOptions::parse(options).map_err(|why| bad(name, &why))?,
    })
}

fn packages(name: &str) -> Result<KernelName, KernelError> {
    let paths: Vec<PathBuf> = name.split(',').map(PathBuf::from).collect();
    match paths.iter().all(|path| is_package(path)) {
        true => Ok(KernelName::Packages(paths)),
        false => Err(bad(
            name,
            "after a package file come other package files of the kernel (.deb, .rpm)",
        )),
    }
}

fn image(name: &str, path: &str, options: &str) -> Result<KernelName, KernelError> {
    let (mut modules, mut config, mut system_map) = (None, None, None);
    for option in options.split(',') {
        let slot = match option.split_once('=') {
            Some(("modules", value)) => (&mut modules, value),
            Some(("config", value)) => (&mut config, value),
            Some(("map", value)) => (&mut system_map, value),
            _ => return Err(bad(name, "after a bzImage come modules=DIR, config=FILE or map=FILE")),
        };
        *slot.0 = Some(PathBuf::from(slot.1));
    }
    Ok(KernelName::Image {
        bzimage: path.into(),
        modules,
        config,
        system_map,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_kernels_and_not_what_belongs_to_one() {
        assert_eq!(several("debian:6.1,debian:6.12-rt"), ["debian:6.1", "debian:6.12-rt"]);
        assert_eq!(
            several("./a,config=b,modules=c,old=./d,map=e,debian:6.1"),
            ["./a,config=b,modules=c", "old=./d,map=e", "debian:6.1"]
        );
        assert_eq!(
            several("core.rpm,modules.rpm,debian:6.1"),
            ["core.rpm,modules.rpm", "debian:6.1"]
        );
        assert_eq!(
            several("./linux,config=f+CONFIG_HZ_1000=y,./linux+CONFIG_PREEMPT=n"),
            ["./linux,config=f+CONFIG_HZ_1000=y", "./linux+CONFIG_PREEMPT=n"]
        );
    }

    fn series(series: &str, flavour: Flavour, arch: Arch) -> KernelName {
        let series = DebianSeries {
            series: series.into(),
            flavour,
            arch,
        };
        KernelName::Series { series, version: None }
    }

    #[test]
    fn a_version_of_a_series() {
        for text in ["debian:6.12-rt@6.12.74-2~bpo12+1", "debian:6.12-16k@6.12.74/arm64"] {
            let KernelName::Series { series, version } = KernelName::parse(text).unwrap() else {
                panic!("not a series");
            };
            assert_eq!(series.version(&version.unwrap()), text);
        }
        for wrong in ["debian:6.12@", "debian:6.12@x", "debian:6.12@6/1", "debian:@6.12.1"] {
            assert!(KernelName::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn debian_names() {
        let parse = |name: &str| KernelName::parse(name).unwrap();
        let of_pcs = |of, flavour| series(of, flavour, Arch::X86);
        assert_eq!(parse("debian:6.1"), of_pcs("6.1", Flavour::Generic));
        assert_eq!(parse("debian:6.12-rt"), of_pcs("6.12", Flavour::Rt));
        assert_eq!(parse("debian:7.2-cloud"), of_pcs("7.2", Flavour::Cloud));
        assert_eq!(
            parse("debian:7.2-16k/arm64"),
            series("7.2", Flavour::Pages16K, Arch::Arm64)
        );
        assert_eq!(parse("debian:6.12.1-rt-arm64").arch(), Some(Arch::Arm64));
        let package = KernelName::Package("linux-image-6.1.0-50-amd64".into());
        for name in [
            "linux-image-6.1.0-50-amd64",
            "debian:linux-image-6.1.0-50-amd64",
            "debian:6.1.0-50-amd64",
        ] {
            assert_eq!(parse(name), package);
        }
    }

    #[test]
    fn a_label_stands_before_a_name() {
        assert_eq!(labelled("old=./bzImage,config=x"), Some(("old", "./bzImage,config=x")));
        assert_eq!(labelled("new=debian:6.1"), Some(("new", "debian:6.1")));
        assert_eq!(labelled("new=linux+CONFIG_A=y"), Some(("new", "linux+CONFIG_A=y")));
        for none in [
            "bzImage,config=x",
            "./a=b/bzImage",
            "debian:6.1",
            "=x",
            "a=",
            "linux+CONFIG_A=y",
            "6+x+CONFIG_A=y",
        ] {
            assert_eq!(labelled(none), None, "{none}");
        }
    }

    #[test]
    fn paths() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            KernelName::parse(dir.path().to_str().unwrap()).unwrap(),
            KernelName::Folder(dir.path().into())
        );
        assert_eq!(
            KernelName::parse("x/linux.deb").unwrap(),
            KernelName::Packages(vec!["x/linux.deb".into()])
        );
        assert_eq!(
            KernelName::parse("x/core.rpm,y/modules.rpm").unwrap(),
            KernelName::Packages(vec!["x/core.rpm".into(), "y/modules.rpm".into()])
        );
        let image = KernelName::parse("bzImage,modules=m,map=s").unwrap();
        let (modules, system_map) = (Some("m".into()), Some("s".into()));
        assert_eq!(
            image,
            KernelName::Image {
                bzimage: "bzImage".into(),
                modules,
                config: None,
                system_map
            }
        );
    }

    #[test]
    fn options_stand_behind_a_tree() {
        let parse = |name: &str| match KernelName::parse(name).unwrap() {
            KernelName::Changed { tree, config, options } => (tree, config, options.to_string()),
            other => panic!("{other:?}"),
        };
        let given = parse("./linux+CONFIG_PREEMPT=y+CONFIG_HZ=1000");
        assert_eq!(
            given,
            ("./linux".into(), None, "+CONFIG_PREEMPT=y+CONFIG_HZ=1000".into())
        );
        let given = parse("a+b,config=c+d+CONFIG_A=n");
        assert_eq!(given, ("a+b".into(), Some("c+d".into()), "+CONFIG_A=n".into()));
    }

    #[test]
    fn nonsense_is_refused_with_a_hint() {
        for (name, hint) in [
            ("6.1", "debian:6.1"),
            ("debian:6", "series"),
            ("debian:6.1-hot", "series"),
            ("b,x=1", "modules="),
            ("a.deb,config=c", "other package files"),
            ("l,map=x+CONFIG_A=y", "config=FILE"),
            ("l+CONFIG_A", "CONFIG_A=y"),
        ] {
            let error = KernelName::parse(name).unwrap_err().to_string();
            assert!(error.contains(hint), "{error}");
        }
    }
}
