//! Kernel records of one run: opened, emptied seldom, and given up where they would cost too much.

use crate::contain::Containment;
use crate::events::{Degraded, Timeline};
use crate::host;
use crate::perf::{Event, Ring, LIFE, SWITCHES};
use crate::record::{Stamped, What};
use crate::replay::Total;
use crate::shares::Shares;
use crate::sys::{self, SECOND};
use crate::timeline::Bins;
use crate::tracepoints::{self, Tracepoints};
use crate::tree::Tree;
use std::ffi::CString;
use std::io;

/// Emptied no more often, or the probe would become the neighbor that it looks for.
const REST_NS: u64 = 10_000_000;
/// About a microsecond for each switch off and on: beyond this rate more than 0.1 % of a CPU.
const MAX_SWITCHES_PER_S: u64 = 1000;
/// Two records for each switch of anybody.
const MAX_WIDE_PER_S: u64 = 10_000;
/// A burst of fewer records says nothing about a rate.
const MIN_RECORDS: u64 = 4000;
/// The same for rings twice as large that also hold wake-ups, so that no run loses its records by them.
const MIN_RECORDS_BESIDE_WAKES: u64 = 6500;
/// What the kernel needs to write one switch record, half of a microsecond for each off and on; an estimate.
const RECORD_NS: u64 = 500;
/// A record is written with its time first, and becomes visible a little later.
const SETTLE_NS: u64 = 1_000_000;
const COARSE_NS: u64 = SECOND / 10;

/// What would help against a refusal of wake-up records.
pub const WAKE_FIX: &str = "run as root, outside of containers; a kernel with tracepoints is needed";

struct Channel {
    cpu: usize,
    life: Event,
    switches: Option<Event>,
    /// Who else runs on the CPU, where that is granted.
    wide: Option<Event>,
    /// Wake-ups, and tasks that are put on the queue of the CPU.
    wakes: Vec<Event>,
    ring: Ring,
    n_switch_records: u64,
    n_wide_records: u64,
    n_wake_records: u64,
}

impl Channel {
    fn open(cpu: usize, pages: usize, with_switches: bool, with_others: bool) -> io::Result<Channel> {
        let life = Event::open(LIFE, cpu)?;
        let ring = Ring::map(&life, pages)?;
        let switches = with_switches.then(|| Event::open(SWITCHES, cpu)).transpose()?;
        let wide = (with_switches && with_others).then(|| Event::open_wide(SWITCHES, cpu).ok()).flatten();
        switches.iter().chain(&wide).try_for_each(|event| event.write_into(&life))?;
        let (wakes, n_switch_records, n_wide_records, n_wake_records) = (Vec::new(), 0, 0, 0);
        Ok(Channel { cpu, life, switches, wide, wakes, ring, n_switch_records, n_wide_records, n_wake_records })
    }

    /// On a CPU of no use to the run, record only wake-ups of tasks that were last on one of its CPUs.
    fn open_wakes(&mut self, points: &Tracepoints, ours: &[usize]) -> io::Result<()> {
        let is_ours = ours.contains(&self.cpu);
        let wanted = points.waking.iter().chain(points.placing.iter().filter(|_| is_ours));
        self.wakes = wanted.map(|point| Event::open_point(*point, self.cpu)).collect::<io::Result<_>>()?;
        if !is_ours {
            let condition = CString::new(tracepoints::woken_on(ours))?;
            self.wakes.iter().try_for_each(|event| event.filter(&condition))?;
        }
        self.wakes.iter().try_for_each(|event| event.write_into(&self.life))?;
        self.ring.points = points.clone();
        Ok(())
    }

    /// All that is switched off where switches are too many.
    fn switching(&self) -> impl Iterator<Item = &Event> {
        self.wide.iter().chain(&self.wakes).chain(&self.switches)
    }
}

/// The tree's CPU time at 10 Hz, where switches are too many to record each.
struct Coarse {
    /// The tree, and then each command that has a leaf of its own.
    bins: Bins,
    last_ns: u64,
    usage_ns: Vec<u64>,
}

/// CPU time of the leaf, and of each command's.
fn usages(contain: &Containment) -> Vec<u64> {
    let leaves = contain.leaf().into_iter().chain((0..).map_while(|i| contain.part(i)));
    leaves.map(|leaf| leaf.usage_ns().unwrap_or(0)).collect()
}

