//! Replay the run without other processes: how long it would have taken, between two ends.
//!
//! Each task has a clock. It runs with the task, and while the task waits for an idle CPU, which is the kernel's own
//! latency. It stands still while a ready task waits for a CPU that something else has. A task that is woken by a task
//! of the run takes the later of both clocks. A sleep that something outside ends counts in full. The low clock stands
//! still whatever has the CPU. The high clock includes the time for which another task of the run had it while the run
//! was crowded: it had more active tasks than CPUs, or one of these was free. Otherwise the task would have had a CPU
//! of its own. The high clock is at most the time of the work on all CPUs that the run could use. Clocks keep the
//! recorded order of wake-ups: a task that came last because it was disturbed waits for no other one.

use crate::crowd::{Cpu, Crowd, Occupant};
use crate::path::{Clock, Paths};
use crate::record::{Stamped, What};
use std::collections::{HashMap, HashSet};

/// Instead of the process of a thread that has exited and is already forgotten, most likely one of hundreds of ours.
pub const DYING: u32 = u32::MAX;
/// The idle task; in a PID namespace also all processes outside it.
pub const IDLE: u32 = 0;
/// Far more than exit at a time.
const MAX_DYING: usize = 4096;
/// A waker announces itself so long before the record of the sleep that it ends, at most. A wake-up before that ended
/// no sleep: taken for one, it would leave out all of a later sleep whose own wake-up has no record.
const EARLY_NS: u64 = 100_000;
/// Most processes outside that are counted apart.
const MAX_PARTNERS: usize = 4096;

/// The processes of the run and of the probe.
pub struct Ours<'a> {
    pub pids: &'a HashSet<u32>,
    /// Processes of the probe's own.
    pub probe: &'a [u32],
    pub sees_idle: bool,
}

impl Ours<'_> {
    fn occupant(&self, pid: u32) -> Occupant {
        match pid {
            IDLE if self.sees_idle => Occupant::Idle,
            _ if pid == DYING || self.pids.contains(&pid) => Occupant::Run,
            _ => Occupant::Other,
        }
    }

    /// Whether it is a partner: a process outside the run and the probe.
    fn is_outside(&self, pid: u32) -> bool {
        pid != IDLE && pid != DYING && !self.pids.contains(&pid) && !self.probe.contains(&pid)
    }
}

#[derive(Clone, Copy)]
enum State {
    Running {
        row: usize,
        since: u64,
    },
    /// On the queue of a row, with the idle and run time of that CPU when the task came.
    Ready {
        row: usize,
        idle_ns: u64,
        run_ns: u64,
    },
    Blocked {
        since: u64,
    },
}

#[derive(Clone, Copy)]
enum Waker {
    Task(Clock),
    /// An interrupt, or another process.
    Outside,
}

struct Task {
    clock: Clock,
    state: State,
    /// What woke it while it still ran, and when: it may have been about to sleep.
    early: Option<(Waker, u64)>,
}

impl Task {
    fn new(clock: Clock, state: State) -> Task {
        Task { clock, state, early: None }
    }

    fn clock_at(&self, time: u64) -> Clock {
        match self.state {
            State::Running { since, .. } => self.clock.later(time.saturating_sub(since)),
            _ => self.clock,
        }
    }

    /// Add a wait that ends now to the clock, as far as it counts.
    fn credit(&mut self, cpu: &Cpu) {
        if let State::Ready { idle_ns, run_ns, .. } = self.state {
            let (idle, run) = (cpu.idle_ns.saturating_sub(idle_ns), cpu.run_ns.saturating_sub(run_ns));
            self.clock = Clock { high: self.clock.high + run, ..self.clock }.later(idle);
        }
    }

    /// End a sleep.
    fn wake(&mut self, by: Waker, slept: u64) {
        self.early = None;
        self.clock = match by {
            Waker::Task(clock) => self.clock.max(clock),
            Waker::Outside => self.clock.sleep(slept),
        };
    }
}

/// The values when a driver ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    pub clock: [u64; 2],
    /// Time in which two or more tasks were running or ready.
    pub overlap_ns: u64,
    /// On the path to the end, without sleep for which no task waited.
    pub sleep_ns: u64,
    pub n_wakes: u64,
    end: u64,
}

