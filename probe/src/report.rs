//! Build the events of protocol/probe.md from a finished run.

use crate::capture::pieces;
use crate::copies::Usage;
use crate::events::{
    Changed, CopyEvent, Degraded, Event, Histogram, Iterations, Output, PhaseRow, Phases, RunEvent, TaskRow, Timeline,
    Values,
};
use crate::in_force;
use crate::path::Clock;
use crate::processes;
use crate::records::Records;
use crate::replay::Replay;
use crate::spec::Spec;
use crate::summary;
use crate::timeline::Bins;
use crate::tree::Task;
use crate::watch::{Early, Watch};
use crate::window::{Before, Frame};
use crate::workload::{Iteration, Phase, Speech};

/// Bytes: escaping takes six for one at worst, which with the tail of stderr stays below 4 MiB.
const STDOUT_PIECE: usize = 512 << 10;
/// Iterations, each of at most 147 bytes.
const ITERATIONS_PIECE: usize = 24576;
/// Cells of a timeline, at most 20 bytes for each.
const MAX_CELLS: usize = 150_000;

pub fn events(watch: &mut Watch, before: Option<&Before>, online: &[usize], mut degraded: Vec<Degraded>) -> Vec<Event> {
    degraded.extend(watch.records.iter_mut().flat_map(|r| r.degraded.drain(..)));
    if let Some(early) = watch.early.as_ref().filter(|e| e.status == "not started") {
        return vec![not_started(watch.spec, early.reason.clone(), degraded)];
    }
    let frame = Frame::of(watch);
    let mut list = Vec::new();
    let Some(before) = before else {
        let n_started = watch.copies.iter().filter(|c| c.service.is_some()).count();
        (0..n_started).for_each(|index| copy_events(watch, &frame, index, &mut list));
        let Early { status, reason } = watch.early.take().unwrap_or(Early { status: "failed", reason: String::new() });
        list.push(without_figures(watch.spec, status, reason, degraded));
        return list;
    };
    for index in 0..watch.copies.len() {
        copy_events(watch, &frame, index, &mut list);
    }
    let run_event = summary::run_event(watch, &frame, before, online, degraded);
    let (run, n_tasks) = (watch.spec.run.clone(), watch.spec.timeline_tasks);
    let timeline = watch.records.as_mut().and_then(|r| timeline(run, r, n_tasks));
    let processes = processes::events(watch, &frame, timeline.as_ref(), online);
    list.extend(processes.into_iter().map(|p| Event::Process(Box::new(p))));
    list.extend(timeline.map(Event::Timeline));
    list.push(Event::Run(Box::new(run_event)));
    list
}

/// Return the run event of a run whose copies never left the gate.
pub fn not_started(spec: &Spec, reason: String, degraded: Vec<Degraded>) -> Event {
    without_figures(spec, "not started", reason, degraded)
}

fn without_figures(spec: &Spec, status: &str, reason: String, degraded: Vec<Degraded>) -> Event {
    let (run, status, reason) = (spec.run.clone(), status.into(), Some(reason));
    Event::Run(Box::new(RunEvent { run, status, reason, degraded, ..RunEvent::default() }))
}

fn copy_events(watch: &Watch, frame: &Frame, index: usize, list: &mut Vec<Event>) {
    let (copy, run) = (&watch.copies[index], watch.spec.run.clone());
    let text = (watch.spec.stdout.is_kept() && copy.service.is_none()).then(|| copy.kept_out.text());
    let parts: Vec<&str> = text.as_deref().map_or_else(Vec::new, |t| pieces(t, STDOUT_PIECE));
    list.push(Event::Copy(Box::new(copy_event(watch, frame, index, parts.first().copied()))));
    for part in parts.iter().skip(1) {
        list.push(Event::Output(Output { run: run.clone(), copy: index, stdout: part.to_string() }));
    }
    let replay = watch.records.as_ref().filter(|r| r.total().is_some()).map(|r| &r.tree.replay);
    speech_events(&copy.speech, &run, index, (frame, replay), list);
}

fn copy_event(watch: &Watch, frame: &Frame, index: usize, stdout: Option<&str>) -> CopyEvent {
    let (copy, times) = (&watch.copies[index], &frame.copies[index]);
    let usage = copy.end.map_or(Usage::default(), |e| e.usage).without(times.before_ns);
    let before = in_force::before(copy.slot);
    // Times count from the gate: without one there are none.
    let since = |time: Option<u64>| time.filter(|_| frame.gate > 0).map(|t| frame.since(t));
    CopyEvent {
        run: watch.spec.run.clone(),
        copy: index,
        command: copy.command,
        pid: copy.pid,
        exit_code: copy.exit_code(),
        signal: copy.signal(),
        start_ns: since(times.start()),
        exec_ns: since(times.main.exec_ns),
        end_ns: since(times.end()),
        reap_ns: times.reaped.zip(times.main.exit_ns).map(|(reaped, exit)| reaped.saturating_sub(exit)),
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        changed: copy.at_end.as_ref().map(|end| Changed::between(&before, end)),
        in_force: before,
        stdout: stdout.map(String::from),
        stdout_truncated: watch.spec.stdout.is_kept() && copy.kept_out.truncated,
        stderr_tail: copy.kept_err.text(),
    }
}

