//! The state of a watch, for Prometheus: as OpenMetrics text, as the older text, and as protobuf with native histograms.
//!
//! ```text
//! watched   the metrics themselves          proto   the messages of io.prometheus.client
//! families  the same as those messages      text    both texts, from them
//! form      the form that a scraper asks for
//! ```

mod families;
mod form;
mod proto;
#[cfg(test)]
mod queried;
#[cfg(test)]
mod tests;
mod text;
mod watched;

pub use form::MetricsForm;
pub use watched::{LastSegment, WatchMetrics};
