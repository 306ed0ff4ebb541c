//! A service that tells of its pool: how much of it is in use and how long it is waited for is told.

use crate::common::{driver, load, serve, Server};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SECOND: u64 = 1_000_000_000;

/// A service of a clock of its own: between two questions ten seconds pass, in which 1.5 of its 2 are in use, 5 wait,
/// and 2,000 are taken.
fn pooled() -> Server {
    let asked = AtomicU64::new(1);
    serve(move |seen| {
        if !seen.line.starts_with("GET /pool ") {
            return (200, String::new());
        }
        let n = asked.fetch_add(1, Relaxed);
        (200, format!("{} 2 {} {} {}\n", 10 * n * SECOND, 15 * n * SECOND, 50 * n * SECOND, 2000 * n))
    })
}

#[test]
fn what_is_in_use_of_a_pool_and_how_long_it_is_waited_for_is_told() {
    let server = pooled();
    let targets = format!("targets={}", server.address);
    let said = load(&[&targets, "pool=/pool", "clients=2", "ramp_s=0.1", "steady_s=1"]);
    let told = ["pool_size", "pool_busy", "pool_waiting"].map(|name| said.one(name));
    assert_eq!(told, [2.0, 1.5, 5.0]);
    assert_eq!(said.ms("pool_wait_ns"), 25.0);
    // Before the load, at both ends of the steady phase, and never among the requests.
    let n_asked = server.lines.lock().unwrap().iter().filter(|line| line.starts_with("GET /pool ")).count();
    assert_eq!(n_asked, 3);
}

#[test]
fn a_service_that_tells_of_no_pool_is_refused_before_the_load() {
    let server = serve(|_| (200, "hello".into()));
    let done = driver(&[&format!("targets={}", server.address), "pool=/pool"]);
    let told = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(69));
    assert!(told.contains("/pool: found status 200, \"hello\", expected status 200 and NOW_NS SIZE BUSY_NS"), "{told}");
}
