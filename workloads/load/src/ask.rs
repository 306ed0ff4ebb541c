//! One request beside the load, over a connection of its own, that is waited for.

use crate::answer::Answer;
use crate::options::Target;
use crate::tls::words;
use rustls::{ClientConnection, StreamOwned};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes of an answer, head and body: one without end is not read to the end of its time.
const MOST_BYTES: usize = 1 << 20;

/// A connection that blocks, with or without TLS.
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

trait Io: Read + Write {}
impl<T: Read + Write> Io for T {}

impl Stream {
    fn new(target: &Target, socket: TcpStream) -> Result<Self> {
        Ok(match &target.tls {
            Some(tls) => Stream::Tls(Box::new(tls.stream(socket)?)),
            None => Stream::Plain(socket),
        })
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    fn io(&mut self) -> &mut dyn Io {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.as_mut(),
        }
    }
}

/// Status and first 100 bytes of the body of what is answered to one GET.
///
/// The whole answer is there within `limit` of the call, however slowly it comes, and has at most 1 MiB: else an error.
pub fn exchange(target: &Target, path: &str, limit: Duration) -> Result<(u16, String)> {
    let until = Instant::now() + limit;
    let socket = TcpStream::connect_timeout(&target.address, limit)?;
    socket.set_write_timeout(Some(limit))?;
    socket.set_read_timeout(Some(limit))?;
    let mut stream = Stream::new(target, socket)?;
    // In one piece: a service that reads a part of it may take it for another request.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.host);
    stream.io().write_all(request.as_bytes()).map_err(|error| late(error, limit))?;
    let mut answer = Answer::new();
    answer.expect(false, b"");
    let (mut buffer, mut n_bytes) = ([0; 4096], 0);
    loop {
        let n = read(&mut stream, &mut buffer, until).map_err(|error| late(error, limit))?;
        n_bytes += n;
        let is_whole = match answer.feed(&buffer[..n]) {
            Ok(ended) => ended.is_some() || (n == 0 && answer.ends_with_connection()),
            Err(_) => return Err(Error::other("it is no HTTP/1.1")),
        };
        if is_whole {
            let body = String::from_utf8_lossy(&answer.sample).replace(|c: char| c.is_control(), " ");
            return Ok((answer.status, body.trim().into()));
        }
        if n == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if n_bytes > MOST_BYTES {
            return Err(Error::other(format!("it has more than {MOST_BYTES} bytes")));
        }
    }
}

/// Waits for the next bytes until a moment, which is the same for all of them.
fn read(stream: &mut Stream, buffer: &mut [u8], until: Instant) -> Result<usize> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::WouldBlock.into());
    }
    stream.socket().set_read_timeout(Some(left))?;
    stream.io().read(buffer)
}

/// The kernel says of a read that took too long that it would block.
fn late(error: Error, limit: Duration) -> Error {
    match error.kind() {
        ErrorKind::WouldBlock => Error::new(ErrorKind::TimedOut, format!("no whole answer within {limit:?}")),
        _ => words(&error).map_or(error, Error::other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread::{sleep, spawn};

    const LIMIT: Duration = Duration::from_millis(100);

    /// What is said of a server that sends this again and again, with pauses, until nobody listens.
    fn said_of(piece: &'static [u8], pause: Duration, limit: Duration) -> (ErrorKind, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(piece).is_ok() {
                sleep(pause);
            }
        });
        let error = exchange(&Target { address, host: address.to_string(), tls: None }, "/", limit).unwrap_err();
        server.join().unwrap();
        (error.kind(), error.to_string())
    }

    #[test]
    fn a_request_comes_in_one_piece() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let n_tries = 100; // which part comes first is a matter of who runs when
        let server = spawn(move || {
            let first = |_| {
                let (mut stream, mut bytes) = (listener.accept().unwrap().0, [0; 4096]);
                let n = stream.read(&mut bytes).unwrap();
                String::from_utf8_lossy(&bytes[..n]).into_owned()
            };
            (0..n_tries).map(first).collect::<Vec<_>>()
        });
        for _ in 0..n_tries {
            let _ = exchange(&Target { address, host: "a".into(), tls: None }, "/pool", LIMIT);
        }
        let whole = "GET /pool HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        assert_eq!(server.join().unwrap(), vec![whole; n_tries]);
    }

    #[test]
    fn who_never_answers_is_told_with_the_limit() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        let target = Target { address, host: address.to_string(), tls: None };
        let error = exchange(&target, "/", LIMIT).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::TimedOut, "no whole answer within 100ms".into()));
    }

    #[test]
    fn an_answer_that_comes_byte_by_byte_has_the_same_limit() {
        let said = said_of(b"a", LIMIT / 10, LIMIT);
        assert_eq!(said, (ErrorKind::TimedOut, "no whole answer within 100ms".into()));
    }

    #[test]
    fn an_answer_without_end_is_not_read_for_all_of_its_time() {
        let said = said_of(&[b'a'; 65_536], Duration::ZERO, Duration::from_secs(1_000));
        assert_eq!(said, (ErrorKind::Other, "it has more than 1048576 bytes".into()));
    }
}
