//! The start gate: everyone leaves at one point in time, not at one signal.
//!
//! A wake-up takes microseconds and reaches the copies one after another; a clock reaches all at
//! once. The first copy on each CPU sleeps until shortly before the deadline and spins on the
//! clock; the others sleep to the deadline, for if all spun they would only take turns.

use crate::board::{Board, Head, Slot};
use crate::{raw, sys};
use std::sync::atomic::Ordering::SeqCst;

const SPIN_NS: u64 = 150_000;
/// Long enough for the futex wake-up to reach the copies before they have to sleep again.
const LEAD_NS: u64 = 500_000;
const LEAD_PER_COPY_NS: u64 = 20_000;

/// For each copy, whether it is the first on some CPU: never more of them than CPUs.
pub fn spinners(masks: &[Vec<usize>]) -> Vec<bool> {
    let mut taken = std::collections::HashSet::new();
    let mut claim = |mask: &Vec<usize>| mask.iter().any(|cpu| taken.insert(*cpu));
    masks.iter().map(&mut claim).collect()
}

/// Opens the gate at a deadline a little ahead.
pub fn open(board: &Board, n_copies: usize) {
    let head = board.head();
    head.deadline_ns.store(sys::now_ns() + LEAD_NS + LEAD_PER_COPY_NS * n_copies as u64, SeqCst);
    head.open.store(1, SeqCst);
    sys::futex_wake_all(&head.open);
}

/// Called by a copy: returns at the deadline, with the time of leaving stored.
pub fn pass(head: &Head, slot: &Slot, spins: bool) {
    set_timer_slack(1);
    while head.open.load(SeqCst) == 0 {
        sys::futex_wait(&head.open, 0, None);
    }
    let deadline = head.deadline_ns.load(SeqCst);
    sleep_until(if spins { deadline - SPIN_NS } else { deadline });
    // Zero gives back the default: the slack would survive exec.
    set_timer_slack(0);
    let used = sys::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    let mark = sys::now_ns();
    let mut now = mark;
    while now < deadline {
        std::hint::spin_loop();
        now = sys::now_ns();
    }
    // Who is preempted while it spins has used no more than the time to the deadline.
    slot.before_ns.store(used + (now - mark).min(deadline.saturating_sub(mark)), SeqCst);
    slot.left_ns.store(now, SeqCst);
}

fn set_timer_slack(ns: usize) {
    // SAFETY: sets a number of this thread.
    let _ = unsafe { raw::call(libc::SYS_prctl, [libc::PR_SET_TIMERSLACK as usize, ns]) };
}

pub fn sleep_until(deadline_ns: u64) {
    let until = sys::timespec(deadline_ns);
    let arguments = [libc::CLOCK_MONOTONIC as usize, libc::TIMER_ABSTIME as usize, &raw const until as usize];
    // SAFETY: `until` outlives the call; an interrupted sleep is taken up again.
    while unsafe { raw::call(libc::SYS_clock_nanosleep, arguments) } == Err(libc::EINTR) {}
}
