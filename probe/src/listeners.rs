//! Who listens on a TCP port of this host, as /proc/net tells it: nobody is connected to.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

const LISTEN: &str = "0A";
/// Listening sockets come first: behind the first of these there are none, and there may be thousands.
const NO_LONGER: [&str; 2] = ["01", "06"];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listener {
    pub port: u16,
    /// Of the address family.
    pub six: bool,
    /// Unspecified: every address of this host.
    pub address: IpAddr,
    pub inode: u64,
}

/// All of them; /proc is in `root`.
pub fn all(root: &Path) -> Vec<Listener> {
    let of = |file: &str, six: bool| {
        let lines = File::open(root.join("proc/net").join(file)).map(|f| BufReader::new(f).lines());
        let lines = lines.into_iter().flatten().map_while(Result::ok).skip(1);
        let rows = lines.map_while(move |line| row(&line, six)).flatten();
        rows.collect::<Vec<_>>()
    };
    [of("tcp", false), of("tcp6", true)].concat()
}

/// None behind the last listener; Some(None) for what is none.
fn row(line: &str, six: bool) -> Option<Option<Listener>> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (address, state) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
    let inode = words.nth(5).and_then(|word| word.parse().ok()).unwrap_or(0);
    if NO_LONGER.contains(&state) {
        return None;
    }
    let parsed = || {
        let (host, port) = address.split_once(':')?;
        Some(Listener { port: u16::from_str_radix(port, 16).ok()?, six, address: address_of(host)?, inode })
    };
    Some((state == LISTEN).then(parsed).flatten())
}

/// Four bytes each, in the order of this machine.
fn address_of(host: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(host.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let bytes = (0..host.len()).step_by(8).map(word).collect::<Option<Vec<[u8; 4]>>>()?.concat();
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}

/// Sockets of one family that share this port: 0 if nobody listens, 1 as it should be.
pub fn n_of(all: &[Listener], port: u16) -> usize {
    let of = |six: bool| all.iter().filter(|l| l.port == port && l.six == six).count();
    of(false).max(of(true))
}

/// Whether a connection to this address reaches one of them: a socket of version 6 may take those of version 4 too.
pub fn is_reached(all: &[Listener], to: SocketAddr) -> bool {
    let listens =
        |l: &Listener| l.address.is_unspecified() && (l.six || to.is_ipv4()) || l.address.to_canonical() == to.ip();
    all.iter().any(|l| l.port == to.port() && listens(l))
}
