//! Services in the specification: when one is ready, which ports it has, how it is stopped, and which run already.

use crate::error::Refusal;
use crate::fields::Fields;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::net::{SocketAddr, ToSocketAddrs};

const MAX_NAME: usize = 64;
const MAX_RUNNING: usize = 64;
const MAX_PORTS: usize = 64;
const MAX_TEXT: usize = 512;
const SIGNALS: [(&str, i32); 8] = [
    ("TERM", libc::SIGTERM),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("HUP", libc::SIGHUP),
    ("USR1", libc::SIGUSR1),
    ("USR2", libc::SIGUSR2),
    ("WINCH", libc::SIGWINCH),
    ("KILL", libc::SIGKILL),
];
const SERVICE_FIELDS: [&str; 5] = ["ready", "ready_timeout_ns", "ports", "stop_signal", "stop_grace_ns"];

#[derive(Clone, Debug, PartialEq)]
pub enum Ready {
    /// As soon as its program runs.
    Started,
    Line(String),
    Port(Address),
    Http {
        at: Address,
        path: String,
    },
}

/// Where a service is asked for: an address or a name of this host, and a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

impl Address {
    /// Return the addresses that it stands for; a name may have several.
    pub fn resolve(&self) -> Vec<SocketAddr> {
        (self.host.as_str(), self.port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
    }
}

impl Display for Address {
    fn fmt(&self, to: &mut Formatter) -> fmt::Result {
        let Address { host, port } = self;
        if host.contains(':') {
            write!(to, "[{host}]:{port}")
        } else {
            write!(to, "{host}:{port}")
        }
    }
}

#[derive(Debug)]
pub struct Service {
    pub ready: Ready,
    pub ready_timeout_ns: u64,
    /// Ports it may listen on, that of `ready` included.
    pub ports: Vec<u16>,
    pub stop_signal: (&'static str, i32),
    pub stop_grace_ns: u64,
}

/// A service that runs already: the probe neither starts nor stops it.
#[derive(Debug)]
pub struct Running {
    pub name: String,
    pub pid: i32,
}

/// Parse the name of a command, and its service if it is one.
pub fn of(fields: &Fields, copies: usize) -> Result<(String, Option<Service>), Refusal> {
    let name = name(fields)?;
    if fields.choice("role", &["driver", "service"])?.as_deref() != Some("service") {
        let misplaced =
            SERVICE_FIELDS.into_iter().find(|field| fields.get(field).is_some_and(|v| *v != Value::Array(vec![])));
        return misplaced.map_or(Ok((name, None)), |f| Err(fields.refuse(f, "nothing: only a service has it")));
    }
    if copies != 1 {
        return Err(fields.refuse("copies", "1: each copy of a service is a command of its own"));
    }
    let ready = ready(fields)?;
    let limit = |name, default| fields.int(name, Some(default), (name == "ready_timeout_ns") as i64, i64::MAX);
    let signal = fields.choice("stop_signal", &SIGNALS.map(|(name, _)| name))?;
    let service = Service {
        ports: ports(fields, &ready)?,
        ready,
        ready_timeout_ns: limit("ready_timeout_ns", 60_000_000_000)? as u64,
        stop_signal: SIGNALS.into_iter().find(|(name, _)| Some(*name) == signal.as_deref()).unwrap_or(SIGNALS[0]),
        stop_grace_ns: limit("stop_grace_ns", 5_000_000_000)? as u64,
    };
    Ok((name, Some(service)))
}

/// Parse the services that run already (`running`).
pub fn running(top: &Fields) -> Result<Vec<Running>, Refusal> {
    let Some(value) = top.get("running") else { return Ok(Vec::new()) };
    let wrong = || top.refuse("running", "a list of at most 64 objects with `name` and `pid`");
    let list = value.as_array().filter(|list| list.len() <= MAX_RUNNING).ok_or_else(wrong)?;
    let service = |value: &Value| {
        let pid = value.get("pid")?.as_i64().filter(|pid| (1..=i32::MAX as i64).contains(pid))?;
        let name = value.get("name").and_then(legal_name).filter(|name| !name.is_empty())?;
        Some(Running { name: name.into(), pid: pid as i32 })
    };
    list.iter().map(service).collect::<Option<_>>().ok_or_else(wrong)
}

/// Return the value if it is a legal name of a command; it may be empty.
fn legal_name(value: &Value) -> Option<&str> {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let right =
        |s: &str| s.is_empty() || s.len() <= MAX_NAME && s.as_bytes()[0].is_ascii_lowercase() && s.bytes().all(legal);
    value.as_str().filter(|s| right(s))
}

fn name(fields: &Fields) -> Result<String, Refusal> {
    let name = fields.get("name").map_or(Some(""), legal_name);
    name.map(String::from).ok_or_else(|| fields.refuse("name", "a-z, then a-z, 0-9 and -, at most 64 bytes"))
}

fn ready(fields: &Fields) -> Result<Ready, Refusal> {
    let Some(value) = fields.get("ready") else { return Ok(Ready::Started) };
    let keys = |of: &Value| of.as_object().map_or(0, |map| map.len() - map.contains_key("host") as usize);
    let parse = || match (value.get("line"), value.get("http")) {
        (Some(of), None) => text(of).filter(|_| value.get("host").is_none()).map(|s| Ready::Line(s.into())),
        (None, Some(of)) => {
            let path = text(&of["path"]).filter(|s| s.starts_with('/') && s.bytes().all(|b| b.is_ascii_graphic()));
            let fits = keys(of) == 2 && value.get("host").is_none();
            Some(Ready::Http { at: address(of)?, path: path.filter(|_| fits)?.into() })
        }
        _ => address(value).map(Ready::Port),
    };
    let ready = Some(value).filter(|value| keys(value) == 1).and_then(|_| parse());
    let expected =
        "{\"line\": TEXT}, {\"port\": N} or {\"http\": {\"port\": N, \"path\": \"/...\"}}, beside N \"host\" if any";
    ready.ok_or_else(|| fields.refuse("ready", expected))
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|s| (1..=MAX_TEXT).contains(&s.len()) && !s.contains(['\n', '\0']))
}

fn port(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|n| u16::try_from(n).ok()).filter(|n| *n > 0)
}

/// A port with its host, 127.0.0.1 if that is not given.
fn address(of: &Value) -> Option<Address> {
    let legal = |s: &&str| s.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:_".contains(&b));
    let host = of.get("host").map_or(Some("127.0.0.1"), |host| text(host).filter(legal));
    Some(Address { host: host?.into(), port: port(of.get("port")?)? })
}

fn ports(fields: &Fields, ready: &Ready) -> Result<Vec<u16>, Refusal> {
    let wrong = || fields.refuse("ports", "a list of at most 64 different ports, 1 to 65535");
    let listed = fields.get("ports").map_or(Some(Vec::new()), |v| v.as_array()?.iter().map(port).collect());
    let mut ports: Vec<u16> = listed.filter(|list: &Vec<u16>| list.len() <= MAX_PORTS).ok_or_else(wrong)?;
    let mut seen = HashSet::new();
    if !ports.iter().all(|port| seen.insert(*port)) {
        return Err(wrong());
    }
    if let Ready::Port(at) | Ready::Http { at, .. } = ready {
        ports.extend(seen.insert(at.port).then_some(at.port));
    }
    Ok(ports)
}
