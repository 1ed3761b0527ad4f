//! `worstcase show --json`: ensembles and verdicts for programs. Times in ns; `docs/formats.md` has the fields.

use super::{View, demands, noise};
use serde_json::{Value, json};
use worstcase_contract::bench::Bench;
use worstcase_results::published::compared;
use worstcase_results::record::{Quantity, Record};
use worstcase_results::stats::io::{IoPoint, ios};
use worstcase_results::stats::points::{
    self, HackbenchPoint, InversionPoint, PickPoint, PointName, RemotePoint, Rounds, ShootdownPoint, SpawnPoint,
    SwitchPoint,
};
use worstcase_results::stats::{Ensemble, Values, ensembles};

/// The form of the document.
pub const SCHEMA: &str = "worstcase-show/4";

/// The document, indented, with a line end.
pub fn run(view: &View) -> String {
    let quantities: &[Quantity] = match view.quantities {
        [] => &Quantity::ALL,
        chosen => chosen,
    };
    let all: Vec<Value> = quantities
        .iter()
        .flat_map(|q| ensembles(view.records, *q))
        .filter(|e| e.probe != "noise")
        .map(|e| ensemble(&e, view.records))
        .collect();
    let verdicts = view.verdicts.as_ref().map(|(criterion, verdicts)| {
        json!({
            "limit_ns": criterion.limit,
            "min_seeds": criterion.min_seeds,
            "min_samples": criterion.min_samples,
            "min_time_ns": criterion.min_time,
            "subjects": verdicts,
        })
    });
    let document = json!({
        "schema": SCHEMA,
        "title": view.plan.title,
        "command": view.command,
        "tool_version": view.plan.tool_version,
        "cells_planned": view.plan.cells.len(),
        "cells_measured": view.records.len(),
        "ensembles": all,
        "noise": noise::json(view.records),
        "switch": points::switches(view.records).iter().map(switch).collect::<Vec<_>>(),
        "hackbench": points::hackbenches(view.records).iter().map(hackbench).collect::<Vec<_>>(),
        "inversion": points::inversions(view.records).iter().map(inversion).collect::<Vec<_>>(),
        "remote": points::remotes(view.records).iter().map(remote).collect::<Vec<_>>(),
        "irq": points::irqs(view.records).iter().map(irq).collect::<Vec<_>>(),
        "pick": points::picks(view.records).iter().map(pick).collect::<Vec<_>>(),
        "spawn": points::spawns(view.records).iter().map(spawn).collect::<Vec<_>>(),
        "io": ios(view.records).iter().map(io).collect::<Vec<_>>(),
        "shootdown": points::shootdowns(view.records).iter().map(shootdown).collect::<Vec<_>>(),
        "verdict": verdicts,
        "demands": demands::json(view),
        "published": compared(view.plan, view.records),
    });
    format!("{document:#}\n")
}

fn ensemble(e: &Ensemble, records: &[Record]) -> Value {
    let subject = records.iter().map(|r| &r.subject).find(|s| s.id() == e.subject);
    let worst = e.worst();
    let seeds: Vec<Value> = e
        .seeds
        .iter()
        .map(|s| {
            json!({
                "seed": s.seed,
                "taken": s.taken,
                "missed": s.missed,
                "lost": s.lost,
                "median_ns": s.median,
                "p99_ns": s.p99,
                "max_ns": s.max,
                "max_index": s.max_index,
            })
        })
        .collect();
    json!({
        "subject": e.subject,
        "kernel": subject.map(|s| &s.kernel),
        "preempt": subject.map(|s| &s.preempt),
        "machine": subject.map(|s| &s.machine),
        "time_unit": subject.map(|s| s.time_unit().replacen("us", "ns", 1)),
        "load": e.load,
        "probe": e.probe,
        "cpu": e.cpu,
        "quantity": e.quantity,
        "taken": e.taken(),
        "missed": e.missed(),
        "lost": e.lost(),
        "observation_ns": e.observation_time(),
        "median_ns": e.median(),
        "p99_ns": e.p99(),
        "max_ns": e.max(),
        "max_seed": worst.seed,
        "max_index": worst.max_index,
        "max_of_seeds": {
            "lowest_ns": e.least_max(),
            "median_ns": e.median_max(),
            "highest_ns": e.max(),
            "median_interval": e.median_max_interval(),
        },
        "seeds": seeds,
    })
}

