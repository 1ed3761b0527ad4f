//! The system's own apt-get, with private state: no root needed, the system's lists untouched, everything verified.
//!
//! ```text
//! <cache>/apt/lists, archives, status   apt's state (of another architecture apt-arm64), as in /var/lib/apt and /var/cache/apt
//! <cache>/apt/apt.conf                  read after the system's configuration (so proxies stay as they are set)
//! <cache>/apt/debian.sources            the suites to ask for; after an update, those that answered
//! ```

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use worstcase_base::cache::{Cache, CacheError};
use worstcase_base::child::ends_with_us;
use worstcase_base::files;

use super::archive::AptArchive;
use super::catalog::{Catalog, CatalogPackage};
use super::sandbox::{self, Lent};
use super::sources::{self, AptSource};
use super::unpacked::{Packing, Unpacked};
use super::{Arch, KernelError, packages};
use worstcase_base::progress::Progress;

/// Free space for an update: 50 MB of lists, 120 MB of apt's own cache of them, and as much again while they are
/// replaced. (On a full disk apt-get 2.6 waits forever for its own helper.)
const UPDATE_BYTES: u64 = 350_000_000;
/// Free space for a download besides the packages: apt may have to build its cache of the lists anew.
const DOWNLOAD_BYTES: u64 = 150_000_000;

/// apt-get on one cache.
pub(crate) struct Apt<'a> {
    cache: &'a Cache,
    arch: Arch,
    progress: &'a dyn Progress,
}

struct AptOutput {
    ok: bool,
    /// At least one file was fetched or confirmed, so the archive was reached.
    reached: bool,
    output: String,
    /// Lines of standard error, without progress.
    messages: Vec<String>,
}

