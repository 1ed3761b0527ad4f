//! What runs when a load runs.

use super::part::Body;

/// A load: its name, what it counts, and what starts it.
#[derive(Debug)]
pub struct LoadCode {
    /// Its name: that of its workers, and the one that users type.
    pub name: &'static str,
    /// What it counts as its work.
    pub units: &'static [&'static str],
    /// What starts it; none if a venue brings that.
    pub body: Option<Body>,
}
