//! The specification line: read once, checked completely, then trusted.

use crate::error::{Kind, Refusal};
use crate::fields::Fields;
use crate::role::{self, Running, Service};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;
use std::path::PathBuf;

pub const MAX_CPUS: usize = 8192;
const MAX_LINE: u64 = 1 << 20;
const MAX_COPIES: usize = 4096;
const MAX_COMMANDS: usize = 64;
const MAX_STDOUT: u64 = 8 << 20;
const MAX_STDERR: u64 = 64 << 10;

#[derive(Debug)]
pub struct Spec {
    pub run: String,
    pub commands: Vec<Command>,
    pub running: Vec<Running>,
    pub events: bool,
    pub stdout: Output,
    pub echo: bool,
    pub stdout_limit: usize,
    pub stderr_limit: usize,
    pub timeout_ns: u64,
    pub ready_timeout_ns: u64,
    pub user: Option<String>,
    pub timeline: bool,
    pub timeline_bins: usize,
    pub timeline_tasks: usize,
    /// Whether the speed of the CPUs is measured during the run.
    pub sentinel: bool,
    pub plain: bool,
    /// Whether whoever asked for the run opens its gate, as of several machines.
    pub is_asked: bool,
    /// Whether the tree may be held by namespaces, in which no program can become another user.
    pub namespace: bool,
}

/// Where drivers write their standard output.
#[derive(Debug, PartialEq)]
pub enum Output {
    Null,
    Capture,
    /// Read and dropped.
    Pipe,
    /// A pseudo terminal, whose output is captured; standard input too, where the command has none.
    Terminal,
    File(String),
}

impl Output {
    /// Whether what is written is part of the record.
    pub fn is_kept(&self) -> bool {
        matches!(self, Output::Capture | Output::Terminal)
    }
}

/// Limits of CPU time and of memory are in two hierarchies of cgroup v1.
pub const MAX_CGROUPS: usize = 2;

#[derive(Debug)]
pub struct Command {
    pub argv: Vec<String>,
    pub copies: usize,
    pub cwd: String,
    pub env: BTreeMap<String, String>,
    /// File that every copy reads as standard input; None: /dev/null.
    pub stdin: Option<String>,
    /// Exit codes that count as success.
    pub ok_exits: Vec<i32>,
    pub cpus: Masks,
    /// Cgroups with limits that the command runs in: one of v2, or one for each controller of v1.
    pub cgroups: Vec<PathBuf>,
    pub policy: Option<String>,
    pub priority: i32,
    pub nice: Option<i32>,
    /// Empty in a run without services.
    pub name: String,
    /// None: a driver.
    pub service: Option<Service>,
}

#[derive(Debug, PartialEq)]
pub enum Masks {
    Own,
    Same(Vec<usize>),
    Each(Vec<Vec<usize>>),
}

impl Spec {
    /// Whether the usage of each command is measured separately.
    pub fn is_divided(&self) -> bool {
        self.is_asked || self.n_services() > 0 || !self.running.is_empty()
    }

    /// Return the number of services: they come first, drivers after them.
    pub fn n_services(&self) -> usize {
        self.commands.iter().filter(|c| c.service.is_some()).count()
    }
}

impl Masks {
    pub fn of(&self, copy: usize) -> Option<&[usize]> {
        match self {
            Masks::Own => None,
            Masks::Same(cpus) => Some(cpus),
            Masks::Each(list) => Some(&list[copy]),
        }
    }
}

/// Parse the first line of `input`; the rest is not read.
pub fn read_line(input: impl BufRead) -> Result<Value, Refusal> {
    let mut line = Vec::new();
    let read = input.take(MAX_LINE + 1).read_until(b'\n', &mut line);
    let refuse = |found: &str, expected: &str| {
        Refusal::new(Kind::Spec, "spec", found, expected, "send one specification line on standard input")
    };
    read.map_err(|e| refuse(&e.to_string(), "one line"))?;
    if line.len() as u64 > MAX_LINE {
        return Err(refuse("a longer line", "one line of at most 1048576 bytes"));
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(refuse("nothing", "one JSON object"));
    }
    serde_json::from_slice(&line).map_err(|e| refuse(&e.to_string(), "one JSON object"))
}