impl<'a> Apt<'a> {
    /// Changes nothing on the disk yet.
    pub fn new(cache: &'a Cache, arch: Arch, progress: &'a dyn Progress) -> Apt<'a> {
        Apt { cache, arch, progress }
    }

    /// Fetches the package lists of all suites and reads the kernels out of them.
    pub fn update(&self, archives: &[AptArchive]) -> Result<Catalog, KernelError> {
        let _lock = self.cache.lock(area(self.arch), "state")?;
        self.cache.require_free(UPDATE_BYTES)?;
        let place = sources::place();
        let system = sources::read(&place, self.arch).map_err(|source| KernelError::Unreadable {
            path: place.clone(),
            source,
        })?;
        let wanted = sources::widen(&system, archives);
        if wanted.is_empty() {
            return Err(KernelError::NoSources { place });
        }
        let state = self.prepare()?;
        self.cache.write_file(
            &state.join("debian.sources"),
            sources::to_deb822(&wanted, self.arch).as_bytes(),
        )?;
        let what = "package lists";
        let outcome = self.run(&state, &state, &["update".into()], what)?;
        // A suite that does not exist makes apt-get fail although it has fetched all others, so the lists themselves
        // are examined.
        if !outcome.reached {
            return Err(self.failure(what, &outcome));
        }
        let mut catalog = Catalog {
            fetched: now(),
            archives: archives.to_vec(),
            ..Catalog::default()
        };
        catalog.notes.extend(sandbox::note(&outcome.messages));
        let mut live = Vec::new();
        for source in wanted {
            match read_suite(&state.join("lists"), &source, archives, self.arch)? {
                Some(mut found) => {
                    catalog.packages.append(&mut found);
                    catalog.suites.push(source.suite.clone());
                    live.push(source);
                }
                None => catalog.notes.push(why_dropped(&source, &outcome.messages)),
            }
        }
        if live.is_empty() {
            return Err(self.failure(what, &outcome));
        }
        self.cache.write_file(
            &state.join("debian.sources"),
            sources::to_deb822(&live, self.arch).as_bytes(),
        )?;
        Ok(catalog)
    }

    /// Downloads packages into a folder; returns the .deb files in the order of `parts`.
    pub(crate) fn download(&self, parts: &[CatalogPackage], into: &Path) -> Result<Vec<PathBuf>, KernelError> {
        let _lock = self.cache.lock(area(self.arch), "state")?;
        self.cache
            .require_free(DOWNLOAD_BYTES + parts.iter().map(|p| p.size).sum::<u64>())?;
        let state = self.prepare()?;
        let arguments = std::iter::once("download".to_string());
        let arguments: Vec<String> = arguments
            .chain(parts.iter().map(|p| format!("{}={}", p.package, p.version)))
            .collect();
        let what = parts.iter().map(|p| p.package.as_str()).collect::<Vec<_>>().join(", ");
        let lent = Lent::to_apt(into).map_err(|e| CacheError::from_io(into, e))?;
        let outcome = self.run(&state, into, &arguments, &what)?;
        drop(lent);
        if !outcome.ok {
            return Err(self.failure(&what, &outcome));
        }
        let files: Vec<PathBuf> = fs::read_dir(into)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        let deb_of = |part: &CatalogPackage| {
            let prefix = format!("{}_", part.package);
            files
                .iter()
                .find(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix)))
                .cloned()
        };
        parts
            .iter()
            .map(|part| deb_of(part).ok_or_else(|| self.failure(&part.package, &outcome)))
            .collect()
    }

    /// One package in exactly this version, with its size; `None` if the archive does not have it (any more).
    pub fn find(&self, package: &str, version: &str) -> Result<Option<CatalogPackage>, KernelError> {
        self.find_file(package, format!("{package}={version}"))
    }

    /// One package in the newest version that the archive has.
    pub fn newest(&self, package: &str) -> Result<Option<CatalogPackage>, KernelError> {
        self.find_file(package, package.into())
    }

    fn find_file(&self, package: &str, wanted: String) -> Result<Option<CatalogPackage>, KernelError> {
        let _lock = self.cache.lock(area(self.arch), "state")?;
        let state = self.prepare()?;
        let arguments = ["--print-uris".into(), "download".into(), wanted];
        let outcome = self.run(&state, &state, &arguments, package)?;
        if !outcome.ok {
            let is_gone = |m: &String| m.contains("Unable to locate package") || m.contains("was not found");
            return match outcome.messages.iter().any(is_gone) {
                true => Ok(None),
                false => Err(self.failure(package, &outcome)),
            };
        }
        let found = file(package, &outcome.output);
        Ok(Some(found.ok_or_else(|| self.failure(package, &outcome))?))
    }

    fn prepare(&self) -> Result<PathBuf, KernelError> {
        let area = area(self.arch);
        for directory in ["lists/partial", "archives/partial"] {
            self.cache.area(&format!("{area}/{directory}"))?;
        }
        let state = self.cache.area(area)?;
        for (name, text) in [
            ("apt.conf", configuration(&state, self.arch)),
            ("status", String::new()),
        ] {
            let path = state.join(name);
            // Writing the sources again would make apt's cache of all packages look old, and building that takes
            // seconds.
            if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                self.cache.write_file(&path, text.as_bytes())?;
            }
        }
        Ok(state)
    }

    fn run(&self, state: &Path, cwd: &Path, arguments: &[String], what: &str) -> Result<AptOutput, KernelError> {
        let mut command = Command::new("apt-get");
        // Progress goes to standard error, as pm and dl lines among the messages, so that no further descriptor is
        // needed.
        command
            .arg("-c")
            .arg(state.join("apt.conf"))
            .args(["-y", "-o", "APT::Status-Fd=2"])
            .args(arguments);
        command
            .current_dir(cwd)
            .env("LC_ALL", "C")
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        ends_with_us(&mut command, Signal::TERM);
        let mut child = command.spawn().map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => KernelError::NoApt,
            _ => KernelError::AptFailed {
                what: what.into(),
                why: e.to_string(),
            },
        })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut messages = Vec::new();
        let output = std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut text = Vec::new();
                // Unreadable output is only missing from the decision whether the archive was reached.
                let _ = stdout.map(|mut s| s.read_to_end(&mut text));
                String::from_utf8_lossy(&text).into_owned()
            });
            for line in stderr
                .map(BufReader::new)
                .into_iter()
                .flat_map(|s| s.lines())
                .map_while(Result::ok)
            {
                match percent(&line) {
                    Some(percent) => self.progress.download(what, percent),
                    None => messages.push(line),
                }
            }
            reader.join().unwrap_or_default()
        });
        let status = child.wait().map_err(|e| KernelError::AptFailed {
            what: what.into(),
            why: e.to_string(),
        })?;
        self.progress.end();
        let reached = output.lines().any(|l| l.starts_with("Get:") || l.starts_with("Hit:"));
        Ok(AptOutput {
            ok: status.success(),
            reached,
            output,
            messages,
        })
    }

    fn failure(&self, what: &str, outcome: &AptOutput) -> KernelError {
        let what = what.to_string();
        let said = |words: &[&str]| outcome.messages.iter().any(|m| words.iter().any(|w| m.contains(w)));
        let why = outcome
            .messages
            .iter()
            .find(|m| m.starts_with("E:"))
            .or(outcome.messages.first());
        let why = why
            .map_or("it said nothing", |m| m.trim_start_matches("E: ").trim())
            .to_string();
        if said(&["No space left on device", "enough free space", "Disk quota exceeded"]) {
            return CacheError::Full {
                path: self.cache.path(area(self.arch), ""),
            }
            .into();
        }
        const UNREACHED: [&str; 9] = [
            "Temporary failure resolving",
            "Could not resolve",
            "Could not connect",
            "Cannot initiate the connection",
            "Unable to connect",
            "Connection failed",
            "Connection timed out",
            "Network is unreachable",
            "Connection refused",
        ];
        if said(&UNREACHED) {
            KernelError::NoNetwork { what, why }
        } else {
            KernelError::AptFailed { what, why }
        }
    }
}

