//! The tree as /proc shows it: the last resort where no kernel object holds it together.
//!
//! The probe is a subreaper, so orphans stay below it; only a process that forks faster than the
//! scan can get away, which is why this is called best effort.

use std::collections::HashMap;
use std::path::Path;

/// (parent, state) of a line of /proc/PID/stat. The name may hold spaces and brackets.
pub fn parse_stat(text: &str) -> Option<(i32, char)> {
    let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = words.next()?.chars().next()?;
    Some((words.next()?.parse().ok()?, state))
}

/// All live descendants of `root` in a /proc-like folder.
pub fn of(proc: &Path, root: i32) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<(i32, bool)>> = HashMap::new();
    for entry in std::fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((parent, state)) = parse_stat(&text) {
            children.entry(parent).or_default().push((pid, !matches!(state, 'Z' | 'X')));
        }
    }
    let (mut found, mut next) = (Vec::new(), vec![root]);
    while let Some(parent) = next.pop() {
        for (pid, alive) in children.remove(&parent).unwrap_or_default() {
            next.push(pid);
            found.extend(alive.then_some(pid));
        }
    }
    found
}

pub fn list() -> Vec<i32> {
    of(Path::new("/proc"), std::process::id() as i32)
}

/// Looks at our own children, each of some microseconds, after one at the whole tree.
const LOOKS: usize = 50;

/// Stops before it kills, so that fewer can fork between the scan and the signal.
pub fn kill_all(but: Option<i32>) {
    let send = |pids: Vec<i32>, signal| {
        for pid in pids.into_iter().filter(|pid| Some(*pid) != but) {
            // SAFETY: a signal to a descendant of ours.
            unsafe { libc::kill(pid, signal) };
        }
    };
    send(list(), libc::SIGSTOP);
    send(list(), libc::SIGKILL);
    // Whoever hops from process to process is a child of ours as soon as its parent has ended.
    for _ in 0..LOOKS {
        let own = children();
        if own.iter().all(|pid| Some(*pid) == but) {
            break;
        }
        send(own, libc::SIGKILL);
    }
}

fn children() -> Vec<i32> {
    let text = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
