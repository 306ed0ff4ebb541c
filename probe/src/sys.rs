//! The few system calls that libc or std do not offer in the shape needed here.

use crate::raw;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;

pub const SECOND: u64 = 1_000_000_000;

pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec for the whole call.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec as u64 * SECOND + t.tv_nsec as u64
}

pub fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of a process, of its threads that have ended too; None where there is no such process.
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    let (mut clock, mut t) = (0, timespec(0));
    // SAFETY: both are valid for the whole call.
    let told = unsafe { libc::clock_getcpuclockid(pid, &mut clock) == 0 && libc::clock_gettime(clock, &mut t) == 0 };
    told.then_some(t.tv_sec as u64 * SECOND + t.tv_nsec as u64)
}

pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// -1 becomes the error the kernel left.
pub fn check(result: i64) -> io::Result<i64> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// `EACCES: Permission denied`; the number where the name is not in the short table.
pub fn describe(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or("").to_string();
    match NAMES.iter().find(|(number, _)| *number == errno) {
        Some((_, name)) => format!("{name}: {text}"),
        None => format!("errno {errno}: {text}"),
    }
}

pub fn describe_error(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), describe)
}

const NAMES: [(i32, &str); 21] = [
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::ESRCH, "ESRCH"),
    (libc::E2BIG, "E2BIG"),
    (libc::ENOEXEC, "ENOEXEC"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EBUSY, "EBUSY"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::EMFILE, "EMFILE"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::ECONNRESET, "ECONNRESET"),
];

pub fn futex_wait(word: &AtomicU32, value: u32, timeout_ns: Option<u64>) {
    let limit = timeout_ns.map(timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), |t| t as *const libc::timespec);
    let arguments = [word.as_ptr() as usize, libc::FUTEX_WAIT as usize, value as usize, limit as usize];
    // SAFETY: the word lives as long as the borrow; the timespec as long as this frame.
    let _ = unsafe { raw::call(libc::SYS_futex, arguments) };
}

pub fn futex_wake_all(word: &AtomicU32) {
    let arguments = [word.as_ptr() as usize, libc::FUTEX_WAKE as usize, i32::MAX as usize];
    // SAFETY: as above; a wake reads nothing but the address.
    let _ = unsafe { raw::call(libc::SYS_futex, arguments) };
}

pub fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / SECOND) as _, tv_nsec: (ns % SECOND) as _ }
}

/// A pipe (read end, write end), both closed by exec and above the descriptors a copy is given:
/// a `dup2` onto its own number would keep close-on-exec.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors, both owned by nobody else.
    let (r, w) = unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    Ok((raised(r)?, raised(w)?))
}

/// A pseudo terminal of 80 columns (our end, the program's), which changes and echoes nothing; its input has ended.
pub fn terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: descriptors are owned at once; the kernel is given memory of the size that it fills or reads.
    let (ours, theirs) = unsafe {
        let ours = OwnedFd::from_raw_fd(check(libc::posix_openpt(flags).into())? as i32);
        let (fd, unlock) = (ours.as_raw_fd(), 0i32);
        check(libc::ioctl(fd, libc::TIOCSPTLCK, &raw const unlock).into())?;
        let theirs = OwnedFd::from_raw_fd(check(libc::ioctl(fd, libc::TIOCGPTPEER, flags).into())? as i32);
        let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        check(libc::ioctl(fd, libc::TIOCSWINSZ, &raw const size).into())?;
        let mut modes: libc::termios = std::mem::zeroed();
        check(libc::tcgetattr(fd, &mut modes).into())?;
        modes.c_oflag &= !libc::OPOST;
        modes.c_lflag &= !libc::ECHO;
        check(libc::tcsetattr(fd, libc::TCSANOW, &modes).into())?;
        let end_of_file = 4u8;
        check(libc::write(fd, (&raw const end_of_file).cast(), 1) as i64)?;
        (ours, theirs)
    };
    let (ours, theirs) = (raised(ours)?, raised(theirs)?);
    set_nonblocking(&ours)?;
    Ok((ours, theirs))
}

pub fn raised(fd: OwnedFd) -> io::Result<OwnedFd> {
    const ABOVE: i32 = 10;
    if fd.as_raw_fd() >= ABOVE {
        return Ok(fd);
    }
    // SAFETY: fcntl returns a new descriptor that we own.
    unsafe {
        let new = check(libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, ABOVE).into())?;
        Ok(OwnedFd::from_raw_fd(new as i32))
    }
}

/// Every descriptor of this process but one, in a child that uses no other.
pub fn close_all_but(fd: i32) {
    // SAFETY: numbers only; what they stand for is used by nobody any more.
    let closed = |first: i32, last: u32| unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0;
    if fd > 0 && closed(0, fd as u32 - 1) && closed(fd + 1, u32::MAX) {
        return;
    }
    // Before Linux 5.9, or where a filter refuses it.
    let mut most = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the limit; then numbers only.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut most);
        for other in (0..most.rlim_cur.clamp(1024, 65536) as i32).filter(|other| *other != fd) {
            libc::close(other);
        }
    }
}

pub fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: plain fcntl on a descriptor that we own.
    unsafe { check(libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK).into()) }.map(drop)
}

pub fn read(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is ours and its length is given.
    let n = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    check(n as i64).map(|n| n as usize)
}

/// Tries something in a child, so that nothing of it stays.
pub fn in_child(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: the probe has one thread, and the child leaves without running anything else of it.
    let pid = check(unsafe { libc::fork() }.into())? as i32;
    if pid == 0 {
        let code = attempt().err().map_or(0, |e| e.raw_os_error().unwrap_or(libc::EIO));
        // SAFETY: as above.
        unsafe { libc::_exit(code) };
    }
    exit_code(pid)
}

/// The next child that a wait would tell of, which goes on being told of; zero where none has news.
/// An error, ECHILD, where no child is left.
pub fn next_waitable() -> io::Result<i32> {
    let how = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: siginfo is plain numbers, for which zero is a value; the kernel fills it.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        check(libc::waitid(libc::P_ALL, 0, &mut info, how).into())?;
        Ok(info.si_pid())
    }
}

/// Waits for a child that gives its errno as exit code.
pub fn exit_code(pid: i32) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: `pid` is a child of ours that nobody else waits for.
    check(unsafe { libc::waitpid(pid, &mut status, 0) }.into())?;
    match status {
        0 => Ok(()),
        _ if libc::WIFEXITED(status) => Err(io::Error::from_raw_os_error(libc::WEXITSTATUS(status))),
        _ => Err(io::Error::from_raw_os_error(libc::EPERM)),
    }
}
