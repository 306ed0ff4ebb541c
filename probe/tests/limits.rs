//! A command in a cgroup with limits that was made for it: entered before the gate, told, accounted and ended.

mod common;
use common::*;
use serde_json::{json, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// A cgroup of this test, where this user may make one; empty again at its end.
struct Limits(PathBuf);

impl Limits {
    fn below(mount: &str) -> Option<Limits> {
        let folder = Path::new(mount).join(format!("scalograph-{:x}", std::process::id()));
        fs::create_dir(&folder).ok().map(|()| Limits(folder))
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        assert!(eventually(|| fs::remove_dir(&self.0).is_ok()), "{:?} holds something", self.0);
    }
}

/// Mount points of all hierarchies of a kind, as /proc/self/mounts tells them.
fn mounts(kind: &str, option: &str) -> Vec<String> {
    let text = fs::read_to_string("/proc/self/mounts").unwrap();
    let fields = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let right = fields.filter(|f| f[2] == kind && f[3].split(',').any(|o| o == option || option.is_empty()));
    right.map(|f| f[1].to_string()).collect()
}

fn burning(limits: &Limits) -> Value {
    let script = "cat /proc/self/cgroup; echo ready; while :; do :; done";
    let more = json!({"name": "app", "role": "service", "ready": {"line": "ready"}, "cgroup": limits.text()});
    command(&["sh", "-c", script], more)
}

fn driven(service: Value) -> Answer {
    let answer = probe(&spec(&[service, command(&["sleep", "0.5"], json!({"name": "driver"}))], json!({})));
    assert_eq!(answer.run()["status"], "ok", "{:#?}", answer.events);
    answer
}

#[test]
fn a_quota_of_one_command_holds_for_it_alone_and_is_told() {
    let Some(limits) = mounts("cgroup", "cpu").iter().find_map(|mount| Limits::below(mount)) else { return };
    fs::write(limits.0.join("cpu.cfs_quota_us"), "20000").unwrap();
    let answer = driven(burning(&limits));
    let (app, driver) = (answer.all("process")[0], answer.all("process")[1]);
    assert_eq!((&app["quota_cpus"], &driver["quota_cpus"]), (&json!(0.2), &json!(null)));
    // Others may leave it less than that.
    assert!(app["throttled_ns"].is_u64() && driver["throttled_ns"].is_null());
    // Two whole periods at most beside those of the window.
    assert!(ns(app, "cpu_ns") < 160_000_000, "{app:#}");
    assert_eq!(ns(answer.run(), "n_survivors"), 0);
}

#[test]
fn of_the_unified_hierarchy_it_has_a_leaf_below_that_ends_with_the_run() {
    let Some(limits) = mounts("cgroup2", "").iter().find_map(|mount| Limits::below(mount)) else { return };
    let answer = driven(burning(&limits));
    if answer.events[0]["containment"] == "cgroup" {
        let name = limits.0.file_name().unwrap().to_str().unwrap();
        let tail = answer.all("copy")[0]["stderr_tail"].as_str().unwrap();
        assert!(tail.contains(&format!("/{name}/scalograph-")), "{tail}");
        assert_eq!(answer.all("process")[0]["cpu_source"], "cgroup");
        assert!(ns(answer.all("process")[0], "cpu_ns") > 0);
    }
}

#[test]
fn one_that_is_not_there_is_a_refusal() {
    let more = json!({"name": "app", "role": "service", "cgroup": "/no/such/cgroup"});
    let answer =
        probe(&spec(&[command(&["sleep", "9"], more), command(&["true"], json!({"name": "driver"}))], json!({})));
    assert_eq!(answer.error(3)["where"], "commands[0].cgroup");
}