pub struct Records {
    channels: Vec<Channel>,
    pub tree: Tree,
    pub degraded: Vec<Degraded>,
    pending: Vec<Stamped>,
    last_ns: u64,
    due_ns: Option<u64>,
    max_bins: usize,
    coarse: Option<Coarse>,
    /// What the leaves had used when the gate opened.
    at_gate_ns: Vec<u64>,
    closed: bool,
    /// Nothing later is fed until the tree is gone, or known to have survivors, of which nothing counts.
    held_from: u64,
    /// Neighbors were too many to follow.
    unnamed: bool,
    n_switch_records: u64,
    /// CPUs that the run may use.
    ours: Vec<usize>,
    pub with_switches: bool,
}

impl Records {
    /// `cpus` are all that are online, `ours` those that the run may use: on others nobody is in its way.
    pub fn open(cpus: &[usize], ours: &[usize], with_switches: bool, max_bins: usize) -> io::Result<Records> {
        // Offlined CPUs between reading the list and here are simply not opened.
        let channels = open_channels(cpus, ours, with_switches)?;
        let cpus: Vec<usize> = channels.iter().map(|c| c.cpu).collect();
        let mut tree = Tree::new(&cpus, max_bins, vec![std::process::id()]);
        tree.sees_idle = host::in_first_pid_namespace();
        tree.replay.allow(ours);
        let (degraded, pending) = (Vec::new(), Vec::new());
        Ok(Records {
            channels,
            tree,
            degraded,
            pending,
            last_ns: 0,
            due_ns: None,
            max_bins,
            coarse: None,
            at_gate_ns: vec![0],
            closed: false,
            held_from: u64::MAX,
            unnamed: false,
            n_switch_records: 0,
            ours: ours.to_vec(),
            with_switches,
        })
    }

    /// With all copies at the gate, asleep: their first record is then their waking.
    pub fn enable(&mut self, mains: &[(i32, usize)]) -> io::Result<()> {
        for (pid, command) in mains {
            self.tree.add_main(*pid as u32, *command);
            self.tree.replay.add_driver(*pid as u32);
        }
        self.last_ns = sys::now_ns();
        self.tree.switches_from = self.last_ns;
        let events = self.channels.iter().flat_map(|c| c.switching().chain([&c.life]));
        events.into_iter().try_for_each(Event::enable)
    }

    /// Before anything is started that works before the gate: who descends from whom is known then.
    pub fn enable_lives(&self) -> io::Result<()> {
        self.channels.iter().try_for_each(|c| c.life.enable())
    }

    pub fn fds(&self) -> Vec<i32> {
        self.channels.iter().map(|c| c.life.fd()).collect()
    }

    /// Just before the gate opens, where something worked before it.
    pub fn begin(&mut self, contain: &Containment) {
        self.at_gate_ns = usages(contain);
    }

    pub fn next_ns(&self) -> u64 {
        if self.closed {
            return u64::MAX;
        }
        let coarse = self.coarse.as_ref().filter(|_| self.held_from == u64::MAX).map(|c| c.last_ns + COARSE_NS);
        self.due_ns.into_iter().chain(coarse).min().unwrap_or(u64::MAX)
    }

    pub fn on_ring(&mut self, now: u64, gate: u64, contain: &Containment) {
        if self.closed {
            self.collect();
            self.pending.clear();
        } else if now < self.last_ns + REST_NS {
            self.due_ns = Some(self.last_ns + REST_NS);
        } else {
            self.drain(now, gate, contain);
        }
    }

    pub fn on_time(&mut self, now: u64, gate: u64, contain: &Containment) {
        if self.due_ns.is_some_and(|due| now >= due) {
            self.drain(now, gate, contain);
        }
        if self.coarse.as_ref().is_some_and(|c| now >= c.last_ns + COARSE_NS) && self.held_from == u64::MAX {
            self.sample(now, contain);
        }
    }

    fn drain(&mut self, now: u64, gate: u64, contain: &Containment) {
        self.due_ns = None;
        self.tree.gate = gate;
        self.collect();
        self.feed(now.saturating_sub(SETTLE_NS).min(self.held_from));
        if self.with_switches && self.coarse.is_none() && self.held_from == u64::MAX {
            self.check_rate(now - self.last_ns, contain);
            self.check_wide_rate(now - self.last_ns);
        }
        for channel in &mut self.channels {
            (channel.n_switch_records, channel.n_wide_records, channel.n_wake_records) = (0, 0, 0);
        }
        self.last_ns = now;
    }

