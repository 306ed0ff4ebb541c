//! From what was watched to the events of protocol/probe.md.

use crate::capture::pieces;
use crate::copies::{Copy, Usage};
use crate::events::{CopyEvent, Degraded, Event, InForce, Iterations, Output, RunEvent, Values};
use crate::launch::policy_name;
use crate::run::Before;
use crate::spec::Spec;
use crate::watch::Watch;
use std::sync::atomic::Ordering::SeqCst;

/// Six bytes for one in the worst case of escaping: with the tail of stderr still below 4 MiB.
const STDOUT_PIECE: usize = 512 << 10;
/// At most 105 bytes for each.
const ITERATIONS_PIECE: usize = 32768;
const CANNOT: i32 = 69;

pub fn not_started(spec: &Spec, reason: String, degraded: Vec<Degraded>) -> Event {
    let (run, status) = (spec.run.clone(), "not started".into());
    Event::Run(Box::new(RunEvent { run, status, reason: Some(reason), degraded, ..RunEvent::default() }))
}

/// All times are taken relative to the first copy's leaving: the gate as it was, not as planned.
struct Frame {
    gate: u64,
    left: Vec<u64>,
    before: Vec<u64>,
}

impl Frame {
    fn of(watch: &Watch) -> Frame {
        let left: Vec<u64> = watch.board.slots().map(|s| s.left_ns.load(SeqCst)).collect();
        let gate = left.iter().copied().filter(|t| *t > 0).min().unwrap_or(watch.gate_ns);
        Frame { gate, left, before: watch.board.slots().map(|s| s.before_ns.load(SeqCst)).collect() }
    }

    fn since(&self, time: u64) -> u64 {
        time.saturating_sub(self.gate)
    }
}

pub fn events(watch: &mut Watch, before: &Before, _online: &[usize], degraded: Vec<Degraded>) -> Vec<Event> {
    let not_started = watch.early.as_ref().filter(|e| e.status == "not started");
    if let Some(early) = not_started {
        return vec![self::not_started(watch.spec, early.reason.clone(), degraded)];
    }
    let frame = Frame::of(watch);
    let mut list = Vec::new();
    for index in 0..watch.copies.len() {
        copy_events(watch, &frame, index, &mut list);
    }
    list.push(Event::Run(Box::new(run_event(watch, &frame, before, degraded))));
    list
}

fn copy_events(watch: &Watch, frame: &Frame, index: usize, list: &mut Vec<Event>) {
    let (copy, run) = (&watch.copies[index], watch.spec.run.clone());
    let text = watch.spec.capture.then(|| copy.kept_out.text());
    let parts: Vec<&str> = text.as_deref().map_or_else(Vec::new, |t| pieces(t, STDOUT_PIECE));
    list.push(Event::Copy(Box::new(copy_event(watch, frame, index, parts.first().copied()))));
    for part in parts.iter().skip(1) {
        list.push(Event::Output(Output { run: run.clone(), copy: index, stdout: part.to_string() }));
    }
    for part in copy.speech.iterations.chunks(ITERATIONS_PIECE) {
        let since = |t: u64| t as i64 - frame.gate as i64;
        list.push(Event::Iterations(Iterations {
            run: run.clone(),
            copy: index,
            index: part.iter().map(|i| i.index).collect(),
            start_ns: part.iter().map(|i| since(i.start)).collect(),
            end_ns: part.iter().map(|i| since(i.end)).collect(),
            work: part.iter().map(|i| i.work).collect(),
            cpu_ns: part.iter().map(|i| i.cpu).collect(),
        }));
    }
    if !copy.speech.values.is_empty() {
        list.push(Event::Values(Values { run, copy: index, values: copy.speech.values.clone() }));
    }
}

fn copy_event(watch: &Watch, frame: &Frame, index: usize, stdout: Option<&str>) -> CopyEvent {
    let (copy, slot) = (&watch.copies[index], watch.board.slot(index));
    let end = copy.end.as_ref();
    let usage = end.map_or(Usage::default(), |e| e.usage).without(frame.before[index]);
    CopyEvent {
        run: watch.spec.run.clone(),
        copy: index,
        command: copy.command,
        pid: copy.pid,
        exit_code: exit_code(copy),
        signal: signal(copy),
        start_ns: (frame.left[index] > 0).then(|| frame.since(frame.left[index])),
        exec_ns: None,
        end_ns: end.map(|e| frame.since(e.at_ns)),
        reap_ns: None,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        in_force: InForce {
            cpus: slot.cpus(),
            policy: policy_name(slot.policy.load(SeqCst)),
            priority: slot.priority.load(SeqCst),
            nice: slot.nice.load(SeqCst),
        },
        stdout: stdout.map(String::from),
        stdout_truncated: copy.kept_out.truncated,
        stderr_tail: copy.kept_err.text(),
    }
}

