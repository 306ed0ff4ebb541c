//! Where the tree lives, so that all of it can be counted and killed.

use crate::cgroup::Leaf;
use crate::events::Degraded;
use crate::guard::Guard;
use crate::sys;
use std::io;

pub enum Containment {
    Cgroup(Leaf, Guard),
    BestEffort,
}

impl Containment {
    /// The strongest that is granted; what was refused goes into the list.
    pub fn choose(degraded: &mut Vec<Degraded>) -> Containment {
        // SAFETY: sets a flag of this process: orphans of the tree come to us, not to init.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        match Leaf::create().and_then(|leaf| Guard::start(&leaf).map(|guard| (leaf, guard))) {
            Ok((leaf, guard)) => Containment::Cgroup(leaf, guard),
            Err(why) => {
                degraded.push(Degraded::new(
                    "cgroup leaf",
                    &why,
                    "run as root, or delegate a cgroup v2 subtree to this user",
                ));
                Containment::BestEffort
            }
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Containment::Cgroup(..) => "cgroup",
            Containment::BestEffort => "best effort",
        }
    }

    pub fn leaf(&self) -> Option<&Leaf> {
        match self {
            Containment::Cgroup(leaf, _) => Some(leaf),
            _ => None,
        }
    }

    /// Zero in the new process.
    pub fn fork(&self) -> io::Result<i32> {
        match self {
            Containment::Cgroup(leaf, _) => leaf.fork(),
            // SAFETY: the probe has one thread, and the copy keeps to system calls.
            _ => sys::check(unsafe { libc::fork() }.into()).map(|pid| pid as i32),
        }
    }

    /// Called by a copy that was not born inside; Err is an errno.
    pub fn join(&self) -> Result<(), i32> {
        self.leaf().map_or(Ok(()), Leaf::join)
    }

    pub fn kill(&self) {
        match self {
            Containment::Cgroup(leaf, _) => leaf.kill(),
            Containment::BestEffort => crate::descendants::kill_all(),
        }
    }

    /// The mains have ended: whatever holds the tree together may end with its last process.
    pub fn close(&self, _board: &crate::board::Board) {}

    /// Processes alive now, the probe apart.
    pub fn n_alive(&self) -> u64 {
        match self {
            Containment::Cgroup(leaf, _) => leaf.processes().len() as u64,
            Containment::BestEffort => crate::descendants::list().len() as u64,
        }
    }
}
