//! Which processes belong to which command, and what /proc tells of them: for where no cgroup holds them apart.

use crate::host::tick_ns;
use crate::sys;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// CPU time is in ticks: its own and that of the children that it waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    pub pid: i32,
    pub parent: i32,
    pub session: i32,
    pub user_ns: u64,
    pub system_ns: u64,
    /// Of both, that of these children.
    pub children_ns: u64,
    /// Since boot.
    pub start_ns: u64,
}

impl Seen {
    /// CPU time by its own clock, which knows no ticks, and in ticks that of the children that it waited for.
    pub fn cpu_ns(&self) -> u64 {
        sys::process_cpu_ns(self.pid).map_or(self.user_ns + self.system_ns, |own| own + self.children_ns)
    }
}

/// A line of /proc/PID/stat. The name may hold spaces and brackets.
pub fn parse(pid: i32, stat: &str) -> Option<Seen> {
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| words.get(at)?.parse::<i64>().ok();
    let ticks = |one: usize, other: usize| Some((number(one)? + number(other)?) as u64 * tick_ns());
    let (parent, session) = (number(1)? as i32, number(3)? as i32);
    let (user_ns, system_ns, children_ns) = (ticks(11, 13)?, ticks(12, 14)?, ticks(13, 14)?);
    let start_ns = number(19).unwrap_or(0) as u64 * tick_ns();
    Some(Seen { pid, parent, session, user_ns, system_ns, children_ns, start_ns })
}

/// All processes that there are; /proc is in `root`.
pub fn all(root: &Path) -> Vec<Seen> {
    let pids = numbers(&root.join("proc"));
    let read = |pid: i32| fs::read_to_string(root.join(format!("proc/{pid}/stat"))).ok();
    pids.into_iter().filter_map(|pid| parse(pid, &read(pid)?)).collect()
}

fn numbers(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// The command of each process that descends from a main, or has stayed in the session that each main begins.
pub fn commands(all: &[Seen], mains: &HashMap<i32, usize>) -> HashMap<i32, usize> {
    let by_pid: HashMap<i32, &Seen> = all.iter().map(|seen| (seen.pid, seen)).collect();
    let above = |seen: &Seen| {
        // Whoever ends and whose number is taken anew while we look might close a circle.
        let chain = std::iter::successors(Some(seen), |s| by_pid.get(&s.parent).copied());
        chain.take(all.len()).find_map(|s| mains.get(&s.pid).copied())
    };
    let of = |seen: &Seen| Some((seen.pid, above(seen).or_else(|| mains.get(&seen.session).copied())?));
    all.iter().filter_map(of).collect()
}

/// For how long each thread of a process has waited for a CPU since it was born.
pub fn waits(root: &Path, pid: i32) -> Vec<(i32, u64)> {
    let folder = root.join(format!("proc/{pid}/task"));
    let wait = |tid: i32| {
        let text = fs::read_to_string(folder.join(format!("{tid}/schedstat"))).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    numbers(&folder).into_iter().filter_map(|tid| Some((tid, wait(tid)?))).collect()
}
