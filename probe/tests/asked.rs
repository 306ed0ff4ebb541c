//! A gate that is opened from outside: services are up before, the window closes by a line, and nothing is left behind.

mod common;
use common::*;
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A probe whose standard input stays open.
struct Asked {
    child: Child,
    to: Option<ChildStdin>,
    from: Lines<BufReader<ChildStdout>>,
    events: Vec<Value>,
}

impl Asked {
    fn start(commands: &[Value], more: Value) -> Asked {
        let mut line = spec(commands, json!({"protocol": 2, "gate": "asked"}));
        merge(&mut line, more);
        let (inherit, piped) = (Stdio::inherit(), Stdio::piped);
        let mut child = Command::new(PROBE).stdin(piped()).stdout(piped()).stderr(inherit).spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        writeln!(to, "{line}").unwrap();
        let from = BufReader::new(child.stdout.take().unwrap()).lines();
        Asked { child, to: Some(to), from, events: Vec::new() }
    }

    /// Read events up to one that says what is awaited.
    fn until(&mut self, what: &str) {
        for line in self.from.by_ref() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let is_it = event["event"] == "awaits" && event["what"] == what;
            self.events.push(event);
            if is_it {
                return;
            }
        }
        panic!("no {what} in {:#?}", self.events);
    }

    fn say(&mut self) {
        writeln!(self.to.as_mut().unwrap()).unwrap();
    }

    fn finish(mut self) -> Vec<Value> {
        self.to = None;
        self.events.extend(self.from.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap()));
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{:#?}", self.events);
        self.events
    }
}

fn service(script: &str) -> Value {
    command(&["sh", "-c", script], json!({"name": "server", "role": "service", "ready": {"line": "up"}}))
}

fn driver(script: &str) -> Value {
    command(&["sh", "-c", script], json!({"name": "driver"}))
}

fn of<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|e| e["event"] == name).collect()
}

fn awaited(events: &[Value]) -> Vec<&str> {
    of(events, "awaits").iter().map(|e| e["what"].as_str().unwrap()).collect()
}

#[test]
fn a_machine_of_services_has_a_window_that_lines_open_and_close() {
    let mut asked = Asked::start(&[service("echo up; while :; do :; done")], json!({}));
    asked.until("gate");
    asked.say();
    asked.until("window");
    std::thread::sleep(std::time::Duration::from_millis(100));
    asked.say();
    asked.until("end");
    let events = asked.finish();
    assert_eq!(awaited(&events), ["gate", "window", "end"]);
    let (run, process) = (of(&events, "run")[0], of(&events, "process")[0]);
    assert_eq!((&run["status"], &run["wall_source"]), (&json!("ok"), &json!("gate")));
    assert!(ns(run, "wall_ns") >= SECOND / 20);
    assert!(ns(process, "cpu_ns") > 0 && ns(process, "cpu_ns") == ns(run, "cpu_ns"));
    assert_eq!((&process["role"], &process["stopped_by"]), (&json!("service"), &json!("TERM")));
}

#[test]
fn a_driver_waits_at_its_gate_and_again_when_it_is_ready() {
    let script = "echo ready >&3; head -c 1 <&4; echo 'iteration 0 1 2 1' >&3";
    let mut asked = Asked::start(&[driver(script)], json!({"events": true}));
    asked.until("gate");
    asked.say();
    asked.until("release");
    asked.say();
    asked.until("end");
    let events = asked.finish();
    assert_eq!(awaited(&events), ["gate", "window", "release", "end"]);
    assert_eq!((of(&events, "iterations").len(), of(&events, "process").len()), (1, 1));
    assert_eq!(of(&events, "run")[0]["status"], "ok");
}

#[test]
fn services_outlive_the_window_of_their_driver_until_input_ends() {
    let mut asked = Asked::start(&[service("echo up; exec sleep 1000"), driver("true")], json!({}));
    asked.until("gate");
    asked.say();
    asked.until("end");
    let pid = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    let alive = pid.filter(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|c| c == "sleep\n"));
    assert!(alive.count() > 0);
    let events = asked.finish();
    assert_eq!(of(&events, "process")[0]["stopped_by"], "TERM");
}

#[test]
fn whoever_goes_before_the_end_interrupts_it() {
    for n_lines in 0..2 {
        let mut asked = Asked::start(&[service("echo up; exec sleep 1000")], json!({}));
        asked.until("gate");
        (0..n_lines).for_each(|_| asked.say());
        if n_lines > 0 {
            asked.until("window");
        }
        let events = asked.finish();
        let run = of(&events, "run")[0];
        assert_eq!(run["status"], "interrupted", "{n_lines} lines");
        assert!(run["reason"].as_str().unwrap().contains("has gone"));
    }
}

#[test]
fn a_service_that_ends_while_it_waits_ends_the_run() {
    let mut asked = Asked::start(&[service("echo up; sleep 0.2; exit 3")], json!({}));
    asked.until("gate");
    let events = asked.finish_without_end();
    assert_eq!(of(&events, "run")[0]["reason"], "service server ended before drivers were started (exit code 3)");
}

impl Asked {
    /// The probe ends by itself, with its input open.
    fn finish_without_end(mut self) -> Vec<Value> {
        self.events.extend(self.from.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap()));
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.events
    }
}