impl Total {
    fn path(&self) -> Clock {
        Clock { low: self.clock[0], high: self.clock[1], slept: self.sleep_ns }
    }
}

#[derive(Default)]
pub struct Replay {
    rows: HashMap<usize, usize>,
    crowd: Crowd,
    tasks: HashMap<u32, Task>,
    /// Clocks of exited tasks: one may be preempted before it wakes its parent.
    dying: HashMap<u32, Clock>,
    drivers: HashMap<u32, Option<Total>>,
    /// Whether a driver has started: all counts begin there.
    started: bool,
    paths: Paths,
    sums: Total,
    active_since: u64,
    n_tasks: usize,
    /// Whether a sleep had no record of its wake-up.
    slept: bool,
    lost: bool,
    partners: HashMap<u32, u64>,
}

impl Replay {
    pub fn new(cpus: &[usize]) -> Replay {
        Replay {
            rows: cpus.iter().enumerate().map(|(row, cpu)| (*cpu, row)).collect(),
            crowd: Crowd::new(cpus.len()),
            paths: Paths::new(cpus.len()),
            ..Replay::default()
        }
    }

    /// The CPUs that the run may use; without this, all.
    pub fn allow(&mut self, cpus: &[usize]) {
        let rows: Vec<usize> = cpus.iter().filter_map(|cpu| self.rows.get(cpu).copied()).collect();
        self.crowd.allow(&rows);
    }

    /// A process that waits at the gate, or a service.
    pub fn add_task(&mut self, tid: u32) {
        self.n_tasks += 1;
        self.tasks.insert(tid, Task::new(Clock::default(), State::Blocked { since: 0 }));
    }

    /// A process whose start and end are those of the window.
    pub fn add_driver(&mut self, pid: u32) {
        self.drivers.insert(pid, None);
    }

    pub fn feed(&mut self, r: &Stamped, gate: u64, ours: &Ours) {
        let time = r.time.max(gate);
        match r.what {
            What::Lost(_) => self.lost = true,
            What::Next { pid } => {
                if let Some(&row) = self.rows.get(&r.cpu) {
                    let occupant = ours.occupant(pid);
                    if let Some((tid, since)) = self.crowd.change(row, time, |cpu| cpu.give(occupant)) {
                        self.dying.entry(tid).and_modify(|clock| *clock = clock.later(time.saturating_sub(since)));
                    }
                }
            }
            What::Wake { tid, cpu, interrupt } => self.woken(r, time, (tid, cpu), interrupt, ours),
            What::Placed { tid, cpu } => self.placed(tid, cpu, time),
            _ if ours.probe.contains(&r.pid) => {}
            What::In => self.switch_in(r, time),
            What::Out { preempted } => self.switch_out(r, time, preempted),
            What::Fork { tid, parent_tid, .. } => self.born(r, time, tid, parent_tid),
            What::Exit { pid, tid } => self.exit(r, time, pid, tid),
            What::Image if !self.started && self.drivers.contains_key(&r.pid) => self.start(time),
            What::Name { exec: true, .. } => self.took_over(r),
            What::Image | What::Name { .. } => {}
        }
    }

    /// From now on it is unknown what has the CPUs: all of a wait counts as taken.
    pub fn forget_others(&mut self) {
        self.crowd.forget_others();
    }

    /// Forget what was before the first start: all clocks stand at zero.
    fn start(&mut self, time: u64) {
        self.started = true;
        self.crowd.restart(time);
        self.paths = Paths::new(self.rows.len());
        for (tid, task) in &mut self.tasks {
            task.clock = Clock::default();
            task.state = match task.state {
                State::Running { row, .. } => {
                    self.paths.begin(row, *tid, time, task.clock);
                    State::Running { row, since: time }
                }
                State::Ready { row, .. } => ready(row, &self.crowd.cpus[row]),
                State::Blocked { since } => State::Blocked { since: since.max(time) },
            };
        }
        self.sums = Total::default();
        (self.active_since, self.slept) = (time, false);
        self.partners.clear();
    }

