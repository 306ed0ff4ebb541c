//! Services that run already: accounted in the window, left alone, and missed when they end.

mod common;
use common::*;
use serde_json::{json, Value};
use std::process::{Child, Command};

/// A server of somebody else; ended with the test.
struct Theirs(Child);

impl Theirs {
    fn start(script: &str) -> Theirs {
        Theirs(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn beside(pid: u32, seconds: &str) -> Answer {
    let driver = command(&["sleep", seconds], json!({"name": "driver"}));
    probe(&spec(&[driver], json!({"running": [{"name": "server", "pid": pid}]})))
}

fn failed(answer: &Answer) -> &str {
    assert_eq!(answer.run()["status"], "failed", "{:#?}", answer.events);
    answer.run()["reason"].as_str().unwrap()
}

#[test]
fn what_it_uses_with_its_children_is_told_and_it_runs_on() {
    // Burns before and after: only the window counts. The child is one of its tree.
    let mut theirs = Theirs::start("while :; do :; done & trap 'kill $!; exit' TERM; wait");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let answer = beside(theirs.pid(), "0.6");
    assert_eq!(answer.run()["status"], "ok", "{:#?}", answer.events);
    let processes = answer.all("process");
    assert_eq!(processes.iter().map(|p| &p["name"]).collect::<Vec<_>>(), ["driver", "server"]);
    let server = processes[1];
    assert_eq!(
        (&server["command"], &server["role"], &server["start_ns"]),
        (&json!(1), &json!("service"), &json!(null))
    );
    let (cpu, waited) = (ns(server, "cpu_ns"), ns(server, "wait_ns"));
    // A hypervisor that takes the CPU leaves less than the window.
    assert!((100_000_000..800_000_000).contains(&(cpu + waited)), "{cpu} {waited}");
    assert_eq!(ns(answer.run(), "cpu_ns"), cpu + ns(processes[0], "cpu_ns"));
    let cpus: Vec<usize> = server["cpus"].as_array().unwrap().iter().map(|c| c.as_u64().unwrap() as usize).collect();
    assert_eq!(cpus, allowed_cpus());
    let taken: Vec<&Value> = answer.run()["neighbors"].as_array().into_iter().flatten().collect();
    assert!(taken.iter().all(|n| n["pid"] != json!(theirs.pid())), "{taken:#?}");
    assert!(theirs.0.try_wait().unwrap().is_none());
    // SAFETY: a signal to the child just started, whose own child it ends.
    unsafe { libc::kill(theirs.pid() as i32, libc::SIGTERM) };
    theirs.0.wait().unwrap();
}

#[test]
fn one_that_ends_meanwhile_fails_the_run() {
    let theirs = Theirs::start("sleep 0.3");
    let answer = beside(theirs.pid(), "1000");
    let expected = format!("service server ended while drivers worked (process {}, which ran before)", theirs.pid());
    assert_eq!(failed(&answer), expected);
    assert_eq!(answer.all("copy")[0]["signal"], 9);
}

#[test]
fn one_that_is_not_there_starts_nothing() {
    let mut gone = Theirs::start("exit 0");
    gone.0.wait().unwrap();
    let answer = beside(gone.pid(), "1000");
    assert!(failed(&answer).starts_with(&format!("service server does not run: process {}: ESRCH", gone.pid())));
    assert!(answer.all("copy").is_empty());
}

#[test]
fn cpu_time_of_whoever_runs_beside_is_reported_with_what_it_used_before() {
    let theirs = Theirs::start("while :; do :; done");
    std::thread::sleep(std::time::Duration::from_millis(100));
    let driver = command(&["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.3"], json!({}));
    let answer = probe(&spec(&[driver], json!({})));
    let others = &answer.run()["others"];
    let span_ns = ns(others, "to_ns") - ns(others, "from_ns");
    assert!(span_ns >= ns(answer.run(), "wall_ns"));
    let processes = others["processes"].as_array().unwrap();
    let copy = answer.all("copy")[0]["pid"].clone();
    assert!(processes.iter().all(|p| p["pid"] != copy), "{processes:#?}");
    // The parent of both is above the probe, so each is a family of its own. It is among the 16 unless many are busier.
    if let Some(process) = processes.iter().find(|p| p["pid"] == json!(theirs.pid())) {
        assert_eq!(process["name"], "sh");
        assert!((1_000_000..=span_ns + 10_000_000).contains(&ns(process, "cpu_ns")), "{process:#?}");
        assert!(ns(process, "before_ns") > 0 && ns(process, "age_ns") > 0, "{process:#?}");
    } else {
        assert_eq!(processes.len(), 16);
    }
}
