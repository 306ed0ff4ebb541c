//! `--hold`: keep the kernel's wake-up records set up between runs.
//!
//! When the last user of a tracepoint closes it, the kernel waits until no CPU can be in it any more. On a guest this
//! takes 30 ms for each one after each run. A process that keeps them open without a record avoids this wait.

use crate::perf::Event;
use crate::tracepoints::Tracepoints;
use crate::{birth, host};
use std::io::{self, Read};
use std::process::ExitCode;

/// Start a process that ends with our standard input, and return; start none if wake-up records are not granted.
pub fn start() -> ExitCode {
    let Ok(_events) = open() else { return ExitCode::SUCCESS };
    if birth::fork(None).is_ok_and(|pid| pid == 0) {
        // SAFETY: a plain call. Signals of a terminal are not for us.
        unsafe { libc::setsid() };
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
    }
    ExitCode::SUCCESS
}

fn open() -> io::Result<Vec<Event>> {
    let (points, cpu) = (Tracepoints::read()?, host::online_cpus()[0]);
    points.waking.iter().chain(&points.placing).map(|point| Event::open_point(*point, cpu)).collect()
}
