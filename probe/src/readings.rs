//! CPU time, stalls and waits of each command of a run with services, read at both ends of the window.

use crate::cgroup::{self, Leaf};
use crate::conditions::stall_ns;
use crate::contain::Containment;
use crate::copies::Copy;
use crate::families::{self, Seen};
use crate::role::Running;
use crate::spec::Spec;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Nanoseconds since the command was started, summed over its processes.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub cpu_ns: Option<u64>,
    pub user_ns: Option<u64>,
    pub cpu_stall_ns: Option<u64>,
    pub memory_stall_ns: Option<u64>,
    pub io_stall_ns: Option<u64>,
    /// Held back by the quota of the cgroup with limits that it lives in.
    pub throttled_ns: Option<u64>,
    /// Wait for a CPU of each living thread, by its number.
    pub waits_ns: HashMap<i32, u64>,
    /// The same for a service that runs already, read from a cgroup that holds it alone.
    pub by_cgroup: Option<Box<Reading>>,
}

impl Reading {
    fn zero() -> Reading {
        Reading { cpu_ns: Some(0), user_ns: Some(0), ..Reading::default() }
    }

    fn add(&mut self, user_ns: u64, cpu_ns: u64) {
        self.user_ns = self.user_ns.map(|ns| ns + user_ns);
        self.cpu_ns = self.cpu_ns.map(|ns| ns + cpu_ns);
    }

    /// Read a cgroup: the sums over all processes that ever ran in it.
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

    /// Return what was used since `before`.
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

    /// Return how long the living threads have waited for a CPU since `before`; None without a living thread.
    pub fn waited_since(&self, before: &Reading) -> Option<u64> {
        let then = |tid: &i32| before.waits_ns.get(tid).copied().unwrap_or(0);
        let each = self.waits_ns.iter().map(|(tid, ns)| ns.saturating_sub(then(tid)));
        (!self.waits_ns.is_empty()).then(|| each.sum())
    }
}

/// Read what each command has used, then what each service has that runs already.
pub fn read(spec: &Spec, contain: &Containment, copies: &[Copy]) -> Vec<Reading> {
    let n = spec.commands.len();
    let leaves: Vec<&Leaf> = (0..n).map_while(|i| contain.part(i)).collect();
    let mut list = if leaves.len() == n { read_leaves(&leaves) } else { read_families(n, copies) };
    for (reading, command) in list.iter_mut().zip(&spec.commands) {
        reading.throttled_ns = command.cgroups.iter().find_map(|folder| cgroup::throttled_ns(folder));
    }
    list.extend(read_running(&spec.running));
    list
}

fn read_leaves(leaves: &[&Leaf]) -> Vec<Reading> {
    let mut list: Vec<Reading> = leaves.iter().map(|leaf| Reading::of(leaf.folder())).collect();
    // Waits last: there may be hundreds of threads, and CPU time goes on meanwhile.
    for (reading, leaf) in list.iter_mut().zip(leaves) {
        let waits = leaf.processes().into_iter().flat_map(|pid| families::waits(Path::new("/"), pid));
        reading.waits_ns = waits.collect();
    }
    list
}

/// Add up the clocks of living processes and the rusage of ended main processes, for each of `n` commands.
fn read_families(n: usize, copies: &[Copy]) -> Vec<Reading> {
    let root = Path::new("/");
    let alive = copies.iter().filter(|c| c.end.is_none());
    let (mains, all) = (alive.map(|c| (c.pid, c.command)).collect(), families::all(root));
    let commands = families::commands(&all, &mains);
    let mut list = vec![Reading::zero(); n];
    for (copy, end) in copies.iter().filter_map(|c| Some((c, c.end?))) {
        list[copy.command].add(end.usage.user_ns, end.usage.user_ns + end.usage.system_ns);
    }
    for (seen, command) in all.iter().filter_map(|seen| Some((seen, *commands.get(&seen.pid)?))) {
        list[command].add(seen.user_ns, seen.cpu_ns());
    }
    for (pid, command) in commands {
        list[command].waits_ns.extend(families::waits(root, pid));
    }
    list
}

/// Read each service twice: by the clocks of its processes, and by the cgroup that holds it alone.
fn read_running(running: &[Running]) -> Vec<Reading> {
    let mut list = vec![Reading::zero(); running.len()];
    if list.is_empty() {
        return list;
    }
    let root = Path::new("/");
    let all = families::all(root);
    let members = running_members(running, &all);
    for seen in &all {
        let Some(reading) = members.get(&seen.pid).map(|i| &mut list[*i]) else { continue };
        reading.add(seen.user_ns, seen.cpu_ns());
        reading.waits_ns.extend(families::waits(root, seen.pid));
    }
    for (i, (reading, running)) in list.iter_mut().zip(running).enumerate() {
        let own: Vec<i32> = members.iter().filter(|(_, of)| **of == i).map(|(pid, _)| *pid).collect();
        reading.by_cgroup = own_cgroup(running.pid, &own, &all).map(|folder| Reading::of(&folder).into());
    }
    list
}

/// Map each process of a running service to the service's index; processes that the probe started belong to none.
pub fn running_members(running: &[Running], all: &[Seen]) -> HashMap<i32, usize> {
    let theirs = running.iter().enumerate().map(|(i, r)| (r.pid, i));
    let ours = [(std::process::id() as i32, usize::MAX)];
    let mut members = families::commands(all, &theirs.chain(ours).collect());
    members.retain(|_, i| *i < running.len());
    members
}

/// Return the folder of the cgroup that holds this service and nobody else: the kernel counts it exactly.
///
/// `members` are the processes of the service among `all`, which were seen a moment ago.
fn own_cgroup(main: i32, members: &[i32], all: &[Seen]) -> Option<PathBuf> {
    let name = cgroup_name(main).filter(|name| name != "/")?;
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let folder = cgroup::own_folder(&mountinfo, &format!("0::{name}"))?;
    let held = cgroup::processes(&folder);
    // 0 is a process that we cannot see. A process that was not seen was born since, as a child of one in the cgroup.
    let is_theirs = |pid: &i32| *pid == 0 || all.iter().any(|seen| seen.pid == *pid) && !members.contains(pid);
    let is_elsewhere = |pid: &&i32| !held.contains(pid) && !is_below(cgroup_name(**pid), &name);
    (held.contains(&main) && !held.iter().any(is_theirs) && !members.iter().any(|pid| is_elsewhere(&pid)))
        .then_some(folder)
}

/// Whether a cgroup is `name` or below it. A process that has ended since has none, which counts as below.
fn is_below(of: Option<String>, name: &str) -> bool {
    of.is_none_or(|of| of.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Return the name of a process's cgroup v2.
fn cgroup_name(pid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("0::")).map(String::from)
}
