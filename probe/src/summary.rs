//! The `run` event: one value each for the whole run, null where it was not measured.

use crate::copies::{peak, Copy, Usage};
use crate::events::{Degraded, ReplayFigures, RunEvent};
use crate::neighbors;
use crate::others::Families;
use crate::processes;
use crate::tree::Tree;
use crate::watch::Watch;
use crate::window::{Before, Frame, Times};
use std::path::Path;

/// The exit code of a workload that cannot do what its arguments ask.
const CANNOT: i32 = 69;
const MILLISECOND: u64 = 1_000_000;

pub fn run_event(watch: &Watch, frame: &Frame, before: &Before, online: &[usize], degraded: Vec<Degraded>) -> RunEvent {
    let (status, reason) = outcome(watch);
    let mut event =
        RunEvent { run: watch.spec.run.clone(), status: status.into(), reason, degraded, ..Default::default() };
    walls(&mut event, watch, frame);
    usage(&mut event, watch, frame);
    if watch.spec.is_divided() {
        processes::sum(&mut event, watch, frame);
    }
    let wakes = watch.records.as_ref().map_or_else(Vec::new, |records| records.tree.replay.partners());
    let families = Families::now(&watch.others_before, watch.spec, &wakes);
    switches(&mut event, watch, online, &families);
    event.others = Some(families.others);
    let machine = watch.machine_end.as_ref().zip(before.machine.as_ref());
    (event.steal_ns, event.worst_steal_ns) = machine.map(|(end, start)| end.stolen_since(start)).unzip();
    event.machine_busy_ns = machine.map(|(end, start)| end.busy_ns.saturating_sub(start.busy_ns));
    watch.conditions_end.since(&before.conditions, &mut event);
    event.stopped_ns = Some(watch.stopped.total_ns());
    event.n_survivors = Some(watch.n_survivors);
    event.observer_ns = Some(watch.observer_end_ns.saturating_sub(before.observer_ns));
    if let Some(sentinel) = &watch.sentinel {
        event.speed = Some(sentinel.speed(online));
        event.degraded.extend(sentinel.missing(event.wall_ns.unwrap_or(0)));
    }
    if watch.unkillable {
        let why = "processes of the tree were still alive 10 s after they were killed";
        event.degraded.push(Degraded::new("containment", why, "look for processes in uninterruptible sleep"));
    }
    event
}

fn walls(event: &mut RunEvent, watch: &Watch, frame: &Frame) {
    let drivers = frame.drivers(watch);
    let all = |pick: fn(&Times) -> Option<u64>| drivers.iter().copied().filter_map(pick).collect::<Vec<u64>>();
    let last = |times: Vec<u64>| times.into_iter().max();
    let (starts, left, reaped) = (all(Times::start), all(|t| t.left), all(|t| t.reaped));
    // Where records were dropped, the last exit that is known may be that of a thread, long before the end.
    let lost = watch.records.as_ref().is_some_and(|records| records.tree.sums.lost > 0);
    let from_kernel = !lost && drivers.iter().all(|t| t.main.image_ns.is_some() && t.main.exit_ns.is_some());
    let first = if from_kernel { starts.iter().min() } else { left.iter().min() }.copied();
    let end = if from_kernel { last(all(Times::end)) } else { last(reaped.clone()) };
    let tree_end = match &watch.records {
        _ if watch.spec.is_divided() || watch.n_survivors > 0 => end,
        Some(records) if from_kernel => Some(records.tree.sums.last_exit_ns),
        _ => Some(watch.tree_end_ns),
    };
    let between = |end: Option<u64>| Some(end?.saturating_sub(first?));
    event.wall_ns = between(end);
    event.wall_source = Some(if from_kernel { "kernel" } else { "gate" }.into());
    event.wall_outer_ns = last(reaped).map(|t| t.saturating_sub(frame.gate));
    event.tree_wall_ns = between(tree_end.max(end));
    event.gate_ns = Some(frame.gate);
    event.start_skew_ns = spread(&starts).filter(|_| drivers.len() > 1);
    event.queue_drain_ns = spread(&left);
    let firsts: Vec<u64> = drivers.iter().zip(&watch.spins).filter(|(_, s)| **s).filter_map(|(t, _)| t.left).collect();
    event.gate_skew_ns = spread(&firsts);
    if drivers.is_empty() {
        event.wall_ns = watch.mains_end_ns.map(|end| end.saturating_sub(frame.gate));
        (event.wall_outer_ns, event.tree_wall_ns) = (event.wall_ns, event.wall_ns);
        event.wall_source = Some("gate".into());
    }
}

