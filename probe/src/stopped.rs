//! How long copies stood still because somebody stopped them (SIGSTOP, a debugger's job control).

use std::collections::HashSet;

#[derive(Default)]
pub struct Stopped {
    still: HashSet<i32>,
    since_ns: u64,
    total_ns: u64,
}

impl Stopped {
    /// Whether a status of wait4 tells of a stop or a going on rather than of an end.
    pub fn take(&mut self, pid: i32, status: i32, at_ns: u64) -> bool {
        if libc::WIFSTOPPED(status) {
            if self.still.is_empty() {
                self.since_ns = at_ns;
            }
            self.still.insert(pid);
            return true;
        }
        let goes_on = libc::WIFCONTINUED(status);
        if goes_on {
            self.gone(pid, at_ns);
        }
        goes_on
    }

    /// It goes on, or has ended.
    pub fn gone(&mut self, pid: i32, at_ns: u64) {
        if self.still.remove(&pid) && self.still.is_empty() {
            self.total_ns += at_ns.saturating_sub(self.since_ns);
        }
    }

    /// Time in which at least one copy was stopped.
    pub fn total_ns(&self) -> u64 {
        self.total_ns
    }
}