/// The area of the cache with apt's state for an architecture, and the list of its kernels.
pub(crate) const fn area(arch: Arch) -> &'static str {
    match arch {
        Arch::X86 => "apt",
        Arch::Arm64 => "apt-arm64",
    }
}

fn configuration(state: &Path, arch: Arch) -> String {
    let (state, arch) = (state.display(), arch.debian());
    format!(
        "// Written by worstcase for its private apt state.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
APT::Architecture \"{arch}\";
APT::Architectures {{ \"{arch}\"; }};
APT::Get::AllowUnauthenticated \"false\";
Acquire::AllowInsecureRepositories \"false\";
Acquire::AllowDowngradeToInsecureRepositories \"false\";
Acquire::Languages \"none\";
Acquire::Retries \"1\";
Acquire::http::Timeout \"20\";
Acquire::https::Timeout \"20\";
Acquire::GzipIndexes \"true\";
Acquire::IndexTargets::deb::Packages::KeepCompressedAs \"xz\";
Dir::State \"{state}\";
Dir::State::Lists \"{state}/lists\";
Dir::State::status \"{state}/status\";
Dir::Cache \"{state}\";
Dir::Cache::Archives \"{state}/archives\";
Dir::Cache::pkgcache \"pkgcache.bin\";
Dir::Cache::srcpkgcache \"\";
Dir::Etc::SourceList \"{state}/debian.sources\";
Dir::Etc::SourceParts \"/dev/null\";
Dir::Etc::Preferences \"/dev/null\";
Dir::Etc::PreferencesParts \"/dev/null\";
"
    )
}

/// The kernels of one suite; `None` if apt has no verified list of it, or if it is not Debian's.
fn read_suite(
    lists: &Path,
    source: &AptSource,
    archives: &[AptArchive],
    arch: Arch,
) -> Result<Option<Vec<packages::PackageVersion>>, KernelError> {
    let suite = &source.suite;
    let named = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_of =
        |archive: &AptArchive, path: &Path| named(path).starts_with(&format!("{}_dists_", list_name(&archive.uri)));
    // The system's own sources may be mirrors, whose lists are not named after their addresses.
    let is_own = |path: &PathBuf| match archives.iter().find(|a| source.of_the_past && a.uri == source.uri) {
        Some(archive) => is_of(archive, path),
        None => !archives.iter().any(|archive| is_of(archive, path)),
    };
    let files: Vec<PathBuf> = fs::read_dir(lists)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(is_own)
        .collect();
    let dists = format!("_dists_{}_", suite.replace('/', "_"));
    let named = |end: &str| {
        let wanted = format!("{dists}{end}");
        files
            .iter()
            .find(|f| f.file_name().is_some_and(|n| n.to_string_lossy().contains(&wanted)))
    };
    let unreadable = |path: &Path, source| KernelError::Unreadable {
        path: path.into(),
        source,
    };
    // apt moves a release file here only after it has verified it.
    let Some(release) = named("InRelease").or_else(|| named("Release")) else {
        return Ok(None);
    };
    let text = fs::read(release).map_err(|e| unreadable(release, e))?;
    if !String::from_utf8_lossy(&text)
        .lines()
        .any(|l| matches!(l.trim_end(), "Origin: Debian" | "Origin: Debian Backports"))
    {
        return Ok(None);
    }
    // An empty suite has no list.
    let Some(list) = named(&format!("main_binary-{}_Packages", arch.debian())) else {
        return Ok(Some(Vec::new()));
    };
    let bytes = files::read(list).map_err(|e| unreadable(list, e))?;
    let unpack = |packing| Unpacked::new(&bytes[..], packing, files::MOST_BYTES).and_then(Unpacked::read_all);
    let text = match list.extension().and_then(|e| e.to_str()) {
        Some("xz") => unpack(Packing::Xz),
        Some("gz") => unpack(Packing::Gzip),
        Some("lz4" | "zst" | "bz2") => Err(std::io::Error::other("kept in a form that worstcase does not read")),
        _ => unpack(Packing::Plain),
    }
    .map_err(|e| unreadable(list, e))?;
    Ok(Some(packages::parse(&String::from_utf8_lossy(&text), suite, arch)))
}

/// The beginning of the names of an archive's lists: its address without the scheme, `/` as `_`, other special
/// characters as `%5f`.
fn list_name(uri: &str) -> String {
    let address = uri
        .split_once("://")
        .map_or_else(|| uri.trim_start_matches("file:"), |(_, address)| address);
    let mut name = String::new();
    for c in address.trim_end_matches('/').chars() {
        match c {
            '/' => name.push('_'),
            c if "\\|{}[]<>\"^~_=!@#$%^&*".contains(c) => name.push_str(&format!("%{:02x}", c as u32)),
            c => name.push(c),
        }
    }
    name
}

fn why_dropped(source: &AptSource, messages: &[String]) -> String {
    let suite = &source.suite;
    let about = |m: &&String| {
        let mut words = m.split([' ', '\'']);
        words.any(|word| word == suite) && (!source.of_the_past || m.contains(&source.uri))
    };
    let said = |words: &str| messages.iter().filter(about).any(|m| m.contains(words));
    let why = if said("NO_PUBKEY") || said("public key is not available") {
        "its key is not in this system's keyring (a newer debian-archive-keyring has it)"
    } else if said("does not have a Release file") || said("404") {
        "the archive does not have it"
    } else if said("not signed") || said("EXPKEYSIG") || said("invalid") {
        "its signature could not be verified"
    } else {
        "no verified list of it"
    };
    match source.of_the_past {
        true => format!("{suite} of {} left out: {why}", source.uri),
        false => format!("{suite} left out: {why}"),
    }
}

/// The package of which `--print-uris` tells: `'URI' PACKAGE_VERSION_ARCHITECTURE.deb SIZE HASH`, the version's colon escaped.
fn file(package: &str, output: &str) -> Option<CatalogPackage> {
    let mut words = output.lines().find(|l| l.starts_with('\''))?.split(' ').skip(1);
    let version = words
        .next()?
        .strip_prefix(package)?
        .strip_prefix('_')?
        .split('_')
        .next()?;
    Some(CatalogPackage {
        package: package.into(),
        version: version.replace("%3a", ":"),
        size: words.next()?.parse().ok()?,
    })
}

/// The percentage in a line of APT::Status-Fd: `dlstatus:2:11.3991:Retrieving file 2 of 2`.
fn percent(line: &str) -> Option<f64> {
    let mut fields = line
        .strip_prefix("dlstatus:")
        .or_else(|| line.strip_prefix("pmstatus:"))?
        .split(':');
    fields.nth(1)?.parse().ok()
}

/// Seconds since 1970.
pub fn now() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_named_as_apt_names_them() {
        assert_eq!(list_name("http://a.example/d_x/2026"), "a.example_d%5fx_2026");
        assert_eq!(list_name("file:/srv/old"), "_srv_old");
    }

    #[test]
    fn progress_is_told_from_messages() {
        assert_eq!(percent("dlstatus:2:11.3991:Retrieving file 2 of 2"), Some(11.3991));
        assert_eq!(percent("E: Unable to fetch"), None);
    }

    #[test]
    fn version_and_size_are_read_from_what_would_be_fetched() {
        let found = |name: &str| {
            file(
                "k",
                &format!("'http://archive.example/x.deb' {name} 858383044 SHA256:e4\n"),
            )
        };
        let package = |version: &str| CatalogPackage {
            package: "k".into(),
            version: version.into(),
            size: 858_383_044,
        };
        assert_eq!(found("k_6.1-1_amd64.deb"), Some(package("6.1-1")));
        assert_eq!(found("k_1%3a6.1_amd64.deb"), Some(package("1:6.1")));
        assert_eq!(found("other_6.1-1_amd64.deb"), None);
        assert_eq!(file("k", "nothing\n"), None);
    }

    #[test]
    fn a_dropped_suite_has_its_reason() {
        let source = |suite: &str| AptSource {
            uri: "http://archive.example".into(),
            suite: suite.into(),
            signed_by: None,
            of_the_past: false,
        };
        let messages = [
            "E: The repository 'http://archive.example bullseye-backports Release' does not have a Release file."
                .to_string(),
            "W: GPG error: http://archive.example forky InRelease: NO_PUBKEY 0123".to_string(),
        ];
        assert!(why_dropped(&source("bullseye-backports"), &messages).contains("does not have it"));
        assert!(why_dropped(&source("forky"), &messages).contains("keyring"));
        assert!(why_dropped(&source("sid"), &messages).contains("no verified list"));
    }

    #[test]
    fn nothing_is_ever_trusted_unverified() {
        let text = configuration(Path::new("/cache/apt"), Arch::X86);
        assert!(!text.to_lowercase().contains("trusted"));
        assert!(text.contains("AllowInsecureRepositories \"false\""));
        assert!(!text.contains("Sandbox"), "apt's own user stays");
    }
}
