//! The open loop: requests arrive whatever the server does, and wait where no connection is free.

use crate::options::Options;
use crate::random::Random;
use crate::schedule::Arrivals;
use crate::sys::SECOND;
use std::collections::VecDeque;

pub struct OpenLoop {
    arrivals: Arrivals,
    random: Random,
    begin: u64,
    /// When the next request is meant to start.
    pub due: u64,
    /// Intended starts of requests that no connection was free for.
    waiting: VecDeque<u64>,
    max_waiting: usize,
    /// Connections without a request, the longest idle first: so each target has its turn.
    idle: VecDeque<usize>,
}

/// What becomes of a request that is due.
#[derive(Debug, PartialEq)]
pub enum Arrival {
    Start { slot: usize, intended: u64 },
    Waits,
    Refused,
}

impl OpenLoop {
    pub fn new(options: &Options, thread: usize, n_threads: usize, begin: u64, idle: Vec<usize>) -> Self {
        let share = thread as f64 / n_threads as f64;
        let rate = options.rate / n_threads as f64;
        let ramp_s = options.ramp_ns as f64 / SECOND as f64;
        let mut open = OpenLoop {
            arrivals: Arrivals::new(rate, ramp_s, options.poisson, share),
            random: Random::new(options.seed, u64::MAX - thread as u64),
            begin,
            due: 0,
            waiting: VecDeque::new(),
            max_waiting: options.waiting.div_ceil(n_threads),
            idle: idle.into(),
        };
        open.draw();
        open
    }

    fn draw(&mut self) {
        self.due = self.begin + self.arrivals.next(&mut self.random);
    }

    /// The next request that is due by now, if one is.
    pub fn arrival(&mut self, now: u64) -> Option<Arrival> {
        if self.due > now {
            return None;
        }
        let intended = self.due;
        self.draw();
        Some(match self.idle.pop_front() {
            Some(slot) => Arrival::Start { slot, intended },
            None if self.waiting.len() < self.max_waiting => {
                self.waiting.push_back(intended);
                Arrival::Waits
            }
            None => Arrival::Refused,
        })
    }

    /// A connection has become free: the intended start of the request that has waited longest, else it is idle.
    pub fn freed(&mut self, slot: usize) -> Option<u64> {
        let waiting = self.waiting.pop_front();
        if waiting.is_none() {
            self.idle.push_back(slot);
        }
        waiting
    }
}
