//! Placement, accounting and containment of a tree.

mod common;
use common::*;
use serde_json::json;

/// Leaves a daemon behind that works for a while, telling how much, and then waits.
const DAEMON: &str = "(setsid sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); \
    [ $((i % 10000)) -eq 0 ] && times >&2; done; exec sleep TOKEN' &) ; sleep 0.1";

#[test]
fn two_copies_on_two_cpus() {
    let cpus = allowed_cpus();
    let [first, second] = cpus[..] else { return two_copies_on(&[cpus[0]; 2]) };
    two_copies_on(&[second, first]);
}

fn two_copies_on(cpus: &[usize]) {
    let masks: Vec<[usize; 1]> = cpus.iter().map(|c| [*c]).collect();
    let says = "grep Cpus_allowed_list /proc/self/status";
    let mut command = shell(says);
    command["copies"] = json!(2);
    command["cpus"] = json!(masks);
    let answer = probe(&spec(&[command], json!({"stdout": "capture"})));
    assert_eq!(answer.run()["status"], "ok");
    for (copy, cpu) in answer.all("copy").iter().zip(cpus) {
        assert_eq!(copy["in_force"]["cpus"], json!([cpu]));
        assert_eq!(copy["stdout"], format!("Cpus_allowed_list:\t{cpu}\n"));
    }
    assert!(ns(answer.run(), "gate_skew_ns") <= ns(answer.run(), "queue_drain_ns"));
    assert!(answer.run()["start_skew_ns"].is_u64());
}

#[test]
fn scheduling_is_read_back_from_the_kernel() {
    let asked = command(&["true"], json!({"policy": "batch", "nice": 7}));
    for backend in BACKENDS {
        let answer = probe(&spec(std::slice::from_ref(&asked), json!({"backend": backend})));
        let in_force = &answer.one("copy")["in_force"];
        assert_eq!((&in_force["policy"], &in_force["nice"]), (&json!("batch"), &json!(7)));
    }
}

#[test]
fn a_daemon_is_accounted_and_killed() {
    let token = format!("20{:06}", std::process::id());
    let answer = probe(&spec(&[shell(&DAEMON.replace("TOKEN", &token))], json!({})));
    let run = answer.run();
    assert!(marked(&token).is_empty());
    assert_eq!(run["n_survivors"], 1);
    // It works on for a second after its ancestor, which is no part of the run: two processes work until then.
    assert_eq!(ns(run, "tree_wall_ns"), ns(run, "wall_ns"));
    assert_eq!((&run["user_ns"], run["cpu_ns"].is_null()), (&json!(null), run["cpu_source"].is_null()));
    if let Some(cpu_ns) = run["cpu_ns"].as_u64() {
        assert!(cpu_ns > 0 && cpu_ns <= 2 * ns(run, "wall_outer_ns") + 10_000_000, "{run:#}");
    }
}

/// Leaves the cgroup that it was born into, as a container does, and works for a while.
const LEAVER: &str = "set -e; own=$(sed -n 's/^0:://p' /proc/self/cgroup); \
    for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do \
    [ ! -w $root$own/cgroup.procs ] || echo $$ > $root${own%/*}/cgroup.procs; done; \
    i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; times >&2";

/// Whether runs of this process get a cgroup that they may leave.
fn may_leave() -> bool {
    let granted = is_root() && probe(&spec(&[shell("true")], json!({}))).events[0]["containment"] == "cgroup";
    if !granted {
        eprintln!("skipped: no cgroup v2 leaf is granted; run as root where one can be made");
    }
    granted
}

#[test]
fn who_leaves_the_cgroup_is_accounted_all_the_same() {
    if !may_leave() {
        return;
    }
    for backend in BACKENDS {
        let answer = probe(&spec(&[shell(LEAVER)], json!({"backend": backend})));
        let run = answer.run();
        let burnt = seconds_of(answer.one("copy")["stderr_tail"].as_str().unwrap());
        assert!(ns(run, "cpu_ns") as f64 / 1e9 >= 0.9 * burnt, "{burnt} in {run:#}");
        assert_eq!(run["cpu_source"], "rusage");
        assert!(run["degraded"].as_array().unwrap().iter().any(|d| d["what"] == "cgroup leaf"), "{run:#}");
    }
}

