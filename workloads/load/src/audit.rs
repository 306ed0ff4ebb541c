//! A last request, by which the service compares what it holds with what was answered.

use crate::answer::Answer;
use crate::mix::Mix;
use crate::options::{refuse, Options, Refusal};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A service may first have to end what it does later.
const LIMIT: Duration = Duration::from_secs(120);
const RIGHT: u16 = 200;

/// What requests came to since the first of the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// Right answers of each operation.
    pub right: Vec<u64>,
    /// Requests that may have been carried out or not: sent, and not answered rightly.
    pub unknown: u64,
}

impl Outcomes {
    pub fn new(n_operations: usize) -> Self {
        Outcomes { right: vec![0; n_operations], unknown: 0 }
    }

    pub fn merge(&mut self, other: &Outcomes) {
        self.right.iter_mut().zip(&other.right).for_each(|(a, b)| *a += b);
        self.unknown += other.unknown;
    }
}

/// Asks the first target; nothing where there is no audit. An answer that is not 200 fails the run with its sentence.
pub fn ask(options: &Options, mix: &Mix, outcomes: &Outcomes) -> Result<(), Refusal> {
    if options.audit.is_empty() {
        return Ok(());
    }
    let counts = mix.operations.iter().zip(&outcomes.right).map(|(operation, n)| format!("{}={n}", operation.name));
    let query: Vec<String> = counts.chain([format!("unknown={}", outcomes.unknown)]).collect();
    let path = format!("{}?{}", options.audit, query.join("&"));
    match exchange(options, &path) {
        Ok((RIGHT, _)) => Ok(()),
        Ok((status, body)) => refuse(format!("audit: status {status}: {body}")),
        Err(error) => refuse(format!("audit: no answer to {path}: {error}")),
    }
}

/// Status and beginning of the body of what is answered to one GET.
fn exchange(options: &Options, path: &str) -> std::io::Result<(u16, String)> {
    let target = &options.targets[0];
    let mut stream = TcpStream::connect_timeout(&target.address, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.host)?;
    let mut answer = Answer::new();
    answer.expect(false, b"");
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer)?;
        let is_whole = match answer.feed(&buffer[..n]) {
            Ok(ended) => ended.is_some() || (n == 0 && answer.ends_with_connection()),
            Err(_) => return Err(std::io::Error::other("it is no HTTP/1.1")),
        };
        if is_whole {
            let body = String::from_utf8_lossy(&answer.sample).replace(|c: char| c.is_control(), " ");
            return Ok((answer.status, body.trim().into()));
        }
        if n == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
