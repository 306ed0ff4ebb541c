//! A GET of a port of this host, in steps that never wait, until it is answered well.

use crate::sys;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Who has not answered by then is asked anew.
const LIMIT_NS: u64 = 5 * sys::SECOND;
/// `HTTP/1.1 200`.
const STATUS_BYTES: usize = 12;

pub struct Get {
    request: Vec<u8>,
    attempt: Option<Attempt>,
    /// What came of the last attempt that ended.
    pub last: String,
}

struct Attempt {
    stream: TcpStream,
    until_ns: u64,
    n_sent: usize,
    answer: Vec<u8>,
}

impl Get {
    pub fn new(host: &str, path: &str) -> Get {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        Get { request: request.into_bytes(), attempt: None, last: "no answer yet".into() }
    }

    /// Goes as far as it can without waiting; whether an answer has come that is none of an error.
    pub fn step(&mut self, address: SocketAddr, now: u64) -> bool {
        if self.attempt.is_none() {
            self.attempt = connect(address, now).map_err(|e| self.last = sys::describe_error(&e)).ok();
        }
        let Some(attempt) = &mut self.attempt else { return false };
        let late = now >= attempt.until_ns;
        match attempt.go_on(&self.request) {
            Ok(None) if !late => return false,
            Ok(None) => self.last = "no answer".into(),
            Ok(Some(status)) => self.last = format!("answered with status {status}"),
            Err(error) => self.last = sys::describe_error(&error),
        }
        self.attempt = None;
        self.last.strip_prefix("answered with status ").is_some_and(|status| status.starts_with('2'))
    }
}

impl Attempt {
    /// The status, once it is there.
    fn go_on(&mut self, request: &[u8]) -> std::io::Result<Option<String>> {
        let later = |e: &std::io::Error| matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected);
        while self.n_sent < request.len() {
            match self.stream.write(&request[self.n_sent..]) {
                Ok(n) => self.n_sent += n,
                Err(e) if later(&e) => return Ok(None),
                Err(e) => return Err(e),
            }
        }
        let mut buffer = [0; 512];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Err(std::io::Error::new(ErrorKind::UnexpectedEof, "closed without an answer")),
            Ok(n) => self.answer.extend(&buffer[..n]),
            Err(e) if later(&e) => return Ok(None),
            Err(e) => return Err(e),
        }
        if self.answer.len() < STATUS_BYTES {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&self.answer[..STATUS_BYTES]).into_owned();
        let status = said.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..));
        let status = status.filter(|s| s.bytes().all(|b| b.is_ascii_digit()));
        status.map(|s| Some(s.into())).ok_or_else(|| std::io::Error::new(ErrorKind::InvalidData, "no answer of HTTP"))
    }
}

fn connect(to: SocketAddr, now: u64) -> std::io::Result<Attempt> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: numbers, for which zero is a value.
    let (mut four, mut six): (libc::sockaddr_in, libc::sockaddr_in6) = unsafe { std::mem::zeroed() };
    let (family, address, length) = match to {
        SocketAddr::V4(to) => {
            (four.sin_family, four.sin_port) = (libc::AF_INET as _, to.port().to_be());
            four.sin_addr.s_addr = u32::from_ne_bytes(to.ip().octets());
            (libc::AF_INET, (&raw const four).cast::<libc::sockaddr>(), size_of_val(&four))
        }
        SocketAddr::V6(to) => {
            (six.sin6_family, six.sin6_port) = (libc::AF_INET6 as _, to.port().to_be());
            (six.sin6_addr.s6_addr, six.sin6_scope_id) = (to.ip().octets(), to.scope_id());
            (libc::AF_INET6, (&raw const six).cast(), size_of_val(&six))
        }
    };
    // SAFETY: a new descriptor is owned at once; the address is as long as is said.
    let socket = unsafe {
        let socket = OwnedFd::from_raw_fd(sys::check(libc::socket(family, kind, 0).into())? as i32);
        let begun = sys::check(libc::connect(socket.as_raw_fd(), address, length as libc::socklen_t).into());
        begun.map(drop).or_else(|e| (e.raw_os_error() == Some(libc::EINPROGRESS)).then_some(()).ok_or(e))?;
        socket
    };
    Ok(Attempt { stream: socket.into(), until_ns: now + LIMIT_NS, n_sent: 0, answer: Vec::new() })
}
