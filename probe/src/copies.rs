//! One copy of a command: its pipes, its output, its events, its end and its resource usage.

use crate::board::Slot;
use crate::capture::Kept;
use crate::events::InForce;
use crate::served::Served;
use crate::spec::{Output, Spec};
use crate::sys;
use crate::workload::Speech;
use std::collections::HashSet;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Sums of rusage; `max_rss_bytes` is a maximum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub blocks_in: u64,
    pub blocks_out: u64,
    pub switches: u64,
    pub preemptions: u64,
    pub max_rss_bytes: u64,
}

impl Usage {
    pub fn from_kernel(r: &libc::rusage) -> Usage {
        let ns = |t: libc::timeval| t.tv_sec as u64 * sys::SECOND + t.tv_usec as u64 * 1000;
        Usage {
            user_ns: ns(r.ru_utime),
            system_ns: ns(r.ru_stime),
            minor_faults: r.ru_minflt as u64,
            major_faults: r.ru_majflt as u64,
            blocks_in: r.ru_inblock as u64,
            blocks_out: r.ru_oublock as u64,
            switches: (r.ru_nvcsw + r.ru_nivcsw) as u64,
            preemptions: r.ru_nivcsw as u64,
            max_rss_bytes: r.ru_maxrss as u64 * 1024,
        }
    }

    /// Return the usage of the probe itself.
    pub fn own() -> Usage {
        // SAFETY: rusage is plain numbers, filled by the kernel.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            Usage::from_kernel(&usage)
        }
    }

    pub fn add(&mut self, o: &Usage) {
        self.user_ns += o.user_ns;
        self.system_ns += o.system_ns;
        self.minor_faults += o.minor_faults;
        self.major_faults += o.major_faults;
        self.blocks_in += o.blocks_in;
        self.blocks_out += o.blocks_out;
        self.switches += o.switches;
        self.preemptions += o.preemptions;
        self.max_rss_bytes = self.max_rss_bytes.max(o.max_rss_bytes);
    }

    /// Subtract what was used before the gate, from user and system time in proportion: ticks do not separate them.
    pub fn without(mut self, before_ns: u64) -> Usage {
        let total = self.user_ns + self.system_ns;
        let left = total.saturating_sub(before_ns);
        self.user_ns = (self.user_ns as u128 * left as u128 / total.max(1) as u128) as u64;
        self.system_ns = left - self.user_ns;
        self
    }
}

/// Return the peak memory of a process, or None if the probe's own memory may have set it.
///
/// A copy that shares the probe's memory until exec starts with the probe's peak (`hidden`) in its rusage.
pub fn peak(rusage: u64, hidden: u64) -> Option<u64> {
    (rusage > hidden).then_some(rusage)
}

#[derive(Clone, Copy, Debug)]
pub struct End {
    pub at_ns: u64,
    pub status: i32,
    pub usage: Usage,
}

/// How long copies stood still because another process stopped them (SIGSTOP, job control of a debugger).
#[derive(Default)]
pub struct Stopped {
    still: HashSet<i32>,
    since_ns: u64,
    total_ns: u64,
}

impl Stopped {
    /// Record a stop or a continuation; return false if the status of wait4 is that of an end.
    pub fn take(&mut self, pid: i32, status: i32, at_ns: u64) -> bool {
        if libc::WIFSTOPPED(status) {
            if self.still.is_empty() {
                self.since_ns = at_ns;
            }
            self.still.insert(pid);
            return true;
        }
        let goes_on = libc::WIFCONTINUED(status);
        if goes_on {
            self.gone(pid, at_ns);
        }
        goes_on
    }

    /// Record that a process continues or has ended.
    pub fn gone(&mut self, pid: i32, at_ns: u64) {
        if self.still.remove(&pid) && self.still.is_empty() {
            self.total_ns += at_ns.saturating_sub(self.since_ns);
        }
    }

    /// Return the time in which at least one copy was stopped.
    pub fn total_ns(&self) -> u64 {
        self.total_ns
    }
}

pub struct Copy {
    pub command: usize,
    pub pid: i32,
    pub stdout: Option<OwnedFd>,
    pub stderr: Option<OwnedFd>,
    pub events: Option<OwnedFd>,
    pub go: Option<OwnedFd>,
    pub kept_out: Kept,
    pub kept_err: Kept,
    pub speech: Speech,
    pub end: Option<End>,
    /// Affinity and scheduling at its end; None if it was reaped before they were read.
    pub at_end: Option<InForce>,
    pub slot: &'static Slot,
    /// None: a driver.
    pub service: Option<Served>,
}

