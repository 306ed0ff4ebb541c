//! How much of a service's pool was in use in the steady phase, as the service itself counts it.

use crate::ask::exchange;
use crate::options::{refuse, Options, Refusal};
use std::time::Duration;

/// A service whose threads all wait may answer late.
const LIMIT: Duration = Duration::from_secs(2);
/// Both readings must lie so far apart, as a share of the phase.
const APART: f64 = 0.5;
const EXPECTED: &str = "status 200 and NOW_NS SIZE BUSY_NS WAITING_NS TAKEN";

/// What one target tells: its clock, and since its start the sums of the time in which something of the pool was in
/// use, or was waited for, and how often something was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    now_ns: f64,
    size: f64,
    busy_ns: f64,
    waiting_ns: f64,
    taken: f64,
}

/// Readings of all targets; empty where nobody is asked, or one did not answer.
pub struct Readings(Vec<Reading>);

/// The pools of all targets together: how many there are in them, are in use and are waited for, and the mean wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    pub size: f64,
    pub busy: f64,
    pub waiting: f64,
    pub wait_ns: f64,
}

/// Asks each target before the load begins: one that tells of no pool is refused.
pub fn check(options: &Options) -> Result<(), Refusal> {
    if options.pool.is_empty() {
        return Ok(());
    }
    for target in &options.targets[..options.n_direct] {
        let path = &options.pool;
        match exchange(target, path, LIMIT) {
            Ok((200, body)) if parsed(&body).is_some() => {}
            Ok((status, body)) => {
                return refuse(format!(
                    "pool: {}{path}: found status {status}, {body:?}, expected {EXPECTED}",
                    target.host
                ))
            }
            Err(error) => return refuse(format!("pool: no answer of {} to {path}: {error}", target.host)),
        }
    }
    Ok(())
}

pub fn read(options: &Options) -> Readings {
    if options.pool.is_empty() {
        return Readings(Vec::new());
    }
    let told = options.targets[..options.n_direct].iter().map(|target| exchange(target, &options.pool, LIMIT).ok());
    Readings(told.map(|told| parsed(&told?.1)).collect::<Option<_>>().unwrap_or_default())
}

/// What was between two readings; None where one is missing, or they are of other moments than was meant.
pub fn between(before: &Readings, after: &Readings, steady_ns: u64) -> Option<Pool> {
    let pairs: Vec<_> = before.0.iter().zip(&after.0).collect();
    let is_apart = |(a, b): &(&Reading, &Reading)| b.now_ns - a.now_ns >= APART * steady_ns as f64;
    if pairs.is_empty() || before.0.len() != after.0.len() || !pairs.iter().all(is_apart) {
        return None;
    }
    let total = |of: fn(&Reading) -> f64| pairs.iter().map(|(a, b)| of(b) - of(a)).sum::<f64>();
    let mean = |of: fn(&Reading) -> f64| pairs.iter().map(|(a, b)| (of(b) - of(a)) / (b.now_ns - a.now_ns)).sum();
    let taken = total(|one| one.taken);
    Some(Pool {
        size: after.0.iter().map(|one| one.size).sum(),
        busy: mean(|one| one.busy_ns),
        waiting: mean(|one| one.waiting_ns),
        wait_ns: if taken > 0.0 { total(|one| one.waiting_ns) / taken } else { 0.0 },
    })
}

fn parsed(body: &str) -> Option<Reading> {
    let numbers: Vec<f64> =
        body.split(' ').map(|word| word.parse::<u64>().ok().map(|n| n as f64)).collect::<Option<_>>()?;
    let [now_ns, size, busy_ns, waiting_ns, taken] = numbers[..] else { return None };
    (size > 0.0).then_some(Reading { now_ns, size, busy_ns, waiting_ns, taken })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_are_five_numbers() {
        let told = Reading { now_ns: 9.0, size: 2.0, busy_ns: 7.0, waiting_ns: 5.0, taken: 3.0 };
        assert_eq!(parsed("9 2 7 5 3"), Some(told));
        assert_eq!(["", "9 2 7 5", "9 2 7 5 3 1", "9 0 7 5 3", "9 2 7 5 x", "-9 2 7 5 3"].map(parsed), [None; 6]);
    }

    #[test]
    fn pools_of_several_targets_add_up_and_a_lost_reading_tells_nothing() {
        let at = |now_ns, busy_ns, waiting_ns, taken| Reading { now_ns, size: 2.0, busy_ns, waiting_ns, taken };
        let before = Readings(vec![at(0.0, 0.0, 0.0, 0.0), at(50.0, 10.0, 0.0, 0.0)]);
        let after = Readings(vec![at(100.0, 200.0, 300.0, 10.0), at(150.0, 110.0, 0.0, 20.0)]);
        assert_eq!(between(&before, &after, 100), Some(Pool { size: 4.0, busy: 3.0, waiting: 3.0, wait_ns: 10.0 }));
        assert_eq!(between(&before, &after, 201), None);
        assert_eq!(between(&before, &Readings(vec![]), 100), None);
    }
}
