//! The arguments, `name=value`, each checked.

use crate::schedule::Cycle;
use crate::sys::{MILLISECOND, SECOND};
use crate::tls::{trust, words, Tls};
use std::fmt::Display;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

/// How long one address of a name may take to be reached.
const CONNECT: Duration = Duration::from_secs(5);

/// One sentence: what was found, what is expected.
#[derive(Debug)]
pub struct Refusal(pub String);

pub fn refuse<T>(sentence: String) -> Result<T, Refusal> {
    Err(Refusal(sentence))
}

#[derive(Clone)]
pub struct Target {
    /// As it was written: what the Host header says.
    pub host: String,
    pub address: SocketAddr,
    /// None: it is asked without TLS.
    pub tls: Option<Tls>,
}

impl Target {
    /// How it is named beside an error: what is wrong with a certificate is so at any port.
    pub fn name(&self, error: &std::io::Error) -> &str {
        let name = self.host.rsplit_once(':').filter(|_| words(error).is_some());
        name.map_or(&self.host, |(name, _)| name)
    }

    /// What its addresses begin with.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls.is_some() { "https" } else { "http" }, self.host)
    }
}

#[derive(Clone)]
pub struct Options {
    /// Those that are warmed up; then those that the load goes through to them, if there are any.
    pub targets: Vec<Target>,
    /// How many of them are warmed up.
    pub n_direct: usize,
    pub path: String,
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub mix: String,
    pub status: u16,
    pub contains: String,
    /// Closed loop: that many clients, of one connection each; open loop: None.
    pub clients: Option<usize>,
    pub cycle: Cycle,
    pub rate: f64,
    pub poisson: bool,
    pub connections: usize,
    pub waiting: usize,
    pub warmup: u64,
    pub ramp_ns: u64,
    pub steady_ns: u64,
    pub down_ns: u64,
    pub threads: usize,
    pub seed: u64,
    pub timeout_ns: u64,
    /// Asked for after the last phase; empty: nothing is.
    pub audit: String,
    /// Where each target tells of its pool; empty: it is not asked.
    pub pool: String,
}

const NAMES: [&str; 29] = [
    "targets",
    "through",
    "path",
    "method",
    "headers",
    "body",
    "mix",
    "loop",
    "clients",
    "rate",
    "arrivals",
    "cycle",
    "connections",
    "waiting",
    "warmup",
    "ramp_s",
    "steady_s",
    "down_s",
    "threads",
    "seed",
    "status",
    "contains",
    "timeout_ms",
    "remote",
    "tls",
    "ca",
    "audit",
    "pool",
    "help",
];

impl Options {
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, Refusal> {
        let mut given = Given(Vec::new());
        for word in arguments {
            match word.split_once('=') {
                Some((name, value)) if NAMES.contains(&name) => given.0.push((name.into(), value.into())),
                _ => return refuse(format!("found {word:?}, expected name=value with one of {}", NAMES.join(", "))),
            }
        }
        let closed = given.choice("loop", &["closed", "open"])? == "closed";
        let remote = given.choice("remote", &["no", "yes"])? == "yes";
        let mut all = targets("targets", given.text("targets", "127.0.0.1:8080"), remote)?;
        let n_direct = all.len();
        let through = given.text("through", "");
        if !through.is_empty() {
            all.extend(targets("through", through, remote)?);
        }
        let tls = given.choice("tls", &["no", "yes", "insecure"])?;
        if tls != "no" {
            let config = trust(tls == "insecure", given.text("ca", "")).map_err(Refusal)?;
            for target in &mut all {
                let Some(tls) = Tls::new(&config, &target.host) else {
                    return refuse(format!("{}: no certificate can have this name", target.host));
                };
                target.tls = Some(tls);
            }
        }
        let clients = given.number("clients", 1, 1..=100_000)?;
        let seconds = |name, default, low| -> Result<u64, Refusal> {
            Ok((given.number(name, default, low..=86_400.0)? * SECOND as f64) as u64)
        };
        Ok(Options {
            targets: all,
            n_direct,
            path: given.text("path", "/").into(),
            method: given.text("method", "GET").into(),
            headers: given.headers()?,
            body: given.text("body", "").into(),
            mix: given.text("mix", "").into(),
            status: given.number("status", 200, 200..=599)?,
            contains: given.text("contains", "").into(),
            clients: closed.then_some(clients),
            cycle: given.cycle()?,
            rate: given.number("rate", 100.0, 0.001..=10_000_000.0)?,
            poisson: given.choice("arrivals", &["poisson", "constant"])? == "poisson",
            connections: given.number("connections", 16, 1..=100_000)?,
            waiting: given.number("waiting", 10_000, 0..=10_000_000)?,
            warmup: given.number("warmup", 0, 0..=1_000_000_000)?,
            ramp_ns: seconds("ramp_s", 1.0, 0.0)?,
            steady_ns: seconds("steady_s", 5.0, 0.001)?,
            down_ns: seconds("down_s", 0.0, 0.0)?,
            threads: given.number("threads", 1, 1..=256)?,
            seed: given.number("seed", 1, 0..=u64::MAX)?,
            timeout_ns: given.number("timeout_ms", 10_000, 1..=3_600_000)? * MILLISECOND,
            audit: given.path("audit")?,
            pool: given.path("pool")?,
        })
    }

