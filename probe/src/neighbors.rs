//! Who the neighbors were, as far as they are still there to be asked.

use crate::events::{Neighbor, Partner};
use std::fs;
use std::path::Path;

/// Those that took most are asked for their names, and of these so many are told.
const MAX_ASKED: usize = 64;
const MAX_TOLD: usize = 8;
/// Of the flags in /proc/PID/stat: the kernel's own thread.
const PF_KTHREAD: u64 = 0x0020_0000;

/// `takers` are processes and the time they took, the most first; `ours` belong to the probe; /proc is in `root`.
/// `family` returns the topmost process of the family of a process.
pub fn named(root: &Path, takers: &[(u32, u64)], ours: &[u32], family: impl Fn(u32) -> Option<u32>) -> Vec<Neighbor> {
    let mut told: Vec<Neighbor> = Vec::new();
    let mut nameless_ns = 0;
    for (index, &(pid, taken_ns)) in takers.iter().enumerate() {
        let room = index < MAX_ASKED && told.len() < MAX_TOLD;
        match room.then(|| ask(root, pid)).flatten() {
            Some((name, kernel)) => {
                let observer = ours.contains(&pid);
                let family = family(pid);
                told.push(Neighbor { pid: Some(pid), name: Some(name), kernel, observer, taken_ns, family })
            }
            None => nameless_ns += taken_ns,
        }
    }
    if nameless_ns > 0 {
        told.push(Neighbor {
            pid: None,
            name: None,
            kernel: false,
            observer: false,
            taken_ns: nameless_ns,
            family: None,
        });
    }
    told
}

/// User processes among those that woke somebody of the run or were woken; `wakes` holds processes or threads of them.
pub fn partners(root: &Path, wakes: &[(u32, u64)], takers: &[(u32, u64)]) -> Vec<Partner> {
    let mut most: Vec<(u32, u64)> = wakes.to_vec();
    most.sort_by_key(|(id, n)| (std::cmp::Reverse(*n), *id));
    let mut list: Vec<Partner> = Vec::new();
    for (id, n_wakes) in most.into_iter().take(MAX_ASKED) {
        let Some(pid) = process_of(root, id) else { continue };
        if let Some(partner) = list.iter_mut().find(|partner| partner.pid == pid) {
            partner.n_wakes += n_wakes;
        } else if let Some((name, _)) = ask(root, pid).filter(|(_, kernel)| !kernel) {
            let taken_ns = takers.iter().find(|(taker, _)| *taker == pid).map_or(0, |(_, ns)| *ns);
            list.push(Partner { pid, name, n_wakes, taken_ns });
        }
    }
    list.sort_by_key(|partner| (std::cmp::Reverse(partner.n_wakes), partner.pid));
    list.truncate(MAX_TOLD);
    list
}

/// The process that a thread is of.
pub fn process_of(root: &Path, tid: u32) -> Option<u32> {
    let status = fs::read_to_string(root.join(format!("proc/{tid}/status"))).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

pub fn name_of(pid: u32) -> Option<String> {
    ask(Path::new("/"), pid).map(|(name, _)| name)
}

/// Name of a process, and whether it is the kernel's. 0 is whom this PID namespace does not see.
fn ask(root: &Path, pid: u32) -> Option<(String, bool)> {
    parse(&fs::read_to_string(root.join(format!("proc/{pid}/stat"))).ok()?)
}

/// The name may hold blanks and parentheses: it ends at the last one.
pub fn parse(stat: &str) -> Option<(String, bool)> {
    let (from, to) = (stat.find('(')?, stat.rfind(')')?);
    let flags: u64 = stat.get(to + 1..)?.split_ascii_whitespace().nth(6)?.parse().ok()?;
    let name = stat.get(from + 1..to)?.chars().filter(|c| !c.is_control()).collect();
    Some((name, flags & PF_KTHREAD != 0))
}
