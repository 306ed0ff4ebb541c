//! The sentinel beside a run: what it counts, and that nothing of it is the run's.

mod common;
use common::*;
use serde_json::{json, Value};

fn watched(script: &str, more: Value) -> Value {
    let mut asked = spec(&[shell(script)], json!({"sentinel": true, "stdout": "capture"}));
    merge(&mut asked, more);
    asked
}

fn samples(run: &Value) -> u64 {
    let counts = run["speed"]["n"].as_array().unwrap_or_else(|| panic!("speed in {run:#}"));
    counts.iter().filter_map(Value::as_u64).sum()
}

fn real_time() -> bool {
    let child = std::process::Command::new(PROBE).arg("--capabilities").output().unwrap();
    let told: Value = serde_json::from_slice(&child.stdout).unwrap();
    let all = told["capabilities"].as_array().unwrap().clone();
    all.iter().any(|c| c["name"] == "real-time policies" && c["granted"] == true)
}

#[test]
fn samples_are_counted_on_the_cpus_of_the_run_alone() {
    let cpu = allowed_cpus()[0];
    let mut asked = watched("sleep 0.5", json!({}));
    asked["commands"][0]["cpus"] = json!([cpu]);
    let run = probe(&asked).run().clone();
    let speed = &run["speed"];
    for list in ["mean_ns", "p10_ns", "p90_ns", "n"] {
        assert_eq!(speed[list].as_array().map(Vec::len), run["per_cpu_ns"].as_array().map(Vec::len), "{speed}");
    }
    let n = speed["n"].as_array().unwrap();
    let (with, without): (Vec<usize>, Vec<usize>) = (0..n.len()).partition(|i| n[*i].as_u64() > Some(0));
    assert!(without.iter().all(|i| speed["mean_ns"][*i].is_null()), "{speed}");
    if real_time() {
        assert_eq!(with.len(), 1, "{speed}");
        assert!(samples(&run) > 0 && ns(speed, "cost_ns") > 0, "{speed}");
        assert!(ns(speed, "cost_ns") <= ns(&run, "observer_ns"), "{run:#}");
    }
}

/// Processes of its own cgroup, by number and name.
const MEMBERS: &str = "sleep 0.1; own=$(sed -n 's/^0:://p' /proc/self/cgroup); \
    for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do \
    [ ! -r $root$own/cgroup.procs ] || cat $root$own/cgroup.procs; done | while read pid; do cat /proc/$pid/comm || :; done";

#[test]
fn nothing_of_it_belongs_to_the_run() {
    for backend in BACKENDS {
        let answer = probe(&watched(MEMBERS, json!({"backend": backend})));
        let run = answer.run();
        assert_eq!((&run["status"], &run["n_survivors"]), (&json!("ok"), &json!(0)), "{run:#}");
        if answer.events[0]["containment"] == "cgroup" {
            let members = answer.one("copy")["stdout"].as_str().unwrap();
            assert!(!members.contains("scalograph"), "{members}");
        }
    }
}

#[test]
fn it_is_not_there_unless_asked_for() {
    let answer = probe(&spec(&[shell("true")], json!({})));
    assert_eq!(answer.run().get("speed"), None);
}

#[test]
fn it_also_runs_beside_services_and_after_a_timeout() {
    let mut service = command(&["sleep", "100"], json!({"name": "s", "role": "service"}));
    let mut driver = shell("sleep 0.1");
    merge(&mut service, json!({"stop_grace_ns": SECOND}));
    merge(&mut driver, json!({"name": "d"}));
    let both = spec(&[service, driver], json!({"protocol": 2, "sentinel": true}));
    let answer = probe(&both);
    assert_eq!((&answer.run()["status"], &answer.run()["n_survivors"]), (&json!("ok"), &json!(0)));
    assert!(answer.run()["speed"].is_object());
    let killed = probe(&watched("sleep 100", json!({"timeout_ns": SECOND / 2})));
    assert_eq!(killed.run()["status"], "timeout");
    assert!(samples(killed.run()) > 0 || !real_time(), "{:#}", killed.run());
}

#[test]
fn it_ends_with_a_probe_that_is_killed() {
    let own = std::env::temp_dir().join(format!("scalograph-sentinel-{}", std::process::id()));
    std::fs::copy(PROBE, &own).unwrap();
    let name = own.to_str().unwrap();
    let mut child = start(&[name], &watched("sleep 1000", json!({})));
    let n_ours = || marked(name).len();
    let guarded = eventually(|| n_ours() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = eventually(|| n_ours() == 0);
    std::fs::remove_file(&own).unwrap();
    assert!(guarded && gone);
}

#[test]
fn without_rights_it_says_so_and_still_measures() {
    let Some(program) = unprivileged() else { return };
    let words: Vec<&str> = program.iter().map(String::as_str).collect();
    let answer = finish(start(&words, &watched("sleep 0.5", json!({}))));
    let run = answer.run();
    let all = run["degraded"].as_array().unwrap();
    let own = all.iter().find(|d| d["what"] == "sentinel" && d["why"].as_str().unwrap().contains("real-time"));
    assert!(own.is_some() && run["speed"].is_object(), "{run:#}");
    std::fs::remove_file(words.last().unwrap()).unwrap();
}
