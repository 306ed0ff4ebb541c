//! The time between the gate and the end of the tree: wait, reap, read, and kill when due.

use crate::board::{Board, Stage};
use crate::capture::pump;
use crate::conditions::Conditions;
use crate::contain::Containment;
use crate::copies::{Copy, End, Launched, Usage};
use crate::error::shorten;
use crate::host::{self, MachineTime};
use crate::in_force;
use crate::neighbors;
use crate::poller::{Poller, Source};
use crate::records::Records;
use crate::spec::Spec;
use crate::stopped::Stopped;
use crate::sys::{self, SECOND};
use crate::workload::Budget;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

/// How long the rest of a tree may outlive its last main.
const LINGER_NS: u64 = SECOND;
/// A tree in uninterruptible sleep may take this long to die; then we say so and leave.
const GIVE_UP_NS: u64 = 10 * SECOND;
const KILL_AGAIN_NS: u64 = 50_000_000;

/// Why a run ended before its copies did.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    pub status: &'static str,
    pub reason: String,
}

pub struct Watch<'a> {
    pub spec: &'a Spec,
    pub copies: Vec<Copy>,
    pub board: &'a Board,
    pub contain: &'a Containment,
    pub poller: &'a Poller,
    pub records: Option<Records>,
    /// CPUs whose /proc/stat rows belong to the run.
    pub cpus: Vec<usize>,
    /// For each copy, whether it is the first on its CPU.
    pub spins: Vec<bool>,
    pub budget: Budget,
    pub early: Option<Early>,
    pub adopted: Usage,
    pub n_survivors: u64,
    pub unkillable: bool,
    pub mains_left: usize,
    pub tree_end_ns: u64,
    pub mains_end_ns: Option<u64>,
    pub machine_end: Option<MachineTime>,
    pub conditions_end: Conditions,
    pub stopped: Stopped,
    pub observer_end_ns: u64,
    pub shares_memory: bool,
    /// The probe's own peak by the time that all copies had left its memory, where they shared it.
    pub hidden_rss_bytes: u64,
    pub gate_ns: u64,
    pub killed_ns: Option<u64>,
    pub gone: bool,
}

