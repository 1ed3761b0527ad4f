//! The form that a scraper wants, by its `Accept` header, as Prometheus sends it.

use super::families::families;
use super::text::{Text, text};
use super::watched::WatchMetrics;
use prost::Message;

/// A form of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsForm {
    /// Protobuf of `io.prometheus.client`, with native histograms.
    Protobuf,
    /// OpenMetrics text.
    OpenMetrics,
    /// The older text.
    Plain,
}

impl MetricsForm {
    /// The form that is wanted most; the older text if none of them is named.
    pub fn wanted(accept: &str) -> MetricsForm {
        let wanted = accept.split(',').filter_map(|one| {
            let mut words = one.split(';').map(str::trim);
            let form = match words.next()? {
                "application/vnd.google.protobuf" if one.contains("proto=io.prometheus.client.MetricFamily") => {
                    MetricsForm::Protobuf
                }
                "application/openmetrics-text" => MetricsForm::OpenMetrics,
                "text/plain" => MetricsForm::Plain,
                _ => return None,
            };
            let weight = words
                .find_map(|word| word.strip_prefix("q=")?.parse().ok())
                .unwrap_or(1.0);
            Some((form, weight))
        });
        // Of equal weights the first wins.
        let best = wanted.reduce(|best: (MetricsForm, f64), next| if next.1 > best.1 { next } else { best });
        best.map_or(MetricsForm::Plain, |(form, _)| form)
    }

    /// Its name for HTTP.
    pub const fn content_type(self) -> &'static str {
        match self {
            MetricsForm::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
            MetricsForm::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            MetricsForm::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// A watch in this form.
    pub fn encode(self, watched: &WatchMetrics) -> Vec<u8> {
        let families = families(watched);
        match self {
            MetricsForm::Protobuf => families
                .iter()
                .flat_map(Message::encode_length_delimited_to_vec)
                .collect(),
            MetricsForm::OpenMetrics => text(&families, Text::Open).into_bytes(),
            MetricsForm::Plain => text(&families, Text::Plain).into_bytes(),
        }
    }
}
