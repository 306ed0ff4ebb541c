//! Containment of the process tree: a cgroup, a namespace or a scan of /proc, by which it is counted and killed.

use crate::cgroup::{self, Leaf};
use crate::descendants;
use crate::events::Degraded;
use crate::namespace::Namespace;
use crate::spec::Spec;
use crate::sys;
use std::os::fd::{AsRawFd, OwnedFd};

pub enum Containment {
    Cgroup { leaf: Leaf, parts: Vec<Leaf>, guard: Guard },
    Namespace(Namespace),
    BestEffort,
}

impl Containment {
    /// Return the strongest containment that the host grants; add the refused ones to `degraded`.
    pub fn choose(spec: &Spec, degraded: &mut Vec<Degraded>) -> Containment {
        // SAFETY: sets a flag of this process: orphans of the tree become our children, not those of init.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        let guarded = |leaf: Leaf| {
            let divided = spec.is_divided() || spec.commands.iter().any(|c| !c.cgroups.is_empty());
            let n_parts = if divided { spec.commands.len() } else { 0 };
            let part = |i: usize| {
                let unified = spec.commands[i].cgroups.iter().find(|folder| cgroup::is_unified(folder));
                unified.map_or_else(|| leaf.part(i), |folder| leaf.part_within(folder, i))
            };
            let parts = (0..n_parts).map(part).collect::<Result<Vec<_>, _>>()?;
            Ok(Containment::Cgroup { guard: Guard::start(&leaf, &parts)?, leaf, parts })
        };
        let mut say = |what: &str, why: String, fix: &str| degraded.push(Degraded::new(what, &why, fix));
        Leaf::create().and_then(guarded).unwrap_or_else(|why| {
            say("cgroup leaf", why, "run as root, or delegate a cgroup v2 subtree to this user");
            if !spec.namespace {
                return Containment::BestEffort;
            }
            Namespace::enter(spec.user.is_some()).map(Containment::Namespace).unwrap_or_else(|why| {
                say("namespace", why, "allow user namespaces, or run as root");
                Containment::BestEffort
            })
        })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Containment::Cgroup { .. } => "cgroup",
            Containment::Namespace(_) => "namespace",
            Containment::BestEffort => "best effort",
        }
    }

    pub fn leaf(&self) -> Option<&Leaf> {
        match self {
            Containment::Cgroup { leaf, .. } => Some(leaf),
            _ => None,
        }
    }

    /// Return the leaf of one command; only runs with services or with cgroups of their own have them.
    pub fn part(&self, command: usize) -> Option<&Leaf> {
        match self {
            Containment::Cgroup { parts, .. } => parts.get(command),
            _ => None,
        }
    }

    /// Return the descriptor of the cgroup that copies of a command start in, where clone3 supports it.
    pub fn birthplace(&self, command: usize) -> Option<i32> {
        self.part(command).or(self.leaf()).and_then(Leaf::birthplace)
    }

    /// Return the descriptor by which copies enter the cgroup where clone3 does not support it.
    pub fn door(&self, command: usize) -> Option<i32> {
        self.part(command).or(self.leaf()).and_then(Leaf::door)
    }

    /// Return the PID of the probe as its copies see it: 0 from within a PID namespace.
    pub fn parent(&self) -> i32 {
        if let Containment::Namespace(_) = self {
            0
        } else {
            std::process::id() as i32
        }
    }

    pub fn kill(&self) {
        match self {
            Containment::Cgroup { leaf, parts, guard } => {
                leaf.kill();
                // Leaves within other cgroups, then processes that left: a container, a scope of systemd.
                parts.iter().for_each(Leaf::kill);
                descendants::kill_all(Some(guard.pid()));
            }
            Containment::Namespace(space) => space.kill(),
            Containment::BestEffort => descendants::kill_all(None),
        }
    }

    /// Let the containment end with its last process: the main processes have ended.
    pub fn close(&self) {
        if let Containment::Namespace(space) = self {
            space.close();
        }
    }

    /// Return the number of living processes of the tree.
    pub fn n_alive(&self) -> u64 {
        let below = descendants::list().len();
        let n = match self {
            // One list misses a process that forks while it is read, the other a process that left the cgroup.
            Containment::Cgroup { leaf, parts, .. } => {
                let mut held: Vec<i32> = std::iter::once(leaf).chain(parts).flat_map(Leaf::processes).collect();
                held.sort_unstable();
                held.dedup();
                held.len().max(below.saturating_sub(1))
            }
            Containment::Namespace(_) => below.saturating_sub(1),
            Containment::BestEffort => below,
        };
        n as u64
    }
}

impl Drop for Containment {
    /// Kill what a run started that was abandoned before its gate.
    fn drop(&mut self) {
        if matches!(self, Containment::BestEffort) {
            descendants::kill_all(None);
        }
    }
}

/// A process that outlives a killed probe just long enough to kill its tree.
///
/// Dropped after the leaf: the guard sees the pipe close and finds nothing left to do.
pub struct Guard {
    pid: i32,
    pipe: Option<OwnedFd>,
}

impl Guard {
    /// Fork the guard; the error is the kernel's, as text.
    pub fn start(leaf: &Leaf, parts: &[Leaf]) -> Result<Guard, String> {
        let text = |e: std::io::Error| format!("a guard process: {}", sys::describe_error(&e));
        let (read, write) = sys::pipe().map_err(text)?;
        // Without an exit signal wait4(-1) overlooks the guard, and still reports when the tree is empty.
        // SAFETY: as fork: no new stack, no shared memory.
        match sys::check(unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) }).map_err(text)? {
            0 => {
                drop(write); // This process's own half would keep the pipe open for ever.
                watch(leaf, parts, read)
            }
            pid => Ok(Guard { pid: pid as i32, pipe: Some(write) }),
        }
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }
}

fn watch(leaf: &Leaf, parts: &[Leaf], pipe: OwnedFd) -> ! {
    // SAFETY: a signal to the caller's session does not concern us.
    unsafe { libc::setsid() };
    // Only `pipe` is used from here on; our half of the caller's pipes must not stay open after the probe.
    sys::close_all_but(pipe.as_raw_fd());
    while sys::read(&pipe, &mut [0]).is_err() {}
    std::iter::once(leaf).chain(parts).for_each(Leaf::clear);
    // SAFETY: leaves without running anything of the probe's.
    unsafe { libc::_exit(0) }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.pipe = None;
        // A workload may have stopped the guard: without SIGCONT the wait would not end.
        // SAFETY: a signal to a child of ours, and a wait for it, which no other wait takes away.
        unsafe {
            libc::kill(self.pid, libc::SIGCONT);
            libc::waitpid(self.pid, std::ptr::null_mut(), libc::__WALL);
        }
    }
}
