//! A connection of the driver with what it is doing: a client of a closed loop, or one of an open loop's pool.

use crate::answer::{Answer, Ended};
use crate::connection::{told, Connection};
use crate::mix::Operation;
use crate::options::{refuse, Options, Refusal};
use crate::sys::Epoll;
use crate::tally::Failure;

/// A request that was started and is not answered.
#[derive(Clone, Copy)]
pub struct Flight {
    pub operation: usize,
    pub intended: u64,
    pub start: u64,
}

pub struct Slot {
    pub target: usize,
    /// Whether it takes part beyond the warm-up.
    pub active: bool,
    pub connection: Connection,
    pub answer: Answer,
    pub flight: Option<Flight>,
    /// When its last request ended; 0 before the first.
    pub ended: u64,
    /// Whether it had a right answer in the steady phase.
    pub served: bool,
}

impl Slot {
    /// Connects to a target, and waits for it.
    pub fn turn_to(&mut self, target: usize, options: &Options, epoll: &Epoll) -> Result<(), Refusal> {
        self.target = target;
        self.connection.close();
        let target = &options.targets[target];
        self.connection
            .open(target, epoll)
            .or_else(|error| refuse(format!("no connection to {}: {}", target.name(&error), told(&error))))
    }

    /// Why an answer that came to its end is not right.
    pub fn mistake(&self, asked: &Operation, ended: &Ended) -> Option<Failure> {
        if ended.left > 0 {
            Some(Failure::Malformed)
        } else if self.answer.status != asked.status {
            Some(Failure::Status)
        } else if !self.answer.contained() {
            Some(Failure::Content)
        } else {
            None
        }
    }
}

/// Opens the connections of one of several threads; they are dealt over the targets in turn.
pub fn open(options: &Options, thread: usize, n_threads: usize, epoll: &Epoll) -> Result<Vec<Slot>, Refusal> {
    let mut slots = Vec::new();
    for number in (thread..options.n_connections()).step_by(n_threads) {
        let (connection, active) = (Connection::new(slots.len()), number < options.n_active());
        let mut slot =
            Slot { target: 0, active, connection, answer: Answer::new(), flight: None, ended: 0, served: false };
        slot.turn_to(number % options.n_direct, options, epoll)?;
        slots.push(slot);
    }
    Ok(slots)
}
