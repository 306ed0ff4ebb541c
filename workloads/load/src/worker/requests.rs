//! One request of a worker: started, read, and what it came to.

use super::{Mode, Worker, BACK_OFF_NS};
use crate::answer::Ended;
use crate::complaint::{complaint, SAMPLE};
use crate::connection::{told, Taken};
use crate::slot::Flight;
use crate::sys::{self, now_ns, MILLISECOND};
use crate::tally::{Failure, Lateness, Times, STEADY};
use std::cmp::Reverse;

impl Worker<'_> {
    /// Starts a request on a slot that has none. `could`: since when it was due and had a connection.
    pub(super) fn start(&mut self, slot: usize, intended: u64, could: u64, now: u64) {
        let target = &self.shared.options.targets[self.slots[slot].target];
        let operation = self.shared.mix.draw(&mut self.random);
        let asked = &self.shared.mix.operations[operation];
        let number = self.n_requests * self.shared.n_threads as u64 + self.thread as u64;
        let here = &mut self.slots[slot];
        asked.render(here.target, &target.host, &mut self.random, number, &mut here.connection.out);
        here.answer.expect(asked.method == "HEAD", &asked.contains);
        here.flight = Some(Flight { operation, intended, start: now });
        self.n_requests += 1;
        let late = now.saturating_sub(could);
        let waited = if late > MILLISECOND { self.cpu_wait.since_look() } else { 0 };
        self.tally.started(&self.phases, now, Lateness { ns: late, own_ns: late.saturating_sub(waited) });
        if here.ended > 0 && matches!(self.mode, Mode::Closed) {
            self.tally.thought(&self.phases, now, now - here.ended);
        }
        if let Err(error) = here.connection.send(target, &self.epoll) {
            self.broken(slot, &error);
        }
    }

    pub(super) fn happened(&mut self, slot: usize, readiness: u32) {
        let connection = &mut self.slots[slot].connection;
        if connection.wants_room() && readiness & !sys::READABLE != 0 {
            if let Err(error) = connection.ready_to_write(&self.epoll) {
                return self.broken(slot, &error);
            }
        }
        if readiness & !sys::WRITABLE == 0 {
            return;
        }
        match connection.read(&mut self.buffer, &self.epoll) {
            Ok(Taken::Bytes(n)) => self.took(slot, n),
            Ok(Taken::Closed) => self.closed(slot),
            Ok(Taken::Nothing) => {}
            Err(error) => self.broken(slot, &error),
        }
    }

    fn took(&mut self, slot: usize, n: usize) {
        let now = now_ns();
        // Read after the last phase: it was in flight at its end, and only an audit asks what it was.
        if now >= self.phases.end() {
            if self.shared.options.audit.is_empty() {
                return;
            }
            self.mode = Mode::Drain;
        }
        let here = &mut self.slots[slot];
        // Bytes that nobody asked for: what follows them could be taken for an answer.
        let Some(flight) = here.flight else { return here.connection.close() };
        match here.answer.feed(&self.buffer[..n]) {
            Ok(None) => {}
            Ok(Some(ended)) => self.finish(slot, flight, now, ended),
            Err(_) => {
                let words = format!("answered no HTTP/1.1: \"{}\"", self.buffer[..n.min(SAMPLE)].escape_ascii());
                self.fail(slot, Failure::Malformed, &words);
            }
        }
    }

    fn closed(&mut self, slot: usize) {
        let here = &mut self.slots[slot];
        match here.flight {
            Some(flight) if here.answer.ends_with_connection() => {
                self.finish(slot, flight, now_ns(), Ended { keep_alive: false, left: 0 });
            }
            Some(_) => self.fail(slot, Failure::Closed, "was not answered to the end: the connection was closed"),
            None => here.connection.close(),
        }
    }

    /// The connection failed.
    fn broken(&mut self, slot: usize, error: &std::io::Error) {
        let here = &mut self.slots[slot];
        if here.flight.is_none() {
            return here.connection.close();
        }
        if here.connection.is_open() {
            self.fail(slot, Failure::Closed, &format!("was not answered to the end: {error}"));
        } else {
            self.fail(slot, Failure::Connect, &format!("was not sent: {}", told(error)));
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
                self.slots[slot].served |= self.phases.at(now) == STEADY;
                self.tally.right(&self.phases, flight.operation, times);
            }
            Some(failure) => self.failed(slot, flight, failure, now, "was answered, and more bytes followed"),
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
    pub(super) fn fail(&mut self, slot: usize, failure: Failure, detail: &str) {
        let now = now_ns();
        let here = &mut self.slots[slot];
        here.connection.close();
        here.ended = now;
        if let Some(flight) = here.flight.take() {
            self.failed(slot, flight, failure, now, detail);
        }
        self.timers.push(Reverse((now + BACK_OFF_NS, slot)));
    }

    fn failed(&mut self, slot: usize, flight: Flight, failure: Failure, now: u64, detail: &str) {
        self.tally.wrong(&self.phases, failure, flight.start, now);
        if matches!(self.mode, Mode::WarmUp) || self.phases.at(now) == STEADY {
            let (here, asked) = (&self.slots[slot], &self.shared.mix.operations[flight.operation]);
            let target = &self.shared.options.targets[here.target];
            self.complaints.add(now, || complaint(here, asked, target, failure, detail));
        }
    }
}
