//! What the host says about itself: CPUs, /proc/stat, users, programs.

use crate::sys::SECOND;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// `0-3,8` as numbers; what cannot be read is left out.
pub fn parse_cpu_list(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some(low.parse::<usize>().ok()?..=high.parse::<usize>().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

pub fn format_cpu_list(cpus: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, high)) if *high + 1 == cpu => *high = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let show = |(low, high): &(usize, usize)| if low == high { format!("{low}") } else { format!("{low}-{high}") };
    parts.iter().map(show).collect::<Vec<_>>().join(",")
}

pub fn online_cpus() -> Vec<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus = parse_cpu_list(&text);
    if cpus.is_empty() {
        vec![0]
    } else {
        cpus
    }
}

/// The place of a CPU among the threads of its core. A guest that is told of none has siblings next to each other.
pub fn rank_in_core(root: &Path, cpu: usize) -> usize {
    let file = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    let siblings = parse_cpu_list(&std::fs::read_to_string(file).unwrap_or_default());
    let place = siblings.iter().position(|sibling| *sibling == cpu);
    place.filter(|_| siblings.len() > 1).unwrap_or(cpu)
}

/// The namespace that the kernel starts with: only there is process 0 the idle task and nobody else.
pub fn in_first_pid_namespace() -> bool {
    const FIRST: &str = "pid:[4026531836]";
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.to_str() == Some(FIRST))
}

/// Busy and stolen time of some CPUs since boot, in ticks made nanoseconds: the busy time summed, the stolen of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineTime {
    pub busy_ns: u64,
    pub steal_ns: Vec<u64>,
}

impl MachineTime {
    /// Stolen since `before`: of all these CPUs, and of the one that lost most.
    pub fn stolen_since(&self, before: &MachineTime) -> (u64, u64) {
        let each = || self.steal_ns.iter().zip(&before.steal_ns).map(|(now, then)| now.saturating_sub(*then));
        (each().sum(), each().max().unwrap_or(0))
    }
}

pub fn parse_stat(text: &str, cpus: &[usize], tick_ns: u64) -> MachineTime {
    let mut sum = MachineTime::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let cpu = words.next().and_then(|w| w.strip_prefix("cpu")).and_then(|n| n.parse().ok());
        if !cpu.is_some_and(|n: usize| cpus.contains(&n)) {
            continue;
        }
        // user nice system idle iowait irq softirq steal; guest time is inside user already.
        let ticks: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
        let at = |i: usize| ticks.get(i).copied().unwrap_or(0) * tick_ns;
        sum.busy_ns += at(0) + at(1) + at(2) + at(5) + at(6);
        sum.steal_ns.push(at(7));
    }
    sum
}

/// In which the kernel tells CPU time.
pub fn tick_ns() -> u64 {
    // SAFETY: sysconf reads a constant.
    SECOND / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64
}

pub fn machine_time(cpus: &[usize]) -> Option<MachineTime> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    Some(parse_stat(&text, cpus, tick_ns()))
}

/// (uid, gid) of a user in the text of /etc/passwd. A static binary cannot load the name
/// service modules that getpwnam may need.
pub fn find_user(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let fields = |line: &str| {
        let parts: Vec<&str> = line.split(':').collect();
        let matches = parts.first() == Some(&name) || parts.get(2) == Some(&name);
        matches.then(|| Some((parts.get(2)?.parse().ok()?, parts.get(3)?.parse().ok()?)))?
    };
    passwd.lines().find_map(fields)
}

/// The file that exec will be given, or one sentence on why there is none.
pub fn find_program(program: &str, cwd: &str, path: Option<&str>) -> Result<PathBuf, String> {
    if program.contains('/') {
        return executable(&Path::new(cwd).join(program)).map_err(|why| format!("{program}: {why}"));
    }
    let path = path.ok_or_else(|| format!("{program}: ENOENT: the command's env has no PATH"))?;
    let places = path.split(':').map(|dir| Path::new(cwd).join(dir).join(program));
    let found = places.into_iter().find_map(|place| executable(&place).ok());
    found.ok_or_else(|| format!("{program}: ENOENT: no such program on the command's PATH ({path})"))
}

fn executable(place: &Path) -> Result<PathBuf, String> {
    let meta = std::fs::metadata(place).map_err(|e| crate::sys::describe_error(&e))?;
    if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 {
        return Err(crate::sys::describe(libc::EACCES) + " (not an executable file)");
    }
    Ok(place.to_path_buf())
}
