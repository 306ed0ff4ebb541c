//! Services before the gate: each is started, and ready, before the next one starts.

use crate::board::{Board, Stage};
use crate::error::{shorten, Refusal};
use crate::families;
use crate::gate;
use crate::listeners::{self, Listener};
use crate::neighbors;
use crate::role::Service;
use crate::starting::Starter;
use crate::sys;
use crate::watch::{seconds, Early, Watch};
use std::fs;
use std::path::Path;

/// Bounds of the interval between two checks for readiness: an eighth of the time so far.
const LOOK_NS: (u64, u64) = (1_000_000, 20_000_000);

impl<'a> Watch<'a> {
    /// Start each service and wait until it is ready. The first failure ends the run (`early`).
    ///
    /// A service is the only copy of its command, so both have one index.
    pub fn start_services(&mut self, starter: &Starter) -> Result<(), Refusal> {
        for command in 0..self.spec.n_services() {
            self.check_ports(command, 0, "is already listened on");
            if self.early.is_none() {
                self.start_service(command, starter)?;
                self.await_ready(command);
            }
        }
        Ok(())
    }

    fn start_service(&mut self, command: usize, starter: &Starter) -> Result<(), Refusal> {
        if let Some(records) = &mut self.records {
            records.enable_lives().map_err(|e| Refusal::os("perf events", &e))?;
        }
        let board = Board::new(1).map_err(|e| Refusal::os("shared memory", &e))?;
        let started = starter.start(command..command + 1, &board)?;
        let pid = started.0[0].pid;
        self.records.iter_mut().for_each(|r| r.tree.add_main(pid as u32, command));
        self.join(started).map_err(|e| Refusal::os("epoll", &e))?;
        gate::open(&board, 1);
        Ok(())
    }

    fn await_ready(&mut self, index: usize) {
        let Some(service) = self.service(index) else { return };
        let begin = sys::now_ns();
        let limit = begin.saturating_add(service.ready_timeout_ns);
        while self.early.is_none() {
            let (now, copy) = (sys::now_ns(), &mut self.copies[index]);
            let missing = copy.service.as_mut().and_then(|s| s.missing(copy.pid, &service.ports, now));
            match missing {
                None => {
                    self.copies[index].service.iter_mut().for_each(|s| s.ready_ns = Some(now));
                    return self.check_ports(index, 1, "");
                }
                Some(what) if now >= limit => {
                    let (after, found) = (seconds(service.ready_timeout_ns), self.elsewhere(index));
                    self.fail(index, &format!("was not ready after {after} s: {what}{found}"));
                }
                Some(_) => self.step(now + ((now - begin) / 8).clamp(LOOK_NS.0, LOOK_NS.1)),
            }
        }
    }

    /// Return the other ports that a service listens on, as text.
    fn elsewhere(&self, command: usize) -> String {
        let own = self.service(command).map_or(&[][..], |s| &s.ports);
        let found = self.ports_of(command, &listeners::all(Path::new("/")));
        let other: Vec<String> = found.iter().filter(|port| !own.contains(port)).map(u16::to_string).collect();
        if own.is_empty() || other.is_empty() {
            return String::new();
        }
        format!("; it listens on port {}", other.join(", "))
    }

