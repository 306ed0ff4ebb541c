//! One service: whether it is ready yet, and how it was stopped.

use crate::http::Get;
use crate::listeners::{self, Listener};
use crate::role::{Ready, Service};
use std::net::SocketAddr;
use std::path::Path;

pub struct Served {
    ready: Ready,
    /// Addresses of `ready`, of which one must be listened on.
    addresses: Vec<SocketAddr>,
    get: Option<Get>,
    search: Search,
    pub ready_ns: Option<u64>,
    /// When it was told to stop.
    pub stop_ns: Option<u64>,
    pub stopped_by: Option<&'static str>,
}

impl Served {
    pub fn new(service: &Service) -> Served {
        let ready = service.ready.clone();
        let get = if let Ready::Http { at, path } = &ready { Some(Get::new(&at.to_string(), path)) } else { None };
        let addresses = if let Ready::Http { at, .. } | Ready::Port(at) = &ready { at.resolve() } else { Vec::new() };
        let text = if let Ready::Line(text) = &ready { text.as_bytes() } else { &[] };
        let search = Search { text: text.into(), tail: Vec::new(), found: false };
        Served { ready, addresses, get, search, ready_ns: None, stop_ns: None, stopped_by: None }
    }

    /// What it writes.
    pub fn hear(&mut self, bytes: &[u8]) {
        self.search.feed(bytes);
    }

    /// What it is not ready for want of; None if it is.
    pub fn missing(&mut self, pid: i32, ports: &[u16], now: u64) -> Option<String> {
        if !runs(pid) {
            return Some("its program does not run".into());
        }
        match &self.ready {
            Ready::Line(text) if !self.search.found => Some(format!("no line of its output has {text:?}")),
            _ => self.silent(ports).or_else(|| self.unanswered(now)),
        }
    }

    fn silent(&self, ports: &[u16]) -> Option<String> {
        if ports.is_empty() {
            return None;
        }
        let all = listeners::all(Path::new("/"));
        let reached = match &self.ready {
            Ready::Port(at) | Ready::Http { at, .. } => Some(at),
            _ => None,
        };
        let silent = |port: &u16| match reached {
            Some(at) if at.port == *port => self.reached(&all).is_none(),
            _ => listeners::n_of(&all, *port) == 0,
        };
        let port = *ports.iter().find(|port| silent(port))?;
        let at = reached.filter(|at| at.port == port && listeners::n_of(&all, port) > 0);
        Some(match at {
            Some(at) => format!("nobody listens on {at}, but on port {port} of another address"),
            None => format!("nobody listens on port {port}"),
        })
    }

    /// Return the first address that a connection reaches.
    fn reached(&self, all: &[Listener]) -> Option<SocketAddr> {
        self.addresses.iter().copied().find(|address| listeners::is_reached(all, *address))
    }

    /// Only after it listens: a connection to a port that nobody listens on can be given that port as its own.
    fn unanswered(&mut self, now: u64) -> Option<String> {
        let reached = self.reached(&listeners::all(Path::new("/"))).or(self.addresses.first().copied());
        let (Ready::Http { at, path }, Some(get)) = (&self.ready, &mut self.get) else { return None };
        let is_well = reached.is_some_and(|address| get.step(address, now));
        (!is_well).then(|| format!("GET http://{at}{path}: {}", get.last))
    }
}

/// Whether its own program has taken the place of the probe's. Whom we may not look at has another user.
fn runs(pid: i32) -> bool {
    let program = |pid: &str| std::fs::read_link(format!("/proc/{pid}/exe"));
    match (program(&pid.to_string()), program("self")) {
        (Ok(its), Ok(ours)) => its != ours,
        (Err(e), _) => e.raw_os_error() == Some(libc::EACCES),
        _ => true,
    }
}

/// A text without newlines in a stream that comes in pieces.
struct Search {
    text: Vec<u8>,
    /// What may be its beginning.
    tail: Vec<u8>,
    found: bool,
}

impl Search {
    fn feed(&mut self, bytes: &[u8]) {
        if self.found || self.text.is_empty() {
            return;
        }
        self.tail.extend(bytes);
        self.found = self.tail.windows(self.text.len()).any(|part| part == self.text);
        let excess = self.tail.len().saturating_sub(self.text.len() - 1);
        self.tail.drain(..excess);
    }
}