#[test]
fn who_leaves_the_cgroup_is_killed_all_the_same() {
    if !may_leave() {
        return;
    }
    let token = format!("70{:06}", std::process::id());
    let script = LEAVER.replace("i=0;", &format!("exec sleep {token};"));
    let answer = probe(&spec(&[shell(&script)], json!({"timeout_ns": SECOND / 2})));
    assert_eq!(answer.run()["status"], "timeout");
    assert!(marked(&token).is_empty());
    let left = command(&["sh", "-c", "(setsid sh -c \"$0\" &); sleep 0.3", &script], json!({}));
    let answer = probe(&spec(&[left], json!({})));
    assert_eq!((&answer.run()["status"], &answer.run()["n_survivors"]), (&json!("ok"), &json!(1)));
    assert!(marked(&token).is_empty());
}

/// The first word of `times`: `0m0.080s`.
fn seconds_of(times: &str) -> f64 {
    let word = times.split_whitespace().next().expect("the output of times");
    let (minutes, seconds) = word.trim_end_matches('s').split_once('m').unwrap();
    minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
}

#[test]
fn the_tree_of_a_killed_probe_dies_with_it() {
    let token = format!("30{:06}", std::process::id());
    let mut child = start(&[PROBE], &spec(&[shell(&format!("setsid sleep {token}"))], json!({})));
    assert!(eventually(|| marked(&token).len() == 2));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(eventually(|| marked(&token).is_empty()));
}

#[test]
fn without_kernel_records_the_gate_is_the_start() {
    let answer = probe(&spec(&[command(&["sleep", "0.1"], json!({}))], json!({"backend": "plain"})));
    let run = answer.run();
    assert_eq!(answer.events[0]["backend"], "plain");
    assert_eq!((&run["wall_source"], &run["wait_ns"], &run["n_tasks"]), (&json!("gate"), &json!(null), &json!(null)));
    assert!(ns(run, "wall_ns") >= 100_000_000);
    assert!(answer.all("timeline").is_empty());
}

