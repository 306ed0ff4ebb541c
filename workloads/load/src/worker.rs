//! One thread of the driver: its connections, and the loop that starts requests when they are due.

use crate::answer::Ended;
use crate::connection::Taken;
use crate::mix::Mix;
use crate::open_loop::{Arrival, OpenLoop};
use crate::options::{refuse, Options, Refusal};
use crate::random::Random;
use crate::slot::{self, Flight, Slot};
use crate::sys::{self, now_ns, Epoll, MILLISECOND};
use crate::tally::{Failure, Phases, Tally, Times, FAILURES};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const N_EVENTS: usize = 256;
const BUFFER: usize = 65_536;
/// How long a client waits after a failure before it connects again.
const BACK_OFF_NS: u64 = 10 * MILLISECOND;
/// Failures that are told in words.
pub const MAX_TOLD: usize = 10;

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
    told: Vec<String>,
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
            told: Vec::new(),
        })
    }

    /// Sends each target its warm-up requests, over all connections to it.
    pub fn warm_up(&mut self) -> Result<(), Refusal> {
        sys::wake_exactly();
        let now = now_ns();
        (0..self.slots.len()).for_each(|slot| self.go_on(slot, now));
        while !self.timers.is_empty() || self.slots.iter().any(|slot| slot.flight.is_some()) {
            self.turn(u64::MAX);
            let failures: u64 = self.tally.phases[0].failures.iter().sum();
            let right: u64 = self.tally.phases[0].answers.iter().map(|answers| answers.n).sum();
            if failures >= MAX_TOLD as u64 && failures * 10 > right {
                return refuse(format!("{failures} failures in the warm-up; the first: {}", self.told[0]));
            }
        }
        Ok(())
    }

    /// Drives the load through its phases; returns what was counted, and the first failures in words.
    pub fn drive(mut self, phases: Phases) -> (Tally, Vec<String>) {
        self.begin(phases);
        while self.turn(phases.end()) {}
        for flight in self.slots.iter().filter_map(|slot| slot.flight) {
            self.tally.flown(&phases, flight.start, phases.end());
        }
        (self.tally, self.told)
    }

    fn begin(&mut self, phases: Phases) {
        let (options, begin) = (self.shared.options, phases.0[0]);
        (self.phases, self.tally) = (phases, Tally::new(self.shared.mix.operations.len()));
        self.slots.iter_mut().for_each(|slot| slot.ended = 0);
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
        let n = self.epoll.wait(until.saturating_sub(now)).expect("epoll waits on its own descriptor");
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
                Mode::Closed => self.start(slot, due, now_ns()),
                _ => self.go_on(slot, now),
            }
        }
        self.arrive(now);
    }

    /// Starts requests of the open loop that are due.
    fn arrive(&mut self, now: u64) {
        while let Mode::Open(open) = &mut self.mode {
            match open.arrival(now) {
                None => return,
                Some(Arrival::Start { slot, intended }) => self.start(slot, intended, now_ns()),
                Some(Arrival::Waits) => {}
                Some(Arrival::Refused) => self.tally.wrong(&self.phases, Failure::Waiting, now, now),
            }
        }
    }

    /// Fails requests that have waited too long for their answer.
    fn scan(&mut self, now: u64) {
        let timeout = self.shared.options.timeout_ns;
        for slot in 0..self.slots.len() {
            if self.slots[slot].flight.is_some_and(|flight| now.saturating_sub(flight.start) > timeout) {
                self.fail(slot, Failure::Timeout, "no whole answer within timeout_ms".into());
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
                    self.start(slot, now, now);
                }
            }
            Mode::Closed => self.start(slot, now, now),
            Mode::Open(open) => {
                if let Some(intended) = open.freed(slot) {
                    self.tally.waited(&self.phases, now);
                    self.start(slot, intended, now);
                }
            }
        }
    }

    fn start(&mut self, slot: usize, intended: u64, now: u64) {
        let target = &self.shared.options.targets[self.slots[slot].target];
        let operation = self.shared.mix.draw(&mut self.random);
        let asked = &self.shared.mix.operations[operation];
        let number = self.n_requests * self.shared.n_threads as u64 + self.thread as u64;
        let here = &mut self.slots[slot];
        asked.render(here.target, &target.host, &mut self.random, number, &mut here.connection.out);
        here.answer.expect(asked.method == "HEAD", &asked.contains);
        here.flight = Some(Flight { operation, intended, start: now });
        self.n_requests += 1;
        self.tally.started(&self.phases, intended, now);
        if here.ended > 0 && matches!(self.mode, Mode::Closed) {
            self.tally.thought(&self.phases, now, now - here.ended);
        }
        if let Err(error) = here.connection.send(target.address, &self.epoll) {
            self.broken(slot, &error);
        }
    }

    fn happened(&mut self, slot: usize, readiness: u32) {
        let connection = &mut self.slots[slot].connection;
        if connection.wants_room() && readiness & !sys::READABLE != 0 {
            if let Err(error) = connection.ready_to_write(&self.epoll) {
                return self.broken(slot, &error);
            }
        }
        if readiness & !sys::WRITABLE == 0 {
            return;
        }
        match connection.read(&mut self.buffer) {
            Ok(Taken::Bytes(n)) => self.took(slot, n),
            Ok(Taken::Closed) => self.closed(slot),
            Ok(Taken::Nothing) => {}
            Err(error) => self.broken(slot, &error),
        }
    }

    fn took(&mut self, slot: usize, n: usize) {
        let now = now_ns();
        let here = &mut self.slots[slot];
        // Bytes that nobody asked for: what follows them could be taken for an answer.
        let Some(flight) = here.flight else { return here.connection.close() };
        match here.answer.feed(&self.buffer[..n]) {
            Ok(None) => {}
            Ok(Some(ended)) => self.finish(slot, flight, now, ended),
            Err(_) => self.fail(slot, Failure::Malformed, "it is no HTTP/1.1".into()),
        }
    }

    fn closed(&mut self, slot: usize) {
        let here = &mut self.slots[slot];
        match here.flight {
            Some(flight) if here.answer.ends_with_connection() => {
                self.finish(slot, flight, now_ns(), Ended { keep_alive: false, left: 0 });
            }
            Some(_) => self.fail(slot, Failure::Closed, "the connection was closed before the answer ended".into()),
            None => here.connection.close(),
        }
    }

    /// The connection failed.
    fn broken(&mut self, slot: usize, error: &std::io::Error) {
        let here = &mut self.slots[slot];
        let failure = if here.connection.is_open() { Failure::Closed } else { Failure::Connect };
        match here.flight {
            Some(_) => self.fail(slot, failure, error.to_string()),
            None => here.connection.close(),
        }
    }

    /// An answer came to its end: right, or not what was expected.
    fn finish(&mut self, slot: usize, flight: Flight, now: u64, ended: Ended) {
        let here = &mut self.slots[slot];
        let asked = &self.shared.mix.operations[flight.operation];
        let wrong = here.mistake(asked, &ended);
        // A request that was not even read to its end must not be followed by another.
        if !ended.keep_alive || ended.left > 0 || here.connection.wants_room() {
            here.connection.close();
        }
        (here.flight, here.ended) = (None, now);
        match wrong {
            None => {
                let times = Times { intended: flight.intended, start: flight.start, end: now };
                self.tally.right(&self.phases, flight.operation, times);
            }
            Some((failure, words)) => self.failed(slot, flight, failure, now, &words),
        }
        self.after_answer(slot, flight, now);
    }

    fn after_answer(&mut self, slot: usize, flight: Flight, now: u64) {
        if let Mode::Closed = self.mode {
            let cycle = self.shared.options.cycle.draw(&mut self.random);
            let due = flight.intended + cycle;
            self.tally.cycled(&self.phases, now, cycle > 0 && due < now);
            if due > now {
                return self.timers.push(Reverse((due, slot)));
            }
        }
        self.go_on(slot, now);
    }

    /// A request came to nothing: its client connects anew, a little later.
    fn fail(&mut self, slot: usize, failure: Failure, words: String) {
        let now = now_ns();
        let here = &mut self.slots[slot];
        here.connection.close();
        here.ended = now;
        if let Some(flight) = here.flight.take() {
            self.failed(slot, flight, failure, now, &words);
        }
        self.timers.push(Reverse((now + BACK_OFF_NS, slot)));
    }

    fn failed(&mut self, slot: usize, flight: Flight, failure: Failure, now: u64, words: &str) {
        self.tally.wrong(&self.phases, failure, flight.start, now);
        if self.told.len() < MAX_TOLD {
            let (here, asked) = (&self.slots[slot], &self.shared.mix.operations[flight.operation]);
            let sample = here.answer.sample.escape_ascii();
            let host = &self.shared.options.targets[here.target].host;
            let kind = FAILURES[failure as usize].1;
            self.told.push(format!("{kind}: {} of {host}: {words}; body: \"{sample}\"", asked.name));
        }
    }
}
