//! perf_event_open and its ring buffers: a software dummy event that carries records only.
//!
//! The events are attached to the probe itself and inherited by the copies, one for each CPU:
//! the kernel maps an inherited event's ring for one CPU only.

use crate::record::Stamped;
use crate::sys;
use crate::tracepoints::{Tracepoint, Tracepoints};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Version 5 of the kernel's structure.
#[repr(C)]
#[derive(Default)]
struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const TASK: u64 = 1 << 13;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const COMM_EXEC: u64 = 1 << 24;
const USE_CLOCKID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;

const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;
const IOC_SET_FILTER: libc::c_ulong = 0x4008_2406;

const TID_TIME_CPU: u64 = 1 << 1 | 1 << 2 | 1 << 7;

/// An event that counts nothing, and carries records.
fn dummy(records: u64) -> Attr {
    const SOFTWARE: u32 = 1;
    const DUMMY: u64 = 9;
    attr(SOFTWARE, DUMMY, TID_TIME_CPU, records | EXCLUDE_KERNEL | EXCLUDE_HV)
}

fn attr(kind: u32, config: u64, sample_type: u64, flags: u64) -> Attr {
    Attr {
        kind,
        size: size_of::<Attr>() as u32,
        config,
        sample_type,
        flags: flags | DISABLED | SAMPLE_ID_ALL | USE_CLOCKID,
        clockid: libc::CLOCK_MONOTONIC,
        ..Attr::default()
    }
}

/// Births, images, names and ends.
pub const LIFE: u64 = MMAP | COMM | TASK | COMM_EXEC;
/// Every switch of a task onto and off a CPU.
pub const SWITCHES: u64 = CONTEXT_SWITCH;

pub struct Event {
    fd: OwnedFd,
}

impl Event {
    /// Of the probe's children, which inherit it.
    pub fn open(records: u64, cpu: usize) -> io::Result<Event> {
        Event::of(0, cpu, dummy(records | INHERIT))
    }

    /// Of all that runs on a CPU.
    pub fn open_wide(records: u64, cpu: usize) -> io::Result<Event> {
        Event::of(-1, cpu, dummy(records))
    }

    /// A tracepoint that anybody hits on a CPU.
    ///
    /// An inherited one would record wake-ups by the probe's children, but since Linux 6.13 not wake-ups of them.
    pub fn open_point(point: Tracepoint, cpu: usize) -> io::Result<Event> {
        const TRACEPOINT: u32 = 2;
        const RAW: u64 = 1 << 10;
        let attr = Attr { sample_period: 1, ..attr(TRACEPOINT, point.id.into(), TID_TIME_CPU | RAW, 0) };
        Event::of(-1, cpu, attr)
    }

    fn of(pid: i32, cpu: usize, attr: Attr) -> io::Result<Event> {
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        // SAFETY: `attr` carries its own size; the new descriptor is owned at once.
        unsafe {
            let fd = libc::syscall(libc::SYS_perf_event_open, &attr, pid, cpu as i32, -1, CLOSE_ON_EXEC);
            Ok(Event { fd: OwnedFd::from_raw_fd(sys::check(fd)? as i32) })
        }
    }

    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Also in all tasks that have inherited it.
    pub fn enable(&self) -> io::Result<()> {
        self.ioctl(IOC_ENABLE, 0)
    }

    pub fn disable(&self) -> io::Result<()> {
        self.ioctl(IOC_DISABLE, 0)
    }

    pub fn write_into(&self, ring: &Event) -> io::Result<()> {
        self.ioctl(IOC_SET_OUTPUT, ring.fd())
    }

    /// Write only the records of a tracepoint that meet a condition on its fields.
    pub fn filter(&self, condition: &CStr) -> io::Result<()> {
        // SAFETY: the kernel reads the text, which ends with a zero.
        sys::check(unsafe { libc::ioctl(self.fd(), IOC_SET_FILTER as _, condition.as_ptr()) }.into()).map(drop)
    }

    fn ioctl(&self, request: libc::c_ulong, argument: i32) -> io::Result<()> {
        // SAFETY: these requests take a plain number.
        sys::check(unsafe { libc::ioctl(self.fd(), request as _, argument) }.into()).map(drop)
    }
}

/// The mapped ring of one event.
pub struct Ring {
    base: *mut u8,
    page: usize,
    size: usize,
    /// At the last look that found something. What is dropped is told with the next record alone,
    /// and there may be none.
    pub was_full: bool,
    /// What samples are of.
    pub points: Tracepoints,
}

/// Bytes of the longest record that is written.
const LONGEST: u64 = 96;
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

impl Ring {
    pub fn map(event: &Event, pages: usize) -> io::Result<Ring> {
        // SAFETY: a fresh mapping of the event's descriptor, checked before use.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let base = libc::mmap(std::ptr::null_mut(), (pages + 1) * page, access, libc::MAP_SHARED, event.fd(), 0);
            if base == libc::MAP_FAILED {
                Err(io::Error::last_os_error())
            } else {
                Ok(Ring {
                    base: base.cast(),
                    page,
                    size: pages * page,
                    was_full: false,
                    points: Tracepoints::default(),
                })
            }
        }
    }

    /// Takes all whole records out, in the order of writing.
    pub fn drain(&mut self, into: &mut Vec<Stamped>) {
        let head = self.counter(HEAD_AT).load(Ordering::Acquire);
        let mut tail = self.counter(TAIL_AT).load(Ordering::Relaxed);
        if head > tail {
            self.was_full = (self.size as u64).saturating_sub(head - tail) < LONGEST;
        }
        let mut scratch = [0u8; 512];
        while tail < head {
            let mut header = [0u8; 8];
            self.copy_out(tail, &mut header);
            let length = u16::from_ne_bytes([header[6], header[7]]) as usize;
            if length < header.len() {
                break; // never seen; a zero would hold us here for ever
            }
            // What is longer than the longest record of interest is cut, and then not understood.
            let kept = length.min(scratch.len());
            self.copy_out(tail, &mut scratch[..kept]);
            let bytes = &scratch[..kept];
            into.extend(Stamped::parse(bytes).or_else(|| self.points.parse(bytes)));
            tail += length as u64;
        }
        self.counter(TAIL_AT).store(head, Ordering::Release);
    }

    fn counter(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both counters lie aligned in the first page, which lives as long as `self`.
        unsafe { &*self.base.add(at).cast() }
    }

    /// A record may go over the end of the ring and on at its beginning.
    fn copy_out(&self, from: u64, to: &mut [u8]) {
        let at = (from % self.size as u64) as usize;
        let first = to.len().min(self.size - at);
        // SAFETY: both parts lie inside the data pages.
        unsafe {
            let data = self.base.add(self.page);
            std::ptr::copy_nonoverlapping(data.add(at), to.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, to.as_mut_ptr().add(first), to.len() - first);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`, used by nobody else.
        unsafe { libc::munmap(self.base.cast(), self.size + self.page) };
    }
}