fn spread(times: &[u64]) -> Option<u64> {
    Some(times.iter().max()? - times.iter().min()?)
}

fn usage(event: &mut RunEvent, watch: &Watch, frame: &Frame) {
    let before_gate = frame.copies.iter().map(|t| t.before_ns).sum();
    let mut sum = watch.adopted;
    watch.copies.iter().filter_map(|c| c.end).for_each(|e| sum.add(&e.usage));
    let sum = sum.without(before_gate);
    let left = watch.n_survivors > 0;
    let leaf = if left { watch.leaf_ns } else { watch.contain.leaf().and_then(|l| l.usage_ns()) };
    let leaf = leaf.map(|ns| ns.saturating_sub(before_gate));
    let complete = watch.records.as_ref().filter(|r| r.complete() && r.tree.sums.lost == 0);
    let records = complete.map(|r| r.tree.per_cpu_ns().iter().sum::<u64>());
    let rusage = sum.user_ns + sum.system_ns;
    let (cpu_ns, source) = match (leaf, records) {
        // The rusage of survivors is that of their whole life.
        (Some(ns), _) if left || holds_all(ns, rusage) => (ns, "cgroup"),
        (None, Some(ns)) => (ns, "records"),
        _ => (rusage, "rusage"),
    };
    event.cpu_ns = Some(cpu_ns);
    event.cpu_source = Some(source.into());
    if let Some(seen) = leaf.filter(|_| source != "cgroup") {
        let reason = format!("processes left it: it saw {seen} ns of the {rusage} ns that its processes used");
        event.degraded.push(Degraded::new("cgroup leaf", &reason, "start no container and no systemd scope in a run"));
    }
    plain_usage(event, &sum);
    if left {
        (event.user_ns, event.system_ns) = (None, None);
    }
    if left && source == "rusage" {
        (event.cpu_ns, event.cpu_source) = (None, None);
        let why = "what survivors used after the last main is part of their rusage";
        event.degraded.push(Degraded::new("cpu_ns", why, "wait for all processes, or grant a cgroup"));
    }
    event.max_rss_bytes = peak(sum.max_rss_bytes, watch.hidden_rss_bytes);
    if event.max_rss_bytes.is_none() {
        let reason =
            format!("below {} bytes, which the probe held itself, rusage tells no peak", watch.hidden_rss_bytes);
        event.degraded.push(Degraded::new("max_rss_bytes", &reason, "run where kernel records are granted"));
    }
}

/// Whether a cgroup with this CPU time held the whole tree.
///
/// The rusage of ended processes can be less (some are never waited for); more means that some ran outside.
pub fn holds_all(leaf_ns: u64, rusage_ns: u64) -> bool {
    rusage_ns <= leaf_ns + leaf_ns / 100 + MILLISECOND
}

fn plain_usage(event: &mut RunEvent, sum: &Usage) {
    event.user_ns = Some(sum.user_ns);
    event.system_ns = Some(sum.system_ns);
    event.n_switches = Some(sum.switches);
    event.n_preemptions = Some(sum.preemptions);
    event.n_minor_faults = Some(sum.minor_faults);
    event.n_major_faults = Some(sum.major_faults);
    event.n_blocks_in = Some(sum.blocks_in);
    event.n_blocks_out = Some(sum.blocks_out);
}

