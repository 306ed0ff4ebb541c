//! One request beside the load, over a connection of its own, that is waited for.

use crate::answer::Answer;
use crate::options::Target;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Status and beginning of the body of what is answered to one GET.
pub fn exchange(target: &Target, path: &str, limit: Duration) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&target.address, limit)?;
    stream.set_read_timeout(Some(limit))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.host)?;
    let mut answer = Answer::new();
    answer.expect(false, b"");
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).map_err(|error| late(error, limit))?;
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
    }
}

/// The kernel says of a read that took too long that it would block.
fn late(error: Error, limit: Duration) -> Error {
    match error.kind() {
        ErrorKind::WouldBlock => Error::new(ErrorKind::TimedOut, format!("nothing within {limit:?}")),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_never_answers_is_told_with_the_limit() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        let target = Target { address, host: address.to_string() };
        let error = exchange(&target, "/", Duration::from_millis(50)).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::TimedOut, "nothing within 50ms".into()));
    }
}
