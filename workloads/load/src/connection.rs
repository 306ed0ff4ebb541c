//! One connection that never blocks, registered under the number of its slot.

use crate::options::Target;
use crate::sys::{Epoll, READABLE, WRITABLE};
use crate::tls::{read_session, words, write_session, Tls};
use rustls::ClientConnection;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(5);

pub struct Connection {
    slot: usize,
    stream: Option<TcpStream>,
    /// Of a connection over TLS.
    session: Option<Box<ClientConnection>>,
    connecting: bool,
    /// The request, of which so much has been written.
    pub out: Vec<u8>,
    written: usize,
    /// Whether it waits for room to write.
    wants_room: bool,
}

/// An error of connecting in words: that the driver has run out of ports is no fault of the server.
pub fn told(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EADDRNOTAVAIL) => {
            "no local port is left for a new connection: let the server keep connections open, or widen \
             net.ipv4.ip_local_port_range"
                .into()
        }
        _ => words(error).unwrap_or_else(|| error.to_string()),
    }
}

/// What reading came to.
pub enum Taken {
    Bytes(usize),
    Nothing,
    Closed,
}

impl Connection {
    pub fn new(slot: usize) -> Self {
        Connection {
            slot,
            stream: None,
            session: None,
            connecting: false,
            out: Vec::new(),
            written: 0,
            wants_room: false,
        }
    }

    /// Connects and waits for it, at most 5 s: before the load begins.
    pub fn open(&mut self, target: &Target, epoll: &Epoll) -> io::Result<()> {
        let mut stream = TcpStream::connect_timeout(&target.address, CONNECT)?;
        self.session = target.tls.as_ref().map(|tls| agree(tls, &mut stream)).transpose()?;
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        epoll.add(stream.as_raw_fd(), self.slot, READABLE)?;
        self.keep(stream, false);
        Ok(())
    }

    /// Begins to connect; what is in `out` is sent once it stands.
    fn reopen(&mut self, target: &Target, epoll: &Epoll) -> io::Result<()> {
        self.session = target.tls.as_ref().map(Tls::session).transpose()?;
        let socket = Socket::new(Domain::for_address(target.address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        match socket.connect(&target.address.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        let stream = TcpStream::from(socket);
        epoll.add(stream.as_raw_fd(), self.slot, READABLE | WRITABLE)?;
        self.keep(stream, true);
        Ok(())
    }

    fn keep(&mut self, stream: TcpStream, connecting: bool) {
        self.stream = Some(stream);
        (self.connecting, self.wants_room) = (connecting, connecting);
    }

    pub fn close(&mut self) {
        (self.stream, self.session) = (None, None);
        (self.connecting, self.wants_room) = (false, false);
    }

    /// Whether it stands: connected, over TLS agreed, and not closed.
    pub fn is_open(&self) -> bool {
        let is_agreed = self.session.as_ref().is_none_or(|session| !session.is_handshaking());
        self.stream.is_some() && !self.connecting && is_agreed
    }

    /// Whether there is something left to write, or it is not connected yet.
    pub fn wants_room(&self) -> bool {
        self.wants_room
    }

    /// Sends `out`, over a new connection where there is none.
    pub fn send(&mut self, target: &Target, epoll: &Epoll) -> io::Result<()> {
        self.written = 0;
        if self.stream.is_none() {
            return self.reopen(target, epoll);
        }
        self.flush(epoll)
    }

    /// Goes on after the kernel said that there is room to write, or that it is connected.
    pub fn ready_to_write(&mut self, epoll: &Epoll) -> io::Result<()> {
        if let Some(error) = self.stream.as_ref().filter(|_| self.connecting).and_then(|s| s.take_error().transpose()) {
            return Err(error.unwrap_or_else(|error| error));
        }
        self.connecting = false;
        self.flush(epoll)
    }

    fn flush(&mut self, epoll: &Epoll) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let wants_room = match &mut self.session {
            Some(session) => {
                self.written += session.writer().write(&self.out[self.written..])?;
                write_session(session, stream)?
            }
            None => {
                while self.written < self.out.len() {
                    match stream.write(&self.out[self.written..]) {
                        Ok(n) => self.written += n,
                        Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                self.written < self.out.len()
            }
        };
        if wants_room != self.wants_room {
            epoll.change(stream.as_raw_fd(), self.slot, if wants_room { READABLE | WRITABLE } else { READABLE })?;
            self.wants_room = wants_room;
        }
        Ok(())
    }

    pub fn read(&mut self, buffer: &mut [u8], epoll: &Epoll) -> io::Result<Taken> {
        let Some(stream) = &mut self.stream else { return Ok(Taken::Nothing) };
        let read = match &mut self.session {
            Some(session) => read_session(session, stream, buffer),
            None => stream.read(buffer),
        };
        // What came may be a part of the agreement, which goes on; of an error this is what the server is told.
        let answers = self.session.as_ref().is_some_and(|session| session.wants_write());
        let sent = if answers { self.flush(epoll) } else { Ok(()) };
        let taken = match read {
            Ok(0) => Taken::Closed,
            Ok(n) => Taken::Bytes(n),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Taken::Nothing,
            Err(error) => return Err(error),
        };
        sent.map(|()| taken)
    }
}

/// Agrees with a server on a session, and waits for it.
fn agree(tls: &Tls, stream: &mut TcpStream) -> io::Result<Box<ClientConnection>> {
    stream.set_read_timeout(Some(CONNECT))?;
    stream.set_write_timeout(Some(CONNECT))?;
    let mut session = tls.session()?;
    while session.is_handshaking() {
        session.complete_io(stream).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => io::Error::new(ErrorKind::TimedOut, format!("no TLS within {CONNECT:?}")),
            _ => error,
        })?;
    }
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_ran_out_are_named() {
        let words = |code| told(&io::Error::from_raw_os_error(code));
        assert!(words(libc::EADDRNOTAVAIL).starts_with("no local port is left"));
        assert!(words(libc::ECONNREFUSED).starts_with("Connection refused"));
    }
}