/// Write the values that only kernel records give; records of a part of the run give none.
fn switches(event: &mut RunEvent, watch: &Watch, online: &[usize], families: &Families) {
    let Some(records) = &watch.records else { return };
    let sums = &records.tree.sums;
    event.n_lost_records = Some(sums.lost);
    event.timeline_cost_ns = records.with_switches.then(|| records.cost_ns());
    event.n_tasks = Some(sums.tasks);
    event.n_processes = Some(sums.processes);
    if !records.complete() {
        return;
    }
    event.wait_ns = Some(sums.wait_ns);
    event.neighbor_ns = Some(sums.neighbor_ns);
    event.wait_scope = Some(records.wait_scope());
    event.replay = event.wall_ns.filter(|_| event.wall_source.as_deref() == Some("kernel")).and_then(|wall_ns| {
        let total = records.total()?;
        let [low_ns, high_ns] = total.clock.map(|ns| ns.min(wall_ns));
        let partners = neighbors::partners(Path::new("/"), &records.tree.replay.partners(), &records.tree.takers());
        let (overlap_ns, sleep_ns, n_wakes) = (total.overlap_ns, total.sleep_ns, total.n_wakes);
        Some(ReplayFigures { low_ns, high_ns, overlap_ns, sleep_ns, n_wakes, partners })
    });
    event.n_switches = Some(sums.switches);
    event.n_preemptions = Some(sums.preemptions);
    event.n_migrations = Some(sums.migrations);
    let tree = &records.tree;
    let by_cpu = |per_row: Vec<u64>| {
        let row = |cpu: &usize| tree.cpus.iter().position(|c| c == cpu).map_or(0, |row| per_row[row]);
        Some(online.iter().map(row).collect())
    };
    event.per_cpu_ns = by_cpu(tree.per_cpu_ns());
    event.outside_ns = Some(outside_ns(tree, &watch.cpus));
    event.neighbor_per_cpu_ns = by_cpu(tree.neighbor_per_cpu_ns());
    event.neighbors = records
        .names_neighbors()
        .then(|| neighbors::named(Path::new("/"), &tree.takers(), &tree.others, |pid| families.root_of(pid)));
}

/// Return the CPU time on CPUs that no copy was given; `given` is sorted.
fn outside_ns(tree: &Tree, given: &[usize]) -> u64 {
    let outside = |cpu: &usize| given.binary_search(cpu).is_err();
    let every = tree.cpus.iter().zip(tree.per_cpu_ns());
    every.filter(|(cpu, _)| outside(cpu)).map(|(_, ns)| ns).sum()
}

fn outcome(watch: &Watch) -> (&'static str, Option<String>) {
    if let Some(early) = &watch.early {
        return (early.status, Some(early.reason.clone()));
    }
    let drivers = || watch.copies.iter().enumerate().filter(|(_, c)| c.service.is_none());
    let signaled = drivers().find_map(|(i, c)| Some((i, c.signal()?)));
    if let Some((copy, number)) = signaled {
        return ("signal", Some(format!("copy {copy} was ended by signal {number}")));
    }
    let is_wrong = |c: &Copy, code: &i32| !watch.spec.commands[c.command].ok_exits.contains(code);
    let failed = drivers().find_map(|(i, c)| Some((i, c, c.exit_code().filter(|code| is_wrong(c, code))?)));
    failed.map_or(("ok", None), |(index, copy, code)| ("failed", Some(failure(index, copy, code))))
}

fn failure(index: usize, copy: &Copy, code: i32) -> String {
    let stderr = copy.kept_err.text();
    let last = stderr.lines().rev().map(str::trim).find(|l| !l.is_empty()).filter(|_| code == CANNOT);
    let limited: Option<String> = last.map(|l| l.chars().filter(|c| !c.is_control()).take(1024).collect());
    limited.unwrap_or_else(|| format!("copy {index} exited with {code}"))
}
