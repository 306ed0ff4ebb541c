//! One record of the kernel as a value.

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    In,
    Out {
        preempted: bool,
    },
    Fork {
        pid: u32,
        tid: u32,
        parent_pid: u32,
        parent_tid: u32,
    },
    Exit {
        pid: u32,
        tid: u32,
    },
    Name {
        exec: bool,
        name: [u8; 16],
    },
    /// The [vdso] of a new image: the first thing exec maps, before the program's first instruction.
    Image,
    /// Whoever else gets this CPU next; only CPU-wide records tell.
    Next {
        pid: u32,
    },
    /// Somebody wakes a task that was last on this CPU; `pid` and `tid` of the record are who does, if it is no interrupt.
    Wake {
        tid: u32,
        cpu: usize,
        interrupt: bool,
    },
    /// A task is put on the queue of this CPU: a new one, or one that is moved.
    Placed {
        tid: u32,
        cpu: usize,
    },
    Lost(u64),
}

/// Who, when and where, as the kernel appends it to every record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamped {
    pub time: u64,
    pub pid: u32,
    pub tid: u32,
    pub cpu: usize,
    pub what: What,
}

const TRAILER: usize = 24;
const EXEC: u16 = 1 << 13;
const OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;

impl Stamped {
    /// None for records without interest here. The bytes begin with the record's header.
    pub fn parse(bytes: &[u8]) -> Option<Stamped> {
        let misc = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
        let at = bytes.len().checked_sub(TRAILER)?;
        let body = bytes.get(8..at)?;
        let what = match u32_at(bytes, 0)? {
            1 => (text(body.get(32..)?) == b"[vdso]").then_some(What::Image)?,
            2 => What::Lost(u64_at(body, 8)?),
            3 => What::Name { exec: misc & EXEC != 0, name: name(text(body.get(8..)?)) },
            4 => What::Exit { pid: u32_at(body, 0)?, tid: u32_at(body, 8)? },
            7 => What::Fork {
                pid: u32_at(body, 0)?,
                parent_pid: u32_at(body, 4)?,
                tid: u32_at(body, 8)?,
                parent_tid: u32_at(body, 12)?,
            },
            14 if misc & OUT == 0 => What::In,
            14 => What::Out { preempted: misc & PREEMPTED != 0 },
            15 if misc & OUT != 0 => What::Next { pid: u32_at(body, 0)? },
            _ => return None,
        };
        let (pid, tid) = (u32_at(bytes, at)?, u32_at(bytes, at + 4)?);
        let (time, cpu) = (u64_at(bytes, at + 8)?, u32_at(bytes, at + 16)? as usize);
        Some(Stamped { time, pid, tid, cpu, what })
    }
}

pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn text(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or_default()
}

fn name(text: &[u8]) -> [u8; 16] {
    let mut name = [0; 16];
    let n = text.len().min(name.len());
    name[..n].copy_from_slice(&text[..n]);
    name
}
