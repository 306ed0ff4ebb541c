//! epoll and signalfd, as one place to wait.

use crate::sys;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    Signal,
    Stdout(usize),
    Stderr(usize),
    Events(usize),
    Ring,
    /// A service that was there before has ended.
    Running(usize),
    /// Whoever reads our standard output.
    Reader,
    /// Whoever opens the gate.
    Asker,
}

impl Source {
    fn token(self) -> u64 {
        let (kind, index) = match self {
            Source::Signal => (0, 0),
            Source::Stdout(i) => (1, i),
            Source::Stderr(i) => (2, i),
            Source::Events(i) => (3, i),
            Source::Ring => (4, 0),
            Source::Reader => (5, 0),
            Source::Running(i) => (6, i),
            Source::Asker => (7, 0),
        };
        (index as u64) << 3 | kind
    }

    fn from_token(token: u64) -> Source {
        let index = (token >> 3) as usize;
        match token & 7 {
            1 => Source::Stdout(index),
            2 => Source::Stderr(index),
            3 => Source::Events(index),
            4 => Source::Ring,
            5 => Source::Reader,
            6 => Source::Running(index),
            7 => Source::Asker,
            _ => Source::Signal,
        }
    }
}

pub struct Poller {
    epoll: OwnedFd,
    signals: OwnedFd,
}

const WATCHED: [i32; 4] = [libc::SIGCHLD, libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// A caller may have ignored them (nohup, a shell's background job), and exec keeps that: the probe could
/// not be stopped, and the kernel would reap its children for it. Before any child is started.
pub fn hear_signals() {
    for signal in WATCHED {
        // SAFETY: the default action runs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

impl Poller {
    /// From here on the watched signals arrive here only.
    pub fn new() -> io::Result<Poller> {
        // SAFETY: the set is initialized by sigemptyset; new descriptors are owned at once.
        let poller = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in WATCHED {
                libc::sigaddset(&mut set, signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            let signals = sys::check(libc::signalfd(-1, &set, flags).into())? as i32;
            let epoll = sys::check(libc::epoll_create1(libc::EPOLL_CLOEXEC).into())? as i32;
            Poller { epoll: OwnedFd::from_raw_fd(epoll), signals: OwnedFd::from_raw_fd(signals) }
        };
        poller.add(poller.signals.as_raw_fd(), Source::Signal)?;
        Ok(poller)
    }

    pub fn add(&self, fd: i32, source: Source) -> io::Result<()> {
        // Of the reader only the end is of interest, and that is always reported.
        let events = if source == Source::Reader { 0 } else { libc::EPOLLIN as u32 };
        let mut event = libc::epoll_event { events, u64: source.token() };
        // SAFETY: `event` is read during the call only.
        let added = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) };
        sys::check(added.into()).map(drop)
    }

    pub fn remove(&self, fd: i32) {
        // SAFETY: plain numbers; the last argument is not read.
        unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }

    /// Rounded up to milliseconds: a late timeout is harmless, a spinning probe is not.
    pub fn wait(&self, timeout_ns: u64) -> Vec<Source> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let ms = timeout_ns.div_ceil(1_000_000).min(60_000) as i32;
        // SAFETY: the array has as many elements as it says.
        let n = unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), events.len() as i32, ms) };
        events[..n.max(0) as usize].iter().map(|e| Source::from_token(e.u64)).collect()
    }

    /// Numbers of the signals that arrived, and the processes that sent them: zero for the kernel.
    pub fn signals(&self) -> Vec<(i32, u32)> {
        const SIZE: usize = size_of::<libc::signalfd_siginfo>();
        let mut buffer = [0u8; 8 * SIZE];
        let mut found = Vec::new();
        while let Ok(n @ 1..) = sys::read(&self.signals, &mut buffer) {
            // The record begins with signal, errno, code and process, of four bytes each.
            let at = |record: &[u8], i: usize| [record[i], record[i + 1], record[i + 2], record[i + 3]];
            let one = |r: &[u8]| (i32::from_ne_bytes(at(r, 0)), u32::from_ne_bytes(at(r, 12)));
            found.extend(buffer[..n].chunks(SIZE).map(one));
        }
        found
    }
}
