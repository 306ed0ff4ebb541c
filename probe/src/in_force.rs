//! Affinity mask, policy and nice value of a process, as the kernel gives them back.

use crate::board::{Slot, MASK_WORDS};
use crate::events::{Changed, InForce};
use crate::launch::policy_name;
use std::sync::atomic::Ordering::SeqCst;

/// Of a copy before exec, as it read them itself.
pub fn before(slot: &Slot) -> InForce {
    InForce {
        cpus: slot.cpus(),
        policy: policy_name(slot.policy.load(SeqCst)),
        priority: slot.priority.load(SeqCst),
        nice: slot.nice.load(SeqCst),
    }
}

/// Of a process now; one that has ended still tells, until it is waited for. Zero is this thread.
pub fn of(pid: i32) -> Option<InForce> {
    let mut priority = 0i32;
    // SAFETY: each call is given memory of the size it is told.
    let (policy, nice) = unsafe {
        if libc::syscall(libc::SYS_sched_getparam, pid, &mut priority) < 0 {
            return None;
        }
        // The kernel counts from 40 down to 1, so that no result looks like an error.
        let nice = libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, pid);
        (libc::syscall(libc::SYS_sched_getscheduler, pid), nice)
    };
    let known = policy >= 0 && nice > 0;
    let placed = |cpus| InForce { cpus, policy: policy_name(policy as i32), priority, nice: 20 - nice as i32 };
    cpus_of(pid).filter(|_| known).map(placed)
}

pub fn cpus_of(pid: i32) -> Option<Vec<usize>> {
    let mut mask = [0u64; MASK_WORDS];
    // SAFETY: the kernel writes at most the bytes it is told.
    let n = unsafe { libc::syscall(libc::SYS_sched_getaffinity, pid, size_of_val(&mask), mask.as_mut_ptr()) };
    let set = |cpu: &usize| mask[cpu / 64] >> (cpu % 64) & 1 == 1;
    (n > 0).then(|| (0..8 * n as usize).filter(set).collect())
}

impl Changed {
    pub fn between(before: &InForce, end: &InForce) -> Changed {
        Changed {
            cpus: (end.cpus != before.cpus).then(|| end.cpus.clone()),
            policy: (end.policy != before.policy).then(|| end.policy.clone()),
            priority: (end.priority != before.priority).then_some(end.priority),
            nice: (end.nice != before.nice).then_some(end.nice),
        }
    }
}
