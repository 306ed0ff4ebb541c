//! The few system calls that std does not offer in the shape needed here: clocks, epoll, limits.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

pub const SECOND: u64 = 1_000_000_000;
pub const MILLISECOND: u64 = 1_000_000;
pub const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP) as u32;
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the whole call.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of this thread, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of all threads of this process, nanoseconds.
pub fn process_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Lets this thread wake when it asked to: the kernel's default is up to 50 us later.
pub fn wake_exactly() {
    // SAFETY: takes numbers only; a refusal leaves the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1usize) };
}

/// Raises the soft limit of open files as far as it may be raised; returns the limit then.
pub fn raise_descriptors() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid rlimit for both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return u64::MAX;
        }
        let soft = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        if libc::setrlimit(libc::RLIMIT_NOFILE, &limit) != 0 {
            return soft;
        }
    }
    limit.rlim_cur
}

/// An epoll instance; what is registered carries the number of its slot.
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
    /// False once the kernel said that it knows no timeouts in nanoseconds (before Linux 5.11).
    fine: bool,
}

impl Epoll {
    pub fn new(n_events: usize) -> io::Result<Self> {
        // SAFETY: takes a number only.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made, and nobody else has it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Epoll { fd, events: vec![libc::epoll_event { events: 0, u64: 0 }; n_events], fine: true })
    }

    pub fn add(&self, fd: RawFd, slot: usize, interest: u32) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, slot, interest)
    }

    pub fn change(&self, fd: RawFd, slot: usize, interest: u32) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, slot, interest)
    }

    fn control(&self, what: i32, fd: RawFd, slot: usize, interest: u32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: interest, u64: slot as u64 };
        // SAFETY: `event` is valid for the call; the kernel refuses a descriptor that is none.
        match unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), what, fd, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits for events or until so many nanoseconds have passed; returns how many there are.
    pub fn wait(&mut self, timeout_ns: u64) -> io::Result<usize> {
        let n = if self.fine { self.wait_fine(timeout_ns) } else { self.wait_coarse(timeout_ns) };
        if n >= 0 {
            return Ok(n as usize);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ENOSYS) if self.fine => {
                self.fine = false;
                Ok(0)
            }
            Some(libc::EINTR) => Ok(0),
            _ => Err(error),
        }
    }

    fn wait_fine(&mut self, timeout_ns: u64) -> i64 {
        let timeout =
            libc::timespec { tv_sec: (timeout_ns / SECOND) as _, tv_nsec: (timeout_ns % SECOND) as libc::c_long };
        // By its number, since musl has no function of this name.
        // SAFETY: buffer and timeout are valid for the call, and the buffer is as long as said.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as i32,
                &timeout,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            ) as i64
        }
    }

    /// Whole milliseconds, rounded down: rather awake too early than too late.
    fn wait_coarse(&mut self, timeout_ns: u64) -> i64 {
        let timeout = (timeout_ns / MILLISECOND).min(i32::MAX as u64) as i32;
        // SAFETY: the buffer is valid for the call and as long as said.
        unsafe {
            libc::epoll_wait(self.fd.as_raw_fd(), self.events.as_mut_ptr(), self.events.len() as i32, timeout) as i64
        }
    }

    /// Slot and readiness of event i of the last wait.
    pub fn event(&self, i: usize) -> (usize, u32) {
        let event = self.events[i];
        (event.u64 as usize, event.events)
    }
}
