//! `scales!(name, at_least, counts, |threads| ...)` makes a test of a closure that has to scale.
//!
//! A dependency of tests: `cargo add --dev --path PATH/TO/docs/ci/scales`. It needs `scalograph` on PATH. Each run starts
//! the test program again for this test alone; only the closure is measured. The test fails if the whole interval of the
//! speedup is lower, and passes with a message if that could not be measured here: cargo has no skipped tests.

/// Make a test: its name, the least speedup, the counts as text, and what to do with so many threads.
#[macro_export]
macro_rules! scales {
    ($name:ident, $at_least:expr, $counts:expr, $work:expr) => {
        #[test]
        fn $name() {
            let test = concat!(module_path!(), "::", stringify!($name));
            $crate::check(test, $at_least, $counts, $work);
        }
    };
}

const COUNT: &str = "SCALES_THREADS";

/// Carry out one run where a count is set; else measure all counts and judge the speedup.
pub fn check(test: &str, at_least: f64, counts: &str, work: impl Fn(usize)) {
    if let Ok(count) = std::env::var(COUNT) {
        return run(count.parse().expect("a count"), work);
    }
    let name = test.split_once("::").map_or(test, |(_, inside)| inside);
    let program = std::env::current_exe().expect("this program");
    let status = std::process::Command::new("scalograph")
        .args(["measure", "--events", "--wait-lock", "10m", "--threads", counts])
        .args(["--at-least", &at_least.to_string(), "--", "env", &format!("{COUNT}={{threads}}")])
        .arg(program)
        .args(["--exact", name, "--test-threads", "1"])
        .status()
        .expect("scalograph on PATH");
    match status.code() {
        Some(0) => {}
        Some(8) => eprintln!("{name}: inconclusive on this machine"),
        code => panic!("{name}: no speedup of {at_least} (exit code {code:?})"),
    }
}

/// Write the window of the work as protocol/workload.md has it.
fn run(threads: usize, work: impl Fn(usize)) {
    use std::io::{Read, Write};
    let events = std::env::var_os("SCALOGRAPH_EVENTS");
    let mut out = events.map(|path| std::fs::OpenOptions::new().write(true).open(path).expect("events"));
    if let Some(out) = &mut out {
        writeln!(out, "ready").expect("events");
        let gate = std::env::var_os("SCALOGRAPH_GO").expect("a gate");
        std::fs::File::open(gate).and_then(|mut gate| gate.read(&mut [0])).expect("a gate");
    }
    let start = monotonic_ns();
    work(threads);
    let end = monotonic_ns();
    if let Some(out) = &mut out {
        writeln!(out, "iteration 0 {start} {end} 1").expect("events");
    }
}

/// The nanoseconds of CLOCK_MONOTONIC, which `Instant` does not tell.
fn monotonic_ns() -> i64 {
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0i64; 2];
    assert_eq!(unsafe { clock_gettime(1, &mut time) }, 0);
    time[0] * 1_000_000_000 + time[1]
}
