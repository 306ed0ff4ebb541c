//! One run from the checked specification to its last event.

use crate::board::{Board, Stage};
use crate::contain::Containment;
use crate::copies::{Copy, Launched};
use crate::error::{shorten, Kind, Refusal};
use crate::events::{Degraded, Event, Header};
use crate::host;
use crate::in_force;
use crate::launch::{self, Image, Place};
use crate::poller::{Poller, Source};
use crate::records::{self, Records};
use crate::spec::{Command, Spec};
use crate::sys::{self, SECOND};
use crate::watch::Watch;
use crate::window::Before;
use crate::{gate, report};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;

/// What the host was asked for and grants, before anything is started.
struct Checked {
    online: Vec<usize>,
    own: Vec<usize>,
    user: Option<(u32, u32)>,
    programs: Vec<PathBuf>,
    descriptors: libc::rlimit,
}

pub fn carry_out(spec: &Spec, out: &mut impl Write) -> Result<(), Refusal> {
    if spec.has_services() {
        return Err(Refusal::host("commands", "a service", "drivers", "this probe starts no services yet"));
    }
    let checked = check(spec)?;
    let poller = Poller::new().map_err(|e| os("signalfd", &e))?;
    let mut degraded = Vec::new();
    let contain = Containment::choose(spec, &mut degraded);
    let records = open_records(spec, &checked, &mut degraded);
    write(out, Event::Header(header(spec, &contain, records.is_some(), &degraded)))?;
    let images: Vec<Image> =
        spec.commands.iter().zip(&checked.programs).map(|(c, p)| Image::new(c, p, spec.events)).collect();
    let images = images.leak();
    let n = spec.commands.iter().map(|c| c.copies).sum();
    let board = Board::new(n).map_err(|e| os("shared memory", &e))?;
    let launched = match launch_all(spec, &checked, images, &board, &contain, records.is_none()) {
        Err(why) if why.kind == Kind::Lost => return write(out, report::not_started(spec, why.found, degraded)),
        launched => launched?,
    };
    let mut watch = Watch::new(spec, launched, &board, &contain, &poller, records);
    listen(&watch).map_err(|e| os("epoll", &e))?;
    let before = open_gate(&mut watch)?;
    watch.until_gone();
    for event in report::events(&mut watch, &before, &checked.online, degraded) {
        write(out, event)?;
    }
    Ok(())
}

fn write(out: &mut impl Write, event: Event) -> Result<(), Refusal> {
    let written = event.write(out).and_then(|()| out.flush());
    written.map_err(|e| Refusal::new(Kind::Bug, "standard output", &e.to_string(), "a reader", "keep the pipe open"))
}

pub fn os(what: &str, error: &io::Error) -> Refusal {
    Refusal::host(
        what,
        &sys::describe_error(error),
        "to be granted",
        "ask the administrator, or lower the number of copies",
    )
}

/// First with switches; then without, if only they are refused; else what was refused is said.
fn open_records(spec: &Spec, checked: &Checked, degraded: &mut Vec<Degraded>) -> Option<Records> {
    if spec.plain {
        return None;
    }
    let open = |switches| Records::open(&checked.online, &usable(spec, checked), switches, spec.timeline_bins);
    let say = |what: &str, e: &io::Error| {
        let (why, fix) = records::refusal(e);
        Degraded::new(what, &why, fix)
    };
    let wanted = spec.timeline;
    let (first, what) = (open(wanted), if wanted { "switch records" } else { "kernel records" });
    first.inspect_err(|e| degraded.push(say(what, e))).ok().or_else(|| {
        let second = if wanted { open(false) } else { return None };
        second.inspect_err(|e| degraded.push(say("kernel records", e))).ok()
    })
}

