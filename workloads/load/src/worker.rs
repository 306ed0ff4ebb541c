//! One thread of the driver: its connections, and the loop that starts requests when they are due.

mod requests;

use crate::complaint::{Complaints, MAX_TOLD};
use crate::cpu_wait::CpuWait;
use crate::mix::Mix;
use crate::open_loop::{Arrival, OpenLoop};
use crate::options::{refuse, Options, Refusal};
use crate::random::Random;
use crate::schedule::Cycle;
use crate::slot::{self, Slot};
use crate::sys::{self, now_ns, Epoll, MILLISECOND, SECOND};
use crate::tally::{Failure, Phases, Tally};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const N_EVENTS: usize = 256;
const BUFFER: usize = 65_536;
/// How long a client waits after a failure before it connects again.
const BACK_OFF_NS: u64 = 10 * MILLISECOND;

/// What all threads share.
pub struct Shared<'a> {
    pub options: &'a Options,
    pub mix: &'a Mix,
    /// Warm-up requests that each target is still to get.
    pub warmup: Vec<AtomicU64>,
    pub n_threads: usize,
}

enum Mode {
    WarmUp,
    Closed,
    Open(OpenLoop),
    /// Nothing begins any more.
    Drain,
}

pub struct Worker<'a> {
    shared: &'a Shared<'a>,
    thread: usize,
    epoll: Epoll,
    slots: Vec<Slot>,
    mode: Mode,
    phases: Phases,
    /// When a slot goes on, the earliest first.
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// When requests without an answer are looked for next.
    next_scan: u64,
    random: Random,
    buffer: Vec<u8>,
    n_requests: u64,
    tally: Tally,
    complaints: Complaints,
    cpu_wait: CpuWait,
}

impl<'a> Worker<'a> {
    /// Opens this thread's connections; they are dealt over the targets in turn.
    pub fn new(shared: &'a Shared<'a>, thread: usize) -> Result<Self, Refusal> {
        let epoll = Epoll::new(N_EVENTS).or_else(|error| refuse(format!("epoll: {error}")))?;
        let slots = slot::open(shared.options, thread, shared.n_threads, &epoll)?;
        Ok(Worker {
            shared,
            thread,
            epoll,
            slots,
            mode: Mode::WarmUp,
            phases: Phases([0, u64::MAX, u64::MAX, u64::MAX]),
            timers: BinaryHeap::new(),
            next_scan: 0,
            random: Random::new(shared.options.seed, thread as u64),
            buffer: vec![0; BUFFER],
            n_requests: 0,
            tally: Tally::new(shared.mix.operations.len()),
            complaints: Complaints::default(),
            cpu_wait: CpuWait::of_this_thread(),
        })
    }

    /// Sends each target its warm-up requests, over all connections to it.
    pub fn warm_up(&mut self) -> Result<(), Refusal> {
        sys::wake_exactly();
        let now = now_ns();
        (0..self.slots.len()).for_each(|slot| self.go_on(slot, now));
        while !self.timers.is_empty() || self.slots.iter().any(|slot| slot.flight.is_some()) {
            self.turn(u64::MAX);
            // Each further one would take as long again: a server that never answers is not asked a hundred times.
            if self.tally.phases[0].failures[Failure::Timeout as usize] > 0 {
                return refuse(format!("warm-up: {}", self.complaints.words().last().unwrap_or_default()));
            }
            let failures: u64 = self.tally.phases[0].failures.iter().sum();
            let right: u64 = self.tally.phases[0].answers.iter().map(|answers| answers.n).sum();
            if failures >= MAX_TOLD as u64 && failures * 10 > right {
                let first = self.complaints.words().next().unwrap_or_default();
                return refuse(format!(
                    "{failures} of {} requests failed in the warm-up; first: {first}",
                    failures + right
                ));
            }
        }
        Ok(())
    }

    /// Lets the load go through what is in front of the targets, if anything is: over connections of its own.
    pub fn turn_to_front(&mut self) -> Result<(), Refusal> {
        let options = self.shared.options;
        let n_front = options.targets.len() - options.n_direct;
        for (i, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.active && n_front > 0) {
            let number = i * self.shared.n_threads + self.thread;
            slot.turn_to(options.n_direct + number % n_front, options, &self.epoll)?;
        }
        Ok(())
    }

    /// Drives the load through its phases; returns what was counted, and the first failures in words.
    pub fn drive(mut self, phases: Phases) -> (Tally, Complaints) {
        self.begin(phases);
        while self.turn(phases.end()) {}
        if self.shared.options.audit.is_empty() {
            for flight in self.slots.iter().filter_map(|slot| slot.flight) {
                self.tally.lost(&phases, flight.start, phases.end());
            }
        } else {
            self.drain();
        }
        self.tally.n_starved = self.slots.iter().filter(|slot| slot.active && !slot.served).count() as u64;
        (self.tally, self.complaints)
    }

