//! A service with a pool of two that sleeps while it has something of it: how much is in use is known.

use crate::common::{driver, load, serve, Server};
use std::sync::{Condvar, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SIZE: i64 = 2;
const HELD: Duration = Duration::from_millis(10);

/// What is free, and sums over time of how many are in use and wait.
#[derive(Default)]
struct Meter {
    busy: i64,
    waiting: i64,
    taken: u64,
    at_ns: i64,
    sums: [i64; 2],
}

impl Meter {
    fn change(&mut self, now_ns: i64, busy: i64, waiting: i64) {
        let passed = now_ns - self.at_ns;
        self.sums = [self.sums[0] + self.busy * passed, self.sums[1] + self.waiting * passed];
        (self.at_ns, self.busy, self.waiting) = (now_ns, self.busy + busy, self.waiting + waiting);
    }
}

fn pooled() -> Server {
    let (begin, meter, freed) = (Instant::now(), Mutex::new(Meter::default()), Condvar::new());
    serve(move |seen| {
        let now = || begin.elapsed().as_nanos() as i64;
        let mut held = meter.lock().unwrap();
        if seen.line.starts_with("GET /pool ") {
            let at = now();
            held.change(at, 0, 0);
            return (200, format!("{at} {SIZE} {} {} {}\n", held.sums[0], held.sums[1], held.taken));
        }
        held.change(now(), 0, 1);
        held = freed.wait_while(held, |meter| meter.busy == SIZE).unwrap();
        held.taken += 1;
        held.change(now(), 1, -1);
        drop(held);
        sleep(HELD);
        meter.lock().unwrap().change(now(), -1, 0);
        freed.notify_one();
        (200, String::new())
    })
}

#[test]
fn what_is_in_use_of_a_pool_and_how_long_it_is_waited_for_is_told() {
    let server = pooled();
    let targets = format!("targets={}", server.address);
    let said = load(&[&targets, "pool=/pool", "clients=8", "warmup=8", "ramp_s=0.1", "steady_s=0.8"]);
    assert_eq!(said.one("pool_size"), 2.0);
    assert!((1.8..=2.0).contains(&said.one("pool_busy")), "{}", said.one("pool_busy"));
    assert!((5.0..=6.0).contains(&said.one("pool_waiting")), "{}", said.one("pool_waiting"));
    // Three others are before it for each of the two.
    assert!(said.ms("pool_wait_ns") >= 25.0 && said.one("pool_wait_ns") < said.one("mean_ns"));
    let alone = load(&[&targets, "pool=/pool", "clients=1", "ramp_s=0", "steady_s=1.5"]);
    assert!(alone.one("pool_busy") <= 1.0 && alone.one("pool_waiting") < 0.1);
}

#[test]
fn a_service_that_tells_of_no_pool_is_refused_before_the_load() {
    let server = serve(|_| (200, "hello".into()));
    let done = driver(&[&format!("targets={}", server.address), "pool=/pool"]);
    let told = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(69));
    assert!(told.contains("/pool: found status 200, \"hello\", expected status 200 and NOW_NS SIZE BUSY_NS"), "{told}");
}