    fn collect(&mut self) {
        for channel in &mut self.channels {
            let (from, before) = (self.pending.len(), channel.n_switch_records + 2 * channel.n_wide_records);
            channel.ring.drain(&mut self.pending);
            let switch = |r: &&Stamped| matches!(r.what, What::In | What::Out { .. });
            channel.n_switch_records += self.pending[from..].iter().filter(switch).count() as u64;
            let wide = |r: &&Stamped| matches!(r.what, What::Next { .. });
            channel.n_wide_records += self.pending[from..].iter().filter(wide).count() as u64;
            let wake = |r: &&Stamped| matches!(r.what, What::Wake { .. } | What::Placed { .. });
            let n_wakes = self.pending[from..].iter().filter(wake).count() as u64;
            channel.n_wake_records += n_wakes;
            self.n_switch_records += n_wakes;
            // Of a CPU-wide switch two records are written, and one is kept.
            self.n_switch_records += channel.n_switch_records + 2 * channel.n_wide_records - before;
        }
        // Each ring is in order, and the sort keeps that order among equal times.
        self.pending.sort_by_key(|r| r.time);
    }

    fn feed(&mut self, until: u64) {
        let n = self.pending.partition_point(|r| r.time <= until);
        for record in self.pending.drain(..n) {
            self.tree.feed(&record);
        }
    }

    fn check_rate(&mut self, over_ns: u64, contain: &Containment) {
        let per_s = |n: u64| (n as u128 * SECOND as u128 / 2 / over_ns.max(1) as u128) as u64;
        let least = if self.tree.sees_wakes { MIN_RECORDS_BESIDE_WAKES } else { MIN_RECORDS };
        let busy = |c: &&Channel| c.n_switch_records >= least && per_s(c.n_switch_records) > MAX_SWITCHES_PER_S;
        let Some(channel) = self.channels.iter().find(busy) else { return };
        let why = format!(
            "{} switches/s on CPU {}, above {MAX_SWITCHES_PER_S}",
            per_s(channel.n_switch_records),
            channel.cpu
        );
        self.degraded.push(Degraded::new("switch records", &why, "none: recording each would disturb the run"));
        self.channels.iter().flat_map(Channel::switching).for_each(|event| drop(event.disable()));
        let (usage_ns, last_ns) = (std::mem::take(&mut self.at_gate_ns), self.tree.gate);
        let bins = Bins::new(usage_ns.len().max(1), self.max_bins);
        self.coarse = Some(Coarse { bins, last_ns, usage_ns });
        self.sample(sys::now_ns(), contain);
    }

    /// Neighbors that switch too often to be named are no reason to give up the run's own switches.
    fn check_wide_rate(&mut self, over_ns: u64) {
        let per_s = |n: u64| (n as u128 * SECOND as u128 / over_ns.max(1) as u128) as u64;
        let most = |c: &Channel| c.n_wide_records.max(c.n_wake_records);
        let limit = |c: &Channel| most(c) >= MIN_RECORDS && per_s(most(c)) > MAX_WIDE_PER_S;
        if !self.unnamed && self.channels.iter().any(limit) {
            self.channels.iter().flat_map(|c| c.wide.iter().chain(&c.wakes)).for_each(|event| drop(event.disable()));
            (self.unnamed, self.tree.sees_wakes) = (true, false);
            self.tree.forget_others();
        }
    }

    /// Whether all that ran on the CPUs was seen.
    pub fn names_neighbors(&self) -> bool {
        !self.unnamed && self.channels.iter().filter(|c| self.ours.contains(&c.cpu)).all(|c| c.wide.is_some())
    }

    fn sample(&mut self, now: u64, contain: &Containment) {
        let gate = self.tree.gate;
        let Some(coarse) = &mut self.coarse else { return };
        let over = now.saturating_sub(coarse.last_ns).max(1);
        for (row, usage_ns) in usages(contain).into_iter().enumerate().take(coarse.usage_ns.len()) {
            let weight = usage_ns.saturating_sub(coarse.usage_ns[row]) as f64 / over as f64;
            coarse.bins.add_weighted(row, coarse.last_ns - gate, now - gate, weight);
            coarse.usage_ns[row] = usage_ns;
        }
        coarse.last_ns = now;
    }

    /// Everything there is, up to the end of the tree.
    pub fn finish(&mut self, end: u64, gate: u64, contain: &Containment) {
        if !self.closed {
            self.collect();
            self.end(end, u64::MAX, gate, contain);
        }
    }

    /// All mains have ended: what is written later counts only if the rest of the tree ends soon.
    pub fn hold(&mut self, end: u64, contain: &Containment) {
        self.sample(end, contain);
        self.held_from = end;
    }

