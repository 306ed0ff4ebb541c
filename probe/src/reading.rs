//! Read what copies write as it arrives: output, the lines of protocol/workload.md, and `ready`, which releases them.

use crate::capture::{echo, pump};
use crate::copies::Copy;
use crate::watch::{seconds, Early, Watch};
use std::os::fd::AsRawFd;

impl Watch<'_> {
    pub fn read_stdout(&mut self, i: usize) {
        let copy = &mut self.copies[i];
        let Some(fd) = &copy.stdout else { return };
        let (kept, echoes) = (&mut copy.kept_out, self.spec.echo);
        let ended = pump(fd, |bytes| {
            kept.push(bytes);
            echo(bytes, echoes);
        });
        if ended {
            copy.stdout = None;
        }
    }

    pub fn read_stderr(&mut self, i: usize) {
        let copy = &mut self.copies[i];
        let Some(fd) = &copy.stderr else { return };
        let (kept, service, echoes) = (&mut copy.kept_err, &mut copy.service, self.spec.echo);
        let ended = pump(fd, |bytes| {
            kept.push(bytes);
            echo(bytes, echoes);
            service.iter_mut().for_each(|s| s.hear(bytes));
        });
        if ended {
            copy.stderr = None;
        }
    }

    pub fn read_events(&mut self, i: usize) {
        let (copy, budget) = (&mut self.copies[i], &mut self.budget);
        let Some(fd) = &copy.events else { return };
        let mut broken = None;
        let speech = &mut copy.speech;
        let ended = pump(fd, |bytes| {
            if broken.is_none() {
                broken = speech.feed(bytes, budget).err();
            }
        });
        if ended || broken.is_some() {
            copy.events = None;
        }
        if let Some(line) = broken {
            self.break_protocol(i, &line);
        }
        self.release();
    }

    fn break_protocol(&mut self, copy: usize, line: &str) {
        let reason = format!("copy {copy} wrote {line}");
        if self.mains_left > 0 {
            self.stop("protocol", reason);
        } else {
            self.early.get_or_insert(Early { status: "protocol", reason });
        }
    }

    /// Read what the pipes still hold, without waiting: a process that could not be killed may still write.
    pub fn read_rest(&mut self, i: usize) {
        self.read_stdout(i);
        self.read_stderr(i);
        self.read_events(i);
    }

    pub fn check_last_lines(&mut self) {
        if self.early.is_some() {
            return;
        }
        // A copy that dies with a full buffer leaves half a line; then its exit code is the better reason.
        let commands = &self.spec.commands;
        let is_right = |c: &Copy| c.exit_code().is_some_and(|code| commands[c.command].ok_exits.contains(&code));
        let mut ended_well = self.copies.iter().enumerate().filter(|(_, c)| is_right(c));
        let torn = ended_well.find_map(|(i, c)| Some((i, c.speech.finish().err()?)));
        if let Some((copy, line)) = torn {
            self.break_protocol(copy, &line);
        }
    }

    /// Whether at least one copy waits to be released.
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

    /// Release every waiting copy by one byte, once no other may still write `ready`.
    ///
    /// The writes follow each other directly, so that copies start as close together as possible.
    pub fn release(&mut self) {
        if !self.holds() || self.copies.iter().any(Copy::may_wait) || self.await_release() {
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
