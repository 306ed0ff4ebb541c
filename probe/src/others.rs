//! CPU time of the processes outside the run, by families, so that helpers of the run can be told from neighbors.

use crate::events::{OtherProcess, Others};
use crate::families::{self, Seen};
use crate::neighbors;
use crate::spec::Spec;
use crate::sys;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// So many are reported: those that exchanged wake-ups with the run first, then those with the most CPU time.
const MAX_REPORTED: usize = 16;
/// Families with less CPU time are not.
const LEAST_NS: u64 = 1_000_000;

/// What every process has used up to a moment, the children that it waited for included.
#[derive(Default)]
pub struct Snapshot {
    pub at_ns: u64,
    /// Since boot, as the starts of processes.
    pub since_boot_ns: u64,
    pub processes: HashMap<i32, (Seen, u64)>,
}

impl Snapshot {
    pub fn read() -> Snapshot {
        let all = families::all(Path::new("/"));
        let processes = all.into_iter().map(|seen| (seen.pid, (seen, seen.cpu_ns()))).collect();
        Snapshot { at_ns: sys::now_ns(), since_boot_ns: sys::clock_ns(libc::CLOCK_BOOTTIME), processes }
    }

    fn parent(&self, pid: i32) -> Option<i32> {
        self.processes.get(&pid).map(|(seen, _)| seen.parent)
    }

    /// The process and those above it, up to the first.
    fn line(&self, pid: i32) -> impl Iterator<Item = i32> + '_ {
        // Whoever ends and whose number is taken anew while we look might close a circle.
        std::iter::successors(Some(pid), |pid| self.parent(*pid).filter(|up| *up > 0)).take(self.processes.len() + 1)
    }

    /// The topmost process of a family: below the first process and below all that are above the probe.
    fn root(&self, pid: i32, above: &HashSet<i32>) -> i32 {
        let line = self.line(pid).skip(1).take_while(|up| !above.contains(up));
        line.last().unwrap_or(pid)
    }
}

/// Families outside the run, and the root of each process that is in one.
#[derive(Default)]
pub struct Families {
    pub others: Others,
    pub roots: HashMap<i32, i32>,
}

impl Families {
    /// Return what they used between two snapshots; `own` are the roots of the run, and `me` is the probe.
    pub fn between(before: &Snapshot, end: &Snapshot, me: i32, own: &[i32]) -> Families {
        let above: HashSet<i32> = end.line(me).skip(1).chain([1]).collect();
        let is_ours = |pid: i32| end.line(pid).any(|up| up == me || own.contains(&up));
        // 2 is the kernel's own, and the parent of its threads.
        let outside =
            end.processes.values().filter(|(seen, _)| seen.pid != 2 && seen.parent != 2 && !is_ours(seen.pid));
        let roots: HashMap<i32, i32> = outside.map(|(seen, _)| (seen.pid, end.root(seen.pid, &above))).collect();
        let mut list: HashMap<i32, Family> = HashMap::new();
        for (pid, root) in &roots {
            let (seen, cpu_ns) = end.processes[pid];
            let earlier = before.processes.get(pid).filter(|(then, _)| then.start_ns == seen.start_ns);
            let used = cpu_ns as i64 - earlier.map_or(0, |(_, ns)| *ns as i64);
            list.entry(*root).or_default().add(*pid, used, cpu_ns);
        }
        // Once a process has ended, what it had used before is among the children of the next one above it.
        for (seen, ns) in before.processes.values().filter(|(seen, _)| !end.processes.contains_key(&seen.pid)) {
            let heir = before.line(seen.pid).skip(1).find_map(|up| roots.get(&up));
            let family = heir.and_then(|root| list.get_mut(root));
            family.into_iter().for_each(|family| family.used -= *ns as i64);
        }
        let age = |root: i32| before.since_boot_ns.saturating_sub(end.processes[&root].0.start_ns);
        let mut processes: Vec<OtherProcess> = list.iter().map(|(root, f)| f.process(*root, age(*root))).collect();
        processes.retain(|process| process.cpu_ns >= LEAST_NS);
        Families { others: Others { from_ns: before.at_ns, to_ns: end.at_ns, processes }, roots }
    }

    /// The same now; `wakes` are those that the run and tasks outside exchanged.
    pub fn now(before: &Snapshot, spec: &Spec, wakes: &[(u32, u64)]) -> Families {
        let own: Vec<i32> = spec.running.iter().map(|running| running.pid).collect();
        let mut families = Families::between(before, &Snapshot::read(), std::process::id() as i32, &own);
        let root = Path::new("/");
        let exchanged = |(id, n): &(u32, u64)| Some((families.root_of(neighbors::process_of(root, *id)?)?, *n));
        let exchanged: Vec<(u32, u64)> = wakes.iter().filter_map(exchanged).collect();
        let list = &mut families.others.processes;
        for process in list.iter_mut() {
            process.n_wakes = exchanged.iter().filter(|(family, _)| *family == process.pid).map(|(_, n)| n).sum();
        }
        list.sort_by_key(|process| (process.n_wakes == 0, std::cmp::Reverse(process.cpu_ns), process.pid));
        list.truncate(MAX_REPORTED);
        for process in list {
            process.name = neighbors::name_of(process.largest).unwrap_or_default();
        }
        families
    }

    pub fn root_of(&self, pid: u32) -> Option<u32> {
        self.roots.get(&(pid as i32)).map(|root| *root as u32)
    }
}

#[derive(Default)]
struct Family {
    used: i64,
    total_ns: u64,
    /// The member that used most, and how much.
    largest: (i64, i32),
}

impl Family {
    fn add(&mut self, pid: i32, used: i64, total_ns: u64) {
        self.used += used;
        self.total_ns += total_ns;
        self.largest = self.largest.max((used, pid));
    }

    fn process(&self, root: i32, age_ns: u64) -> OtherProcess {
        let cpu_ns = self.used.max(0) as u64;
        let before_ns = self.total_ns.saturating_sub(cpu_ns);
        let largest = self.largest.1 as u32;
        OtherProcess { pid: root as u32, largest, cpu_ns, before_ns, age_ns, ..OtherProcess::default() }
    }
}
