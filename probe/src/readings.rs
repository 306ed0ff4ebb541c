//! What each command of a run with services has used, read at both ends of the window.

use crate::cgroup::Leaf;
use crate::conditions::stall_ns;
use crate::families;
use crate::group;
use crate::watch::Watch;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Nanoseconds since the command was started, all its processes together.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub cpu_ns: Option<u64>,
    pub user_ns: Option<u64>,
    pub cpu_stall_ns: Option<u64>,
    pub memory_stall_ns: Option<u64>,
    pub io_stall_ns: Option<u64>,
    /// Of the cgroup with limits that it lives in.
    pub throttled_ns: Option<u64>,
    /// By thread that is alive.
    pub waits_ns: HashMap<i32, u64>,
    /// The same by the cgroup of its own that a service which runs already has.
    pub by_cgroup: Option<Box<Reading>>,
}

impl Reading {
    /// Of all that ran in a cgroup.
    pub fn of(folder: &Path) -> Reading {
        let text = |file: &str| fs::read_to_string(folder.join(file)).ok();
        let stat = text("cpu.stat").unwrap_or_default();
        let number = |name: &str| stat.lines().find_map(|l| l.strip_prefix(name))?.trim().parse::<u64>().ok();
        Reading {
            cpu_ns: number("usage_usec ").map(|us| us * 1000),
            user_ns: number("user_usec ").map(|us| us * 1000),
            cpu_stall_ns: text("cpu.pressure").and_then(|t| stall_ns(&t)),
            memory_stall_ns: text("memory.pressure").and_then(|t| stall_ns(&t)),
            io_stall_ns: text("io.pressure").and_then(|t| stall_ns(&t)),
            ..Reading::default()
        }
    }

    /// What was used from `before` to here.
    pub fn since(&self, before: &Reading) -> Reading {
        let passed = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Reading {
            cpu_ns: passed(self.cpu_ns, before.cpu_ns),
            user_ns: passed(self.user_ns, before.user_ns),
            cpu_stall_ns: passed(self.cpu_stall_ns, before.cpu_stall_ns),
            memory_stall_ns: passed(self.memory_stall_ns, before.memory_stall_ns),
            io_stall_ns: passed(self.io_stall_ns, before.io_stall_ns),
            throttled_ns: passed(self.throttled_ns, before.throttled_ns),
            ..Reading::default()
        }
    }

    /// For how long the threads that are alive have waited for a CPU since `before`; None if there are none.
    pub fn waited_since(&self, before: &Reading) -> Option<u64> {
        let then = |tid: &i32| before.waits_ns.get(tid).copied().unwrap_or(0);
        let each = self.waits_ns.iter().map(|(tid, ns)| ns.saturating_sub(then(tid)));
        (!self.waits_ns.is_empty()).then(|| each.sum())
    }
}

impl Watch<'_> {
    /// Just before the gate opens.
    pub fn begin(&mut self) {
        let contain = self.contain;
        self.records.iter_mut().for_each(|r| r.begin(contain));
        self.own_running();
        self.used.0 = self.readings();
    }

    /// One for each command.
    pub fn readings(&self) -> Vec<Reading> {
        let mut list = self.read_all();
        for (reading, command) in list.iter_mut().zip(&self.spec.commands) {
            reading.throttled_ns = command.cgroup.as_deref().and_then(group::throttled_ns);
        }
        list.extend(self.read_running());
        list
    }

    fn read_all(&self) -> Vec<Reading> {
        let n = self.spec.commands.len();
        let leaves: Vec<&Leaf> = (0..n).map_while(|i| self.contain.part(i)).collect();
        if leaves.len() < n {
            return self.read_families();
        }
        let mut list: Vec<Reading> = leaves.iter().map(|leaf| Reading::of(leaf.folder())).collect();
        // There may be hundreds of threads, and CPU time goes on.
        for (reading, leaf) in list.iter_mut().zip(leaves) {
            let waits = leaf.processes().into_iter().flat_map(|pid| families::waits(Path::new("/"), pid));
            reading.waits_ns = waits.collect();
        }
        list
    }

    /// By the clocks of those that are alive, and what those mains had used that have ended.
    fn read_families(&self) -> Vec<Reading> {
        let root = Path::new("/");
        let alive = self.copies.iter().filter(|c| c.end.is_none());
        let (mains, all) = (alive.map(|c| (c.pid, c.command)).collect(), families::all(root));
        let commands = families::commands(&all, &mains);
        let mut list =
            vec![Reading { cpu_ns: Some(0), user_ns: Some(0), ..Reading::default() }; self.spec.commands.len()];
        let mut add = |command: usize, user_ns: u64, cpu_ns: u64| {
            let reading = &mut list[command];
            reading.user_ns = reading.user_ns.map(|ns| ns + user_ns);
            reading.cpu_ns = reading.cpu_ns.map(|ns| ns + cpu_ns);
        };
        for (copy, end) in self.copies.iter().filter_map(|c| Some((c, c.end?))) {
            add(copy.command, end.usage.user_ns, end.usage.user_ns + end.usage.system_ns);
        }
        let members = all.iter().filter_map(|seen| Some((seen, *commands.get(&seen.pid)?)));
        for (seen, command) in members {
            add(command, seen.user_ns, seen.cpu_ns());
        }
        for (pid, command) in commands {
            list[command].waits_ns.extend(families::waits(root, pid));
        }
        list
    }
}