    /// Waits for answers that are still to come: an audit must know what they are.
    fn drain(&mut self) {
        self.mode = Mode::Drain;
        while self.slots.iter().any(|slot| slot.flight.is_some()) {
            self.turn(u64::MAX);
        }
    }

    fn begin(&mut self, phases: Phases) {
        let (options, begin) = (self.shared.options, phases.0[0]);
        let outcomes = std::mem::take(&mut self.tally.outcomes);
        (self.phases, self.tally) = (phases, Tally { outcomes, ..Tally::new(self.shared.mix.operations.len()) });
        self.complaints = Complaints::default();
        self.slots.iter_mut().for_each(|slot| (slot.ended, slot.served) = (0, false));
        let active: Vec<usize> = (0..self.slots.len()).filter(|slot| self.slots[*slot].active).collect();
        let Some(clients) = options.clients else {
            self.mode = Mode::Open(OpenLoop::new(options, self.thread, self.shared.n_threads, begin, active));
            return;
        };
        self.mode = Mode::Closed;
        for slot in active {
            let number = (slot * self.shared.n_threads + self.thread) as u128;
            let offset = (u128::from(options.ramp_ns) * number / clients as u128) as u64;
            self.timers.push(Reverse((begin + offset + options.cycle.first(&mut self.random), slot)));
        }
    }

    /// Starts what is due, waits for the next thing to happen, and takes it; false once it is past `end`.
    fn turn(&mut self, end: u64) -> bool {
        let now = now_ns();
        if now >= end {
            return false;
        }
        self.start_due(now);
        let timer = self.timers.peek().map_or(u64::MAX, |Reverse((due, _))| *due);
        let arrival = if let Mode::Open(open) = &self.mode { open.due } else { u64::MAX };
        let until = timer.min(arrival).min(self.next_scan).min(end);
        self.cpu_wait.look(now);
        // Sending took time: what is due next is as near as it is now.
        let n = self.epoll.wait(until.saturating_sub(now_ns())).expect("epoll waits on its own descriptor");
        for i in 0..n {
            let (slot, readiness) = self.epoll.event(i);
            self.happened(slot, readiness);
            if matches!(self.mode, Mode::Open(_)) {
                self.arrive(now_ns());
            }
        }
        true
    }

    fn start_due(&mut self, now: u64) {
        if now >= self.next_scan {
            self.scan(now);
        }
        while let Some(Reverse((due, slot))) = self.timers.peek().copied().filter(|Reverse((due, _))| *due <= now) {
            self.timers.pop();
            match self.mode {
                // Without a cycle a start has no time that it was meant for: a client only waited to connect anew.
                Mode::Closed if self.shared.options.cycle == Cycle::None => self.start(slot, now, now, now),
                Mode::Closed => self.start(slot, due, due, now_ns()),
                _ => self.go_on(slot, now),
            }
        }
        self.arrive(now);
    }

    /// Starts requests of the open loop that are due.
    fn arrive(&mut self, now: u64) {
        while let Mode::Open(open) = &mut self.mode {
            let due = open.due;
            match open.arrival(now) {
                None => return,
                Some(Arrival::Start { slot }) => self.start(slot, due, due, now_ns()),
                Some(Arrival::Waits) => {}
                Some(Arrival::Refused) => self.tally.wrong(&self.phases, Failure::Waiting, now, now),
            }
            self.tally.meant(&self.phases, due);
        }
    }

    /// Fails requests that have waited too long for their answer.
    fn scan(&mut self, now: u64) {
        let timeout = self.shared.options.timeout_ns;
        for slot in 0..self.slots.len() {
            if self.slots[slot].flight.is_some_and(|flight| now.saturating_sub(flight.start) > timeout) {
                let words = format!("had no whole answer within {} s", timeout as f64 / SECOND as f64);
                self.fail(slot, Failure::Timeout, &words);
            }
        }
        self.next_scan = now + (timeout / 10).clamp(MILLISECOND, 100 * MILLISECOND);
    }

    /// What a slot does that has nothing to wait for.
    fn go_on(&mut self, slot: usize, now: u64) {
        match &mut self.mode {
            Mode::WarmUp => {
                let left = &self.shared.warmup[self.slots[slot].target];
                if left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                    self.start(slot, now, now, now);
                }
            }
            Mode::Closed => self.start(slot, now, now, now),
            Mode::Drain => {}
            Mode::Open(open) => {
                if let Some(intended) = open.freed(slot) {
                    self.tally.waited(&self.phases, now);
                    self.start(slot, intended, now, now);
                }
            }
        }
    }
}
