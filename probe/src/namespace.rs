//! A PID namespace for one run: when its first process dies, the kernel kills all others.

use crate::sys;
use std::cell::Cell;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// With its first process, which adopts and reaps orphans and does nothing else.
pub struct Namespace {
    init: i32,
    /// Closed when the mains have ended: `init` then leaves after the last orphan.
    open: Cell<Option<OwnedFd>>,
}

impl Namespace {
    /// Err is the kernel's answer in words. Inside a user namespace of ours there would be nobody
    /// to change to, so a run that changes its user gets a PID namespace or none.
    pub fn enter(changes_user: bool) -> Result<Namespace, String> {
        let flags = allowed(changes_user)?;
        unshare(flags).and_then(|()| start_init()).map_err(|e| said(&e))
    }

    pub fn kill(&self) {
        // SAFETY: a signal to our own child.
        unsafe { libc::kill(self.init, libc::SIGKILL) };
    }

    pub fn close(&self) {
        drop(self.open.take());
    }
}

impl Drop for Namespace {
    /// A run that was given up before its gate leaves nobody behind.
    fn drop(&mut self) {
        self.kill();
    }
}

/// There is no way back out of a namespace: a child tries first.
pub fn allowed(changes_user: bool) -> Result<i32, String> {
    let attempt = |flags: i32| sys::in_child(|| unshare(flags).and_then(|()| sys::in_child(|| Ok(()))));
    let (pid, both) = (libc::CLONE_NEWPID, libc::CLONE_NEWPID | libc::CLONE_NEWUSER);
    match attempt(pid) {
        Ok(()) => Ok(pid),
        Err(e) if changes_user => Err(said(&e)),
        Err(_) => attempt(both).map(|()| both).map_err(|e| said(&e)),
    }
}

fn said(error: &io::Error) -> String {
    format!("unshare: {}", sys::describe_error(error))
}

fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: reads this process's ids.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: changes the namespaces of this process only.
    sys::check(unsafe { libc::unshare(flags) }.into())?;
    if flags & libc::CLONE_NEWUSER != 0 {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    }
    Ok(())
}

fn start_init() -> io::Result<Namespace> {
    let (read, write) = sys::pipe()?;
    // SAFETY: the probe has one thread, and the child keeps to system calls.
    match sys::check(unsafe { libc::fork() }.into())? {
        0 => {
            drop(write); // our own half would keep the pipe open for ever
            serve(read.as_raw_fd())
        }
        pid => Ok(Namespace { init: pid as i32, open: Cell::new(Some(write)) }),
    }
}

/// The pipe closes when the mains have ended and when the probe is gone: whatever ends the probe
/// ends the namespace.
fn serve(pipe: i32) -> ! {
    // SAFETY: only `pipe` is used from here on; the standard descriptors belong to the probe.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::setsid();
        libc::signal(libc::SIGCHLD, wake as *const () as libc::sighandler_t);
        sys::close_all_but(pipe);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        let mut watched = libc::pollfd { fd: pipe, events: libc::POLLIN, revents: 0 };
        // Orphans reaped here count in our rusage, and so in what the probe gets from its wait.
        // SIGCHLD is let in only while we sleep, so none falls between the reaping and the sleep.
        while libc::ppoll(&mut watched, 1, std::ptr::null(), &none) <= 0 {
            while libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) > 0 {}
        }
        while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 || sys::errno() == libc::EINTR {}
        libc::_exit(0)
    }
}

/// A signal without a handler would not end the sleep.
extern "C" fn wake(_: i32) {}