pub fn parse(value: &Value) -> Result<Spec, Refusal> {
    let top = value.as_object().ok_or_else(|| Refusal::spec("spec", Some(value), "one JSON object"))?;
    let top = Fields { map: top, prefix: "" };
    top.int("protocol", None, 1, 2)?;
    let run = top.text("run", 128)?;
    let running = role::running(&top)?;
    let is_asked = top.choice("gate", &["own", "asked"])?.as_deref() == Some("asked");
    Ok(Spec {
        run,
        commands: commands(&top, running.len(), is_asked)?,
        is_asked,
        running,
        events: top.flag("events", false)?,
        stdout: stdout(&top)?,
        echo: top.flag("echo", false)?,
        stdout_limit: top.int("stdout_limit_bytes", Some(MAX_STDOUT as i64), 0, MAX_STDOUT as i64)? as usize,
        stderr_limit: top.int("stderr_limit_bytes", Some(MAX_STDERR as i64), 0, MAX_STDERR as i64)? as usize,
        timeout_ns: top.int("timeout_ns", None, 1, i64::MAX)? as u64,
        ready_timeout_ns: top.int("ready_timeout_ns", Some(60_000_000_000), 1, i64::MAX)? as u64,
        user: top.optional_text("user", 256)?,
        timeline: top.flag("timeline", true)?,
        timeline_bins: top.int("timeline_bins", Some(512), 8, 512)? as usize,
        timeline_tasks: top.int("timeline_tasks", Some(64), 0, 64)? as usize,
        sentinel: top.flag("sentinel", false)?,
        plain: top.choice("backend", &["auto", "plain"])?.as_deref() == Some("plain"),
        namespace: top.flag("namespace", true)?,
    })
}

fn stdout(top: &Fields) -> Result<Output, Refusal> {
    let wrong = || top.refuse("stdout", "null, capture, pipe, tty, or an absolute path");
    match top.optional_text("stdout", 4096).map_err(|_| wrong())?.as_deref() {
        None | Some("null") => Ok(Output::Null),
        Some("capture") => Ok(Output::Capture),
        Some("pipe") => Ok(Output::Pipe),
        Some("tty") => Ok(Output::Terminal),
        Some(path) if path.starts_with('/') => Ok(Output::File(path.into())),
        Some(_) => Err(wrong()),
    }
}

fn commands(top: &Fields, n_running: usize, is_asked: bool) -> Result<Vec<Command>, Refusal> {
    let wrong = || Refusal::spec("commands", top.map.get("commands"), "a list of 1 to 64 commands");
    let list = top.map.get("commands").and_then(Value::as_array).ok_or_else(wrong)?;
    if list.is_empty() || list.len() > MAX_COMMANDS {
        return Err(wrong());
    }
    let mut left = MAX_COPIES;
    let commands: Vec<Command> =
        list.iter().enumerate().map(|(i, v)| command(i, v, &mut left)).collect::<Result<_, _>>()?;
    check(&commands, list, n_running, is_asked).map(|()| commands)
}

/// Check what concerns several commands: names, the order of roles, and ports.
fn check(commands: &[Command], found: &[Value], n_running: usize, is_asked: bool) -> Result<(), Refusal> {
    let all_drivers = commands.iter().all(|c| c.service.is_none());
    if all_drivers && n_running == 0 && !is_asked {
        return Ok(());
    }
    let refuse = |i: usize, field: &str, expected: &str| {
        Err(Refusal::spec(&format!("commands[{i}].{field}"), found[i].get(field), expected))
    };
    if let Some(i) = commands.iter().position(|c| c.name.is_empty()) {
        return refuse(i, "name", "a name: one of the commands is a service");
    }
    let n_first = commands.iter().take_while(|c| c.service.is_some()).count();
    if all_drivers {
        return Ok(());
    }
    // Its driver may be on another machine.
    if n_first == commands.len() && !is_asked {
        return Err(Refusal::spec("commands", None, "a driver after the services"));
    }
    if let Some(i) = (n_first..commands.len()).find(|i| commands[*i].service.is_some()) {
        return refuse(i, "role", "driver: services come before drivers");
    }
    let mut taken = HashSet::new();
    let twice = |c: &Command| c.service.iter().flat_map(|s| &s.ports).any(|port| !taken.insert(*port));
    commands.iter().position(twice).map_or(Ok(()), |i| refuse(i, "ports", "ports that no other service has"))
}

