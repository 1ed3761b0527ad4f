//! The tables of a run, the same for every form, in the order in which people see them.

use super::table::{Table, TableGroup};
use super::{ReportView, demands, ensembles, host, noise, probes, ranking, scheduled, still_enters};
use worstcase_base::distinct;
use worstcase_contract::probe::ProbeInfo;
use worstcase_results::record::is_host;

/// The lateness of a timer: on this machine by CPU, in the lab subjects by loads.
pub(crate) fn timed(view: &ReportView) -> Vec<TableGroup> {
    if is_host(view.records) {
        return host::groups(view);
    }
    let of_probe = |probe: &str| -> Vec<Table> {
        if ProbeInfo::of_word(probe).is_some_and(|info| info.counts_gaps) {
            return vec![noise::lab_table(view)];
        }
        let quantities = view.quantities_of(probe).iter();
        quantities.filter_map(|q| ensembles::table(view, probe, *q)).collect()
    };
    let probes = distinct(view.timed().map(|r| r.cell.probe.as_str()));
    probes.into_iter().flat_map(of_probe).map(TableGroup::from).collect()
}

/// The meaning of the lab's tables, if there are any.
pub(crate) fn about_ensembles(view: &ReportView) -> Vec<String> {
    let is_there = !is_host(view.records) && view.timed().any(|r| r.accounting.periods().is_some());
    let lines = [
        "",
        "median, p99: the median over the seeds of each seed's value. max: the highest of all seeds;",
        "of seeds: lowest..highest maximum of a seed. A maximum grows with the observation time.",
    ];
    lines.map(String::from).into_iter().filter(|_| is_there).collect()
}

/// The results of the probes with parameters, and the counts of loaded schedulers meanwhile.
pub(crate) fn of_probes(view: &ReportView) -> Vec<TableGroup> {
    let tables = probes::tables(view).into_iter().chain(scheduled::table(view.records));
    tables.map(TableGroup::from).collect()
}

/// The tables for a decision: the option to take and its cost, or what an option leaves.
pub(crate) fn of_decision(view: &ReportView) -> Vec<TableGroup> {
    let tables = ranking::table(view).into_iter().chain(demands::table(view));
    let tables = tables.chain(still_enters::tables(view));
    tables.map(TableGroup::from).collect()
}
