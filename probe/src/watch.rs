//! The run while processes live: wait for events, reap, read, and kill at a limit.

use crate::board::{Board, Stage};
use crate::conditions::Conditions;
use crate::contain::Containment;
use crate::copies::{Copy, End, Stopped, Usage};
use crate::error::shorten;
use crate::host::MachineTime;
use crate::in_force;
use crate::neighbors;
use crate::others::Snapshot;
use crate::poller::{Poller, Source};
use crate::readings::Reading;
use crate::records::Records;
use crate::sentinel::Sentinel;
use crate::spec::Spec;
use crate::sys::{self, SECOND};
use crate::workload::Budget;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;

/// How long the rest of a tree may outlive its last main process.
const LINGER_NS: u64 = SECOND;
/// How long killed processes may take to die; one in uninterruptible sleep is reported then, and left.
pub const GIVE_UP_NS: u64 = 10 * SECOND;
pub const KILL_AGAIN_NS: u64 = 50_000_000;

/// The reason why a run ended before its copies did.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    pub status: &'static str,
    pub reason: String,
}

/// What was heard on standard input behind the specification.
#[derive(Default)]
pub struct Asker {
    pub n_lines: usize,
    pub is_gone: bool,
    pub is_ready_told: bool,
}

pub struct Watch<'a> {
    pub spec: &'a Spec,
    pub copies: Vec<Copy>,
    pub board: &'a Board,
    pub contain: &'a Containment,
    pub poller: &'a Poller,
    pub records: Option<Records>,
    pub sentinel: Option<Sentinel>,
    /// CPUs whose /proc/stat rows belong to the run.
    pub cpus: Vec<usize>,
    /// For each copy, whether it is the first on its CPU.
    pub spins: Vec<bool>,
    pub budget: Budget,
    pub early: Option<Early>,
    pub asker: Asker,
    pub adopted: Usage,
    pub n_survivors: u64,
    /// CPU time of the leaf when the last main had ended: what survivors use is none of the run's.
    pub leaf_ns: Option<u64>,
    pub unkillable: bool,
    pub mains_left: usize,
    pub tree_end_ns: u64,
    /// End of the last driver, which closes the window.
    pub mains_end_ns: Option<u64>,
    /// End of the last main process, services included.
    pub ended_ns: Option<u64>,
    /// What each command had used at both ends of the window.
    pub used: (Vec<Reading>, Vec<Reading>),
    pub machine_end: Option<MachineTime>,
    /// Who had used how much before anything was started.
    pub others_before: Snapshot,
    pub conditions_end: Conditions,
    pub stopped: Stopped,
    pub observer_end_ns: u64,
    pub shares_memory: bool,
    /// The probe's own peak by the time that all copies had left its memory, where they shared it.
    pub hidden_rss_bytes: u64,
    pub gate_ns: u64,
    pub killed_ns: Option<u64>,
    pub gone: bool,
    /// Descriptors of the services that run already; None once one has ended.
    pub running: Vec<Option<OwnedFd>>,
}