#[test]
fn the_timeline_agrees_with_the_sums() {
    let answer =
        probe(&spec(&[shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")], json!({"timeline_bins": 16})));
    let run = answer.run();
    if run["wait_ns"].is_null() {
        return; // switch records are not granted here; the page says null, and null it is
    }
    let timeline = answer.one("timeline");
    let rows = timeline["busy_ns"].as_array().unwrap();
    let total = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>();
    let busy: u64 = rows.iter().map(total).sum();
    assert!(rows.iter().all(|row| row.as_array().unwrap().len() <= 16));
    assert_eq!(busy, total(&run["per_cpu_ns"]));
    assert_eq!(total(&timeline["waiting_ns"]), ns(run, "wait_ns"));
    assert!(busy >= ns(&timeline["tasks"][0], "cpu_ns") && busy > 0);
}

#[test]
fn threads_and_processes_are_told_apart() {
    let answer = probe(&spec(&[shell("sleep 0.01; sleep 0.01")], json!({"timeline": false})));
    if !answer.run()["n_tasks"].is_null() {
        assert_eq!((&answer.run()["n_tasks"], &answer.run()["n_processes"]), (&json!(3), &json!(3)));
    }
    assert_eq!(answer.run()["wait_ns"], json!(null));
}

#[test]
fn without_rights_a_run_is_measured_and_says_what_is_missing() {
    let Some(program) = unprivileged() else { return };
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let token = format!("40{:06}", std::process::id());
    let answer = finish(start(&program, &spec(&[shell(&DAEMON.replace("TOKEN", &token))], json!({}))));
    assert_eq!(answer.run()["status"], "ok");
    assert_ne!(answer.events[0]["containment"], "cgroup");
    assert!(!answer.run()["degraded"].as_array().unwrap().is_empty());
    assert!(marked(&token).is_empty());
    let daemon = [shell(&DAEMON.replace("TOKEN", &token))];
    let outside = finish(start(&program, &spec(&daemon, json!({"namespace": false}))));
    assert_eq!(outside.events[0]["containment"], "best effort");
    assert!(marked(&token).is_empty());
    let refused = finish(start(&program, &spec(&[command(&["true"], json!({"nice": -5}))], json!({}))));
    std::fs::remove_file(program.last().unwrap()).unwrap();
    assert_eq!(refused.error(3)["where"], "commands[0].nice");
}

#[test]
fn copies_that_share_memory_before_exec_go_their_own_ways_after_it() {
    let commands = [5, 6].map(|code| {
        let mut many = shell(&format!("exit {code}"));
        many["copies"] = json!(20);
        many
    });
    let answer = probe(&spec(&commands, json!({"backend": "plain"})));
    assert_eq!(answer.run()["status"], "failed");
    for copy in answer.all("copy") {
        assert_eq!(ns(copy, "exit_code"), 5 + ns(copy, "command"), "{copy}");
    }
}

/// Works for a while on the CPU that it chooses itself.
fn on(cpu: usize, given: &[usize]) -> serde_json::Value {
    let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    command(&["taskset", "-c", &cpu.to_string(), "sh", "-c", work], json!({"cpus": given}))
}

#[test]
fn what_ran_outside_its_cpus_is_told() {
    let cpus = allowed_cpus();
    let [first, second, ..] = cpus[..] else { return };
    for backend in BACKENDS {
        let answer = probe(&spec(&[on(second, &[first])], json!({"backend": backend})));
        assert_eq!(answer.one("copy")["in_force"]["cpus"], json!([first]));
        assert_eq!(answer.one("copy")["changed"], json!({"cpus": [second]}));
        let run = answer.run();
        let known: u64 = run["per_cpu_ns"].as_array().into_iter().flatten().filter_map(|ns| ns.as_u64()).sum();
        assert!(run["outside_ns"].is_null() || ns(run, "outside_ns") > known / 2, "{run:#}");
    }
    let answer = probe(&spec(&[on(first, &[first])], json!({})));
    assert_eq!(answer.one("copy")["changed"], json!({}));
    assert!(answer.run()["outside_ns"].is_null() || ns(answer.run(), "outside_ns") == 0, "{:#}", answer.run());
}

#[test]
fn what_a_copy_changed_itself_is_told() {
    for backend in BACKENDS {
        let asked = [
            command(&["nice", "-n", "5", "true"], json!({})),
            command(&["chrt", "-b", "0", "true"], json!({"nice": 3})),
            command(&["true"], json!({"policy": "batch"})),
        ];
        let answer = probe(&spec(&asked, json!({"backend": backend})));
        let copies = answer.all("copy");
        let nice = ns(&copies[0]["in_force"], "nice") + 5;
        assert_eq!(copies[0]["changed"], json!({ "nice": nice }));
        assert_eq!(copies[1]["changed"], json!({"policy": "batch"}));
        assert_eq!(copies[2]["changed"], json!({}));
    }
}

#[test]
fn wake_ups_of_a_pipe_are_counted_where_they_are_granted() {
    // Fifty questions, each asked once the last is answered: on any machine somebody waits for somebody.
    let asked = "d=$(mktemp -d); mkfifo $d/a $d/b; while read x; do echo $x; done <$d/a >$d/b & \
                 exec 3>$d/a 4<$d/b; for i in $(seq 50); do echo $i >&3; read x <&4; done; exec 3>&-; wait; rm -r $d";
    let answer = probe(&spec(&[shell(asked)], json!({})));
    let run = answer.run();
    let missing = run["degraded"].as_array().unwrap().iter().any(|d| d["what"] == "wake-up records");
    if run["wait_ns"].is_null() || missing {
        assert!(run["replay"].is_null(), "several tasks are not told without wake-ups: {run:#}");
        return;
    }
    assert_eq!(run["wait_scope"], "preemption and wakeup");
    assert!(ns(&run["replay"], "n_wakes") > 0, "{run:#}");
    assert!(ns(&run["replay"], "low_ns") <= ns(&run["replay"], "high_ns"));
    assert!(ns(&run["replay"], "high_ns") <= ns(run, "wall_ns"));
}

#[test]
fn what_holds_wake_up_records_returns_at_once_and_ends_with_its_input() {
    use std::process::{Command, Stdio};
    let mut first = Command::new(PROBE).arg("--hold").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, mut output) = (first.stdin.take(), first.stdout.take().unwrap());
    assert!(first.wait().unwrap().success());
    drop(input);
    // Whoever it left behind has this pipe open.
    assert_eq!(std::io::read_to_string(&mut output).unwrap(), "");
}
