//! A package's description of itself.

/// A package's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageInfo {
    /// Package name.
    pub package: String,
    /// Debian version; for an .rpm version and release.
    pub version: String,
    /// Names of the packages that a .deb needs; of alternatives the first.
    pub depends: Vec<String>,
}

impl PackageInfo {
    /// Refuses an invalid name or version: both are shown, and become names of folders.
    pub fn checked(self) -> Result<PackageInfo, String> {
        let is_word =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.~:_^".contains(c));
        match is_word(&self.package) && is_word(&self.version) {
            true => Ok(self),
            false => Err("it has no proper package name and version".into()),
        }
    }
}
