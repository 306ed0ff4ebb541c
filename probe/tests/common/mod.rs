//! The built program, one line in and event lines out.
#![allow(dead_code)]

use serde_json::{json, Value};
use std::io::Write;
use std::process::{Child, Command, Stdio};

pub const PROBE: &str = env!("CARGO_BIN_EXE_scalograph-probe");
pub const SECOND: u64 = 1_000_000_000;

pub struct Answer {
    pub code: Option<i32>,
    pub events: Vec<Value>,
    pub stderr: String,
}

impl Answer {
    pub fn all(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|e| e["event"] == name).collect()
    }

    pub fn one(&self, name: &str) -> &Value {
        let found = self.all(name);
        assert_eq!(found.len(), 1, "{name} in {:#?}", self.events);
        found[0]
    }

    /// The `run` event of a run that was carried out.
    pub fn run(&self) -> &Value {
        assert_eq!(self.code, Some(0), "{:#?}", self.events);
        assert_eq!(self.events[0]["event"], "header");
        assert_eq!(self.events.last().unwrap()["event"], "run");
        self.one("run")
    }

    /// The `error` event of a run that was refused with this exit code.
    pub fn error(&self, code: i32) -> &Value {
        assert_eq!(self.code, Some(code), "{:#?}", self.events);
        let last = self.events.last().unwrap();
        assert_eq!(last["event"], "error");
        last
    }
}

/// One command; `more` is merged into it.
pub fn command(argv: &[&str], more: Value) -> Value {
    let mut command = json!({"argv": argv, "cwd": "/", "env": {"PATH": "/usr/local/bin:/usr/bin:/bin"}});
    merge(&mut command, more);
    command
}

pub fn shell(script: &str) -> Value {
    command(&["sh", "-c", script], json!({}))
}

/// A specification of one or more commands; `more` is merged into it.
pub fn spec(commands: &[Value], more: Value) -> Value {
    let mut spec = json!({"protocol": 1, "run": "r1", "commands": commands, "timeout_ns": 60 * SECOND});
    merge(&mut spec, more);
    spec
}

pub fn merge(into: &mut Value, more: Value) {
    let more = more.as_object().cloned().unwrap_or_default();
    into.as_object_mut().unwrap().extend(more);
}

pub fn start(program: &[&str], spec: &Value) -> Child {
    start_command(Command::new(program[0]).args(&program[1..]), spec)
}

pub fn start_command(command: &mut Command, spec: &Value) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    writeln!(child.stdin.take().unwrap(), "{spec}").unwrap();
    child
}

pub fn finish(child: Child) -> Answer {
    let output = child.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let events = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    Answer { code: output.status.code(), events, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
}

pub fn probe(spec: &Value) -> Answer {
    finish(start(&[PROBE], spec))
}

/// With kernel records a copy has memory of its own before exec; without, it shares the probe's.
pub const BACKENDS: [&str; 2] = ["auto", "plain"];

pub fn ns(event: &Value, field: &str) -> u64 {
    event[field].as_u64().unwrap_or_else(|| panic!("{field} in {event:#}"))
}

pub fn is_root() -> bool {
    // SAFETY: reads a number.
    unsafe { libc::geteuid() == 0 }
}

/// The program as a user without rights, where this process may become one and a copy of the
/// binary can be read by that user.
pub fn unprivileged() -> Option<Vec<String>> {
    let copy = std::env::temp_dir().join(format!("scalograph-probe-test-{}", std::process::id()));
    if !is_root() || !std::path::Path::new("/usr/bin/setpriv").exists() || std::fs::copy(PROBE, &copy).is_err() {
        return None;
    }
    let drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    Some(drop.iter().map(|s| s.to_string()).chain([copy.to_string_lossy().into_owned()]).collect())
}

/// CPUs that this process may use.
pub fn allowed_cpus() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_string();
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        low.parse::<usize>().unwrap()..=high.parse().unwrap()
    };
    list.split(',').flat_map(range).collect()
}

/// Live processes whose command line holds this text.
pub fn marked(token: &str) -> Vec<u32> {
    let alive = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
    };
    let holds = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(token.len()).any(|w| w == token.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|pid| holds(pid) && alive(pid)).collect()
}

pub fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    (0..1500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        condition()
    })
}
