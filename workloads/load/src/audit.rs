//! A last request, by which the service compares what it holds with what was answered.

use crate::ask::exchange;
use crate::mix::Mix;
use crate::options::{refuse, Options, Refusal};
use std::time::Duration;

/// Of the whole answer: a service may first have to end what it does later.
const LIMIT: Duration = Duration::from_secs(120);
const RIGHT: u16 = 200;

/// What requests came to since the first of the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// Right answers of each operation.
    pub right: Vec<u64>,
    /// Requests that may have been carried out or not: sent, and not answered rightly.
    pub unknown: u64,
}

impl Outcomes {
    pub fn new(n_operations: usize) -> Self {
        Outcomes { right: vec![0; n_operations], unknown: 0 }
    }

    pub fn merge(&mut self, other: &Outcomes) {
        self.right.iter_mut().zip(&other.right).for_each(|(a, b)| *a += b);
        self.unknown += other.unknown;
    }
}

/// Asks the first target; nothing where there is no audit.
///
/// The answer has to be whole within `LIMIT`, and 1 MiB at most (`exchange`). One that is not, or whose status is not
/// 200, fails the run: the first 100 bytes of its body are the reason.
pub fn ask(options: &Options, mix: &Mix, outcomes: &Outcomes) -> Result<(), Refusal> {
    if options.audit.is_empty() {
        return Ok(());
    }
    let counts = mix.operations.iter().zip(&outcomes.right).map(|(operation, n)| format!("{}={n}", operation.name));
    let query: Vec<String> = counts.chain([format!("unknown={}", outcomes.unknown)]).collect();
    let path = format!("{}?{}", options.audit, query.join("&"));
    match exchange(&options.targets[0], &path, LIMIT) {
        Ok((RIGHT, _)) => Ok(()),
        Ok((status, body)) => refuse(format!("audit: status {status}: {body}")),
        Err(error) => refuse(format!("audit: no answer to {path}: {error}")),
    }
}
