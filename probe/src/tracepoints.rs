//! The scheduler's tracepoints: their numbers, and the offsets of their fields.
//!
//! If tracefs is not mounted, it is read through a mount that is attached nowhere. Nothing on the machine changes.

use crate::record::{u16_at, u32_at, u64_at, Stamped, What};
use crate::{host, sys};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

const MOUNTED: &str = "/sys/kernel/tracing";
/// Of `common_flags`: the record was written in a hard or a soft interrupt.
const INTERRUPT: u8 = 0x08 | 0x10;

/// One kind of record: its number, and the bytes at which fields begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracepoint {
    pub id: u16,
    flags_at: usize,
    tid_at: usize,
    cpu_at: usize,
}

/// Wake-ups, and the CPU on whose queue a birth or a move puts a task.
#[derive(Clone, Debug, Default)]
pub struct Tracepoints {
    pub waking: Option<Tracepoint>,
    pub placing: Vec<Tracepoint>,
}

impl Tracepoints {
    pub fn read() -> io::Result<Tracepoints> {
        if !host::in_first_pid_namespace() {
            let why = "tasks are numbered as in the first PID namespace, which is not ours";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let root = Root::open()?;
        let of = |event: &str, cpu: &str| {
            let text = root.read(&format!("events/sched/{event}/format"))?;
            Tracepoint::parse(&text, cpu).ok_or_else(|| io::Error::other(format!("{event}: unknown format")))
        };
        let waking = Some(of("sched_waking", "target_cpu")?);
        Ok(Tracepoints {
            waking,
            placing: vec![of("sched_wakeup_new", "target_cpu")?, of("sched_migrate_task", "dest_cpu")?],
        })
    }

    /// None for records of other kinds. The bytes begin with the record's header.
    pub fn parse(&self, bytes: &[u8]) -> Option<Stamped> {
        const SAMPLE: u32 = 9;
        let raw = bytes.get(36..).filter(|_| u32_at(bytes, 0) == Some(SAMPLE))?;
        let id = u16_at(raw, 0)?;
        let field = |at: usize| u32_at(raw, at);
        let what = match self.waking.filter(|point| point.id == id) {
            Some(p) => What::Wake {
                tid: field(p.tid_at)?,
                cpu: field(p.cpu_at)? as usize,
                interrupt: raw.get(p.flags_at)? & INTERRUPT != 0,
            },
            None => {
                let p = self.placing.iter().find(|point| point.id == id)?;
                What::Placed { tid: field(p.tid_at)?, cpu: field(p.cpu_at)? as usize }
            }
        };
        let (pid, tid, cpu) = (u32_at(bytes, 8)?, u32_at(bytes, 12)?, u32_at(bytes, 24)? as usize);
        Some(Stamped { time: u64_at(bytes, 16)?, pid, tid, cpu, what })
    }
}

impl Tracepoint {
    /// Read a `format` file; `cpu` is the name of the field that holds the CPU.
    pub fn parse(text: &str, cpu: &str) -> Option<Tracepoint> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?.trim().parse().ok()?;
        let at = |name: &str| {
            let is_named = |line: &&str| line.split(';').next().is_some_and(|d| d.ends_with(&format!(" {name}")));
            let line = text.lines().find(is_named)?;
            line.split("offset:").nth(1)?.split(';').next()?.parse().ok()
        };
        Some(Tracepoint { id, flags_at: at("common_flags")?, tid_at: at("pid")?, cpu_at: at(cpu)? })
    }
}

/// A condition of the kernel's filters: the task that is woken was last on one of these CPUs, which are sorted.
pub fn woken_on(cpus: &[usize]) -> String {
    let list = host::format_cpu_list(cpus);
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        format!("(target_cpu >= {low} && target_cpu <= {high})")
    };
    list.split(',').map(range).collect::<Vec<_>>().join(" || ")
}

/// The top folder of tracefs.
enum Root {
    Mounted,
    Detached(OwnedFd),
}

impl Root {
    fn open() -> io::Result<Root> {
        if Path::new(MOUNTED).join("events/sched").exists() {
            return Ok(Root::Mounted);
        }
        const CLOSE_ON_EXEC: libc::c_long = 1;
        const CREATE: libc::c_long = 6;
        let owned = |fd: i64| sys::check(fd).map(|fd| fd as i32);
        // SAFETY: the name ends with a zero; each new descriptor is owned at once.
        unsafe {
            let fs = OwnedFd::from_raw_fd(owned(libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), CLOSE_ON_EXEC))?);
            let no = std::ptr::null::<u8>();
            sys::check(libc::syscall(libc::SYS_fsconfig, fs.as_raw_fd(), CREATE, no, no, 0))?;
            let top = owned(libc::syscall(libc::SYS_fsmount, fs.as_raw_fd(), CLOSE_ON_EXEC, 0))?;
            Ok(Root::Detached(OwnedFd::from_raw_fd(top)))
        }
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let Root::Detached(top) = self else { return fs::read_to_string(Path::new(MOUNTED).join(path)) };
        let name = std::ffi::CString::new(path)?;
        // SAFETY: the name ends with a zero; the new descriptor is owned at once.
        let mut file = unsafe {
            let fd = libc::openat(top.as_raw_fd(), name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            File::from_raw_fd(sys::check(fd.into())? as i32)
        };
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(text)
    }
}
