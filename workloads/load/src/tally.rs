//! What is counted, by phase: durations, failures, lateness, requests in flight.

use crate::audit::Outcomes;
use crate::histogram::Histogram;
use crate::sys::{MILLISECOND, SECOND};

pub const PHASES: [&str; 3] = ["ramp", "steady", "down"];
pub const STEADY: usize = 1;
/// Seconds of the steady phase whose durations are kept: a histogram of each takes some 20 KiB of memory.
pub const MOST_SECONDS: usize = 600;

/// Why a request is no right answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    Connect,
    Closed,
    Timeout,
    Malformed,
    Status,
    Content,
    /// It was never sent: too many were waiting for a connection.
    Waiting,
}

pub const FAILURES: [(Failure, &str); 7] = [
    (Failure::Connect, "connect"),
    (Failure::Closed, "closed"),
    (Failure::Timeout, "timeout"),
    (Failure::Malformed, "malformed"),
    (Failure::Status, "status"),
    (Failure::Content, "content"),
    (Failure::Waiting, "waiting"),
];

/// When the phases begin, and the end of the last; nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Copy)]
pub struct Phases(pub [u64; 4]);

impl Phases {
    pub fn at(&self, now: u64) -> usize {
        (now >= self.0[1]) as usize + (now >= self.0[2]) as usize
    }

    pub fn end(&self) -> u64 {
        self.0[3]
    }

    pub fn steady(&self) -> (u64, u64) {
        (self.0[STEADY], self.0[STEADY + 1])
    }
}

/// Where a request was between its times, nanoseconds of CLOCK_MONOTONIC.
#[derive(Clone, Copy)]
pub struct Times {
    /// When it was meant to start.
    pub intended: u64,
    pub start: u64,
    pub end: u64,
}

/// How much later than it could a request started, and what of that was the driver's own doing, nanoseconds.
#[derive(Clone, Copy)]
pub struct Lateness {
    pub ns: u64,
    pub own_ns: u64,
}

#[derive(Clone, Default)]
pub struct PhaseTally {
    /// Of right answers, from the intended start; one for each operation.
    pub answers: Vec<Histogram>,
    pub failures: [u64; FAILURES.len()],
    /// Of an open loop, meant to start in this phase.
    pub n_meant: u64,
    /// From when a request was due and had a connection to its start.
    pub late: Histogram,
    /// The same without the time in which the thread was ready and had no CPU.
    pub own_late: Histogram,
    /// Started more than a millisecond late.
    pub n_late: u64,
    pub n_own_late: u64,
    /// Of an open loop, started when a connection became free.
    pub n_waited: u64,
    pub n_thoughts: u64,
    pub think_ns: u64,
    /// Answers that took longer than the cycle that was drawn.
    pub n_overruns: u64,
}

#[derive(Clone, Default)]
pub struct Tally {
    pub phases: [PhaseTally; 3],
    /// Right answers in each second of the steady phase.
    pub seconds: Vec<u64>,
    /// Durations of these, of the first seconds.
    pub spans: Vec<Histogram>,
    /// Sum over requests of the time in flight within the steady phase.
    pub in_flight_ns: u64,
    /// The same of requests that had no right answer before the end.
    pub unanswered_ns: u64,
    /// Connections in use that had no right answer in the steady phase.
    pub n_starved: u64,
    /// Since the first request of the warm-up.
    pub outcomes: Outcomes,
}

impl Tally {
    pub fn new(n_operations: usize) -> Self {
        let mut tally = Tally { outcomes: Outcomes::new(n_operations), ..Default::default() };
        tally.phases.iter_mut().for_each(|phase| phase.answers = vec![Histogram::default(); n_operations]);
        tally
    }