impl<'a> Watch<'a> {
    pub fn new(
        spec: &'a Spec,
        launched: Launched,
        board: &'a Board,
        contain: &'a Containment,
        poller: &'a Poller,
        records: Option<Records>,
    ) -> Watch<'a> {
        Watch {
            spec,
            mains_left: launched.copies.len(),
            copies: launched.copies,
            board,
            contain,
            poller,
            records,
            cpus: launched.cpus,
            spins: launched.spins,
            shares_memory: launched.shares_memory,
            hidden_rss_bytes: 0,
            budget: Budget::new(),
            early: None,
            adopted: Usage::default(),
            n_survivors: 0,
            unkillable: false,
            tree_end_ns: 0,
            mains_end_ns: None,
            machine_end: None,
            conditions_end: Conditions::default(),
            stopped: Stopped::default(),
            observer_end_ns: 0,
            gate_ns: 0,
            killed_ns: None,
            gone: false,
        }
    }

    /// Goes once over the way that the end of a copy will take. Pages of code and stack that are
    /// touched for the first time then would be counted as the copy's.
    pub fn rehearse(&mut self) {
        self.poller.wait(0);
        self.on_signals();
        self.reap();
        let _ = self.copies.first().and_then(|copy| in_force::of(copy.pid));
        (0..self.copies.len()).for_each(|i| self.read_rest(i));
    }

    pub fn until_gone(&mut self) {
        while !self.gone && !self.unkillable {
            let now = sys::now_ns();
            let sources = self.poller.wait(self.next_ns(now).saturating_sub(now));
            sources.into_iter().for_each(|source| self.on(source));
            self.on_time(sys::now_ns());
        }
        (0..self.copies.len()).for_each(|i| self.read_rest(i));
        self.check_last_lines();
        self.settle_gate();
        let (end, gate, leaf) = (self.tree_end_ns, self.gate_ns, self.contain.leaf());
        self.records.iter_mut().for_each(|r| r.finish(end, gate, leaf));
    }

    fn on(&mut self, source: Source) {
        match source {
            Source::Signal => self.on_signals(),
            Source::Stdout(i) => self.read_stdout(i),
            Source::Stderr(i) => self.read_stderr(i),
            Source::Events(i) => self.read_events(i),
            Source::Ring => self.drain(),
            Source::Reader => self.stop("interrupted", "the reader of standard output has gone; killed".into()),
        }
    }

    fn next_ns(&self, now: u64) -> u64 {
        if self.killed_ns.is_some() {
            return now + KILL_AGAIN_NS;
        }
        if let Some(end) = self.mains_end_ns {
            return end + LINGER_NS;
        }
        let timeout = self.gate_ns.saturating_add(self.spec.timeout_ns);
        let ready = if self.holds() { self.ready_limit() } else { u64::MAX };
        let records = self.records.as_ref().map_or(u64::MAX, |r| r.next_ns());
        timeout.min(ready).min(records)
    }

    fn on_time(&mut self, now: u64) {
        if let Some(killed) = self.killed_ns {
            self.unkillable = now > killed + GIVE_UP_NS;
            self.contain.kill();
        } else if let Some(end) = self.mains_end_ns {
            if now >= end + LINGER_NS {
                self.end_survivors();
            }
        } else if now >= self.gate_ns.saturating_add(self.spec.timeout_ns) {
            let reason = format!("still running after {} s; killed", seconds(self.spec.timeout_ns));
            self.stop("timeout", reason);
        } else if self.holds() && now >= self.ready_limit() {
            self.stop("timeout", self.not_ready());
        }
        if self.records.as_ref().is_some_and(|r| now >= r.next_ns()) {
            self.settle_gate();
            let (gate, leaf) = (self.gate_ns, self.contain.leaf());
            self.records.iter_mut().for_each(|r| r.on_time(now, gate, leaf));
        }
    }

    fn drain(&mut self) {
        self.settle_gate();
        let (gate, leaf) = (self.gate_ns, self.contain.leaf());
        self.records.iter_mut().for_each(|r| r.on_ring(sys::now_ns(), gate, leaf));
    }

    /// The gate as it was, not as planned: the first copy's leaving.
    fn settle_gate(&mut self) {
        let left = self.board.slots().map(|s| s.left_ns.load(SeqCst)).filter(|t| *t > 0);
        self.gate_ns = left.min().unwrap_or(self.gate_ns);
    }

    /// The first cause stands: what follows a kill is its effect.
    pub fn stop(&mut self, status: &'static str, reason: String) {
        if self.early.is_none() && self.mains_left > 0 {
            self.early = Some(Early { status, reason });
            self.kill();
        }
    }

    /// A list of processes misses whoever hops from one to the next; the kernel, asked for children, does not.
    fn end_survivors(&mut self) {
        self.reap();
        if !self.gone {
            self.n_survivors = self.contain.n_alive().max(1);
            self.kill();
        }
    }

    fn kill(&mut self) {
        self.killed_ns.get_or_insert(sys::now_ns());
        self.contain.kill();
    }

    fn on_signals(&mut self) {
        for (signal, sender) in self.poller.signals() {
            match signal {
                libc::SIGCHLD => self.reap(),
                libc::SIGHUP => self.stop("interrupted", told("SIGHUP", sender)),
                libc::SIGINT => self.stop("interrupted", told("SIGINT", sender)),
                _ => self.stop("interrupted", told("SIGTERM", sender)),
            }
        }
    }

    /// One SIGCHLD may stand for several ends.
    pub fn reap(&mut self) {
        loop {
            match sys::next_waitable() {
                Ok(0) => return,
                Ok(pid) => self.wait_for(pid),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.gone = self.mains_left == 0;
                    return;
                }
            }
        }
    }

    fn wait_for(&mut self, pid: i32) {
        let main = self.copies.iter().position(|c| c.pid == pid && c.end.is_none());
        // Once it is waited for, nobody can ask any more.
        let at_end = main.and_then(|_| in_force::of(pid));
        let mut status = 0;
        // SAFETY: rusage is plain numbers, filled by the kernel.
        let (waited, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let how = libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED;
            (libc::wait4(pid, &mut status, how, &mut usage), usage)
        };
        let at_ns = sys::now_ns();
        if waited != pid || self.stopped.take(pid, status, at_ns) {
            return;
        }
        let end = End { at_ns, status, usage: Usage::from_kernel(&usage) };
        match main {
            Some(index) => {
                (self.copies[index].end, self.copies[index].at_end) = (Some(end), at_end);
                self.on_end(index, at_ns);
            }
            None => self.adopted.add(&end.usage),
        }
        self.tree_end_ns = at_ns;
    }

    pub fn conditions(&self) -> Conditions {
        Conditions::read(Path::new("/"), &self.cpus, self.contain.leaf())
    }

    fn on_end(&mut self, index: usize, at_ns: u64) {
        self.stopped.gone(self.copies[index].pid, at_ns);
        self.mains_left -= 1;
        if let Some((Stage::Exec, errno)) = self.board.slot(index).failure() {
            let command = self.copies[index].command;
            let program = shorten(&self.spec.commands[command].argv[0]);
            let reason = format!("commands[{command}].argv[0]: {program}: {}", sys::describe(errno));
            self.early.get_or_insert(Early { status: "not started", reason });
            self.kill();
        }
        if self.mains_left == 0 {
            self.mains_end_ns = Some(at_ns);
            self.observer_end_ns = sys::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
            self.machine_end = host::machine_time(&self.cpus);
            self.conditions_end = self.conditions();
            self.hidden_rss_bytes = if self.shares_memory { Usage::own().max_rss_bytes } else { 0 };
            self.contain.close();
        }
        self.release();
    }

    fn read_stdout(&mut self, i: usize) {
        let copy = &mut self.copies[i];
        let Some(fd) = &copy.stdout else { return };
        if pump(fd, |bytes| copy.kept_out.push(bytes)) {
            copy.stdout = None;
        }
    }

    fn read_stderr(&mut self, i: usize) {
        let copy = &mut self.copies[i];
        let Some(fd) = &copy.stderr else { return };
        if pump(fd, |bytes| copy.kept_err.push(bytes)) {
            copy.stderr = None;
        }
    }

    fn read_events(&mut self, i: usize) {
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
        if let Some(why) = broken {
            self.break_protocol(i, &why);
        }
        self.release();
    }

    fn break_protocol(&mut self, copy: usize, why: &str) {
        let reason = format!("copy {copy} wrote {why}");
        if self.mains_left > 0 {
            self.stop("protocol", reason);
        } else {
            self.early.get_or_insert(Early { status: "protocol", reason });
        }
    }

    /// What the pipes still hold after the last process; a survivor that could not be killed may
    /// still write, so this reads what is there and waits for nothing.
    fn read_rest(&mut self, i: usize) {
        self.read_stdout(i);
        self.read_stderr(i);
        self.read_events(i);
    }

    fn check_last_lines(&mut self) {
        if self.early.is_some() {
            return;
        }
        // Who dies with a full buffer leaves half a line: how it ended says more.
        let mut ended_well = self.copies.iter().enumerate().filter(|(_, c)| c.exit_code() == Some(0));
        let torn = ended_well.find_map(|(i, c)| Some((i, c.speech.finish().err()?)));
        if let Some((copy, why)) = torn {
            self.break_protocol(copy, &why);
        }
    }

    /// At least one copy waits for its byte, and not all have said whether they will.
    fn holds(&self) -> bool {
        self.spec.events && self.copies.iter().any(Copy::waits)
    }

    fn ready_limit(&self) -> u64 {
        self.gate_ns.saturating_add(self.spec.ready_timeout_ns)
    }

    fn not_ready(&self) -> String {
        let late = self.copies.iter().position(Copy::may_wait).unwrap_or(0);
        let limit = seconds(self.spec.ready_timeout_ns);
        format!("copy {late} had not written ready after {limit} s, while another waited; killed")
    }

    /// All have said so, or have ended, or will not: every waiting copy gets its byte, the
    /// writes back to back, so that nothing of ours stands between the first and the last.
    fn release(&mut self) {
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

/// Who wants a run ended may be a process of it.
fn told(signal: &str, sender: u32) -> String {
    let name = neighbors::name_of(sender).unwrap_or_else(|| "a process".into());
    format!("{signal} received from {name} ({sender}); killed")
}

pub fn seconds(ns: u64) -> String {
    let tenths = ns / (SECOND / 10);
    if ns % (SECOND / 10) == 0 {
        format!("{}.{}", tenths / 10, tenths % 10)
    } else {
        format!("{}", ns as f64 / SECOND as f64)
    }
}
