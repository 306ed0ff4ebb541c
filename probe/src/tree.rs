//! What the tree did, from its records: on which CPU, for how long, and how long it was kept off.
//!
//! Records may be lost. A switch without its counterpart is dropped rather than guessed: sums can
//! then be too small, never too large, and `lost` says so.

use crate::record::{Stamped, What};
use crate::replay::{Ours, Replay, DYING, IDLE};
use crate::shares::Shares;
use crate::timeline::Bins;
use std::collections::{HashMap, HashSet};

/// On the queue of a row, and since when.
type Wait = (usize, u64);

#[derive(Clone, Debug, Default)]
pub struct Task {
    pub tid: u32,
    pub pid: u32,
    pub name: [u8; 16],
    pub cpu_ns: u64,
    pub wait_ns: u64,
    /// By row; short where the task never ran on the later CPUs.
    pub per_cpu: Vec<u64>,
    pub migrations: u64,
    /// Its command, where that is told apart.
    member: Option<usize>,
    born_ns: u64,
    last_row: Option<usize>,
    running: Option<(usize, u64)>,
    waits: Option<Wait>,
}

#[derive(Clone, Copy, Default)]
struct Cpu {
    /// The tree's time on this CPU, closed intervals only.
    busy_ns: u64,
    running: Option<(u32, u64)>,
    /// A switch of the tree's was seen here.
    seen: bool,
    /// Tasks that were preempted here, or woken, and have not run since.
    waiters: usize,
    taken_since: Option<u64>,
    /// Time that neighbors had this CPU, closed intervals only.
    taken_ns: u64,
    /// The process that was last seen to get it.
    next: Option<u32>,
    /// Where only our own switches are seen: until when one that has exited may still hold it.
    exited_ns: u64,
}

/// First image, first exec and last end of a process that the probe itself started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Main {
    pub image_ns: Option<u64>,
    pub exec_ns: Option<u64>,
    pub exit_ns: Option<u64>,
}

#[derive(Default)]
pub struct Sums {
    pub wait_ns: u64,
    pub neighbor_ns: u64,
    pub switches: u64,
    pub preemptions: u64,
    pub migrations: u64,
    pub tasks: u64,
    pub processes: u64,
    pub lost: u64,
    pub last_exit_ns: u64,
}

pub struct Tree {
    /// Nothing before it counts.
    pub gate: u64,
    pub sums: Sums,
    pub mains: HashMap<u32, Main>,
    pub busy: Bins,
    pub waiting: Bins,
    pub shares: Shares,
    /// From when on switches are recorded: a task that is older may run then.
    pub switches_from: u64,
    pub cpus: Vec<usize>,
    rows: HashMap<usize, usize>,
    state: Vec<Cpu>,
    live: HashMap<u32, Task>,
    ended: Vec<Task>,
    /// Processes of the probe's own, whose records are not the tree's.
    pub others: Vec<u32>,
    takers: HashMap<u32, u64>,
    /// Processes of the tree, also those that have ended, and of services that run already: none is a neighbor.
    pub own: HashSet<u32>,
    /// Whether process 0 is the idle task alone. One that waits for an idle CPU is held back by a quota, not a neighbor.
    pub sees_idle: bool,
    /// Whether wake-ups are recorded: else only who is preempted is known to wait.
    pub sees_wakes: bool,
    pub replay: Replay,
}

/// What clearing up after a thread takes, at most; with hundreds of them it adds up.
const EXIT_NS: u64 = 100_000;
/// More than any timeline lists: enough to find the largest, cut back when twice as many.
const KEPT_TASKS: usize = 1024;
/// Neighbors that are told apart; the time of further ones is in the sum only.
const MAX_TAKERS: usize = 4096;

impl Tree {
    pub fn new(cpus: &[usize], max_bins: usize, others: Vec<u32>) -> Tree {
        Tree {
            gate: 0,
            sums: Sums::default(),
            mains: HashMap::new(),
            busy: Bins::new(cpus.len(), max_bins),
            waiting: Bins::new(1, max_bins),
            shares: Shares::new(0, 0, max_bins),
            switches_from: 0,
            cpus: cpus.to_vec(),
            rows: cpus.iter().enumerate().map(|(row, cpu)| (*cpu, row)).collect(),
            state: vec![Cpu::default(); cpus.len()],
            live: HashMap::new(),
            ended: Vec::new(),
            others,
            takers: HashMap::new(),
            own: HashSet::new(),
            sees_idle: false,
            sees_wakes: false,
            replay: Replay::new(cpus),
        }
    }

