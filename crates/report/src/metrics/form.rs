//! Which form a scraper wants, by its `Accept` header, as Prometheus sends it.

use super::families::families;
use super::text::{Text, text};
use super::watched::Watched;
use prost::Message;

/// A form of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Protobuf of `io.prometheus.client`, with native histograms.
    Protobuf,
    /// OpenMetrics text.
    OpenMetrics,
    /// The older text.
    Plain,
}

impl Form {
    /// The form that is wanted most; the older text if none of them is named.
    pub fn wanted(accept: &str) -> Form {
        let wanted = accept.split(',').filter_map(|one| {
            let mut words = one.split(';').map(str::trim);
            let form = match words.next()? {
                "application/vnd.google.protobuf" if one.contains("proto=io.prometheus.client.MetricFamily") => {
                    Form::Protobuf
                }
                "application/openmetrics-text" => Form::OpenMetrics,
                "text/plain" => Form::Plain,
                _ => return None,
            };
            let weight = words
                .find_map(|word| word.strip_prefix("q=")?.parse().ok())
                .unwrap_or(1.0);
            Some((form, weight))
        });
        // Of equals the first.
        let best = wanted.reduce(|best: (Form, f64), next| if next.1 > best.1 { next } else { best });
        best.map_or(Form::Plain, |(form, _)| form)
    }

    /// Its name for HTTP.
    pub const fn content_type(self) -> &'static str {
        match self {
            Form::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
            Form::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Form::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// A watch in this form.
    pub fn of(self, watched: &Watched) -> Vec<u8> {
        let families = families(watched);
        match self {
            Form::Protobuf => families
                .iter()
                .flat_map(Message::encode_length_delimited_to_vec)
                .collect(),
            Form::OpenMetrics => text(&families, Text::Open).into_bytes(),
            Form::Plain => text(&families, Text::Plain).into_bytes(),
        }
    }
}
