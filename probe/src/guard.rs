//! A process that outlives a killed probe just long enough to kill its tree.

use crate::cgroup::Leaf;
use crate::sys;
use std::os::fd::{AsRawFd, OwnedFd};

/// Dropped after the leaf: the guard sees the pipe close and finds nothing left to do.
pub struct Guard {
    pid: i32,
    pipe: Option<OwnedFd>,
}

impl Guard {
    /// Err is the kernel's answer in words.
    pub fn start(leaf: &Leaf, parts: &[Leaf]) -> Result<Guard, String> {
        let said = |e: std::io::Error| format!("a guard process: {}", sys::describe_error(&e));
        let (read, write) = sys::pipe().map_err(said)?;
        // No signal at its end: wait4(-1) then overlooks it, and still tells when the tree is empty.
        // SAFETY: as fork: no new stack, no shared memory.
        match sys::check(unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) }).map_err(said)? {
            0 => {
                drop(write); // our own half would keep the pipe open for ever
                watch(leaf, parts, read)
            }
            pid => Ok(Guard { pid: pid as i32, pipe: Some(write) }),
        }
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }
}

fn watch(leaf: &Leaf, parts: &[Leaf], pipe: OwnedFd) -> ! {
    // SAFETY: a signal to the caller's session does not concern us.
    unsafe { libc::setsid() };
    // Nothing but `pipe` is used from here on; above all, our half of the caller's pipes must not
    // stay open after the probe.
    sys::close_all_but(pipe.as_raw_fd());
    while sys::read(&pipe, &mut [0]).is_err() {}
    std::iter::once(leaf).chain(parts).for_each(Leaf::clear);
    // SAFETY: leaves without running anything of the probe's.
    unsafe { libc::_exit(0) }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.pipe = None;
        // A workload may have stopped it, and we would wait for ever.
        // SAFETY: a signal to a child of ours, and a wait for it, which no other wait takes away.
        unsafe {
            libc::kill(self.pid, libc::SIGCONT);
            libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WALL);
        }
    }
}