    pub fn add_main(&mut self, pid: u32, command: usize) {
        self.own.insert(pid);
        self.replay.add_task(pid);
        self.mains.insert(pid, Main::default());
        self.live.insert(pid, Task { tid: pid, pid, member: Some(command), ..Task::default() });
        self.shares.born(Some(command));
        self.sums.tasks += 1;
        self.sums.processes += 1;
    }

    pub fn feed(&mut self, record: &Stamped) {
        let ours = Ours { pids: &self.own, probe: &self.others, sees_idle: self.sees_idle };
        self.replay.feed(record, self.gate, &ours);
        if let What::Lost(n) = record.what {
            self.sums.lost += n;
            self.forget_waits();
            return;
        }
        match record.what {
            What::Next { pid } => return self.given_to(record, pid),
            What::Wake { tid, cpu, .. } => return self.woken(record.time, tid, cpu),
            What::Placed { tid, cpu } => return self.placed(record.time, tid, cpu),
            _ => {}
        }
        if self.others.contains(&record.pid) {
            return;
        }
        match record.what {
            What::In => self.switch_in(record),
            What::Out { preempted } => self.switch_out(record, preempted),
            What::Fork { pid, tid, parent_pid, parent_tid } => self.born(record, (pid, tid), (parent_pid, parent_tid)),
            What::Exit { pid, tid } => self.exit(record, pid, tid),
            What::Name { exec, name } => self.named(record, exec, name),
            What::Image => self.on_main(record.pid, |main| main.image_ns = main.image_ns.or(Some(record.time))),
            What::Next { .. } | What::Wake { .. } | What::Placed { .. } | What::Lost(_) => {}
        }
    }

    /// After a loss nobody knows who waits: one that seems to may have run and ended since.
    fn forget_waits(&mut self) {
        self.forget_others();
        for cpu in &mut self.state {
            (cpu.waiters, cpu.taken_since) = (0, None);
        }
        self.live.values_mut().for_each(|task| task.waits = None);
    }

    /// Who has the CPUs is not known any more.
    pub fn forget_others(&mut self) {
        self.state.iter_mut().for_each(|cpu| cpu.next = None);
        self.replay.forget_others();
    }

    fn on_main(&mut self, pid: u32, change: impl FnOnce(&mut Main)) {
        self.mains.get_mut(&pid).map(change);
    }

    fn task(&mut self, pid: u32, tid: u32) -> &mut Task {
        let sums = &mut self.sums;
        self.live.entry(tid).or_insert_with(|| {
            // Its birth was lost, or it is older than the records.
            sums.tasks += 1;
            Task { tid, pid, ..Task::default() }
        })
    }

    fn switch_in(&mut self, r: &Stamped) {
        let Some(&row) = self.rows.get(&r.cpu) else { return };
        let time = r.time.max(self.gate);
        // Whoever was thought to run here left unseen: that interval is dropped.
        (self.state[row].running, self.state[row].seen) = (Some((r.tid, time)), true);
        let task = self.task(r.pid, r.tid);
        let waits = task.waits.take();
        let migrated = task.last_row.is_some_and(|last| last != row) && time == r.time;
        task.migrations += migrated as u64;
        task.last_row = Some(row);
        task.running = Some((row, time));
        self.sums.migrations += migrated as u64;
        if let Some(wait) = waits {
            self.waited(r.tid, wait, time);
        }
        self.settle(row, time);
    }

    /// From its wake-up on a task waits, on the CPU where it was last; it may be on its way to sleep still.
    fn woken(&mut self, time: u64, tid: u32, cpu: usize) {
        let starts = self.starts(tid);
        let (Some(task), Some(&row)) = (self.live.get_mut(&tid), self.rows.get(&cpu)) else { return };
        if task.running.is_none() && task.waits.is_none() && !starts {
            self.waits(tid, row, time.max(self.gate));
        }
    }

    /// A task that waits is moved to the queue of another CPU.
    fn placed(&mut self, time: u64, tid: u32, cpu: usize) {
        let (Some(task), Some(&row)) = (self.live.get_mut(&tid), self.rows.get(&cpu)) else { return };
        let Some((queue, _)) = &mut task.waits else { return };
        let (before, time) = (std::mem::replace(queue, row), time.max(self.gate));
        self.no_waiter(before, time);
        self.state[row].waiters += 1;
        self.settle(row, time);
    }

