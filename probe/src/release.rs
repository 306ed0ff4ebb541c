//! Copies that have written `ready`: they wait for one byte, and get it together.

use crate::copies::Copy;
use crate::watch::{seconds, Watch};
use std::os::fd::AsRawFd;

impl Watch<'_> {
    /// At least one copy waits for its byte, and not all have said whether they will.
    pub fn holds(&self) -> bool {
        self.spec.events && self.copies.iter().any(Copy::waits)
    }

    pub fn ready_limit(&self) -> u64 {
        self.gate_ns.saturating_add(self.spec.ready_timeout_ns)
    }

    pub fn not_ready(&self) -> String {
        let late = self.copies.iter().position(Copy::may_wait).unwrap_or(0);
        let limit = seconds(self.spec.ready_timeout_ns);
        format!("copy {late} had not written ready after {limit} s, while another waited; killed")
    }

    /// All have said so, or have ended, or will not: every waiting copy gets its byte, the
    /// writes back to back, so that nothing of ours stands between the first and the last.
    pub fn release(&mut self) {
        if !self.holds() || self.copies.iter().any(Copy::may_wait) {
            return;
        }
        for copy in self.copies.iter_mut().filter(|c| c.waits()) {
            if let Some(go) = copy.go.take() {
                // SAFETY: one byte from a constant into a pipe of ours.
                unsafe { libc::write(go.as_raw_fd(), b"g".as_ptr().cast(), 1) };
            }
        }
    }
}