/// What the copies together may use.
fn usable(spec: &Spec, checked: &Checked) -> Vec<usize> {
    let masks = spec.commands.iter().flat_map(|c| (0..c.copies).map(move |k| c.cpus.of(k)));
    let mut cpus: Vec<usize> = masks.flat_map(|mask| mask.unwrap_or(&checked.own)).copied().collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn header(spec: &Spec, contain: &Containment, records: bool, degraded: &[Degraded]) -> Header {
    Header {
        run: spec.run.clone(),
        protocol: 1,
        probe: env!("CARGO_PKG_VERSION").into(),
        kind: "native".into(),
        containment: contain.name().into(),
        cgroup: contain.leaf().map(|l| l.name()),
        backend: if records { "kernel" } else { "plain" }.into(),
        degraded: degraded.to_vec(),
    }
}

fn check(spec: &Spec) -> Result<Checked, Refusal> {
    let (online, own) = (host::online_cpus(), in_force::cpus_of(0).unwrap_or_default());
    for (i, command) in spec.commands.iter().enumerate() {
        let wanted = (0..command.copies).filter_map(|c| command.cpus.of(c)).flatten();
        if let Some(cpu) = wanted.copied().find(|cpu| !online.contains(cpu)) {
            let expected = format!("a CPU of this host: {}", host::format_cpu_list(&online));
            let place = format!("commands[{i}].cpus");
            return Err(Refusal::host(
                &place,
                &format!("CPU {cpu}"),
                &expected,
                "lower the level or choose another host",
            ));
        }
    }
    let user = spec.user.as_deref().map(find_user).transpose()?;
    Ok(Checked { online, own, user, programs: programs(spec)?, descriptors: raise_descriptors() })
}

fn find_user(name: &str) -> Result<(u32, u32), Refusal> {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let unknown = || Refusal::host("user", name, "a user of this host's /etc/passwd", "name another user");
    host::find_user(&passwd, name).ok_or_else(unknown)
}

/// Four pipes for each of thousands of copies; the copies get the old limit back.
fn raise_descriptors() -> libc::rlimit {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `old` is valid for both calls.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut old);
        libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: old.rlim_max, ..old });
    }
    old
}

fn programs(spec: &Spec) -> Result<Vec<PathBuf>, Refusal> {
    let find = |(i, c): (usize, &Command)| {
        let path = c.env.get("PATH").map(String::as_str);
        host::find_program(&c.argv[0], &c.cwd, path).map_err(|why| missing(i, &why))
    };
    spec.commands.iter().enumerate().map(find).collect()
}

fn missing(command: usize, why: &str) -> Refusal {
    let place = format!("commands[{command}].argv");
    Refusal::host(&place, &shorten(why), "a program that can be started", "install it, or correct argv or env.PATH")
}

/// Starts all copies and waits until each stands at the gate; also the CPUs they may use.
/// Memory is shared only where times are taken from outside (`birth`).
fn launch_all(
    spec: &Spec,
    checked: &Checked,
    images: &'static [Image],
    board: &Board,
    contain: &Containment,
    from_outside: bool,
) -> Result<Launched, Refusal> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").map_err(|e| os("/dev/null", &e))?;
    let null = sys::raised(OwnedFd::from(null)).map_err(|e| os("/dev/null", &e))?;
    let members: Vec<(usize, usize)> =
        spec.commands.iter().enumerate().flat_map(|(i, c)| (0..c.copies).map(move |k| (i, k))).collect();
    let mask = |&(i, k): &(usize, usize)| spec.commands[i].cpus.of(k).map_or_else(|| checked.own.clone(), Vec::from);
    let masks: Vec<Vec<usize>> = members.iter().map(mask).collect();
    let spins = gate::spinners(&masks);
    // A change of user would take the right to be traced and dumped from all who share the memory.
    let shares_memory = from_outside && checked.user.is_none();
    let mut copies = Vec::new();
    for (index, &(i, k)) in members.iter().enumerate() {
        let (mut copy, ends) = Copy::new(spec, i, &null, checked.user).map_err(|e| os("pipes of a copy", &e))?;
        let command = &spec.commands[i];
        let place = Place {
            image: &images[i],
            fds: ends.iter().map(AsRawFd::as_raw_fd).collect(),
            mask: command.cpus.of(k).map(launch::mask_words),
            policy: command.policy.as_deref().map(|name| (launch::policy_number(name), command.priority)),
            nice: command.nice,
            user: checked.user,
            descriptors: checked.descriptors,
            spins: spins[index],
            shares_memory,
            head: board.head(),
            slot: board.slot(index),
            door: contain.door(),
            parent: contain.parent(),
        };
        copy.pid = launch::start(place, contain.birthplace()).map_err(|e| os("clone of a copy", &e))?;
        copies.push(copy);
    }
    await_prepared(spec, board, &copies)?;
    let mut cpus = masks.concat();
    cpus.sort_unstable();
    cpus.dedup();
    Ok(Launched { copies, cpus, spins, shares_memory })
}

