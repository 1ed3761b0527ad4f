//! The architectures of the lab's machines, named in one place.

use crate::CpuModel;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An architecture: of a kernel, and of the machine that it runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Arch {
    /// PCs.
    #[default]
    #[serde(rename = "x86-64")]
    X86,
    /// Boards, and servers of ARM.
    #[serde(rename = "arm64")]
    Arm64,
}

/// Two architectures side by side, for readers of figures.
pub const NOT_ONE_UNIT: &str = "an instruction of one architecture is not one of another: path lengths of both are compared \
                                by rank, without ratios";

impl Arch {
    /// All.
    pub const ALL: [Arch; 2] = [Arch::X86, Arch::Arm64];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Arch::X86 => "x86-64",
            Arch::Arm64 => "arm64",
        }
    }

    /// Debian's name for it.
    pub const fn debian(self) -> &'static str {
        match self {
            Arch::X86 => "amd64",
            Arch::Arm64 => "arm64",
        }
    }

    /// What names of compilers for it begin with.
    pub const fn gnu(self) -> &'static str {
        match self {
            Arch::X86 => "x86_64-linux-gnu",
            Arch::Arm64 => "aarch64-linux-gnu",
        }
    }

    /// That of the controller.
    pub const fn of_controller() -> Arch {
        match cfg!(target_arch = "aarch64") {
            true => Arch::Arm64,
            false => Arch::X86,
        }
    }

    /// The kernel's name for it: the folder in its source.
    pub const fn folder(self) -> &'static str {
        match self {
            Arch::X86 => "x86",
            Arch::Arm64 => "arm64",
        }
    }

    /// Whether it goes without saying.
    pub fn is_usual(&self) -> bool {
        *self == Arch::default()
    }

    /// The CPU of its machines unless another is asked for.
    pub const fn usual_cpu(self) -> CpuModel {
        match self {
            Arch::X86 => CpuModel::Rome,
            Arch::Arm64 => CpuModel::CortexA72,
        }
    }

    /// The architecture in a release of Debian's, with the words before and behind it: `6.12.117+deb13`, arm64, `16k`.
    pub fn in_release(release: &str) -> Option<(&str, Arch, &str)> {
        let of = |arch: Arch| {
            let (before, behind) = release.rsplit_once(&format!("-{}", arch.debian()))?;
            match (arch, behind) {
                (_, "") => Some((before, arch, "")),
                (Arch::Arm64, "-16k") => Some((before, arch, &behind[1..])),
                _ => None,
            }
        };
        Arch::ALL.into_iter().find_map(of)
    }

    /// The architecture that a kernel's name tells, if it does.
    pub fn of_name(kernel: &str) -> Option<Arch> {
        let (_, written) = Arch::behind(kernel);
        written.or_else(|| Arch::in_release(kernel).map(|(_, arch, _)| arch))
    }

    /// The name of a kernel of the archive with the architecture; others keep theirs.
    pub fn in_name(self, kernel: &str) -> String {
        let is_of_archive = kernel.starts_with("debian:") || kernel.contains("=debian:");
        match is_of_archive && !self.is_usual() && Arch::of_name(kernel).is_none() {
            true => format!("{kernel}/{self}"),
            false => kernel.to_string(),
        }
    }

    /// A name without the architecture that ends it, if one does: `debian:6.12/arm64`.
    pub fn behind(name: &str) -> (&str, Option<Arch>) {
        let of = |arch: Arch| Some((name.strip_suffix(arch.name())?.strip_suffix('/')?, Some(arch)));
        Arch::ALL.into_iter().find_map(of).unwrap_or((name, None))
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Arch {
    type Err = String;
    fn from_str(word: &str) -> Result<Arch, String> {
        let known = Arch::ALL.into_iter().find(|arch| arch.name() == word);
        known.ok_or_else(|| {
            format!(
                "'{}' is not one of {}",
                word.escape_debug(),
                Arch::ALL.map(Arch::name).join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_tells_its_architecture() {
        let of = Arch::in_release;
        assert_eq!(of("6.1.0-56-rt-amd64"), Some(("6.1.0-56-rt", Arch::X86, "")));
        assert_eq!(of("6.12.117+deb13-arm64"), Some(("6.12.117+deb13", Arch::Arm64, "")));
        assert_eq!(
            of("6.12.117+deb13-arm64-16k"),
            Some(("6.12.117+deb13", Arch::Arm64, "16k"))
        );
        assert_eq!([of("6.12.1-amd64-16k"), of("6.8.0-45-generic")], [None, None]);
    }

    #[test]
    fn a_name_may_end_with_one() {
        assert_eq!(Arch::behind("debian:6.12/arm64"), ("debian:6.12", Some(Arch::Arm64)));
        assert_eq!(Arch::behind("debian:6.12"), ("debian:6.12", None));
        assert_eq!(Arch::of_name("linux-image-6.1.0-56-arm64"), Some(Arch::Arm64));
        let named = ["debian:6.1", "old=debian:6.1@6.1.4", "debian:6.1/x86-64", "./Image"]
            .map(|name| Arch::Arm64.in_name(name));
        assert_eq!(
            named,
            [
                "debian:6.1/arm64",
                "old=debian:6.1@6.1.4/arm64",
                "debian:6.1/x86-64",
                "./Image"
            ]
        );
        assert_eq!(
            "riscv".parse::<Arch>().unwrap_err(),
            "'riscv' is not one of x86-64, arm64"
        );
    }
}