fn exit_code(copy: &Copy) -> Option<i32> {
    copy.end.filter(|e| libc::WIFEXITED(e.status)).map(|e| libc::WEXITSTATUS(e.status))
}

fn signal(copy: &Copy) -> Option<i32> {
    copy.end.filter(|e| libc::WIFSIGNALED(e.status)).map(|e| libc::WTERMSIG(e.status))
}

fn run_event(watch: &Watch, frame: &Frame, before: &Before, degraded: Vec<Degraded>) -> RunEvent {
    let (status, reason) = verdict(watch);
    let last_end = watch.copies.iter().filter_map(|c| c.end).map(|e| e.at_ns).max().unwrap_or(frame.gate);
    let before_gate = frame.before.iter().sum();
    let mut usage = watch.adopted;
    watch.copies.iter().filter_map(|c| c.end).for_each(|e| usage.add(&e.usage));
    let usage = usage.without(before_gate);
    let from_cgroup = watch.contain.leaf().and_then(|l| l.usage_ns()).map(|ns| ns.saturating_sub(before_gate));
    let cpu_ns = from_cgroup.unwrap_or(usage.user_ns + usage.system_ns);
    let spread = |times: Vec<u64>| Some(times.iter().max()? - times.iter().min()?);
    let machine = watch.machine_end.zip(before.machine);
    RunEvent {
        run: watch.spec.run.clone(),
        status: status.into(),
        reason,
        wall_ns: Some(frame.since(last_end)),
        wall_source: Some("gate".into()),
        wall_outer_ns: Some(frame.since(last_end)),
        tree_wall_ns: Some(frame.since(watch.tree_end_ns)),
        gate_ns: Some(frame.gate),
        gate_skew_ns: spread(frame.left.clone()),
        queue_drain_ns: spread(frame.left.clone()),
        user_ns: Some(usage.user_ns),
        system_ns: Some(usage.system_ns),
        cpu_ns: Some(cpu_ns),
        cpu_source: Some(if from_cgroup.is_some() { "cgroup" } else { "rusage" }.into()),
        n_switches: Some(usage.switches),
        n_preemptions: Some(usage.preemptions),
        n_minor_faults: Some(usage.minor_faults),
        n_major_faults: Some(usage.major_faults),
        n_blocks_in: Some(usage.blocks_in),
        n_blocks_out: Some(usage.blocks_out),
        max_rss_bytes: Some(usage.max_rss_bytes),
        steal_ns: machine.map(|(end, start)| end.steal_ns.saturating_sub(start.steal_ns)),
        machine_busy_ns: machine.map(|(end, start)| end.busy_ns.saturating_sub(start.busy_ns)),
        n_survivors: Some(watch.n_survivors),
        observer_ns: Some(watch.observer_end_ns.saturating_sub(before.observer_ns)),
        degraded,
        ..RunEvent::default()
    }
}

fn verdict(watch: &Watch) -> (&'static str, Option<String>) {
    if let Some(early) = &watch.early {
        return (early.status, Some(early.reason.clone()));
    }
    let signaled = watch.copies.iter().enumerate().find_map(|(i, c)| Some((i, signal(c)?)));
    if let Some((copy, number)) = signaled {
        return ("signal", Some(format!("copy {copy} was ended by signal {number}")));
    }
    let failed = watch.copies.iter().enumerate().find(|(_, c)| exit_code(c).is_some_and(|code| code != 0));
    let Some((index, copy)) = failed else { return ("ok", None) };
    let code = exit_code(copy).unwrap_or_default();
    let said = copy.kept_err.text();
    let last = said.lines().rev().find(|l| !l.trim().is_empty()).filter(|_| code == CANNOT);
    ("failed", Some(last.map_or_else(|| format!("copy {index} exited with {code}"), |l| l.trim().into())))
}