    fn waits(&mut self, tid: u32, row: usize, time: u64) {
        let Some(task) = self.live.get_mut(&tid) else { return };
        task.waits = Some((row, time));
        self.state[row].waiters += 1;
        self.settle(row, time);
    }

    /// What a copy waits for before its program's image is no part of any wall: no wait either.
    fn starts(&self, tid: u32) -> bool {
        self.mains.get(&tid).is_some_and(|main| main.image_ns.is_none())
    }

    /// Opens and closes the intervals that neighbors have on a CPU: somebody of the tree was preempted here
    /// and nobody of it runs. Counted for the CPU, not for each who waits, so it cannot exceed the run.
    fn settle(&mut self, row: usize, time: u64) {
        let cpu = &mut self.state[row];
        // A task of ours that has exited still holds the CPU while the kernel clears up after it.
        let (own, idle) = (&self.own, self.sees_idle);
        let nobody = |pid: u32| pid == DYING || own.contains(&pid) || (pid == IDLE && idle);
        let ours = cpu.running.is_some() || cpu.next.is_some_and(nobody);
        let taken = !ours && cpu.waiters > 0;
        match cpu.taken_since {
            None if taken => cpu.taken_since = Some(time.max(cpu.exited_ns)),
            Some(since) if !taken => {
                cpu.taken_since = None;
                self.took(row, since, time);
            }
            _ => {}
        }
    }

    fn took(&mut self, row: usize, since: u64, until: u64) {
        let (ns, cpu) = (until.saturating_sub(since), &mut self.state[row]);
        cpu.taken_ns += ns;
        self.sums.neighbor_ns += ns;
        let room = self.takers.len() < MAX_TAKERS;
        if let Some(by) = cpu.next.filter(|by| ns > 0 && (room || self.takers.contains_key(by))) {
            *self.takers.entry(by).or_default() += ns;
        }
    }

    /// The CPU passes from one to the next: what was taken until now is the former's.
    fn given_to(&mut self, r: &Stamped, pid: u32) {
        let Some(&row) = self.rows.get(&r.cpu) else { return };
        let time = r.time.max(self.gate);
        if let Some(since) = self.state[row].taken_since.take() {
            self.took(row, since, time);
        }
        let cpu = &mut self.state[row];
        (cpu.next, cpu.exited_ns) = (Some(pid), 0);
        self.settle(row, time);
    }

    /// A wait that has ended: the task runs, or the records end.
    fn waited(&mut self, tid: u32, (row, since): Wait, until: u64) {
        let wait = until.saturating_sub(since);
        self.no_waiter(row, until);
        self.sums.wait_ns += wait;
        self.waiting.add(0, since - self.gate, until.saturating_sub(self.gate));
        if let Some(task) = self.live.get_mut(&tid) {
            task.wait_ns += wait;
            self.shares.waited(task.member, wait);
        }
    }

    fn no_waiter(&mut self, row: usize, time: u64) {
        self.state[row].waiters = self.state[row].waiters.saturating_sub(1);
        self.settle(row, time);
    }

    fn switch_out(&mut self, r: &Stamped, preempted: bool) {
        let Some(&row) = self.rows.get(&r.cpu) else { return };
        if r.time >= self.gate {
            self.sums.switches += 1;
            self.sums.preemptions += preempted as u64;
        }
        let time = r.time.max(self.gate);
        self.ran_before(r, row);
        self.leave_cpu(r.pid, r.tid, time);
        let preempted = preempted && !self.starts(r.tid);
        let counts = r.time >= self.gate;
        let task = self.task(r.pid, r.tid);
        let member = task.member.filter(|_| counts);
        let unseen = std::mem::replace(&mut task.waits, preempted.then_some((row, time)));
        self.shares.switched(member);
        self.state[row].waiters += preempted as usize;
        if let Some((before, _)) = unseen {
            self.no_waiter(before, time);
        }
        self.settle(row, time);
    }

    /// Who works before the gate may run on while the first records are written: of it they tell the end only.
    fn ran_before(&mut self, r: &Stamped, row: usize) {
        let (gate, from) = (self.gate, self.switches_from);
        let first = !std::mem::replace(&mut self.state[row].seen, true);
        let Some(task) = self.live.get_mut(&r.tid) else { return };
        if first && task.born_ns < from && task.last_row.is_none() {
            task.running = Some((row, gate));
            self.state[row].running = Some((r.tid, gate));
        }
    }