/// Return the timeline: one row per used CPU, or one for the tree where only its total is known.
fn timeline(run: String, records: &mut Records, n_tasks: usize) -> Option<Timeline> {
    if let Some((bin_ns, total)) = records.coarse() {
        let (source, tree_busy_ns) = ("cpu.stat".into(), Some(total.to_vec()));
        let (cpus, busy_ns, tasks) = (Vec::new(), Vec::new(), Vec::new());
        return Some(Timeline { run, source, bin_ns, cpus, busy_ns, waiting_ns: None, tree_busy_ns, tasks });
    }
    let tree = records.complete().then_some(&mut records.tree)?;
    let used: Vec<usize> = (0..tree.cpus.len()).filter(|row| tree.busy.rows[*row].iter().any(|ns| *ns > 0)).collect();
    let bin_ns = same_width(&mut tree.busy, &mut tree.waiting, MAX_CELLS / used.len().max(1));
    let busy_ns = used.iter().map(|row| tree.busy.rows[*row].clone()).collect();
    let waiting_ns = Some(tree.waiting.rows[0].clone());
    let cpus = used.iter().map(|row| tree.cpus[*row]).collect();
    let n_tasks = n_tasks.min(MAX_CELLS / used.len().max(1));
    let tasks = tree.tasks(n_tasks).iter().map(|task| task_row(task, &used)).collect();
    Some(Timeline { run, source: "records".into(), bin_ns, cpus, busy_ns, waiting_ns, tree_busy_ns: None, tasks })
}

fn same_width(busy: &mut Bins, waiting: &mut Bins, max_bins: usize) -> u64 {
    while busy.bin_ns < waiting.bin_ns || busy.n_bins() > max_bins.max(1) {
        busy.double();
    }
    while waiting.bin_ns < busy.bin_ns {
        waiting.double();
    }
    let n = busy.n_bins().max(waiting.n_bins());
    busy.pad(n);
    waiting.pad(n);
    busy.bin_ns
}

fn task_row(task: &Task, used: &[usize]) -> TaskRow {
    let name: Vec<u8> = task.name.iter().copied().take_while(|b| *b != 0).collect();
    TaskRow {
        tid: task.tid,
        name: String::from_utf8_lossy(&name).into_owned(),
        cpu_ns: task.cpu_ns,
        wait_ns: task.wait_ns,
        per_cpu_ns: used.iter().map(|row| task.per_cpu.get(*row).copied().unwrap_or(0)).collect(),
        migrations: task.migrations,
    }
}

/// The gate, and what is known of the time without others.
type Clocks<'a> = (&'a Frame, Option<&'a Replay>);

fn speech_events(speech: &Speech, run: &str, copy: usize, (frame, replay): Clocks, list: &mut Vec<Event>) {
    let name = || run.to_string();
    let windows = |replay: &Replay| speech.iterations.iter().map(|i| replay.window(i.start, i.end)).collect();
    let bounds: Option<Vec<Clock>> = replay.and_then(windows);
    for (piece, part) in speech.iterations.chunks(ITERATIONS_PIECE).enumerate() {
        let bounds = bounds.as_ref().map(|list| &list[piece * ITERATIONS_PIECE..][..part.len()]);
        list.push(Event::Iterations(iterations(name(), copy, frame, part, bounds)));
    }
    if !speech.values.is_empty() {
        list.push(Event::Values(Values { run: name(), copy, values: speech.values.clone() }));
    }
    if !speech.phases.is_empty() {
        let row =
            |p: &Phase| PhaseRow { name: p.name.clone(), start_ns: frame.since(p.start), end_ns: frame.since(p.end) };
        list.push(Event::Phases(Phases { run: name(), copy, phases: speech.phases.iter().map(row).collect() }));
    }
    for ((phase, operation), counts) in &speech.histograms {
        let (index, count) = counts.iter().map(|(i, n)| (*i, *n)).unzip();
        let (phase, operation) = (phase.clone(), operation.clone());
        list.push(Event::Histogram(Histogram { run: name(), copy, phase, operation, index, count }));
    }
}

fn iterations(run: String, copy: usize, frame: &Frame, part: &[Iteration], bounds: Option<&[Clock]>) -> Iterations {
    let bound = |value: fn(&Clock) -> u64| bounds.map(|list| list.iter().map(value).collect());
    Iterations {
        run,
        copy,
        index: part.iter().map(|i| i.index).collect(),
        start_ns: part.iter().map(|i| frame.since(i.start)).collect(),
        end_ns: part.iter().map(|i| frame.since(i.end)).collect(),
        work: part.iter().map(|i| i.work).collect(),
        cpu_ns: part.iter().map(|i| i.cpu).collect(),
        low_ns: bound(|clock| clock.low),
        high_ns: bound(|clock| clock.high),
        sleep_ns: bound(|clock| clock.slept),
    }
}