    fn count_active(&mut self, time: u64, more: isize) {
        if self.crowd.n_active > 1 {
            self.sums.overlap_ns += time.saturating_sub(self.active_since);
        }
        self.active_since = time;
        self.crowd.count(time, more);
    }

    fn switch_in(&mut self, r: &Stamped, time: u64) {
        let Some(&row) = self.rows.get(&r.cpu) else { return };
        self.crowd.change(row, time, |cpu| cpu.running = Some(r.tid));
        let task = self.tasks.entry(r.tid).or_insert(Task::new(Clock::default(), State::Blocked { since: time }));
        let is_new = match task.state {
            State::Ready { row: queue, .. } => {
                task.credit(self.crowd.advance(queue, time));
                false
            }
            State::Blocked { since } => {
                // No wake-up was seen since it slept: the one just before, or none at all.
                let slept = time.saturating_sub(since);
                self.slept |= task.early.is_none();
                let (by, slept) = task.early.map_or((Waker::Outside, slept), |(by, _)| (by, 0));
                task.wake(by, slept);
                true
            }
            State::Running { .. } => false,
        };
        (task.state, task.early) = (State::Running { row, since: time }, None);
        self.paths.begin(row, r.tid, time, task.clock);
        self.count_active(time, is_new.into());
    }

    fn switch_out(&mut self, r: &Stamped, time: u64, preempted: bool) {
        let Some(&row) = self.rows.get(&r.cpu) else { return };
        self.leave(r.tid, time);
        let Some(task) = self.tasks.get_mut(&r.tid) else { return };
        let more = preempted as isize - task.is_active() as isize;
        task.early = task.early.filter(|(_, woken)| time.saturating_sub(*woken) <= EARLY_NS);
        task.state = if preempted { ready(row, &self.crowd.cpus[row]) } else { State::Blocked { since: time } };
        self.count_active(time, more);
    }

