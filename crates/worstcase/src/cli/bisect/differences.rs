//! What differs between two neighbours of a list beside their source: the compiler, and how they are packaged.

use worstcase_bisect::bisection::BisectionStep;
use worstcase_kernels::{Kernel, ResolveOptions, resolve};

/// The differences in words; a kernel that cannot be looked at has none.
pub(super) fn differences(pair: [&BisectionStep; 2], options: &ResolveOptions<'_>) -> Vec<String> {
    let [Ok(before), Ok(first)] = pair.map(|step| resolve(&step.candidate, options)) else {
        return Vec::new();
    };
    let both = |what: &str, of: fn(&Kernel) -> Option<String>| {
        let (before, first) = (of(&before)?, of(&first)?);
        (before != first).then(|| format!("they differ in {what}: {before}, then {first}"))
    };
    let told = [both("compiler", compiler), both("packaging", packaging)];
    told.into_iter().flatten().collect()
}

/// What built it, as its configuration tells.
fn compiler(kernel: &Kernel) -> Option<String> {
    let config = kernel.read_config().ok()?;
    let text = config.get("CC_VERSION_TEXT")?.trim_matches('"');
    Some(text.to_string())
}

/// `bpo12` of `6.12.90-1~bpo12+1`, `deb12` of `6.12.117-1~deb12u1`, `deb13` of the release `6.12.118+deb13-amd64`.
fn packaging(kernel: &Kernel) -> Option<String> {
    let version = kernel.package_version.as_deref()?;
    let rebuilt = version.rsplit_once('~').map(|(_, suffix)| suffix);
    let built = rebuilt.or_else(|| Some(kernel.release.split_once('+')?.1))?;
    let is_in_it = |c: char| c.is_ascii_alphanumeric();
    let word = built.split(|c| !is_in_it(c)).next()?;
    let (name, number) = word.split_at(word.find(|c: char| c.is_ascii_digit())?);
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{name}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packaging_is_told_by_version_and_release() {
        let of = |version: &str, release: &str| {
            packaging(&Kernel {
                name: String::new(),
                label: String::new(),
                release: release.into(),
                package_version: Some(version.into()),
                flavour: worstcase_kernels::Flavour::Generic,
                arch: Default::default(),
                bzimage: Default::default(),
                modules_dir: None,
                system_map: None,
                config: None,
                digest: String::new(),
            })
        };
        assert_eq!(of("6.12.90-1~bpo12+1", "6.12.90+deb12-amd64").unwrap(), "bpo12");
        assert_eq!(of("6.12.117-1~deb12u1", "6.12.117+deb12-amd64").unwrap(), "deb12");
        assert_eq!(of("6.12.118-1", "6.12.118+deb13-cloud-amd64").unwrap(), "deb13");
        assert_eq!(of("6.1.192-2", "6.1.0-56-amd64"), None);
    }
}
