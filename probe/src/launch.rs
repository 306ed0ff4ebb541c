//! From a command to a process that stands at the gate.
//!
//! Everything that allocates happens in the probe, before the clone; what runs in the copy is
//! system calls only.

use crate::board::{Board, Slot, Stage, MASK_WORDS};
use crate::contain::Containment;
use crate::spec::Command;
use crate::{gate, sys};
use std::ffi::{c_char, CString};
use std::os::fd::{AsRawFd, OwnedFd};
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
        if events {
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

/// The copy's ends of its descriptors 0 to 4.
pub struct Ends {
    pub fds: Vec<OwnedFd>,
}

pub struct Place<'a> {
    pub image: &'a Image,
    pub ends: &'a Ends,
    pub mask: Option<[u64; MASK_WORDS]>,
    pub policy: Option<(i32, i32)>,
    pub nice: Option<i32>,
    pub user: Option<(u32, u32)>,
    pub descriptors: libc::rlimit,
    pub spins: bool,
}

pub fn mask_words(cpus: &[usize]) -> [u64; MASK_WORDS] {
    let mut words = [0; MASK_WORDS];
    cpus.iter().for_each(|cpu| words[cpu / 64] |= 1 << (cpu % 64));
    words
}

pub fn policy_number(name: &str) -> i32 {
    match name {
        "batch" => libc::SCHED_BATCH,
        "idle" => libc::SCHED_IDLE,
        "fifo" => libc::SCHED_FIFO,
        "rr" => libc::SCHED_RR,
        _ => libc::SCHED_OTHER,
    }
}

pub fn policy_name(number: i32) -> String {
    const RESET_ON_FORK: i32 = 0x4000_0000;
    let number = number & !RESET_ON_FORK;
    let names = ["other", "batch", "idle", "fifo", "rr"];
    names.into_iter().find(|n| policy_number(n) == number).map_or_else(|| format!("{number}"), String::from)
}

/// Starts one copy; it goes on alone to the gate and through it.
pub fn start(place: &Place, board: &Board, index: usize, contain: &Containment) -> std::io::Result<i32> {
    match contain.fork()? {
        0 => run_copy(place, board, board.slot(index), contain),
        pid => Ok(pid),
    }
}

fn run_copy(place: &Place, board: &Board, slot: &Slot, contain: &Containment) -> ! {
    let ready = prepare(place, slot, contain);
    if let Err((stage, errno)) = ready {
        fail(board, slot, stage, errno);
    }
    announce(board);
    gate::pass(board, slot, place.spins);
    let image = place.image;
    // SAFETY: NUL-terminated lists of NUL-terminated texts, owned by `image`.
    unsafe { libc::execve(image.program.as_ptr(), image.argv.as_ptr(), image.envp.as_ptr()) };
    slot.errno.store(sys::errno(), SeqCst);
    slot.stage.store(Stage::Exec as u32, SeqCst);
    // SAFETY: leaves without running anything of the probe's.
    unsafe { libc::_exit(127) }
}

fn announce(board: &Board) {
    board.head().n_prepared.fetch_add(1, SeqCst);
    sys::futex_wake_all(&board.head().n_prepared);
}

fn fail(board: &Board, slot: &Slot, stage: Stage, errno: i32) -> ! {
    slot.errno.store(errno, SeqCst);
    slot.stage.store(stage as u32, SeqCst);
    announce(board);
    // SAFETY: as above.
    unsafe { libc::_exit(127) }
}

fn prepare(place: &Place, slot: &Slot, contain: &Containment) -> Step {
    contain.join().map_err(|e| (Stage::Cgroup, e))?;
    start_session()?;
    take_descriptors(place)?;
    take_scheduling(place)?;
    drop_user(place.user)?;
    // After the change of user, which clears it.
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: `cwd` is NUL-terminated.
    step(Stage::Cwd, unsafe { libc::chdir(place.image.cwd.as_ptr()) }.into())?;
    read_back(slot);
    Ok(())
}

fn step(stage: Stage, result: i64) -> Step {
    if result < 0 {
        Err((stage, sys::errno()))
    } else {
        Ok(())
    }
}

/// Ignored signals and the mask survive exec: Rust ignores SIGPIPE, a caller may ignore more.
fn start_session() -> Step {
    const LAST_SIGNAL: i32 = 64;
    // As the kernel has it: handler, flags, restorer, mask; all zero is the default action.
    let default = [0u64; 4];
    for signal in 1..=LAST_SIGNAL {
        // Raw, because libc keeps two signals to itself and would refuse.
        // SAFETY: the structure is no larger than what is given.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, &default, 0, size_of::<u64>()) };
    }
    // SAFETY: an initialized set; the session of this process only.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        step(Stage::Session, libc::setsid().into())
    }
}

fn take_descriptors(place: &Place) -> Step {
    // The targets are below every source (`sys::raised`), so none is overwritten before it is used.
    for (target, source) in place.ends.fds.iter().enumerate() {
        // SAFETY: both are plain numbers; a copy owns its own table.
        step(Stage::Descriptors, unsafe { libc::dup2(source.as_raw_fd(), target as i32) }.into())?;
    }
    // Closing here what exec would close keeps thousands of descriptors out of the window.
    // SAFETY: nothing above the given ones is used again in this process.
    unsafe {
        libc::syscall(libc::SYS_close_range, place.ends.fds.len() as libc::c_uint, libc::c_uint::MAX, 0);
        libc::setrlimit(libc::RLIMIT_NOFILE, &place.descriptors);
    }
    Ok(())
}

fn take_scheduling(place: &Place) -> Step {
    if let Some(mask) = &place.mask {
        // SAFETY: the length in bytes matches the array.
        let set = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(mask), mask.as_ptr()) };
        step(Stage::Cpus, set)?;
    }
    if let Some((policy, priority)) = place.policy {
        // musl's sched_setscheduler is a stub that always fails: hence the raw call.
        // SAFETY: sched_param begins with the priority.
        let set = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &priority) };
        step(Stage::Policy, set)?;
    }
    if let Some(nice) = place.nice {
        // SAFETY: plain numbers.
        step(Stage::Nice, unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) }.into())?;
    }
    Ok(())
}

fn drop_user(user: Option<(u32, u32)>) -> Step {
    let Some((uid, gid)) = user else { return Ok(()) };
    // SAFETY: one thread only, so the raw calls cover the process.
    unsafe {
        step(Stage::User, libc::syscall(libc::SYS_setgroups, 1, &gid))?;
        step(Stage::User, libc::syscall(libc::SYS_setresgid, gid, gid, gid))?;
        step(Stage::User, libc::syscall(libc::SYS_setresuid, uid, uid, uid))
    }
}

/// The values in force are those the kernel gives back, not those that were asked for.
fn read_back(slot: &Slot) {
    let mut priority = 0i32;
    // SAFETY: each call is given memory of the size it is told.
    unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&slot.mask), slot.mask.as_ptr());
        slot.policy.store(libc::syscall(libc::SYS_sched_getscheduler, 0) as i32, SeqCst);
        libc::syscall(libc::SYS_sched_getparam, 0, &mut priority);
        slot.nice.store(libc::getpriority(libc::PRIO_PROCESS, 0), SeqCst);
    }
    slot.priority.store(priority, SeqCst);
}