fn switch(p: &SwitchPoint) -> Value {
    json!({
        "place": p.place,
        "probe": Bench::Switch(p.ring),
        "processes": p.ring.processes,
        "bytes": p.ring.size,
        "raw_ns": p.raw.figures(),
        "hot_ns": p.hot.figures(),
        "cold_ns": p.cold.figures(),
        "net_ns": p.net.figures(),
        "net_cold_ns": p.net_cold.figures(),
        "net_first_ns": p.net_first.figures(),
        "again": p.again,
        "voluntary_a_hop": p.voluntary,
        "involuntary_a_hop": p.involuntary,
        "migrations": p.migrations,
    })
}

fn hackbench(p: &HackbenchPoint) -> Value {
    let latency = p.latency.as_ref().map(|counted| {
        let at = |share| points::quantile(counted, share);
        json!({ "median_ns": at(0.5), "p99_ns": at(0.99), "max_ns": at(1.0) })
    });
    json!({
        "place": p.place,
        "probe": Bench::Hackbench(p.work),
        "processes": p.processes,
        "total_ns": p.total.figures(),
        "cpu_ns": p.cpu.figures(),
        "switches_a_message": p.switches,
        "moves_a_run": p.moves,
        "message_latency": latency,
    })
}

fn inversion(p: &InversionPoint) -> Value {
    let more = json!({ "contended": p.contended, "inverted": p.inverted });
    of_rounds(&p.place, Bench::Inversion(p.chain), &p.rounds, more)
}

fn remote(p: &RemotePoint) -> Value {
    let more = json!({ "send": p.send, "awake": p.awake });
    of_rounds(&p.place, p.bench, &p.rounds, more)
}

fn irq(p: &RemotePoint) -> Value {
    let more = json!({ "send": p.send, "awake": p.awake, "seen": p.seen });
    of_rounds(&p.place, p.bench, &p.rounds, more)
}

fn io(p: &IoPoint) -> Value {
    let more = json!({
        "bytes_a_second": p.bytes_a_second.as_ref().map(Values::figures),
        "operations_a_second": p.operations_a_second.as_ref().map(Values::figures),
        "sync_ns": p.sync,
        "others_a_second": p.beside,
        "schedulers": p.schedulers,
    });
    of_rounds(&p.place, Bench::Io(p.io), &p.rounds, more)
}

fn pick(p: &PickPoint) -> Value {
    let more = json!({ "tasks": p.pick.tasks, "same": p.same, "fewest_turns": p.turns.0, "most_turns": p.turns.1 });
    of_rounds(&p.place, Bench::Pick(p.pick), &p.rounds, more)
}

fn spawn(p: &SpawnPoint) -> Value {
    let more = json!({ "program": p.program });
    of_rounds(&p.place, Bench::Spawn(p.spawn), &p.rounds, more)
}

fn shootdown(p: &ShootdownPoint) -> Value {
    let more = json!({ "all_ran": p.all_ran });
    of_rounds(&p.place, Bench::Shootdown(p.shootdown), &p.rounds, more)
}

/// A point of a probe that plays rounds, with the members that the probe adds.
fn of_rounds(place: &PointName, probe: Bench, rounds: &Rounds, more: Value) -> Value {
    let mut point = json!({
        "place": place,
        "probe": probe,
        "rounds": rounds.count,
        "min_ns": rounds.min,
        "median_ns": rounds.median,
        "p99_ns": rounds.p99,
        "max_ns": rounds.max,
    });
    if let (Value::Object(point), Value::Object(more)) = (&mut point, more) {
        point.extend(more);
    }
    point
}
