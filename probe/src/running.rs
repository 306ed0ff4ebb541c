//! Services that run already: they are watched for their end, and what they use in the window is reported.

use crate::events::ProcessEvent;
use crate::families;
use crate::in_force;
use crate::poller::Source;
use crate::readings::{running_members, Reading};
use crate::role::Running;
use crate::sys;
use crate::watch::Watch;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

impl Watch<'_> {
    /// Open a descriptor of each service, which reports its end; fail the run if one does not run.
    pub fn meet_running(&mut self) {
        let spec = self.spec;
        for (i, running) in spec.running.iter().enumerate() {
            // SAFETY: the new descriptor is owned at once.
            let opened = sys::check(unsafe { libc::syscall(libc::SYS_pidfd_open, running.pid, 0) })
                .map(|fd| unsafe { OwnedFd::from_raw_fd(fd as i32) });
            match opened.and_then(|fd| self.poller.add(fd.as_raw_fd(), Source::Running(i)).map(|()| fd)) {
                Ok(fd) => self.running.push(Some(fd)),
                Err(e) => {
                    let error = sys::describe_error(&e);
                    self.stop(
                        "failed",
                        format!("service {} does not run: process {}: {error}", running.name, running.pid),
                    );
                    return self.reap(); // Nothing was started, so no SIGCHLD will come.
                }
            }
        }
    }

    pub fn on_running_end(&mut self, index: usize) {
        // The descriptor is closed: it would stay readable.
        if self.running[index].take().is_some() {
            let spec = self.spec;
            let Running { name, pid } = &spec.running[index];
            let when = if self.gate_ns == 0 { "before drivers were started" } else { "while drivers worked" };
            self.stop("failed", format!("service {name} ended {when} (process {pid}, which ran before)"));
        }
    }

    /// Count the services as part of the run, not as interference with it.
    pub fn own_running(&mut self) {
        if self.spec.running.is_empty() {
            return;
        }
        let members = running_members(&self.spec.running, &families::all(Path::new("/")));
        let pids = members.keys().map(|pid| *pid as u32);
        self.records.iter_mut().for_each(|r| r.tree.own.extend(pids.clone()));
    }
}

/// Return one event for each service; they follow the events of the commands.
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
