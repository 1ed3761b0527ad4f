//! What contrib asks a watch for: the dashboard shows every metric, and neither it nor the alerts ask for one that is not served.

use super::families::families;
use super::tests::watched;
use serde_json::Value;
use std::collections::BTreeSet;

const DASHBOARD: &str = include_str!("../../../../contrib/grafana/worstcase-watch.json");
const ALERTS: &str = include_str!("../../../../contrib/prometheus-alerts.yaml");

/// Panels that Grafana brings along.
const PANELS: &[&str] = &[
    "barchart",
    "bargauge",
    "gauge",
    "heatmap",
    "histogram",
    "piechart",
    "stat",
    "table",
    "timeseries",
];

/// Labels that Prometheus adds.
const ADDED: &[&str] = &["instance", "job"];

fn served() -> BTreeSet<String> {
    let all = families(&watched(&[1_500]));
    all.into_iter().map(|family| family.name).collect()
}

/// Names of metrics in a query; a histogram's parts count as the histogram.
fn names(query: &str) -> BTreeSet<String> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let metrics = words.filter(|word| word.starts_with("worstcase_"));
    let whole = |name: &str| match name.strip_prefix("worstcase_latency_seconds") {
        Some("_bucket" | "_sum" | "_count") => "worstcase_latency_seconds".to_string(),
        _ => name.to_string(),
    };
    metrics.map(whole).collect()
}

/// Every string of a document below one of these keys.
fn strings<'v>(value: &'v Value, keys: &[&str]) -> Vec<&'v str> {
    match value {
        Value::Object(fields) => {
            let own = fields.iter().filter(|(key, _)| keys.contains(&key.as_str()));
            let deeper = fields.values().flat_map(|field| strings(field, keys));
            own.filter_map(|(_, text)| text.as_str()).chain(deeper).collect()
        }
        Value::Array(elements) => elements.iter().flat_map(|element| strings(element, keys)).collect(),
        _ => Vec::new(),
    }
}

fn dashboard() -> Value {
    serde_json::from_str(DASHBOARD).unwrap()
}

#[test]
fn the_dashboard_asks_for_every_metric_and_for_no_other() {
    let dashboard = dashboard();
    let asked: BTreeSet<String> = strings(&dashboard, &["expr", "query"])
        .into_iter()
        .flat_map(names)
        .collect();
    assert_eq!(asked, served());
    let asked = names(ALERTS);
    assert!(asked.is_subset(&served()) && asked.len() == 4, "{asked:?}");
}

#[test]
fn the_dashboard_groups_by_labels_that_there_are() {
    let all = families(&watched(&[1_500]));
    let metrics = all.iter().flat_map(|family| &family.metric);
    let labels = metrics.flat_map(|metric| metric.label.iter().map(|label| label.name.as_str()));
    let labels: BTreeSet<&str> = labels.chain(ADDED.iter().copied()).chain(["le"]).collect();
    let dashboard = dashboard();
    for query in strings(&dashboard, &["expr"]) {
        let grouped = query.split("by (").skip(1).filter_map(|rest| rest.split(')').next());
        for label in grouped.flat_map(|list| list.split(", ")) {
            assert!(labels.contains(label), "{query}: {label}");
        }
    }
    for legend in strings(&dashboard, &["legendFormat"]) {
        let named = legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
        for label in named {
            assert!(labels.contains(label), "{legend}: {label}");
        }
    }
}

#[test]
fn the_dashboard_is_made_of_grafanas_own_panels_which_do_not_overlap() {
    let dashboard = dashboard();
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let kind = panel["type"].as_str().unwrap();
        assert!(PANELS.contains(&kind), "{kind}");
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + w <= 24, "{panel}");
        for place in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(place), "{}: {place:?}", panel["title"]);
        }
    }
    let variables: BTreeSet<&str> = dashboard["templating"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    for text in strings(&dashboard, &["expr", "query", "uid"]) {
        let used = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        for name in used.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()) {
            assert!(name.starts_with("__") || variables.contains(name), "{text}: ${name}");
        }
    }
}
