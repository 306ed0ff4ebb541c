//! The cgroup of a service that runs already, where it holds that service and nobody else: the kernel counts it exactly.

use crate::cgroup;
use crate::families::Seen;
use std::fs;
use std::path::PathBuf;

/// Its folder. `members` are the processes of the service, of `all` that were seen a moment ago.
pub fn of(main: i32, members: &[i32], all: &[Seen]) -> Option<PathBuf> {
    let name = name_of(main).filter(|name| name != "/")?;
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let folder = cgroup::own_folder(&mountinfo, &format!("0::{name}"))?;
    let held = cgroup::processes(&folder);
    // 0 is a process that we cannot see. Who was not seen was born since, of one that it holds.
    let is_theirs = |pid: &i32| *pid == 0 || all.iter().any(|seen| seen.pid == *pid) && !members.contains(pid);
    let is_elsewhere = |pid: &&i32| !held.contains(pid) && !is_below(name_of(**pid), &name);
    (held.contains(&main) && !held.iter().any(is_theirs) && !members.iter().any(|pid| is_elsewhere(&pid)))
        .then_some(folder)
}

/// Who has ended since is nowhere.
fn is_below(of: Option<String>, name: &str) -> bool {
    of.is_none_or(|of| of.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Of cgroup v2.
fn name_of(pid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("0::")).map(String::from)
}
