//! The messages of `io.prometheus.client`, as far as they are used: Prometheus takes native histograms in this form alone.
//! Fields and numbers are those of `io/prometheus/client/metrics.proto` of prometheus/client_model (Apache License 2.0).

use prost::{Enumeration, Message};

/// Metrics of one name.
#[derive(Clone, PartialEq, Message)]
pub struct MetricFamily {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub help: String,
    #[prost(enumeration = "MetricType", optional, tag = "3")]
    pub kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) metric: Vec<Metric>,
}

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub(crate) enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

/// A metric of a family.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    pub(crate) gauge: Option<Value>,
    #[prost(message, optional, tag = "3")]
    pub(crate) counter: Option<Value>,
    #[prost(message, optional, tag = "7")]
    pub histogram: Option<MetricHistogram>,
}

/// A label.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LabelPair {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

/// The value of a gauge or counter.
#[derive(Clone, PartialEq, Message)]
pub struct Value {
    #[prost(double, optional, tag = "1")]
    pub value: Option<f64>,
}

/// A histogram in both ways: with explicit bounds, and with exponential ones.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricHistogram {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub(crate) sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    pub bucket: Vec<MetricBucket>,
    #[prost(sint32, optional, tag = "5")]
    pub(crate) schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    pub(crate) zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    pub(crate) zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    pub(crate) positive_delta: Vec<i64>,
}

/// A bucket of a classic histogram.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricBucket {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub(crate) upper_bound: Option<f64>,
}

/// For a native histogram: buckets that follow each other.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct BucketSpan {
    #[prost(sint32, optional, tag = "1")]
    pub(crate) offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    pub length: Option<u32>,
}