fn command(index: usize, value: &Value, left: &mut usize) -> Result<Command, Refusal> {
    let place = format!("commands[{index}]");
    let map = value.as_object().ok_or_else(|| Refusal::spec(&place, Some(value), "an object"))?;
    let of = Fields { map, prefix: &format!("{place}.") };
    let argv = of.argv()?;
    let copies = of.int("copies", Some(1), 1, *left as i64)? as usize;
    *left -= copies;
    let (name, service) = role::of(&of, copies)?;
    let policy = of.choice("policy", &["other", "batch", "idle", "fifo", "rr", "ext"])?;
    let real_time = matches!(policy.as_deref(), Some("fifo" | "rr"));
    let (low, high) = if real_time { (1, 99) } else { (0, 0) };
    Ok(Command {
        argv,
        copies,
        cwd: of.path("cwd")?.ok_or_else(|| of.refuse("cwd", "an absolute path"))?,
        env: of.env()?,
        stdin: of.path("stdin")?,
        ok_exits: of.ok_exits()?,
        cpus: of.masks(copies)?,
        cgroups: of.cgroups()?,
        policy,
        priority: of.int("priority", Some(0), low, high)? as i32,
        nice: of.optional_int("nice", -20, 19)?.map(|n| n as i32),
        name,
        service,
    })
}

impl Fields<'_> {
    fn cgroups(&self) -> Result<Vec<PathBuf>, Refusal> {
        let listed = self.get("cgroup").and_then(Value::as_array);
        let Some(list) = listed else { return Ok(self.path("cgroup")?.into_iter().map(PathBuf::from).collect()) };
        let folder = |v: &Value| v.as_str().filter(|text| text.starts_with('/')).map(PathBuf::from);
        let folders: Option<Vec<PathBuf>> = list.iter().map(folder).collect();
        let wrong = || self.refuse("cgroup", "an absolute path, or a list of 1 or 2");
        folders.filter(|folders| (1..=MAX_CGROUPS).contains(&folders.len())).ok_or_else(wrong)
    }

    fn ok_exits(&self) -> Result<Vec<i32>, Refusal> {
        let Some(value) = self.get("ok_exits") else { return Ok(vec![0]) };
        let code = |v: &Value| v.as_i64().filter(|n| (0..=255).contains(n)).map(|n| n as i32);
        let codes: Option<Vec<i32>> = value.as_array().and_then(|list| list.iter().map(code).collect());
        let wrong = || self.refuse("ok_exits", "a list of 1 to 256 exit codes, 0..255");
        codes.filter(|codes| (1..=256).contains(&codes.len())).ok_or_else(wrong)
    }

    fn argv(&self) -> Result<Vec<String>, Refusal> {
        let wrong = || self.refuse("argv", "a list of texts without NUL: program and arguments");
        let list = self.get("argv").and_then(Value::as_array).ok_or_else(wrong)?;
        let texts: Option<Vec<String>> = list.iter().map(plain_text).collect();
        texts.filter(|t| t.first().is_some_and(|program| !program.is_empty())).ok_or_else(wrong)
    }

    fn env(&self) -> Result<BTreeMap<String, String>, Refusal> {
        let wrong = || self.refuse("env", "an object from name to text: the whole environment");
        let map = self.get("env").and_then(Value::as_object).ok_or_else(wrong)?;
        let legal = |k: &str| !k.is_empty() && !k.contains(['=', '\0']);
        let pairs = map.iter().map(|(k, v)| Some((legal(k).then(|| k.clone())?, plain_text(v)?)));
        pairs.collect::<Option<_>>().ok_or_else(wrong)
    }

    fn masks(&self, copies: usize) -> Result<Masks, Refusal> {
        let Some(value) = self.get("cpus") else { return Ok(Masks::Own) };
        if let Some(mask) = mask(value) {
            return Ok(Masks::Same(mask));
        }
        let list: Option<Vec<_>> = value.as_array().and_then(|l| l.iter().map(mask).collect());
        let expected = format!("a list of CPU numbers, or {copies} such lists, one for each copy");
        let right = list.filter(|l| l.len() == copies);
        right.map(Masks::Each).ok_or_else(|| self.refuse("cpus", &expected))
    }
}

fn plain_text(value: &Value) -> Option<String> {
    value.as_str().filter(|s| !s.contains('\0')).map(String::from)
}

fn mask(value: &Value) -> Option<Vec<usize>> {
    let number = |v: &Value| v.as_u64().map(|n| n as usize).filter(|n| *n < MAX_CPUS);
    let mut cpus: Vec<usize> = value.as_array()?.iter().map(number).collect::<Option<_>>()?;
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}