    /// The window ends before the tree does: nothing that is written later counts.
    pub fn close(&mut self, end: u64, gate: u64, contain: &Containment) {
        if self.closed {
            return;
        }
        let events = self.channels.iter().flat_map(|c| c.switching().chain([&c.life]));
        events.for_each(|event| drop(event.disable()));
        self.collect();
        self.end(end, end, gate, contain);
        self.pending.clear();
        self.closed = true;
    }

    fn end(&mut self, end: u64, until: u64, gate: u64, contain: &Containment) {
        self.tree.gate = gate;
        self.sample(end, contain);
        self.feed(until);
        self.tree.finish(end);
        let full = self.channels.iter().filter(|c| c.ring.was_full).count() as u64;
        let lost = self.tree.sums.lost.max(full);
        self.tree.sums.lost = lost;
        if lost > 0 {
            let why = format!("the kernel dropped {lost} records");
            self.degraded.push(Degraded::new("kernel records", &why, "raise kernel.perf_event_mlock_kb"));
        }
    }

    /// Record wake-ups as well; without them a wait after a sleep is not seen.
    pub fn open_wakes(&mut self) -> io::Result<()> {
        let points = Tracepoints::read()?;
        let opened = self.channels.iter_mut().try_for_each(|channel| channel.open_wakes(&points, &self.ours));
        if opened.is_err() {
            self.channels.iter_mut().for_each(|c| c.wakes.clear());
        }
        self.tree.sees_wakes = opened.is_ok();
        opened
    }

    /// CPU time that writing the switches has taken, in the kernel and from whoever ran; an estimate.
    pub fn cost_ns(&self) -> u64 {
        self.n_switch_records * RECORD_NS
    }

    /// Whether the switches of the whole run are known.
    pub fn complete(&self) -> bool {
        self.with_switches && self.coarse.is_none()
    }

    /// Whether wake-ups of the whole run are known too.
    pub fn sees_wakes(&self) -> bool {
        self.complete() && self.tree.sees_wakes
    }

    /// Which waits are counted, as in protocol/probe.md.
    pub fn wait_scope(&self) -> String {
        if self.sees_wakes() { "preemption and wakeup" } else { "preemption" }.into()
    }

    /// The time of the run without other processes.
    pub fn total(&self) -> Option<Total> {
        self.tree.replay.total(self.sees_wakes()).filter(|_| self.complete() && self.tree.sums.lost == 0)
    }

    /// CPU time of a command in the bins of the timeline.
    pub fn bins_of(&self, command: usize, timeline: &Timeline) -> Option<Vec<u64>> {
        if let Some(coarse) = &self.coarse {
            let mut bins = coarse.bins.rows.get(1 + command)?.clone();
            bins.resize(coarse.bins.n_bins(), 0);
            return Some(bins);
        }
        self.tree.shares.bins(command, timeline.bin_ns, timeline.waiting_ns.as_ref().map_or(0, Vec::len))
    }

    /// Tells apart what each of so many commands does.
    pub fn divide(&mut self, n_commands: usize) {
        self.tree.shares = Shares::new(n_commands, self.tree.cpus.len(), self.max_bins);
    }

    /// In place of per-CPU rows: width of a bin, and the tree's time in each.
    pub fn coarse(&self) -> Option<(u64, &[u64])> {
        self.coarse.as_ref().map(|c| (c.bins.bin_ns, c.bins.rows[0].as_slice()))
    }
}

/// The memory that a user may lock for rings is limited: smaller ones are better than none.
fn open_channels(cpus: &[usize], ours: &[usize], with_switches: bool) -> io::Result<Vec<Channel>> {
    let largest = if cpus.len() > 16 { 64 } else { 256 };
    let mut pages = largest;
    loop {
        let opened: io::Result<Vec<Channel>> =
            cpus.iter().map(|cpu| Channel::open(*cpu, pages, with_switches, ours.contains(cpu))).collect();
        match opened {
            Err(e) if matches!(e.raw_os_error(), Some(libc::EPERM | libc::ENOMEM)) && pages > 4 => pages /= 2,
            other => return other,
        }
    }
}

/// What would help against a refusal of perf_event_open.
pub fn refusal(error: &io::Error) -> (String, &'static str) {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let why = format!("perf_event_open: {} (kernel.perf_event_paranoid={})", sys::describe_error(error), level.trim());
    (why, "run as root, or set kernel.perf_event_paranoid to 2, and allow the call where seccomp filters it")
}

/// An entry for `degraded`: why there are no records of wake-ups.
pub fn wake_refusal(error: &io::Error) -> Degraded {
    Degraded::new("wake-up records", &format!("sched_waking: {}", sys::describe_error(error)), WAKE_FIX)
}
