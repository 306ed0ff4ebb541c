//! The `process` events: resource usage in the window, of each command of a run with services.

use crate::cgroup;
use crate::copies::{peak, Copy, Usage};
use crate::events::{ProcessEvent, RunEvent, Timeline};
use crate::readings::Reading;
use crate::running;
use crate::watch::Watch;
use crate::window::Frame;

/// Return one event for each command and each service that runs already; none for a run without services.
pub fn events(watch: &Watch, frame: &Frame, timeline: Option<&Timeline>, online: &[usize]) -> Vec<ProcessEvent> {
    let n = if watch.spec.is_divided() { watch.spec.commands.len() } else { 0 };
    let mut list: Vec<ProcessEvent> = (0..n).map(|i| event(watch, frame, timeline, online, i)).collect();
    list.extend(running::events(watch));
    list
}

fn event(watch: &Watch, frame: &Frame, timeline: Option<&Timeline>, online: &[usize], command: usize) -> ProcessEvent {
    let of = &watch.spec.commands[command];
    let own = || watch.copies.iter().zip(&frame.copies).filter(move |(c, _)| c.command == command);
    let mut event = ProcessEvent {
        run: watch.spec.run.clone(),
        command,
        name: of.name.clone(),
        role: if of.service.is_some() { "service" } else { "driver" }.into(),
        quota_cpus: of.cgroups.iter().find_map(|folder| cgroup::quota_cpus(folder)),
        start_ns: own().filter_map(|(_, t)| t.start()).min().map(|t| frame.since(t)),
        max_rss_bytes: own()
            .filter_map(|(c, _)| c.end)
            .map(|e| e.usage.max_rss_bytes)
            .max()
            .and_then(|rss| peak(rss, watch.hidden_rss_bytes)),
        ..ProcessEvent::default()
    };
    if let Some((copy, times)) = own().next() {
        stopped(&mut event, copy, times.start());
    }
    used(&mut event, &window(watch, frame, command), watch.contain.part(command).is_some());
    if let (Some(before), Some(end)) = (watch.used.0.get(command), watch.used.1.get(command)) {
        event.wait_ns = end.waited_since(before).filter(|_| of.service.is_some());
        event.wait_scope = event.wait_ns.map(|_| "preemption and wakeup".into());
    }
    recorded(&mut event, watch, timeline, online);
    event
}

fn stopped(event: &mut ProcessEvent, copy: &Copy, start: Option<u64>) {
    let Some(served) = &copy.service else { return };
    let passed = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
    event.ready_ns = passed(start, served.ready_ns);
    event.stop_ns = passed(served.stop_ns, copy.end.map(|e| e.at_ns));
    event.stopped_by = served.stopped_by.map(String::from);
}

/// Return what a command used in the window.
///
/// A driver is read while its copies wait at the gate, so what they use until they leave it is subtracted.
fn window(watch: &Watch, frame: &Frame, command: usize) -> Reading {
    let (Some(before), Some(end)) = (watch.used.0.get(command), watch.used.1.get(command)) else {
        return Reading::default();
    };
    if watch.spec.commands[command].service.is_some() {
        return end.since(before);
    }
    let copies = watch.copies.iter().zip(&frame.copies).filter(|(c, _)| c.command == command);
    let before_ns = copies.map(|(_, t)| t.before_ns).sum();
    let user = |cpu_ns: u64| {
        Usage { user_ns: end.user_ns?, system_ns: cpu_ns.saturating_sub(end.user_ns?), ..Usage::default() }.into()
    };
    let whole: Option<Usage> = end.cpu_ns.and_then(user);
    let left = whole.map(|usage| usage.without(before_ns));
    let (cpu_ns, user_ns) = (left.map(|u| u.user_ns + u.system_ns), left.map(|u| u.user_ns));
    Reading { cpu_ns, user_ns, ..end.since(before) }
}

fn used(event: &mut ProcessEvent, reading: &Reading, by_leaf: bool) {
    event.cpu_ns = reading.cpu_ns;
    event.user_ns = reading.user_ns;
    event.system_ns = reading.cpu_ns.zip(reading.user_ns).map(|(cpu, user)| cpu.saturating_sub(user));
    event.cpu_source = reading.cpu_ns.map(|_| if by_leaf { "cgroup" } else { "rusage" }.into());
    event.cpu_stall_ns = reading.cpu_stall_ns;
    event.memory_stall_ns = reading.memory_stall_ns;
    event.io_stall_ns = reading.io_stall_ns;
    event.throttled_ns = reading.throttled_ns;
}

fn recorded(event: &mut ProcessEvent, watch: &Watch, timeline: Option<&Timeline>, online: &[usize]) {
    let Some(records) = &watch.records else { return };
    let tree = &records.tree;
    let Some(share) = tree.shares.list.get(event.command) else { return };
    event.n_tasks = Some(share.n_tasks);
    event.busy_ns = timeline.and_then(|t| records.bins_of(event.command, t));
    if !records.complete() {
        return;
    }
    event.wait_ns = Some(share.wait_ns);
    event.wait_scope = Some(records.wait_scope());
    event.n_switches = Some(share.n_switches);
    let row = |cpu: &usize| tree.cpus.iter().position(|c| c == cpu).map_or(0, |row| share.per_cpu_ns[row]);
    event.per_cpu_ns = Some(online.iter().map(row).collect());
    if event.cpu_source.as_deref() != Some("cgroup") && tree.sums.lost == 0 {
        event.cpu_ns = Some(share.per_cpu_ns.iter().sum());
        event.cpu_source = Some("records".into());
    }
}

/// Replace the sums over whole processes by those over the window: services also run before the gate.
pub fn sum(event: &mut RunEvent, watch: &Watch, frame: &Frame) {
    let online = &[];
    let list = events(watch, frame, None, online);
    let all = |pick: fn(&ProcessEvent) -> Option<u64>| list.iter().map(pick).sum::<Option<u64>>();
    event.cpu_ns = all(|p| p.cpu_ns);
    event.user_ns = all(|p| p.user_ns);
    event.system_ns = all(|p| p.system_ns);
    event.cpu_source = list.first().filter(|_| event.cpu_ns.is_some()).and_then(|p| p.cpu_source.clone());
    (event.n_switches, event.n_preemptions) = (None, None);
    (event.n_minor_faults, event.n_major_faults) = (None, None);
    (event.n_blocks_in, event.n_blocks_out) = (None, None);
}
