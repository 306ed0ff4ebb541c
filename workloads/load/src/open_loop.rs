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
    Start { slot: usize },
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

    /// What becomes of the request that was meant to start at `due`, if that is past.
    pub fn arrival(&mut self, now: u64) -> Option<Arrival> {
        if self.due > now {
            return None;
        }
        let intended = self.due;
        self.draw();
        Some(match self.idle.pop_front() {
            Some(slot) => Arrival::Start { slot },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;
    use crate::sys::MILLISECOND;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use std::ops::Range;

    /// A server on a clock of its own: each answer takes a millisecond, and none is given in a stall.
    struct Served {
        open: OpenLoop,
        stall: Range<u64>,
        /// End, connection and intended start of what is in flight.
        flights: BinaryHeap<Reverse<(u64, usize, u64)>>,
        answers: Histogram,
    }

    impl Served {
        fn start(&mut self, slot: usize, intended: u64, now: u64) {
            let end = now + MILLISECOND;
            let end = if self.stall.contains(&end) { self.stall.end } else { end };
            self.flights.push(Reverse((end, slot, intended)));
        }

        /// What happens next: an answer, or else a request that is due.
        fn step(&mut self) {
            if let Some(Reverse((now, slot, intended))) = self.flights.peek().copied() {
                if now <= self.open.due {
                    self.flights.pop();
                    self.answers.add(now - intended);
                    if let Some(intended) = self.open.freed(slot) {
                        self.start(slot, intended, now);
                    }
                    return;
                }
            }
            let due = self.open.due;
            match self.open.arrival(due) {
                Some(Arrival::Start { slot }) => self.start(slot, due, due),
                found => assert_eq!(found, Some(Arrival::Waits)),
            }
        }
    }

    #[test]
    fn all_that_was_meant_in_a_stall_is_counted_from_when_it_was_meant() {
        let words = ["loop=open", "rate=1000", "arrivals=constant", "connections=10", "ramp_s=0"];
        let options = Options::parse(words.map(String::from).into_iter()).unwrap();
        let open = OpenLoop::new(&options, 0, 1, 0, (0..10).collect());
        let (flights, answers) = Default::default();
        let mut served = Served { open, stall: 5 * SECOND..6 * SECOND, flights, answers };
        while served.answers.n < 10_000 {
            served.step();
        }
        let quantile_ms = |share| served.answers.quantile(share) as f64 / MILLISECOND as f64;
        assert_eq!(served.answers.max, SECOND + MILLISECOND);
        // Request i of the stall was meant i ms after its begin, and waits for i / 10 ms more after its end.
        assert!((quantile_ms(0.99) / 911.0 - 1.0).abs() < 0.01, "{}", quantile_ms(0.99));
        assert!((quantile_ms(0.95) / 551.0 - 1.0).abs() < 0.01, "{}", quantile_ms(0.95));
        // A tenth of the time, so a tenth of the requests; a closed loop would have lost all but ten of them.
        assert!(quantile_ms(0.90) > 100.0 && quantile_ms(0.88) < 2.0, "{} {}", quantile_ms(0.90), quantile_ms(0.88));
    }
}
