//! Memory shared with the copies before exec: what each found, and when the gate opens.

use crate::sys;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::SeqCst};

pub const MASK_WORDS: usize = crate::spec::MAX_CPUS / 64;

/// What a copy was doing when the kernel refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u32)]
pub enum Stage {
    Session = 1,
    Cgroup,
    Descriptors,
    Cpus,
    Policy,
    Nice,
    User,
    Cwd,
    Exec,
}

impl Stage {
    pub fn from_number(number: u32) -> Option<Stage> {
        use Stage::*;
        [Session, Cgroup, Descriptors, Cpus, Policy, Nice, User, Cwd, Exec].into_iter().find(|s| *s as u32 == number)
    }
}

#[repr(C)]
pub struct Slot {
    pub stage: AtomicU32,
    pub errno: AtomicI32,
    /// CLOCK_MONOTONIC as the copy leaves the gate, stored by the copy itself: a reading taken by
    /// the parent after it opened the gate can be later than the copy's first instruction.
    pub left_ns: AtomicU64,
    /// CPU time used before the gate, to be taken off the copy's total.
    pub before_ns: AtomicU64,
    pub policy: AtomicI32,
    pub priority: AtomicI32,
    pub nice: AtomicI32,
    pub mask: [AtomicU64; MASK_WORDS],
}

impl Slot {
    pub fn failure(&self) -> Option<(Stage, i32)> {
        Stage::from_number(self.stage.load(SeqCst)).map(|stage| (stage, self.errno.load(SeqCst)))
    }

    pub fn cpus(&self) -> Vec<usize> {
        let set = |cpu: &usize| self.mask[cpu / 64].load(SeqCst) >> (cpu % 64) & 1 == 1;
        (0..crate::spec::MAX_CPUS).filter(set).collect()
    }
}

#[repr(C)]
pub struct Head {
    pub n_prepared: AtomicU32,
    pub open: AtomicU32,
    pub deadline_ns: AtomicU64,
}

/// One shared anonymous mapping, kept until the probe ends: a copy may look at it at any time.
pub struct Board {
    base: *mut u8,
    n: usize,
}

const SLOTS_AT: usize = 64;

impl Board {
    pub fn new(n: usize) -> std::io::Result<Board> {
        let length = SLOTS_AT + n * size_of::<Slot>();
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh mapping, page-aligned and zeroed, which all the atomics accept.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            Err(std::io::Error::last_os_error())
        } else {
            Ok(Board { base: base.cast(), n })
        }
    }

    pub fn head(&self) -> &'static Head {
        // SAFETY: the mapping begins with a Head and is never unmapped.
        unsafe { &*self.base.cast() }
    }

    pub fn slot(&self, index: usize) -> &'static Slot {
        assert!(index < self.n);
        // SAFETY: within the mapping, by the assertion, and never unmapped.
        unsafe { &*self.base.add(SLOTS_AT).cast::<Slot>().add(index) }
    }

    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        (0..self.n).map(|i| self.slot(i))
    }

    /// Waits until every copy stands at the gate or has failed; false after `limit_ns`, or as soon as one has `died`.
    pub fn await_prepared(&self, limit_ns: u64, died: impl Fn() -> bool) -> bool {
        let word = &self.head().n_prepared;
        let end = sys::now_ns() + limit_ns;
        loop {
            let n = word.load(SeqCst);
            if n as usize >= self.n {
                return true;
            }
            if sys::now_ns() > end || died() {
                return false;
            }
            sys::futex_wait(word, n, Some(100_000_000));
        }
    }
}
