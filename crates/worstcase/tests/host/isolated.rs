//! CPUs that the kernel keeps work away from, in a real machine: two virtual CPUs, Debian's kernel, booted with isolation.
//!
//! QEMU counts no instructions here and nothing asserts a time: what matters is what worstcase finds and where it runs.

use crate::machine::EndedMachine;
use serde_json::Value;

/// CPU 1 is isolated.
const ISOLATED: &str = "isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1";

#[test]
fn isolated_cpus_are_measured_and_the_load_stays_away_from_them() {
    let machine = EndedMachine::boot(
        ISOLATED,
        r#"
        say() { echo "== $1"; }
        echo 'grep Cpus_allowed_list /proc/self/status >> /tmp/where' > /tmp/where.sh
        say allowed; grep Cpus_allowed_list /proc/self/status
        say named; worstcase host run --quiet --warmup 10ms --time 100ms --load fork --cpus 1 -o /tmp/a
        say usual; worstcase host run --quiet --warmup 10ms --time 100ms -o /tmp/b
        say where; worstcase host run --quiet --warmup 1s --time 100ms -o /tmp/c --cpus 0-1 \
            --load 'cmd:sh /tmp/where.sh' --load-cpus 1; cat /tmp/where
        say record; grep -ohE '"(load|isolated)_cpus": "[0-9]*"' -r /tmp/a/cells
        say offline; worstcase host run --cpus 1,7 -o /tmp/d; echo exit $?
        say nowhere; worstcase host run --load fork --load-cpus 5 -o /tmp/e; echo exit $?
        echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control
        mkdir /sys/fs/cgroup/narrow
        echo 0 > /sys/fs/cgroup/narrow/cpuset.cpus
        echo $$ > /sys/fs/cgroup/narrow/cgroup.procs
        say cpuset; worstcase host run --cpus 1 -o /tmp/f; echo exit $?
        say rest; worstcase host run --quiet --warmup 10ms --time 100ms -o /tmp/g
        "#,
    );
    let part = |name: &str| machine.part(name);
    let says = |name: &str, words: &str| assert!(part(name).contains(words), "{name}: {}", machine.said);
    // What every process begins with, worstcase too.
    says("allowed", ":\t0\n");
    says(
        "named",
        "CPUs 1 are isolated (isolcpus or nohz_full); loads run on CPUs 0\n",
    );
    says("named", "\nisolated: CPUs 1; the load ran on CPUs 0\n");
    says("named", "\nCPU 1  ");
    assert!(!part("named").contains("\nCPU 0 "), "{}", machine.said);
    for row in ["\nCPU 0  ", "\nCPU 1  ", "\nisolated: CPUs 1\n"] {
        says("usual", row);
    }
    says("where", "Cpus_allowed_list:\t1\n");
    says("record", "\"isolated_cpus\": \"1\"\n\"load_cpus\": \"0\"\n");
    says("offline", "CPUs 7 are not online; choose from 0-1\nexit 2\n");
    says("nowhere", "CPUs 5 are not online; choose from 0-1\nexit 2\n");
    says(
        "cpuset",
        "CPUs 1 are online, but the cpuset of control group /narrow, which has 0, keeps this process from them; \
         start worstcase in a group that has them (cpuset.cpus of it and of those above it), or choose from 0\nexit 2\n",
    );
    says("rest", "\nCPU 0  ");
    assert!(!part("rest").contains("\nCPU 1 "), "{}", machine.said);
    says("end", "");
}

/// Before Linux 6.5 the kernel has no tracepoint for who calls functions on other CPUs: probes in its functions tell.
#[test]
fn what_enters_an_isolated_cpu_is_told_with_who_sent_it() {
    let machine = EndedMachine::boot(
        ISOLATED,
        r#"
        say() { echo "== $1"; }
        say alone; worstcase host isolate --time 2s > /tmp/a 2>&1; cat /tmp/a
        say keys; (while sleep 0.3; do
            echo 1 > /proc/sys/kernel/sched_schedstats; sleep 0.3; echo 0 > /proc/sys/kernel/sched_schedstats; done) &
        worstcase host isolate --time 4s > /tmp/k 2>&1; kill $!; cat /tmp/k
        say refresh; (sleep 4; while :; do cat /proc/sys/vm/stat_refresh > /dev/null; done) &
        worstcase host isolate --time 6s --criterion 0 > /tmp/b 2>&1; echo exit $? >> /tmp/b; cat /tmp/b
        "#,
    );
    let says = |name: &str, words: &str| assert!(machine.part(name).contains(words), "{name}: {}", machine.said);
    says("alone", "CPU 1 was ");
    says("alone", "a thread of worstcase kept it busy");
    says("alone", "senders are told by probes in the kernel's functions");
    says("keys", "call from another CPU: do_sync_core");
    says("keys", "sent by text_poke_bp_batch, init in write(2)");
    says("refresh", "thread kworker: refresh_vm_stats");
    says("refresh", "sent by schedule_on_each_cpu, cat in read(2)");
    says("refresh", "reschedule from another CPU");
    says("refresh", "do not read or write /proc/sys/vm/stat_refresh");
    says("refresh", "\nFAIL ");
    says("refresh", "\nexit 1\n");
}

