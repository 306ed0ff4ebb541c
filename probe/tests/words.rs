//! What a workload says: its lines, its output, its last words.

mod common;
use common::*;
use serde_json::json;

const READY: &str = "echo ready >&3; head -c 1 <&4 >/dev/null; ";

fn say(script: &str, more: serde_json::Value) -> Answer {
    let mut asked = spec(&[shell(script)], json!({"events": true}));
    asked.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    probe(&asked)
}

#[test]
fn iterations_and_values_arrive_on_the_clock_of_the_run() {
    let answer = say(
        "now() { cut -d' ' -f1 /proc/uptime | tr -d .; }; echo iteration 0 5 9 7 >&3; \
         echo iteration 1 10 20 8 9 >&3; echo value nice -5 >&3; echo value nice 0.5 >&3",
        json!({}),
    );
    let gate = ns(answer.run(), "gate_ns") as i64;
    let iterations = answer.one("iterations");
    assert_eq!(iterations["start_ns"], json!([5 - gate, 10 - gate]));
    assert_eq!((&iterations["work"], &iterations["cpu_ns"]), (&json!([7, 8]), &json!([null, 9])));
    assert_eq!(answer.one("values")["values"], json!({"nice": [-5, 0.5]}));
}

#[test]
fn all_are_released_together_when_the_last_is_ready() {
    let stamp = |name: &str| format!("echo value {name} $(date +%s%N) >&3; ");
    let script = |pause: &str| format!("{pause}{}{READY}{}", stamp("ready"), stamp("released"));
    let mut quick = shell(&script(""));
    quick["copies"] = json!(2);
    let answer = probe(&spec(&[quick, shell(&script("sleep 0.3; "))], json!({"events": true})));
    assert_eq!(answer.run()["status"], "ok");
    let all = |name: &str| -> Vec<u64> {
        answer.all("values").iter().map(|v| v["values"][name][0].as_u64().unwrap()).collect()
    };
    assert_eq!(all("ready").len(), 3);
    assert!(all("released").iter().min() >= all("ready").iter().max());
}

#[test]
fn one_that_never_gets_ready_ends_the_wait_of_the_others() {
    let commands = [shell(READY), command(&["sleep", "1000"], json!({}))];
    let answer = probe(&spec(&commands, json!({"events": true, "ready_timeout_ns": SECOND / 5})));
    assert_eq!(answer.run()["status"], "timeout");
    assert!(answer.run()["reason"].as_str().unwrap().contains("copy 1"));
}

#[test]
fn a_broken_line_ends_the_run_and_is_quoted() {
    let answer = say("printf 'hel\\033lo\\n' >&3; sleep 1000", json!({}));
    assert_eq!(answer.run()["status"], "protocol");
    let reason = answer.run()["reason"].as_str().unwrap();
    assert!(reason.contains("hel") && !reason.contains('\x1b'), "{reason}");
    assert_eq!(say("printf 'value a 1' >&3", json!({})).run()["status"], "protocol");
}

#[test]
fn stdout_is_kept_from_its_beginning_and_stderr_to_its_end() {
    let limits = json!({"stdout": "capture", "stdout_limit_bytes": 10, "stderr_limit_bytes": 6});
    let answer = say("echo 0123456789abc; echo 0123456789 the end >&2", limits);
    let copy = answer.one("copy");
    assert_eq!((&copy["stdout"], &copy["stdout_truncated"]), (&json!("0123456789"), &json!(true)));
    assert_eq!(copy["stderr_tail"], "e end\n");
    assert_eq!(say("echo unseen", json!({})).one("copy")["stdout"], json!(null));
}

#[test]
fn output_is_echoed_where_that_is_asked_for_whatever_is_kept_of_it() {
    let asked = json!({"stdout": "capture", "stdout_limit_bytes": 0, "echo": true});
    let answer = say("echo seen; echo too >&2", asked);
    assert!(answer.stderr.contains("seen\n") && answer.stderr.contains("too\n"), "{}", answer.stderr);
    assert_eq!(answer.one("copy")["stdout"], json!(""));
    assert_eq!(say("echo seen; echo too >&2", json!({"stdout": "capture"})).stderr, "");
}

#[test]
fn long_output_continues_in_further_lines() {
    let answer = say("head -c 1500000 /dev/zero", json!({"stdout": "capture"}));
    let parts = answer.all("output");
    let first = answer.one("copy")["stdout"].as_str().unwrap().len();
    let rest: usize = parts.iter().map(|p| p["stdout"].as_str().unwrap().len()).sum();
    assert_eq!((first + rest, parts.len()), (1_500_000, 2));
}

#[test]
fn a_workload_gets_what_it_was_given_and_nothing_else() {
    let mut asked =
        command(&["sh", "-c", "env; ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status"], json!({}));
    asked["env"] = json!({"PATH": "/usr/bin:/bin", "PWD": "/", "A": "b c"});
    for backend in BACKENDS {
        let answer = probe(&spec(std::slice::from_ref(&asked), json!({"stdout": "capture", "backend": backend})));
        gets_what_it_was_given(answer.one("copy")["stdout"].as_str().unwrap());
    }
}

fn gets_what_it_was_given(text: &str) {
    let (names, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|l| l.contains('='));
    assert!(names.contains(&"A=b c") && !names.iter().any(|n| n.starts_with("HOME=")), "{text}");
    assert_eq!(rest[..4], ["0", "1", "2", "3"], "3 is the folder that ls reads: {text}");
    assert_eq!(rest[4..], ["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"]);
}