    /// Closes the interval that a task has open, if any.
    fn leave_cpu(&mut self, pid: u32, tid: u32, time: u64) {
        let Some((row, since)) = self.task(pid, tid).running.take() else { return };
        if self.state[row].running.is_none_or(|(on, _)| on != tid) {
            return; // somebody else was seen there since: the end of this interval was lost
        }
        let (ran, gate) = (time.saturating_sub(since), self.gate);
        self.state[row].running = None;
        self.state[row].busy_ns += ran;
        self.busy.add(row, since - self.gate, time.saturating_sub(self.gate));
        let task = self.task(pid, tid);
        let member = task.member;
        task.cpu_ns += ran;
        if task.per_cpu.len() <= row {
            task.per_cpu.resize(row + 1, 0);
        }
        task.per_cpu[row] += ran;
        self.shares.ran(member, row, since - gate, time.saturating_sub(gate));
    }

    fn born(&mut self, r: &Stamped, (pid, tid): (u32, u32), (parent_pid, parent_tid): (u32, u32)) {
        if self.mains.contains_key(&tid) && self.others.contains(&parent_pid) {
            return; // known since we started it
        }
        let (name, member) = self.live.get(&parent_tid).map_or(([0; 16], None), |parent| (parent.name, parent.member));
        let reused = self.live.insert(tid, Task { tid, pid, name, member, born_ns: r.time, ..Task::default() });
        self.shares.born(member);
        if let Some((row, since)) = reused.and_then(|task| task.waits) {
            self.no_waiter(row, since); // its end was lost: it waited for nobody knows how long
        }
        self.own.insert(pid);
        self.sums.tasks += 1;
        self.sums.processes += (pid != parent_pid) as u64;
        let switches = self.switches_from > 0 && r.time >= self.switches_from;
        if let Some(&row) = self.rows.get(&r.cpu).filter(|_| self.sees_wakes && switches) {
            self.waits(tid, row, r.time.max(self.gate));
        }
    }

    fn exit(&mut self, r: &Stamped, pid: u32, tid: u32) {
        self.leave_cpu(pid, tid, r.time.max(self.gate));
        self.sums.last_exit_ns = self.sums.last_exit_ns.max(r.time);
        self.on_main(pid, |main| main.exit_ns = main.exit_ns.max(Some(r.time)));
        if let Some(task) = self.live.remove(&tid) {
            if let Some((row, _)) = task.waits {
                self.no_waiter(row, r.time.max(self.gate));
            }
            self.ended.push(task);
        }
        if let Some(&row) = self.rows.get(&r.cpu) {
            let time = r.time.max(self.gate);
            self.state[row].exited_ns = if self.state[row].next.is_none() { time + EXIT_NS } else { 0 };
            self.settle(row, time);
        }
        if self.ended.len() >= 2 * KEPT_TASKS {
            largest(&mut self.ended, KEPT_TASKS);
        }
    }

    fn named(&mut self, r: &Stamped, exec: bool, name: [u8; 16]) {
        self.task(r.pid, r.tid).name = name;
        if exec {
            self.on_main(r.pid, |main| main.exec_ns = main.exec_ns.or(Some(r.time)));
        }
    }

    /// Tasks that still run or wait get their open interval closed, and all go to `tasks`.
    pub fn finish(&mut self, time: u64) {
        let open: Vec<(u32, u32)> = self.live.values().map(|t| (t.pid, t.tid)).collect();
        for (pid, tid) in open {
            self.leave_cpu(pid, tid, time);
            let waits = self.live.get_mut(&tid).and_then(|t| t.waits.take());
            if let Some(wait) = waits {
                self.waited(tid, wait, time);
            }
        }
        self.ended.extend(self.live.drain().map(|(_, task)| task));
    }

    pub fn per_cpu_ns(&self) -> Vec<u64> {
        self.state.iter().map(|cpu| cpu.busy_ns).collect()
    }

    pub fn neighbor_per_cpu_ns(&self) -> Vec<u64> {
        self.state.iter().map(|cpu| cpu.taken_ns).collect()
    }

    /// Processes that had the tree's CPUs while it waited, those with the most time first.
    pub fn takers(&self) -> Vec<(u32, u64)> {
        let mut list: Vec<(u32, u64)> = self.takers.iter().map(|(pid, ns)| (*pid, *ns)).collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        list
    }

    pub fn tasks(&mut self, n: usize) -> &[Task] {
        largest(&mut self.ended, n);
        &self.ended
    }
}

fn largest(tasks: &mut Vec<Task>, n: usize) {
    tasks.sort_by(|a, b| b.cpu_ns.cmp(&a.cpu_ns).then(a.tid.cmp(&b.tid)));
    tasks.truncate(n);
}