    pub fn right(&mut self, phases: &Phases, operation: usize, times: Times) {
        self.outcomes.right[operation] += 1;
        self.flown(phases, times.start, times.end);
        // Of no phase: waited for only to be counted above.
        if times.end >= phases.end() {
            return;
        }
        let phase = phases.at(times.end);
        self.phases[phase].answers[operation].add(times.end - times.intended);
        if phase == STEADY {
            let second = ((times.end - phases.steady().0) / SECOND) as usize;
            if second >= self.seconds.len() {
                self.seconds.resize(second + 1, 0);
            }
            self.seconds[second] += 1;
            if second < MOST_SECONDS {
                self.spans.resize(self.spans.len().max(second + 1), Histogram::default());
                self.spans[second].add(times.end - times.intended);
            }
        }
    }

    pub fn wrong(&mut self, phases: &Phases, failure: Failure, start: u64, end: u64) {
        self.outcomes.unknown += u64::from(!matches!(failure, Failure::Connect | Failure::Waiting));
        self.lost(phases, start, end);
        if end < phases.end() {
            self.phases[phases.at(end)].failures[failure as usize] += 1;
        }
    }

    /// A request was in flight from start to end; the part in the steady phase counts.
    pub fn flown(&mut self, phases: &Phases, start: u64, end: u64) {
        let (low, high) = phases.steady();
        self.in_flight_ns += end.min(high).saturating_sub(start.max(low));
    }

    /// The same of a request that had no right answer.
    pub fn lost(&mut self, phases: &Phases, start: u64, end: u64) {
        let before = self.in_flight_ns;
        self.flown(phases, start, end);
        self.unanswered_ns += self.in_flight_ns - before;
    }

    pub fn started(&mut self, phases: &Phases, start: u64, late: Lateness) {
        let phase = &mut self.phases[phases.at(start)];
        phase.late.add(late.ns);
        phase.own_late.add(late.own_ns);
        phase.n_late += u64::from(late.ns > MILLISECOND);
        phase.n_own_late += u64::from(late.own_ns > MILLISECOND);
    }

    /// A request of an open loop was meant to start then.
    pub fn meant(&mut self, phases: &Phases, due: u64) {
        self.phases[phases.at(due)].n_meant += 1;
    }

    /// A request starts that had to wait for a connection.
    pub fn waited(&mut self, phases: &Phases, now: u64) {
        self.phases[phases.at(now)].n_waited += 1;
    }

    /// A client starts again, so long after its last answer.
    pub fn thought(&mut self, phases: &Phases, now: u64, think_ns: u64) {
        let phase = &mut self.phases[phases.at(now)];
        phase.n_thoughts += 1;
        phase.think_ns += think_ns;
    }

    /// A client's cycle was as long as it was meant to be, or its answer came too late for that.
    pub fn cycled(&mut self, phases: &Phases, now: u64, overrun: bool) {
        self.phases[phases.at(now)].n_overruns += u64::from(overrun);
    }

    pub fn merge(&mut self, other: &Tally) {
        for (mine, theirs) in self.phases.iter_mut().zip(&other.phases) {
            mine.answers.iter_mut().zip(&theirs.answers).for_each(|(a, b)| a.merge(b));
            mine.failures.iter_mut().zip(&theirs.failures).for_each(|(a, b)| *a += b);
            mine.late.merge(&theirs.late);
            mine.own_late.merge(&theirs.own_late);
            mine.n_late += theirs.n_late;
            mine.n_own_late += theirs.n_own_late;
            mine.n_meant += theirs.n_meant;
            mine.n_waited += theirs.n_waited;
            mine.n_thoughts += theirs.n_thoughts;
            mine.think_ns += theirs.think_ns;
            mine.n_overruns += theirs.n_overruns;
        }
        if other.seconds.len() > self.seconds.len() {
            self.seconds.resize(other.seconds.len(), 0);
        }
        self.seconds.iter_mut().zip(&other.seconds).for_each(|(a, b)| *a += b);
        self.spans.resize(self.spans.len().max(other.spans.len()), Histogram::default());
        self.spans.iter_mut().zip(&other.spans).for_each(|(a, b)| a.merge(b));
        self.in_flight_ns += other.in_flight_ns;
        self.unanswered_ns += other.unanswered_ns;
        self.n_starved += other.n_starved;
        self.outcomes.merge(&other.outcomes);
    }
}