    /// Connections that carry load: clients of a closed loop, the pool of an open one.
    pub fn n_active(&self) -> usize {
        self.clients.unwrap_or(self.connections)
    }

    /// All connections: each target has one at least, for its warm-up.
    pub fn n_connections(&self) -> usize {
        self.n_active().max(self.n_direct)
    }

    pub fn hosts(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.host.clone()).collect()
    }
}

struct Given(Vec<(String, String)>);

impl Given {
    /// The last one said.
    fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.0.iter().rev().find(|(known, _)| known == name).map_or(default, |(_, value)| value)
    }

    fn choice(&self, name: &str, known: &[&'static str]) -> Result<&'static str, Refusal> {
        let found = self.text(name, known[0]);
        match known.iter().find(|word| **word == found) {
            Some(word) => Ok(word),
            None => refuse(format!("{name}={found:.100}: expected one of {}", known.join(", "))),
        }
    }

    fn number<T>(&self, name: &str, default: T, range: std::ops::RangeInclusive<T>) -> Result<T, Refusal>
    where
        T: FromStr + PartialOrd + Display + Copy,
    {
        let Some((_, found)) = self.0.iter().rev().find(|(known, _)| known == name) else { return Ok(default) };
        match found.parse::<T>() {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => refuse(format!("{name}={found:.100}: expected {} to {}", range.start(), range.end())),
        }
    }

    /// Nothing, or a path to which a query is added.
    fn path(&self, name: &str) -> Result<String, Refusal> {
        let found = self.text(name, "");
        let fits = found.starts_with('/') && found.bytes().all(|b| b.is_ascii_graphic() && b != b'?');
        if found.is_empty() || fits {
            return Ok(found.into());
        }
        refuse(format!("{name}={found:.100}: expected a path that starts with /, without a query"))
    }

    /// Lines of `Name: value`.
    fn headers(&self) -> Result<Vec<(String, String)>, Refusal> {
        let split = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_string(), value.trim().to_string()))
        };
        let lines = self.text("headers", "").lines().filter(|line| !line.is_empty());
        lines
            .map(|line| split(line).map_or_else(|| refuse(format!("headers={line:.100}: expected Name: value")), Ok))
            .collect()
    }

    fn cycle(&self) -> Result<Cycle, Refusal> {
        let found = self.text("cycle", "0");
        Cycle::parse(found).map_or_else(
            || refuse(format!("cycle={found:.100}: expected 0, fixed:MS or exp:MS, 0.001 to 86400000")),
            Ok,
        )
    }
}

/// Of a name with several addresses, the first that is listened on; else the first.
fn reached(addresses: impl Iterator<Item = SocketAddr>) -> Option<SocketAddr> {
    let all: Vec<SocketAddr> = addresses.collect();
    let answers = |address: &&SocketAddr| TcpStream::connect_timeout(address, CONNECT).is_ok();
    all.iter().find(|address| all.len() == 1 || answers(address)).or(all.first()).copied()
}

fn targets(name: &str, text: &str, remote: bool) -> Result<Vec<Target>, Refusal> {
    let mut found = Vec::new();
    for host in text.split(',') {
        let visible = host.bytes().all(|b| b.is_ascii_graphic());
        let Some(address) = host.to_socket_addrs().ok().filter(|_| visible).and_then(reached) else {
            return refuse(format!("{name}: found {host:.100?}, expected HOST:PORT"));
        };
        if !remote && !address.ip().is_loopback() {
            return refuse(format!("{name}: {host} is another machine; remote=yes allows that"));
        }
        found.push(Target { host: host.into(), address, tls: None });
    }
    Ok(found)
}