    /// Return the service of a command; None for a driver.
    pub fn service(&self, command: usize) -> Option<&'a Service> {
        self.spec.commands[command].service.as_ref()
    }

    fn fail(&mut self, command: usize, how: &str) {
        let reason = format!("service {} {how}", self.label(command));
        self.stop("failed", reason);
    }

    /// Return the name of a command, with its number if others have the same name.
    fn label(&self, command: usize) -> String {
        let name = &self.spec.commands[command].name;
        let same: Vec<usize> = (0..self.spec.commands.len()).filter(|i| self.spec.commands[*i].name == *name).collect();
        let number = same.iter().position(|i| *i == command).map_or(0, |at| at + 1);
        if same.len() == 1 {
            name.clone()
        } else {
            format!("{name} ({number} of {})", same.len())
        }
    }

    /// Fail the run if a port of a service has more than `most` listeners.
    fn check_ports(&mut self, command: usize, most: usize, taken: &str) {
        let ports = self.service(command).map_or(&[][..], |s| &s.ports);
        let all = if ports.is_empty() { Vec::new() } else { listeners::all(Path::new("/")) };
        let n_of = |port: &u16| listeners::n_of(&all, *port);
        let Some(port) = ports.iter().find(|port| n_of(port) > most) else { return };
        let by = all.iter().find(|l| l.port == *port).map(holder_of).unwrap_or_default();
        let how = match most {
            0 => format!(": port {port} {taken}{by}"),
            _ => format!(": {} sockets listen on port {port}", n_of(port)),
        };
        let reason = format!("service {}{how}", self.label(command));
        if self.mains_end_ns.is_some() {
            self.early.get_or_insert(Early { status: "failed", reason });
        } else {
            self.stop("failed", reason);
        }
    }

    /// Name the processes that a service left behind: the end of a daemon that forks cannot be observed.
    fn left_running(&self) -> String {
        let mains = self.copies.iter().filter(|c| c.end.is_none()).count() as u64;
        match self.contain.n_alive().saturating_sub(mains) {
            0 => String::new(),
            n => format!("; processes that it left: {n}; it has to stay in the foreground"),
        }
    }

    /// Check at the end of the window that no other process listened on the ports: it would take connections.
    pub fn check_ports_are_shared_with_nobody(&mut self) {
        (0..self.spec.n_services()).for_each(|i| self.check_ports(i, 1, ""));
    }

    /// Check after the end of all services that nothing listens on their ports.
    pub fn check_ports_are_free(&mut self) {
        if self.ended_ns.is_some() {
            (0..self.spec.n_services()).for_each(|i| self.check_ports(i, 0, "is listened on after its end"));
        }
    }

    pub fn on_service_end(&mut self, index: usize) {
        let (killed, copy) = (self.killed_ns, &mut self.copies[index]);
        let by_us = killed.is_some() && copy.signal() == Some(libc::SIGKILL);
        if let Some(served) = copy.service.as_mut().filter(|_| by_us) {
            (served.stop_ns, served.stopped_by) = (served.stop_ns.or(killed), Some("KILL"));
        }
        let how = match (copy.exit_code(), copy.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (_, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        if self.mains_end_ns.is_some() {
            self.stop_services(sys::now_ns());
        } else if let Some((Stage::Exec, errno)) = copy.slot.failure() {
            let program = shorten(&self.spec.commands[index].argv[0]);
            self.stop("not started", format!("commands[{index}].argv[0]: {program}: {}", sys::describe(errno)));
        } else {
            let ready = copy.service.as_ref().is_some_and(|s| s.ready_ns.is_some());
            let when = match (self.gate_ns, ready) {
                (0, false) => "before it was ready",
                (0, true) => "before drivers were started",
                _ => "while drivers worked",
            };
            let left = if how == "exit code 0" { self.left_running() } else { String::new() };
            self.fail(index, &format!("ended {when} ({how}){left}"));
        }
    }

    /// Return the ports on which the processes of a command listen.
    fn ports_of(&self, command: usize, all: &[Listener]) -> Vec<u16> {
        let own: Vec<u64> = self.members(command).into_iter().flat_map(sockets).collect();
        let mut ports: Vec<u16> = all.iter().filter(|l| own.contains(&l.inode)).map(|l| l.port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    fn members(&self, command: usize) -> Vec<i32> {
        if let Some(leaf) = self.contain.part(command) {
            return leaf.processes();
        }
        let mains = self.copies.iter().map(|c| (c.pid, c.command)).collect();
        let all = families::commands(&families::all(Path::new("/")), &mains);
        all.into_iter().filter(|(_, of)| *of == command).map(|(pid, _)| pid).collect()
    }
}

/// Return the inodes of the sockets that a process has open.
fn sockets(pid: i32) -> Vec<u64> {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |entry: fs::DirEntry| {
        let link = fs::read_link(entry.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    links.filter_map(inode).collect()
}

/// Return ` by NAME (PID)` of the process that holds a socket, or an empty text if none is visible.
fn holder_of(listener: &Listener) -> String {
    let holds = |pid: &i32| sockets(*pid).contains(&listener.inode);
    let holder = families::all(Path::new("/")).into_iter().map(|seen| seen.pid).find(holds);
    let named = holder.and_then(|pid| Some((neighbors::name_of(pid as u32)?, pid)));
    named.map_or(String::new(), |(name, pid)| format!(" by {name} ({pid})"))
}
