//! Services that run already: nobody here starts or stops them; what they use in the window is told.

use crate::error::Refusal;
use crate::events::ProcessEvent;
use crate::families;
use crate::in_force;
use crate::own_cgroup;
use crate::poller::Source;
use crate::readings::Reading;
use crate::role::name_of;
use crate::spec::Fields;
use crate::sys;
use crate::watch::Watch;
use serde_json::Value;
use std::collections::HashMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

const MAX_RUNNING: usize = 64;

#[derive(Debug)]
pub struct Running {
    pub name: String,
    pub pid: i32,
}

/// What the specification says of them.
pub fn of(top: &Fields) -> Result<Vec<Running>, Refusal> {
    let Some(value) = top.get("running") else { return Ok(Vec::new()) };
    let wrong = || top.refuse("running", "a list of at most 64 objects with `name` and `pid`");
    let list = value.as_array().filter(|list| list.len() <= MAX_RUNNING).ok_or_else(wrong)?;
    let one = |value: &Value| {
        let pid = value.get("pid")?.as_i64().filter(|pid| (1..=i32::MAX as i64).contains(pid))?;
        let name = value.get("name").and_then(name_of).filter(|name| !name.is_empty())?;
        Some(Running { name: name.into(), pid: pid as i32 })
    };
    list.iter().map(one).collect::<Option<_>>().ok_or_else(wrong)
}

impl Watch<'_> {
    /// Before anything is started: each is there, and its end will be heard.
    pub fn meet_running(&mut self) {
        let spec = self.spec;
        for (i, running) in spec.running.iter().enumerate() {
            // SAFETY: the new descriptor is owned at once.
            let opened = sys::check(unsafe { libc::syscall(libc::SYS_pidfd_open, running.pid, 0) })
                .map(|fd| unsafe { OwnedFd::from_raw_fd(fd as i32) });
            match opened.and_then(|fd| self.poller.add(fd.as_raw_fd(), Source::Running(i)).map(|()| fd)) {
                Ok(fd) => self.running.push(Some(fd)),
                Err(e) => {
                    let why = sys::describe_error(&e);
                    self.stop(
                        "failed",
                        format!("service {} does not run: process {}: {why}", running.name, running.pid),
                    );
                    return self.reap(); // nobody was started: no end will be heard
                }
            }
        }
    }

    pub fn on_running_end(&mut self, index: usize) {
        // Its descriptor would be ready for ever.
        if self.running[index].take().is_some() {
            let spec = self.spec;
            let Running { name, pid } = &spec.running[index];
            let when = if self.gate_ns == 0 { "before drivers were started" } else { "while drivers worked" };
            self.stop("failed", format!("service {name} ended {when} (process {pid}, which ran before)"));
        }
    }

    /// They are no neighbors of those who ask them for work.
    pub fn own_running(&mut self) {
        if self.spec.running.is_empty() {
            return;
        }
        let members = self.running_members(&families::all(Path::new("/")));
        let pids = members.keys().map(|pid| *pid as u32);
        self.records.iter_mut().for_each(|r| r.tree.own.extend(pids.clone()));
    }

    /// One for each: by the clocks of those that descend from it, and by the cgroup that holds it alone.
    pub fn read_running(&self) -> Vec<Reading> {
        let none = Reading { cpu_ns: Some(0), user_ns: Some(0), ..Reading::default() };
        let mut list = vec![none; self.spec.running.len()];
        if list.is_empty() {
            return list;
        }
        let root = Path::new("/");
        let all = families::all(root);
        let members = self.running_members(&all);
        for seen in &all {
            let Some(reading) = members.get(&seen.pid).map(|i| &mut list[*i]) else { continue };
            reading.user_ns = reading.user_ns.map(|ns| ns + seen.user_ns);
            reading.cpu_ns = reading.cpu_ns.map(|ns| ns + seen.cpu_ns());
            reading.waits_ns.extend(families::waits(root, seen.pid));
        }
        for (i, (reading, running)) in list.iter_mut().zip(&self.spec.running).enumerate() {
            let own: Vec<i32> = members.iter().filter(|(_, of)| **of == i).map(|(pid, _)| *pid).collect();
            reading.by_cgroup = own_cgroup::of(running.pid, &own, &all).map(|folder| Reading::of(&folder).into());
        }
        list
    }

    /// Whoever was started here is none of theirs, even if the probe itself is.
    fn running_members(&self, all: &[families::Seen]) -> HashMap<i32, usize> {
        let theirs = self.spec.running.iter().enumerate().map(|(i, r)| (r.pid, i));
        let ours = [(std::process::id() as i32, usize::MAX)];
        let mut members = families::commands(all, &theirs.chain(ours).collect());
        members.retain(|_, i| *i < self.spec.running.len());
        members
    }
}

/// After those of the commands.
pub fn events(watch: &Watch) -> Vec<ProcessEvent> {
    let n = watch.spec.commands.len();
    let ends = watch.used.0.iter().zip(&watch.used.1).skip(n);
    let of = |(i, (running, (before, end))): (usize, (&Running, (&Reading, &Reading)))| {
        let by_cgroup = before.by_cgroup.as_ref().zip(end.by_cgroup.as_ref());
        let used = by_cgroup.map_or_else(|| end.since(before), |(before, end)| end.since(before));
        let (user_ns, wait_ns) = (used.user_ns.min(used.cpu_ns), end.waited_since(before));
        ProcessEvent {
            run: watch.spec.run.clone(),
            command: n + i,
            name: running.name.clone(),
            role: "service".into(),
            system_ns: used.cpu_ns.zip(user_ns).map(|(cpu, user)| cpu - user),
            cpu_ns: used.cpu_ns,
            user_ns,
            cpu_source: Some(if by_cgroup.is_some() { "cgroup" } else { "rusage" }.into()),
            cpu_stall_ns: used.cpu_stall_ns,
            memory_stall_ns: used.memory_stall_ns,
            io_stall_ns: used.io_stall_ns,
            wait_scope: wait_ns.map(|_| "preemption and wakeup".into()),
            wait_ns,
            n_tasks: Some(end.waits_ns.len() as u64),
            cpus: in_force::cpus_of(running.pid),
            ..ProcessEvent::default()
        }
    };
    watch.spec.running.iter().zip(ends).enumerate().map(of).collect()
}
