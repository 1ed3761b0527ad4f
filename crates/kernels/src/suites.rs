//! The names of Debian's suites.

/// Suites to look for in Debian's archive; each also as -updates and -backports, and as -security in the security
/// archive. A suite that does not exist (yet) costs one refused request a day.
pub const SUITES: [&str; 4] = ["bullseye", "bookworm", "trixie", "forky"];
/// Suites without such companions.
pub const ROLLING_SUITES: [&str; 2] = ["sid", "experimental"];
/// Aliases under which a system's sources may name Debian's suites; a source with one is recognized as Debian's.
const ALIASES: [&str; 5] = ["oldoldstable", "oldstable", "stable", "testing", "unstable"];

/// Whether it is a suite of the security archive.
pub fn is_security(suite: &str) -> bool {
    suite.ends_with("-security") || suite.ends_with("/updates")
}

/// Whether a system's sources name a suite of Debian's like this.
pub fn is_debian_suite(suite: &str) -> bool {
    let base = suite.split(['-', '/']).next().unwrap_or(suite);
    let companion = &suite[base.len()..];
    let known = SUITES.contains(&base) || ROLLING_SUITES.contains(&base) || ALIASES.contains(&base);
    known
        && matches!(
            companion,
            "" | "-updates" | "-backports" | "-security" | "/updates" | "-proposed-updates"
        )
}
