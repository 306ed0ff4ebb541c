//! A run on several machines: whoever asked for it opens the gate of each by a line on standard input, and so on.

use crate::events::{Awaits, Event};
use crate::poller::Source;
use crate::sys;
use crate::watch::Watch;
use std::io::{self, Write};

impl Watch<'_> {
    /// Wait at the gate for the line that opens it, or for an early end.
    pub fn await_gate(&mut self) {
        if self.early.is_none() {
            self.announce("gate");
        }
        while self.early.is_none() && self.asker.n_lines == 0 {
            self.step(u64::MAX);
        }
    }

    /// Whether copies that are ready wait for more than each other: for those on other machines.
    pub fn await_release(&mut self) -> bool {
        if self.spec.is_asked && !self.asker.is_ready_told {
            self.asker.is_ready_told = true;
            self.announce("release");
        }
        self.spec.is_asked && self.asker.n_lines < 2
    }

    /// Whether services outlive the window until others have closed theirs.
    pub fn holds_services(&self) -> bool {
        self.spec.is_asked && !self.asker.is_gone && self.killed_ns.is_none()
    }

    pub fn announce(&self, what: &str) {
        let event = Event::Awaits(Awaits {
            run: self.spec.run.clone(),
            what: what.into(),
            clock_ns: sys::clock_ns(libc::CLOCK_REALTIME),
        });
        let mut out = io::stdout();
        // If nobody reads any more, the poller reports it.
        let _ = event.write(&mut out).and_then(|()| out.flush());
    }

    pub fn hear_asker(&mut self) {
        let mut buffer = [0u8; 64];
        // SAFETY: the buffer is ours and its length is given.
        let n = unsafe { libc::read(libc::STDIN_FILENO, buffer.as_mut_ptr().cast(), buffer.len()) };
        let now = sys::now_ns();
        if n <= 0 {
            self.asker.is_gone = true;
            self.poller.remove(libc::STDIN_FILENO);
            return match self.mains_end_ns {
                Some(_) => self.stop_services(now),
                None => self.stop("interrupted", "whoever asked for the run has gone; killed".into()),
            };
        }
        self.asker.n_lines += buffer[..n as usize].iter().filter(|byte| **byte == b'\n').count();
        if self.spec.n_services() < self.spec.commands.len() {
            self.release();
        } else if self.asker.n_lines >= 2 && self.gate_ns > 0 && self.mains_end_ns.is_none() {
            self.close_window(now);
        }
    }

    pub fn hear_standard_input(&self) -> io::Result<()> {
        if self.spec.is_asked {
            self.poller.add(libc::STDIN_FILENO, Source::Asker)
        } else {
            Ok(())
        }
    }
}