/// So far apart two readers of an event may be, in seconds of a machine that is emulated and busy.
const APART: f64 = 0.005;

/// What the kernel's own trace of a CPU has, by event, in a window of time.
fn traced(trace: &str, event: &str, [from, until]: [f64; 2]) -> Vec<String> {
    let of = format!(": {event}: ");
    let events = trace.lines().filter_map(|line| {
        let (before, after) = line.split_once(&of)?;
        let at: f64 = before.rsplit(' ').next()?.parse().ok()?;
        (from <= at && at < until).then(|| after.to_string())
    });
    events.collect()
}

/// The same events, counted by tracefs, which has nothing of worstcase in it.
#[test]
fn every_entry_is_one_of_the_kernels_own_trace() {
    let machine = EndedMachine::boot(
        ISOLATED,
        r#"
        say() { echo "== $1"; }
        tracing=/sys/kernel/tracing
        mount -t tracefs tracing $tracing
        echo mono > $tracing/trace_clock
        echo 2 > $tracing/tracing_cpumask
        for events in timer/hrtimer_expire_entry irq/irq_handler_entry workqueue/workqueue_execute_start \
            irq_vectors/reschedule_entry sched/sched_switch; do echo 1 > $tracing/events/$events/enable; done
        (while :; do cat /proc/sys/vm/stat_refresh; sleep 0.1; done) > /dev/null &
        # Whether the tick comes back for work hangs on how long that takes: a timer that is set on CPU 1 expires there.
        taskset -c 1 sh -c 'while :; do sleep 0.05; done' &
        say answer; worstcase host isolate --time 3s --json 2> /tmp/errors
        echo 0 > $tracing/tracing_on
        say trace; cat $tracing/per_cpu/cpu1/trace
        "#,
    );
    let answer = machine.part("answer");
    let answer: Value = serde_json::from_str(answer).unwrap_or_else(|e| panic!("{e}: {}", machine.said));
    let seconds = |name: &str| answer[name].as_u64().unwrap() as f64 / 1e9;
    let [begin, end] = [seconds("began_ns"), seconds("began_ns") + seconds("time_ns")];
    // Two readers of one event read the clock one after the other.
    let inner = [begin + APART, end - APART];
    let outer = [begin - APART, end + APART];
    let lines = answer["cpus"][0]["lines"].as_array().unwrap();
    // A timer interrupt in which nothing expired, and work that began before, are lines without a name.
    let told = |kinds: &[&str], are_named: bool| -> u64 {
        let of = lines
            .iter()
            .filter(|line| kinds.contains(&line["kind"].as_str().unwrap()) && (!are_named || line["name"].is_string()));
        of.filter_map(|line| line["count"].as_u64()).sum()
    };
    for (kinds, are_named, event) in [
        (&["tick", "timer"][..], true, "hrtimer_expire_entry"),
        (&["device"], true, "irq_handler_entry"),
        (&["work"], true, "workqueue_execute_start"),
        (&["reschedule"], false, "reschedule_entry"),
    ] {
        let within = |window| traced(machine.part("trace"), event, window);
        let (least, most) = (within(inner), within(outer));
        // Work that another thread took the CPU from enters it again.
        let again = traced(machine.part("trace"), "sched_switch", outer)
            .into_iter()
            .filter(|switch| {
                kinds == ["work"] && switch.contains("prev_comm=kworker") && switch.contains("prev_state=R")
            });
        let told = told(kinds, are_named);
        assert!(
            (least.len() as u64..=(most.len() + again.count()) as u64).contains(&told),
            "{told} {event}: {least:?} to {most:?}\n{lines:#?}"
        );
    }
    for kinds in [&["tick", "timer"][..], &["work"]] {
        assert!(told(kinds, true) > 0, "{kinds:?}: {lines:#?}");
    }
}
