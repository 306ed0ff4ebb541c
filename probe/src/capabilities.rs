//! What this host grants: tried, not guessed, in children that leave nothing behind.

use crate::cgroup::Leaf;
use crate::events::{Capabilities, Capability};
use crate::perf::{Event, SWITCHES};
use crate::records::{self, Records};
use crate::{events, host, namespace, sys};
use std::io;
use std::process::ExitCode;

type Answer = Result<(), (String, &'static str)>;

const NICE_FIX: &str = "run as root, or be given CAP_SYS_NICE";

pub fn print() -> ExitCode {
    let entry = |(name, answer): (&str, Answer)| {
        let (why, fix) = answer.err().map_or((None, None), |(why, fix)| (Some(why), Some(fix.into())));
        Capability { name: name.into(), granted: why.is_none(), why, fix }
    };
    let capabilities = attempts().into_iter().map(entry).collect();
    let event = Capabilities { protocol: 1, probe: env!("CARGO_PKG_VERSION").into(), capabilities };
    match events::Event::Capabilities(event).write(&mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn attempts() -> Vec<(&'static str, Answer)> {
    let (leaf, born_inside) = leaf();
    vec![
        ("kernel records", records(false)),
        ("switch records", records(true)),
        ("wake-up records", wakes()),
        ("names of neighbors", names()),
        ("cgroup leaf", leaf),
        ("clone into cgroup", born_inside),
        (
            "namespace",
            namespace::allowed(false).map(drop).map_err(|why| (why, "allow user namespaces, or run as root")),
        ),
        (
            "batch and idle policies",
            in_child(|| policy(libc::SCHED_BATCH, 0).and_then(|()| policy(libc::SCHED_IDLE, 0)), NICE_FIX),
        ),
        (
            "real-time policies",
            in_child(|| policy(libc::SCHED_FIFO, 1).and_then(|()| policy(libc::SCHED_RR, 1)), NICE_FIX),
        ),
        ("negative nice", in_child(negative_nice, NICE_FIX)),
        ("other users", in_child(other_user, "run as root")),
    ]
}

fn records(with_switches: bool) -> Answer {
    Records::open(&host::online_cpus(), &[], with_switches, 8).map(drop).map_err(|e| records::refusal(&e))
}

fn wakes() -> Answer {
    const FIX: &str = "grant switch records first";
    let cpus = host::online_cpus();
    let mut opened = Records::open(&cpus, &cpus, true, 8).map_err(|e| (records::refusal(&e).0, FIX))?;
    opened.open_wakes().map_err(|e| (records::wake_refusal(&e).why, records::WAKE_FIX))
}

/// What a record of a CPU, rather than of our own tasks, needs.
fn names() -> Answer {
    let cpu = host::online_cpus()[0];
    Event::open_wide(SWITCHES, cpu).map(drop).map_err(|e| {
        let (why, _) = records::refusal(&e);
        (why, "run as root, be given CAP_PERFMON, or set kernel.perf_event_paranoid to 0")
    })
}

fn leaf() -> (Answer, Answer) {
    const FIX: &str = "run as root, or delegate a cgroup v2 subtree to this user";
    match Leaf::create() {
        Ok(leaf) if leaf.born_inside() => (Ok(()), Ok(())),
        Ok(_) => {
            let why = "clone3 with CLONE_INTO_CGROUP was refused; copies join before the gate".into();
            (Ok(()), Err((why, "use Linux 5.7 or later, and allow clone3 where seccomp filters it")))
        }
        Err(why) => (Err((why.clone(), FIX)), Err((format!("no leaf: {why}"), FIX))),
    }
}

fn in_child(attempt: impl FnOnce() -> io::Result<()>, fix: &'static str) -> Answer {
    sys::in_child(attempt).map_err(|e| (sys::describe_error(&e), fix))
}

fn policy(number: i32, priority: i32) -> io::Result<()> {
    // SAFETY: sched_param begins with the priority. Raw, because musl's wrapper always fails.
    sys::check(unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, number, &priority) }).map(drop)
}

fn negative_nice() -> io::Result<()> {
    // SAFETY: plain numbers.
    sys::check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -1) }.into()).map(drop)
}

fn other_user() -> io::Result<()> {
    const NOBODY: u32 = 65534;
    // SAFETY: plain numbers. Whoever is nobody already is asked for the group list, too.
    unsafe {
        sys::check(libc::syscall(libc::SYS_setgroups, 1, &NOBODY))?;
        sys::check(libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY)).map(drop)
    }
}