impl<'a> Watch<'a> {
    /// Make the state of a run before anything starts; `cpus` are those that the copies together may use.
    pub fn new(
        spec: &'a Spec,
        cpus: Vec<usize>,
        board: &'a Board,
        contain: &'a Containment,
        poller: &'a Poller,
        records: Option<Records>,
        shares_memory: bool,
    ) -> Watch<'a> {
        Watch {
            spec,
            mains_left: 0,
            copies: Vec::new(),
            board,
            contain,
            poller,
            records,
            sentinel: None,
            cpus,
            spins: Vec::new(),
            shares_memory,
            hidden_rss_bytes: 0,
            budget: Budget::new(),
            early: None,
            asker: Asker::default(),
            adopted: Usage::default(),
            n_survivors: 0,
            leaf_ns: None,
            unkillable: false,
            tree_end_ns: 0,
            mains_end_ns: None,
            ended_ns: None,
            machine_end: None,
            others_before: Snapshot::read(),
            conditions_end: Conditions::default(),
            stopped: Stopped::default(),
            observer_end_ns: 0,
            used: Default::default(),
            gate_ns: 0,
            killed_ns: None,
            gone: false,
            running: Vec::new(),
        }
    }

    pub fn listen(&self) -> io::Result<()> {
        for fd in self.records.iter().flat_map(Records::fds) {
            self.poller.add(fd, Source::Ring)?;
        }
        // Fails for a plain file, which has no reader to lose.
        let _ = self.poller.add(libc::STDOUT_FILENO, Source::Reader);
        self.hear_standard_input()
    }

    /// Add copies that wait at the gate, with whether each is the first on its CPU.
    pub fn join(&mut self, (copies, spins): (Vec<Copy>, Vec<bool>)) -> io::Result<()> {
        for (i, copy) in (self.copies.len()..).zip(&copies) {
            let pipes = [(&copy.stdout, Source::Stdout(i)), (&copy.stderr, Source::Stderr(i))];
            for (fd, source) in pipes.into_iter().chain([(&copy.events, Source::Events(i))]) {
                fd.as_ref().map_or(Ok(()), |fd| self.poller.add(fd.as_raw_fd(), source))?;
            }
        }
        self.mains_left += copies.iter().filter(|c| c.service.is_none()).count();
        self.copies.extend(copies);
        self.spins = spins;
        Ok(())
    }

    pub fn drivers(&self) -> impl Iterator<Item = &Copy> {
        self.copies.iter().filter(|c| c.service.is_none())
    }

    /// Run once the code that handles the end of a copy.
    ///
    /// Pages of code and stack that are first touched at that end would be counted as the copy's.
    pub fn rehearse(&mut self) {
        self.poller.wait(0);
        self.on_signals();
        self.reap();
        let _ = self.copies.first().and_then(|copy| in_force::of(copy.pid));
        (0..self.copies.len()).for_each(|i| self.read_rest(i));
    }

    pub fn until_gone(&mut self) {
        while !self.gone && !self.unkillable {
            self.step(u64::MAX);
        }
        (0..self.copies.len()).for_each(|i| self.read_rest(i));
        self.check_last_lines();
        self.settle_gate();
        let (end, gate, contain) = (self.tree_end_ns, self.gate_ns, self.contain);
        self.records.iter_mut().for_each(|r| r.finish(end, gate, contain));
        self.check_ports_are_free();
    }

    /// Wait for the next events, at most until the limit, and handle them.
    pub fn step(&mut self, limit_ns: u64) {
        let now = sys::now_ns();
        let sources = self.poller.wait(self.next_ns(now).min(limit_ns).saturating_sub(now));
        sources.into_iter().for_each(|source| self.on(source));
        self.on_time(sys::now_ns());
    }

    fn on(&mut self, source: Source) {
        match source {
            Source::Signal => self.on_signals(),
            Source::Stdout(i) => self.read_stdout(i),
            Source::Stderr(i) => self.read_stderr(i),
            Source::Events(i) => self.read_events(i),
            Source::Ring => self.drain(),
            Source::Asker => self.hear_asker(),
            Source::Running(i) => self.on_running_end(i),
            Source::Reader => self.stop("interrupted", "the reader of standard output has gone; killed".into()),
        }
    }

    fn next_ns(&self, now: u64) -> u64 {
        if self.killed_ns.is_some() {
            return now + KILL_AGAIN_NS;
        }
        if let Some(end) = self.ended_ns {
            return end + LINGER_NS;
        }
        if self.mains_end_ns.is_some() {
            return self.stop_limit(now);
        }
        let timeout = self.timeout();
        let ready = if self.holds() { self.ready_limit() } else { u64::MAX };
        let records = self.records.as_ref().map_or(u64::MAX, |r| r.next_ns());
        timeout.min(ready).min(records)
    }

    fn on_time(&mut self, now: u64) {
        if let Some(killed) = self.killed_ns {
            self.unkillable = now > killed + GIVE_UP_NS;
            self.contain.kill();
        } else if let Some(end) = self.ended_ns {
            if now >= end + LINGER_NS {
                self.end_survivors();
            }
        } else if self.mains_end_ns.is_some() {
            self.stop_services(now);
        } else if now >= self.timeout() {
            let reason = format!("still running after {} s; killed", seconds(self.spec.timeout_ns));
            self.stop("timeout", reason);
        } else if self.holds() && now >= self.ready_limit() {
            self.stop("timeout", self.not_ready());
        }
        if self.records.as_ref().is_some_and(|r| now >= r.next_ns()) {
            self.settle_gate();
            let (gate, contain) = (self.gate_ns, self.contain);
            self.records.iter_mut().for_each(|r| r.on_time(now, gate, contain));
        }
    }

    /// Services have limits of their own until the gate opens.
    fn timeout(&self) -> u64 {
        if self.gate_ns == 0 {
            return u64::MAX;
        }
        self.gate_ns.saturating_add(self.spec.timeout_ns)
    }

    fn drain(&mut self) {
        self.settle_gate();
        let (gate, contain) = (self.gate_ns, self.contain);
        self.records.iter_mut().for_each(|r| r.on_ring(sys::now_ns(), gate, contain));
    }

    /// Return the CPU time that the probe has used, its sentinel included.
    pub fn observer_ns(&self) -> u64 {
        let sentinel = self.sentinel.as_ref().map_or(0, Sentinel::cpu_ns);
        sys::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID) + sentinel
    }

    /// Set the gate to the time at which the first copy left it.
    fn settle_gate(&mut self) {
        let left = self.board.slots().map(|s| s.left_ns.load(SeqCst)).filter(|t| *t > 0);
        self.gate_ns = left.min().unwrap_or(self.gate_ns);
    }

    /// End the run for a reason; the first one stands, since what follows a kill is its effect.
    pub fn stop(&mut self, status: &'static str, reason: String) {
        if self.early.is_none() && self.mains_end_ns.is_none() {
            self.early = Some(Early { status, reason });
            self.kill();
        } else if self.mains_end_ns.is_some() && self.ended_ns.is_none() {
            self.kill(); // Only services still run: they need not stop by themselves.
        }
    }

    /// Kill what outlived the main processes. Reaping tells whether any is left: a list may miss one that forks.
    fn end_survivors(&mut self) {
        self.reap();
        if !self.gone {
            self.n_survivors = self.contain.n_alive().max(1);
            let (end, gate, contain) = (self.mains_end_ns.unwrap_or(0), self.gate_ns, self.contain);
            self.records.iter_mut().for_each(|r| r.close(end, gate, contain));
            self.kill();
        }
    }

    pub fn kill(&mut self) {
        self.killed_ns.get_or_insert(sys::now_ns());
        self.contain.kill();
    }

    fn on_signals(&mut self) {
        for (signal, sender) in self.poller.signals() {
            match signal {
                libc::SIGCHLD => self.reap(),
                libc::SIGHUP => self.stop("interrupted", signal_text("SIGHUP", sender)),
                libc::SIGINT => self.stop("interrupted", signal_text("SIGINT", sender)),
                _ => self.stop("interrupted", signal_text("SIGTERM", sender)),
            }
        }
    }

    /// Reap every ended child: one SIGCHLD may stand for several.
    pub fn reap(&mut self) {
        loop {
            match sys::next_waitable() {
                Ok(0) => return,
                Ok(pid) => self.wait_for(pid),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.gone = self.copies.iter().all(|c| c.end.is_some());
                    return;
                }
            }
        }
    }

    fn wait_for(&mut self, pid: i32) {
        let main = self.copies.iter().position(|c| c.pid == pid && c.end.is_none());
        // The kernel reports these only until the process is waited for.
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
                self.stopped.gone(pid, at_ns);
                match self.copies[index].service {
                    None => self.on_end(index, at_ns),
                    Some(_) => self.on_service_end(index),
                }
            }
            None => self.adopted.add(&end.usage),
        }
        self.tree_end_ns = at_ns;
    }

    fn on_end(&mut self, index: usize, at_ns: u64) {
        self.mains_left -= 1;
        if let Some((Stage::Exec, errno)) = self.copies[index].slot.failure() {
            let command = self.copies[index].command;
            let program = shorten(&self.spec.commands[command].argv[0]);
            let reason = format!("commands[{command}].argv[0]: {program}: {}", sys::describe(errno));
            self.early.get_or_insert(Early { status: "not started", reason });
            self.kill();
        }
        if self.mains_left == 0 {
            self.close_window(at_ns);
        }
        self.release();
    }
}

/// Describe a signal by its sender, which may be a process of the run.
fn signal_text(signal: &str, sender: u32) -> String {
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
