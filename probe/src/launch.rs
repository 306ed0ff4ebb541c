//! From a command to a process that stands at the gate.
//!
//! Everything that allocates happens in the probe, before the clone; what runs in the copy is
//! raw system calls only, for the probe's memory may be shared with it.

use crate::board::{Head, Slot, Stage, MASK_WORDS};
use crate::spec::{Command, MAX_CGROUPS};
use crate::{birth, cgroup, gate, raw, sys};
use std::ffi::{c_char, c_long, CString};
use std::io;
use std::sync::atomic::Ordering::SeqCst;

type Step = Result<(), (Stage, i32)>;

/// Program, arguments and environment as exec wants them.
pub struct Image {
    program: CString,
    _texts: Vec<CString>,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    cwd: CString,
}

impl Image {
    /// The texts were checked for NUL by `spec`.
    pub fn new(command: &Command, program: &std::path::Path, events: bool) -> Image {
        let text = |s: String| CString::new(s).expect("no NUL in a checked specification");
        let argv: Vec<CString> = command.argv.iter().cloned().map(text).collect();
        let mut env = command.env.clone();
        if events && command.service.is_none() {
            env.insert("SCALOGRAPH_EVENTS".into(), "/dev/fd/3".into());
            env.insert("SCALOGRAPH_GO".into(), "/dev/fd/4".into());
        }
        let env: Vec<CString> = env.iter().map(|(k, v)| text(format!("{k}={v}"))).collect();
        let pointers = |list: &[CString]| list.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect();
        let (argv_pointers, envp) = (pointers(&argv), pointers(&env));
        let program = text(program.to_string_lossy().into_owned());
        let texts = argv.into_iter().chain(env).collect();
        Image { program, argv: argv_pointers, envp, _texts: texts, cwd: text(command.cwd.clone()) }
    }
}

/// All that a copy needs on its way to exec. It may share our memory until then (`birth`), so
/// this is never changed and never freed.
pub struct Place {
    pub image: &'static Image,
    /// Its descriptors 0 to 4, as numbered in the probe.
    pub fds: Vec<i32>,
    pub mask: Option<[u64; MASK_WORDS]>,
    pub policy: Option<(i32, i32)>,
    pub nice: Option<i32>,
    pub user: Option<(u32, u32)>,
    pub descriptors: libc::rlimit,
    pub spins: bool,
    /// Until exec, with the probe.
    pub shares_memory: bool,
    pub head: &'static Head,
    pub slot: &'static Slot,
    /// Of cgroups that it has to `join` by itself: that of the run, and those with limits.
    pub doors: [Option<i32>; 1 + MAX_CGROUPS],
    /// Number of the probe, as a copy sees it.
    pub parent: i32,
}

pub fn mask_words(cpus: &[usize]) -> [u64; MASK_WORDS] {
    let mut words = [0; MASK_WORDS];
    cpus.iter().for_each(|cpu| words[cpu / 64] |= 1 << (cpu % 64));
    words
}

pub fn policy_number(name: &str) -> i32 {
    const SCHED_EXT: i32 = 7; // which the libc crate has no name for
    match name {
        "batch" => libc::SCHED_BATCH,
        "idle" => libc::SCHED_IDLE,
        "fifo" => libc::SCHED_FIFO,
        "rr" => libc::SCHED_RR,
        "ext" => SCHED_EXT,
        _ => libc::SCHED_OTHER,
    }
}

pub fn policy_name(number: i32) -> String {
    const RESET_ON_FORK: i32 = 0x4000_0000;
    let number = number & !RESET_ON_FORK;
    let names = ["other", "batch", "idle", "fifo", "rr", "ext"];
    names.into_iter().find(|n| policy_number(n) == number).map_or_else(|| format!("{number}"), String::from)
}

/// Starts one copy; it goes on alone to the gate and through it.
pub fn start(place: Place, birthplace: Option<i32>) -> io::Result<i32> {
    let place: &'static Place = Box::leak(Box::new(place));
    // A handler of ours must not run in the copy, which is to put all signals back itself.
    let before = set_signal_mask(!0);
    // SAFETY: `run_copy` makes raw system calls, and writes to its own slot and stack.
    let shared = || unsafe { birth::sharing(birthplace, run_copy, place) }.ok();
    // Where that is refused (before Linux 5.3, or by seccomp), a fork will do.
    let shared = place.shares_memory.then(shared).flatten();
    let started = match shared.map_or_else(|| birth::fork(birthplace), Ok) {
        Ok(0) => run_copy(place),
        started => started,
    };
    set_signal_mask(before);
    started
}

/// The mask that was in force.
fn set_signal_mask(mask: u64) -> u64 {
    let mut before = 0u64;
    let arguments = [libc::SIG_SETMASK as usize, &raw const mask as usize, &raw mut before as usize, size_of::<u64>()];
    // SAFETY: two sets of the size that is given, as the kernel has them.
    let _ = unsafe { raw::call(libc::SYS_rt_sigprocmask, arguments) };
    before
}

extern "C" fn run_copy(place: &'static Place) -> ! {
    if let Err((stage, errno)) = prepare(place) {
        fail(place, stage, errno);
    }
    announce(place.head);
    gate::pass(place.head, place.slot, place.spins);
    let image = place.image;
    let arguments = [image.program.as_ptr() as usize, image.argv.as_ptr() as usize, image.envp.as_ptr() as usize];
    // SAFETY: NUL-terminated lists of NUL-terminated texts, owned by `image`.
    let refused = unsafe { raw::call(libc::SYS_execve, arguments) };
    record(place.slot, Stage::Exec, refused.err().unwrap_or(0));
    leave()
}

fn announce(head: &Head) {
    head.n_prepared.fetch_add(1, SeqCst);
    sys::futex_wake_all(&head.n_prepared);
}