    /// Close the interval that a task has open on a CPU, if any.
    fn leave(&mut self, tid: u32, time: u64) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let State::Running { row, .. } = task.state else { return };
        task.clock = task.clock_at(time);
        self.crowd.change(row, time, |cpu| cpu.running = cpu.running.filter(|on| *on != tid));
        self.paths.end(row, time);
    }

    fn woken(&mut self, r: &Stamped, time: u64, (tid, cpu): (u32, usize), interrupt: bool, ours: &Ours) {
        let clock = self.clock_of(r, time).filter(|_| !interrupt);
        let row = self.rows.get(&cpu).copied().unwrap_or(0);
        let Some(task) = self.tasks.get_mut(&tid) else {
            if clock.is_some() && ours.is_outside(tid) {
                self.add_partner(tid);
            }
            return;
        };
        let by = clock.map_or(Waker::Outside, Waker::Task);
        match task.state {
            State::Ready { .. } => return,
            State::Running { .. } => task.early = Some((by, time)),
            State::Blocked { since } => {
                task.wake(by, time.saturating_sub(since));
                self.sums.n_wakes += 1;
                task.state = ready(row, self.crowd.advance(row, time));
                self.count_active(time, 1);
            }
        }
        if clock.is_none() && !interrupt && ours.is_outside(r.pid) {
            self.add_partner(r.pid);
        }
    }

    /// The clock of the task that wrote a record, if it is of the run.
    fn clock_of(&self, r: &Stamped, time: u64) -> Option<Clock> {
        let living = self.tasks.get(&r.tid).map(|task| task.clock_at(time));
        living.or_else(|| {
            let clock = *self.dying.get(&r.tid)?;
            let here =
                self.rows.get(&r.cpu).and_then(|row| self.crowd.cpus[*row].dying).filter(|(tid, _)| *tid == r.tid);
            Some(here.map_or(clock, |(_, since)| clock.later(time.saturating_sub(since))))
        })
    }

    fn add_partner(&mut self, id: u32) {
        if self.partners.len() < MAX_PARTNERS || self.partners.contains_key(&id) {
            *self.partners.entry(id).or_default() += 1;
        }
    }

    /// A ready task is moved to another queue.
    fn placed(&mut self, tid: u32, cpu: usize, time: u64) {
        let (Some(task), Some(&row)) = (self.tasks.get_mut(&tid), self.rows.get(&cpu)) else { return };
        if let State::Ready { row: before, .. } = task.state {
            task.credit(self.crowd.advance(before, time));
            task.state = ready(row, self.crowd.advance(row, time));
        }
    }

    fn born(&mut self, r: &Stamped, time: u64, tid: u32, parent: u32) {
        if self.drivers.contains_key(&tid) {
            return; // known since the probe started it
        }
        self.n_tasks += 1;
        let clock = self.tasks.get(&parent).map_or(Clock::default(), |task| task.clock_at(time));
        // Before switch records begin, it is unknown whether it runs.
        let row = self.rows.get(&r.cpu).filter(|_| !self.drivers.is_empty());
        let state = match row {
            Some(&row) => ready(row, self.crowd.advance(row, time)),
            None => State::Blocked { since: time },
        };
        let before = self.tasks.insert(tid, Task::new(clock, state));
        let more = row.is_some() as isize - before.is_some_and(|task| task.is_active()) as isize;
        self.count_active(time, more);
    }

    /// A thread that executes a program goes on under the number of the process, whose first thread has ended.
    fn took_over(&mut self, r: &Stamped) {
        let Some(&row) = self.rows.get(&r.cpu).filter(|_| !self.tasks.contains_key(&r.tid)) else { return };
        if let Some(task) = self.crowd.cpus[row].running.and_then(|tid| self.tasks.remove(&tid)) {
            self.tasks.insert(r.tid, task);
            self.crowd.cpus[row].running = Some(r.tid);
        }
    }

    fn exit(&mut self, r: &Stamped, time: u64, pid: u32, tid: u32) {
        self.leave(tid, time);
        let Some(task) = self.tasks.remove(&tid) else { return };
        if let Some(&row) = self.rows.get(&r.cpu) {
            self.crowd.cpus[row].dying = Some((tid, time));
        }
        if self.dying.len() >= MAX_DYING {
            self.dying.clear();
        }
        self.dying.insert(tid, task.clock);
        self.count_active(time, -(task.is_active() as isize));
        let sums = self.sums;
        if let Some(end) = self.drivers.get_mut(&pid) {
            // A process ends with its last thread.
            let last = end.map_or(task.clock, |total| total.path().max(task.clock));
            let flow = self.crowd.flow_at(time).map_or(u64::MAX, |ns| ns as u64);
            let high = last.high.min(flow.max(last.low));
            *end = Some(Total { clock: [last.low, high], sleep_ns: last.slept, end: time, ..sums });
        }
    }

    /// The values of the window; None if records are missing. One task that never slept needs no wake-up records.
    pub fn total(&self, with_wakes: bool) -> Option<Total> {
        let tells = self.started && !self.lost && (with_wakes || (self.n_tasks == 1 && !self.slept));
        let ends: Vec<Total> = self.drivers.values().copied().collect::<Option<_>>().filter(|_| tells)?;
        let last = ends.iter().max_by_key(|total| total.end)?;
        let path = ends.iter().map(Total::path).reduce(Clock::max)?;
        Some(Total { clock: [path.low, path.high], sleep_ns: path.slept, ..*last })
    }

    /// The same of a part of the window, by the clock of a task that ran at both its ends; None without one.
    pub fn window(&self, start: u64, end: u64) -> Option<Clock> {
        let wall = end.saturating_sub(start);
        // A task that was behind others catches up with them as it is woken.
        let clock = self.paths.between(start, end)?.within(wall);
        let flow = self.crowd.flow_at(end).zip(self.crowd.flow_at(start)).map_or(u64::MAX, |(b, a)| (b - a) as u64);
        Some(Clock { high: clock.high.min(flow.max(clock.low)), ..clock })
    }

    /// Processes outside that woke tasks of the run, and threads that were woken by one, with counts.
    pub fn partners(&self) -> Vec<(u32, u64)> {
        self.partners.iter().map(|(id, n)| (*id, *n)).collect()
    }
}

impl Task {
    fn is_active(&self) -> bool {
        !matches!(self.state, State::Blocked { .. })
    }
}

fn ready(row: usize, cpu: &Cpu) -> State {
    State::Ready { row, idle_ns: cpu.idle_ns, run_ns: cpu.run_ns }
}
