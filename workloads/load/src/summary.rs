//! What went wrong in a run, in one sentence each.

use crate::complaint::{counted, Complaints};
use crate::lines::answers;
use crate::options::Options;
use crate::sys::SECOND;
use crate::tally::{Tally, FAILURES, STEADY};

/// A share of requests that is told if so many are late, or so many could not start.
const LATE: f64 = 0.01;
const LOST: f64 = 0.05;
/// Fewer than these are no rate.
const FEWEST: u64 = 20;

/// Sentences about the steady phase, the gravest last; none where all was well.
pub fn sentences(options: &Options, tally: &Tally, complaints: &Complaints) -> Vec<String> {
    let mut found: Vec<String> = behind(options, tally).into_iter().collect();
    let wrong = wrong(tally, complaints);
    if answers(tally).n == 0 {
        let seconds = options.steady_ns as f64 / SECOND as f64;
        let waiting = (tally.n_starved > 0).then(|| format!("clients that still waited: {}", counted(tally.n_starved)));
        let why = wrong.or(waiting).map_or(String::new(), |words| format!(": {words}"));
        found.push(format!("no right answer in the steady phase of {seconds} s{why}"));
    } else {
        found.extend(wrong);
    }
    found
}

/// How many requests had no right answer, by kind, and the first of them.
fn wrong(tally: &Tally, complaints: &Complaints) -> Option<String> {
    let failures = tally.phases[STEADY].failures;
    let errors: u64 = failures.iter().sum();
    if errors == 0 {
        return None;
    }
    let kinds = FAILURES.iter().map(|(kind, name)| (name, failures[*kind as usize])).filter(|(_, n)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(name, n)| format!("{name} {}", counted(n))).collect();
    let all = counted(errors + answers(tally).n);
    let first = complaints.words().next().map_or(String::new(), |words| format!("; first: {words}"));
    Some(format!("{} of {all} requests had no right answer ({}){first}", counted(errors), kinds.join(", ")))
}

/// Why an open loop did not send what it was meant to.
fn behind(options: &Options, tally: &Tally) -> Option<String> {
    let steady = &tally.phases[STEADY];
    let (meant, started) = (steady.n_meant, steady.late.n);
    let lost = started < meant && (meant - started) as f64 >= LOST * meant as f64;
    let late = steady.n_own_late as f64 >= LATE * started as f64;
    if options.clients.is_some() || meant < FEWEST || !(lost || late) {
        return None;
    }
    // Where few requests started, a single late one is a large share, and not what kept the others.
    let why = if late && steady.n_own_late >= meant.saturating_sub(started) {
        "the driver itself was late: give it more CPUs and threads, or a lower rate".into()
    } else {
        format!("all {} connections were in use: the server is slower, or needs more of them", options.connections)
    };
    let (started, meant) = (counted(started), counted(meant));
    Some(format!("{} requests/s were not kept, {started} of {meant} requests started: {why}", options.rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Lateness, Phases};

    const STEADY_ONLY: Phases = Phases([0, 0, SECOND, SECOND]);

    /// What is said where 1000 requests were meant, so many started, and so many of these by the driver's doing late.
    fn said(meant: u64, started: u64, late: u64) -> Vec<String> {
        let words = ["targets=127.0.0.1:1", "loop=open", "rate=1000", "connections=4"];
        let options = Options::parse(words.iter().map(|word| word.to_string())).unwrap();
        let mut tally = Tally::new(1);
        (0..meant).for_each(|i| tally.meant(&STEADY_ONLY, i));
        (0..started).for_each(|i| {
            let ns = if i < late { SECOND } else { 0 };
            tally.started(&STEADY_ONLY, i, Lateness { ns, own_ns: ns });
        });
        tally.phases[STEADY].answers[0].add(1);
        sentences(&options, &tally, &Complaints::default())
    }

    #[test]
    fn who_kept_a_rate_from_being_sent_is_told() {
        assert_eq!(said(1000, 1000, 0), Vec::<String>::new());
        let driver =
            "1000 requests/s were not kept, 600 of 1,000 requests started: the driver itself was late: give it \
                      more CPUs and threads, or a lower rate";
        assert_eq!(said(1000, 600, 500), [driver]);
        let server =
            "1000 requests/s were not kept, 600 of 1,000 requests started: all 4 connections were in use: the \
                      server is slower, or needs more of them";
        assert_eq!(said(1000, 600, 10), [server]);
    }
}