fn record(slot: &Slot, stage: Stage, errno: i32) {
    slot.errno.store(errno, SeqCst);
    slot.stage.store(stage as u32, SeqCst);
}

fn fail(place: &Place, stage: Stage, errno: i32) -> ! {
    record(place.slot, stage, errno);
    announce(place.head);
    leave()
}

fn leave() -> ! {
    loop {
        // SAFETY: leaves without running anything of the probe's.
        let _ = unsafe { raw::call(libc::SYS_exit_group, [127]) };
    }
}

fn prepare(place: &Place) -> Step {
    place.doors.iter().flatten().try_for_each(|door| cgroup::join(*door)).map_err(|e| (Stage::Cgroup, e))?;
    start_session()?;
    take_descriptors(place)?;
    take_scheduling(place)?;
    drop_user(&place.user)?;
    // After the change of user, which clears it.
    // SAFETY: sets a flag of this process.
    let _ = unsafe { raw::call(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize]) };
    // A probe that was killed before opens no gate, and no signal comes any more.
    // SAFETY: reads a number.
    if unsafe { raw::call(libc::SYS_getppid, []) } != Ok(place.parent as usize) {
        leave();
    }
    // SAFETY: `cwd` is NUL-terminated.
    unsafe { step(Stage::Cwd, libc::SYS_chdir, [place.image.cwd.as_ptr() as usize])? };
    read_back(place.slot);
    Ok(())
}

/// # Safety
/// As `raw::call`.
unsafe fn step<const N: usize>(stage: Stage, number: c_long, arguments: [usize; N]) -> Step {
    // SAFETY: by the caller.
    unsafe { raw::call(number, arguments) }.map(drop).map_err(|errno| (stage, errno))
}

/// Ignored signals and the mask survive exec: Rust ignores SIGPIPE, a caller may ignore more.
fn start_session() -> Step {
    const LAST_SIGNAL: usize = 64;
    // As the kernel has it: handler, flags, restorer, mask; all zero is the default action.
    let default = [0u64; 4];
    for signal in 1..=LAST_SIGNAL {
        // Raw for one more reason: libc keeps two signals to itself and would refuse.
        let arguments = [signal, default.as_ptr() as usize, 0, size_of::<u64>()];
        // SAFETY: the structure is no larger than what is given.
        let _ = unsafe { raw::call(libc::SYS_rt_sigaction, arguments) };
    }
    set_signal_mask(0);
    // SAFETY: the session of this process only.
    unsafe { step(Stage::Session, libc::SYS_setsid, []) }
}

fn take_descriptors(place: &Place) -> Step {
    // The targets are below every source (`sys::raised`), so none is overwritten before it is used.
    for (target, source) in place.fds.iter().enumerate() {
        // SAFETY: both are plain numbers; a copy owns its own table.
        unsafe { step(Stage::Descriptors, libc::SYS_dup3, [*source as usize, target, 0])? };
    }
    let limit = [0, libc::RLIMIT_NOFILE as usize, &raw const place.descriptors as usize, 0];
    // Closing here what exec would close keeps thousands of descriptors out of the window.
    // SAFETY: nothing above the given ones is used again in this process; the limit is its own.
    unsafe {
        let _ = raw::call(libc::SYS_close_range, [place.fds.len(), libc::c_uint::MAX as usize, 0]);
        let _ = raw::call(libc::SYS_prlimit64, limit);
    }
    Ok(())
}

fn take_scheduling(place: &Place) -> Step {
    if let Some(mask) = &place.mask {
        let arguments = [0, size_of_val(mask), mask.as_ptr() as usize];
        // SAFETY: the length in bytes matches the array.
        unsafe { step(Stage::Cpus, libc::SYS_sched_setaffinity, arguments)? };
    }
    if let Some((policy, priority)) = &place.policy {
        let arguments = [0, *policy as usize, &raw const *priority as usize];
        // SAFETY: sched_param begins with the priority.
        unsafe { step(Stage::Policy, libc::SYS_sched_setscheduler, arguments)? };
    }
    if let Some(nice) = place.nice {
        // SAFETY: plain numbers.
        unsafe { step(Stage::Nice, libc::SYS_setpriority, [libc::PRIO_PROCESS as usize, 0, nice as usize])? };
    }
    Ok(())
}

fn drop_user(user: &Option<(u32, u32)>) -> Step {
    let Some((uid, gid)) = user else { return Ok(()) };
    let (u, g) = (*uid as usize, *gid as usize);
    // SAFETY: one group behind the pointer; the copy is a process of one thread.
    unsafe {
        step(Stage::User, libc::SYS_setgroups, [1, &raw const *gid as usize])?;
        step(Stage::User, libc::SYS_setresgid, [g, g, g])?;
        step(Stage::User, libc::SYS_setresuid, [u, u, u])
    }
}

/// The values in force are those the kernel gives back, not those that were asked for.
fn read_back(slot: &Slot) {
    let mut priority = 0i32;
    let number = |result: Result<usize, i32>| result.map_or(-1, |n| n as i32);
    // SAFETY: each call is given memory of the size it is told.
    unsafe {
        let _ = raw::call(libc::SYS_sched_getaffinity, [0, size_of_val(&slot.mask), slot.mask.as_ptr() as usize]);
        let _ = raw::call(libc::SYS_sched_getparam, [0, &raw mut priority as usize]);
        slot.policy.store(number(raw::call(libc::SYS_sched_getscheduler, [0])), SeqCst);
        // The kernel counts from 40 down to 1, so that no result looks like an error.
        slot.nice.store(20 - number(raw::call(libc::SYS_getpriority, [libc::PRIO_PROCESS as usize, 0])), SeqCst);
    }
    slot.priority.store(priority, SeqCst);
}