fn await_prepared(spec: &Spec, board: &Board, copies: &[Copy]) -> Result<(), Refusal> {
    let prepared = board.await_prepared(60 * SECOND, || sys::next_waitable().is_ok_and(|pid| pid > 0));
    let failed = board.slots().zip(copies).find_map(|(slot, copy)| Some((copy.command, slot.failure()?)));
    if let Some((command, (stage, errno))) = failed {
        return Err(refused(spec, command, stage, errno));
    }
    let dead = sys::next_waitable().ok().and_then(|pid| copies.iter().position(|c| c.pid == pid));
    if let Some(copy) = dead {
        let found = format!("copy {copy} was killed or stopped before the gate");
        return Err(Refusal::new(Kind::Lost, "commands", &found, "a copy at the gate", "look for who killed it"));
    }
    if !prepared {
        let found = "a copy that does not reach the gate within 60 s";
        return Err(Refusal::host("commands", found, "copies at the gate", "lower the number of copies"));
    }
    Ok(())
}

fn refused(spec: &Spec, index: usize, stage: Stage, errno: i32) -> Refusal {
    let c = &spec.commands[index];
    let (field, asked, fix) = match stage {
        Stage::Cpus => ("cpus", format!("{:?}", c.cpus), "choose CPUs that this process may use (cpuset)"),
        Stage::Policy => ("policy", format!("{:?}", c.policy), "run with CAP_SYS_NICE, or choose other, batch or idle"),
        Stage::Nice => ("nice", format!("{:?}", c.nice), "run with CAP_SYS_NICE, or ask for a value that is not lower"),
        Stage::User => ("user", format!("{:?}", spec.user), "run as root to change the user"),
        Stage::Cwd => ("cwd", c.cwd.clone(), "make the folder, or let the user enter it"),
        _ => ("argv", format!("{stage:?}"), "see `scalograph-probe --capabilities`"),
    };
    let place = if stage == Stage::User { "user".into() } else { format!("commands[{index}].{field}") };
    let found = format!("{asked}: {}", sys::describe(errno));
    Refusal::host(&place, &found, "a setting that the kernel grants", fix)
}

fn listen(watch: &Watch) -> io::Result<()> {
    for (i, copy) in watch.copies.iter().enumerate() {
        let add =
            |fd: &Option<OwnedFd>, source| fd.as_ref().map_or(Ok(()), |fd| watch.poller.add(fd.as_raw_fd(), source));
        add(&copy.stdout, Source::Stdout(i))?;
        add(&copy.stderr, Source::Stderr(i))?;
        add(&copy.events, Source::Events(i))?;
    }
    for fd in watch.records.iter().flat_map(Records::fds) {
        watch.poller.add(fd, Source::Ring)?;
    }
    // A plain file cannot be watched, and cannot lose its reader.
    let _ = watch.poller.add(libc::STDOUT_FILENO, Source::Reader);
    Ok(())
}

fn open_gate(watch: &mut Watch) -> Result<Before, Refusal> {
    let mains: Vec<i32> = watch.copies.iter().map(|c| c.pid).collect();
    let enabled = watch.records.as_mut().map_or(Ok(()), |r| r.enable(&mains));
    enabled.map_err(|e| os("perf events", &e))?;
    watch.rehearse();
    let before = Before::read(watch);
    gate::open(watch.board, watch.copies.len());
    watch.gate_ns = watch.board.head().deadline_ns.load(SeqCst);
    Ok(before)
}