impl Copy {
    /// Make the pipes; return the probe's half, and the copy's ends of its descriptors 0 to 4.
    pub fn new(
        spec: &Spec,
        command: usize,
        null: &OwnedFd,
        user: Option<(u32, u32)>,
        slot: &'static Slot,
    ) -> io::Result<(Copy, Vec<OwnedFd>)> {
        let input = spec.commands[command].stdin.as_ref().map(std::fs::File::open).transpose()?;
        let mut fds = vec![sys::raised(input.map_or_else(|| null.try_clone(), |file| Ok(file.into()))?)?];
        let service = spec.commands[command].service.as_ref().map(Served::new);
        let mut stdout = None;
        match &spec.stdout {
            Output::Capture | Output::Pipe if service.is_none() => stdout = Some(incoming(&mut fds)?),
            Output::Terminal if service.is_none() => {
                let (ours, theirs) = sys::terminal()?;
                if spec.commands[command].stdin.is_none() {
                    fds[0] = sys::raised(theirs.try_clone()?)?;
                }
                fds.push(theirs);
                stdout = Some(ours);
            }
            Output::File(path) if service.is_none() => {
                // Every copy appends to what others write: all open it before one begins.
                let file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
                if file.metadata()?.is_file() {
                    file.set_len(0)?;
                }
                fds.push(sys::raised(file.into())?);
            }
            _ => fds.push(sys::raised(null.try_clone()?)?),
        }
        let stderr = Some(incoming(&mut fds)?);
        if service.is_some() {
            fds[1] = sys::raised(fds[2].try_clone()?)?;
        }
        let speaks = spec.events && service.is_none();
        let events = if speaks { Some(incoming(&mut fds)?) } else { None };
        let go = if speaks { Some(outgoing(&mut fds)?) } else { None };
        let (kept_out, kept_err) =
            (Kept::first(if spec.stdout.is_kept() { spec.stdout_limit } else { 0 }), Kept::last(spec.stderr_limit));
        for fd in &fds[1..] {
            give(fd, user)?;
        }
        let speech = Speech::default();
        let (end, at_end) = (None, None);
        let pid = 0;
        let copy =
            Copy { command, pid, stdout, stderr, events, go, kept_out, kept_err, speech, end, at_end, slot, service };
        Ok((copy, fds))
    }

    pub fn exit_code(&self) -> Option<i32> {
        self.end.filter(|e| libc::WIFEXITED(e.status)).map(|e| libc::WEXITSTATUS(e.status))
    }

    pub fn signal(&self) -> Option<i32> {
        self.end.filter(|e| libc::WIFSIGNALED(e.status)).map(|e| libc::WTERMSIG(e.status))
    }

    /// Whether it has written `ready` and waits for the byte that releases it.
    pub fn waits(&self) -> bool {
        self.speech.ready && self.go.is_some() && self.end.is_none()
    }

    /// Whether it may still write `ready`: it lives, and has its pipe open.
    pub fn may_wait(&self) -> bool {
        self.end.is_none() && self.go.is_some() && self.events.is_some() && !self.speech.spoke
    }
}

/// Give a pipe to the copy's user: opening /dev/fd/3 checks permission, unlike writing to descriptor 3.
fn give(pipe: &OwnedFd, user: Option<(u32, u32)>) -> io::Result<()> {
    let Some((uid, gid)) = user else { return Ok(()) };
    // SAFETY: `kind` is plain numbers, for which zero is a value, filled by the kernel; the descriptor is ours.
    unsafe {
        let mut kind: libc::stat = std::mem::zeroed();
        sys::check(libc::fstat(pipe.as_raw_fd(), &mut kind).into())?;
        if kind.st_mode & libc::S_IFMT == libc::S_IFIFO {
            sys::check(libc::fchown(pipe.as_raw_fd(), uid, gid).into())?;
        }
    }
    Ok(())
}

fn incoming(theirs: &mut Vec<OwnedFd>) -> io::Result<OwnedFd> {
    let (read, write) = sys::pipe()?;
    sys::set_nonblocking(&read)?;
    theirs.push(write);
    Ok(read)
}

fn outgoing(theirs: &mut Vec<OwnedFd>) -> io::Result<OwnedFd> {
    let (read, write) = sys::pipe()?;
    // A copy may have filled the pipe itself: a byte is there then, and the write must not block.
    sys::set_nonblocking(&write)?;
    theirs.push(read);
    Ok(write)
}
