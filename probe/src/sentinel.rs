//! Measure the speed of the CPUs during a run: a short loop on each at regular times, in its own CPU time.
//!
//! A process of the probe has one thread for each CPU. It starts before anything else, so that kernel records, the run's
//! cgroup, and its namespace do not include it. It is killed when the window closes. Its samples are in shared memory.

use crate::events::{Degraded, Speed};
use crate::{gate, host, sys};
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::SeqCst};

const PERIOD_NS: u64 = 8_000_000;
/// On more CPUs its wake-ups would cost too much.
const MAX_CPUS: usize = 64;
/// Samples of half a minute; of longer runs as many are drawn.
pub const MAX_SAMPLES: usize = 4096;
/// About 15 us on a fast CPU; without optimization each step takes ten times as long.
const STEPS: u64 = if cfg!(debug_assertions) { 2_500 } else { 25_000 };
const PARTS: usize = 3;
/// A CPU without a sample for this long gave no time.
const STARVED_NS: u64 = 10 * PERIOD_NS;
const FIX: &str = "none: its speed is not known, and nothing is corrected by it";
const STACK: usize = 64 << 10;

/// What one thread shares with the probe. All zero is a thread that has not begun.
#[repr(C)]
pub struct Slot {
    is_open: AtomicU32,
    /// Errno of the refusal of its CPU, and of a real-time policy.
    pub no_cpu: AtomicI32,
    pub no_policy: AtomicI32,
    /// Whether it found itself elsewhere: its CPU went offline, or was taken from the probe.
    pub has_left: AtomicU32,
    gate_ns: AtomicU64,
    n: AtomicU64,
    samples: [AtomicU32; MAX_SAMPLES],
}

impl Slot {
    /// Keep a sample; of more than there is room for, each has the same chance to be kept.
    pub fn add(&self, ns: u64) {
        let n = self.n.fetch_add(1, SeqCst);
        let at = if n < MAX_SAMPLES as u64 { n } else { scatter(n) % (n + 1) };
        if let Some(sample) = self.samples.get(at as usize) {
            sample.store(ns.clamp(1, u32::MAX.into()) as u32, SeqCst);
        }
    }

    /// Return the samples that were kept, in order of size; none of a CPU that it has left.
    fn sorted(&self) -> Vec<u64> {
        let n = if self.has_left.load(SeqCst) == 1 { 0 } else { self.n.load(SeqCst).min(MAX_SAMPLES as u64) };
        let mut kept: Vec<u64> = self.samples[..n as usize].iter().map(|ns| ns.load(SeqCst).into()).collect();
        kept.sort_unstable();
        kept
    }
}

/// Return a number without order (splitmix64).
fn scatter(n: u64) -> u64 {
    let mixed = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 31
}

/// Return zeroed slots that children share; never unmapped.
pub fn slots(n: usize) -> io::Result<&'static [Slot]> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping, page-aligned and zeroed, which all the atomics accept.
    unsafe {
        let base = libc::mmap(std::ptr::null_mut(), n * size_of::<Slot>(), access, flags, -1, 0);
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(std::slice::from_raw_parts(base.cast(), n))
    }
}

pub struct Sentinel {
    pub pid: u32,
    cpus: Vec<usize>,
    slots: &'static [Slot],
    began_ns: u64,
    cost_ns: u64,
}

impl Sentinel {
    /// Start it on these CPUs, to wait for the gate; None if it cannot be, which is added to `degraded`.
    pub fn start(cpus: &[usize], degraded: &mut Vec<Degraded>) -> Option<Sentinel> {
        let started = match cpus.len() {
            0..=MAX_CPUS => slots(cpus.len()).and_then(|slots| spawn(cpus, slots)),
            n => {
                let why = format!("the run may use {n} CPUs, more than {MAX_CPUS}");
                degraded.push(Degraded::new("sentinel", &why, "let the run use fewer CPUs"));
                return None;
            }
        };
        started.inspect_err(|e| degraded.push(Degraded::new("sentinel", &sys::describe_error(e), FIX))).ok()
    }

    /// Let it begin with the gate.
    pub fn begin(&mut self, gate_ns: u64) {
        self.began_ns = self.cpu_ns();
        for slot in self.slots {
            slot.gate_ns.store(gate_ns, SeqCst);
            slot.is_open.store(1, SeqCst);
            sys::futex_wake_all(&slot.is_open);
        }
    }

    /// End it with the window.
    pub fn stop(&mut self) {
        self.cost_ns = self.cpu_ns().saturating_sub(self.began_ns);
        self.kill();
    }

    pub fn cpu_ns(&self) -> u64 {
        sys::process_cpu_ns(self.pid as i32).unwrap_or(0)
    }

    fn kill(&self) {
        // SAFETY: a signal to a child of ours that is waited for in `drop` only.
        unsafe { libc::kill(self.pid as i32, libc::SIGKILL) };
    }

    /// Summarize the samples, one value for each of the `online` CPUs.
    pub fn speed(&self, online: &[usize]) -> Speed {
        let mut speed = summarize(online, &self.cpus, self.slots);
        speed.cost_ns = self.cost_ns;
        speed
    }

    /// Return why CPUs have no speed, or samples that may be late.
    pub fn missing(&self, wall_ns: u64) -> Vec<Degraded> {
        missing(&self.cpus, self.slots, wall_ns)
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.kill();
        // SAFETY: a wait for our own child, which no other wait takes away: it has no exit signal.
        unsafe { libc::waitpid(self.pid as i32, std::ptr::null_mut(), libc::__WALL) };
    }
}

pub fn summarize(online: &[usize], cpus: &[usize], slots: &[Slot]) -> Speed {
    let mut speed = Speed::default();
    for cpu in online {
        let slot = cpus.iter().position(|own| own == cpu).map(|i| &slots[i]);
        let kept = slot.map_or_else(Vec::new, Slot::sorted);
        let n = kept.len() as u64;
        let quantile = |percent: u64| kept.get((n.saturating_sub(1) * percent / 100) as usize).copied();
        speed.mean_ns.push((n > 0).then(|| harmonic_mean(&kept)));
        speed.p10_ns.push(quantile(10));
        speed.p90_ns.push(quantile(90));
        speed.n.push(slot.filter(|_| n > 0).map_or(0, |slot| slot.n.load(SeqCst)));
    }
    speed
}

/// Return the time of the loop at the mean speed, which a program of fixed work also meets.
fn harmonic_mean(kept: &[u64]) -> u64 {
    let inverse: f64 = kept.iter().map(|ns| 1.0 / *ns as f64).sum();
    (kept.len() as f64 / inverse).round() as u64
}

pub fn missing(cpus: &[usize], slots: &[Slot], wall_ns: u64) -> Vec<Degraded> {
    let errno = |slot: &Slot| Some(slot.no_cpu.load(SeqCst)).filter(|n| *n != 0);
    let is_gone = |slot: &Slot| slot.has_left.load(SeqCst) == 1;
    let is_starved = |slot: &Slot| slot.n.load(SeqCst) == 0 && errno(slot).is_none() && wall_ns >= STARVED_NS;
    let first = |wanted: &dyn Fn(&Slot) -> bool| cpus.iter().zip(slots).find(|(_, slot)| wanted(slot));
    let mut list = Vec::new();
    let mut say = |why: String, fix: &str| list.push(Degraded::new("sentinel", &why, fix));
    if let Some((cpu, slot)) = first(&|slot| errno(slot).is_some()) {
        say(format!("no thread on CPU {cpu}: {}", sys::describe(errno(slot).unwrap_or(0))), FIX);
    }
    if let Some((cpu, _)) = first(&is_gone) {
        say(format!("CPU {cpu} went offline during the run"), "keep all CPUs online");
    }
    if let Some((cpu, _)) = first(&|slot| is_starved(slot) && !is_gone(slot)) {
        say(format!("CPU {cpu} gave it no time"), "let no real-time process keep a CPU");
    }
    let refused = slots.iter().map(|slot| slot.no_policy.load(SeqCst)).find(|n| *n != 0);
    if let Some(errno) = refused {
        let why = format!("no real-time policy, so it may wait for a CPU: {}", sys::describe(errno));
        say(why, "run as root, or be given CAP_SYS_NICE");
    }
    list
}

/// Fork it without an exit signal, so that a wait for the tree ignores it.
fn spawn(cpus: &[usize], slots: &'static [Slot]) -> io::Result<Sentinel> {
    // Siblings of a core would slow each other. All others work at once, which delays threads with barriers least.
    let turns: Vec<u64> =
        cpus.iter().map(|cpu| (1 + host::rank_in_core(Path::new("/"), *cpu) as u64 % 2) * PERIOD_NS / 2).collect();
    let parent = std::process::id();
    // SAFETY: as fork: no new stack, no shared memory, and the probe has one thread.
    match sys::check(unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) })? {
        0 => live(parent, cpus, &turns, slots),
        pid => Ok(Sentinel { pid: pid as u32, cpus: cpus.to_vec(), slots, began_ns: 0, cost_ns: 0 }),
    }
}

fn live(parent: u32, cpus: &[usize], turns: &[u64], slots: &'static [Slot]) -> ! {
    // SAFETY: concerns this process only. A probe that was killed before sends no signal any more.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != parent as i32 {
            libc::_exit(0);
        }
    }
    sys::close_all_but(libc::STDERR_FILENO);
    let priority = 1;
    // SAFETY: sched_param begins with the priority. Threads inherit it, and a busy CPU does not hold up their end.
    let policy = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority) };
    let refused = errno(policy);
    slots.iter().for_each(|slot| slot.no_policy.store(refused, SeqCst));
    let start = |((cpu, turn), slot): ((&usize, &u64), &'static Slot)| {
        let (cpu, turn) = (*cpu, *turn);
        let builder = std::thread::Builder::new().stack_size(STACK);
        let refused = |e: &io::Error| slot.no_cpu.store(e.raw_os_error().unwrap_or(libc::EAGAIN), SeqCst);
        builder.spawn(move || measure(slot, cpu, turn)).inspect_err(refused).ok()
    };
    let threads: Vec<_> = cpus.iter().zip(turns).zip(slots).filter_map(start).collect();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    // SAFETY: leaves without running anything of the probe's.
    unsafe { libc::_exit(0) }
}

/// The error that a call left; zero where it went well.
fn errno(result: i64) -> i32 {
    sys::check(result).err().map_or(0, |refused| refused.raw_os_error().unwrap_or(libc::EIO))
}

/// Take samples on one CPU until the process is killed, or the CPU is taken away.
fn measure(slot: &Slot, cpu: usize, turn: u64) {
    let mask = crate::launch::mask_words(&[cpu]);
    // SAFETY: the length matches the array; concerns this thread.
    let pinned = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&mask), mask.as_ptr()) };
    slot.no_cpu.store(errno(pinned), SeqCst);
    if pinned < 0 {
        return;
    }
    while slot.is_open.load(SeqCst) == 0 {
        sys::futex_wait(&slot.is_open, 0, None);
    }
    let mut due = slot.gate_ns.load(SeqCst) + turn;
    // SAFETY: reads a number.
    let is_there = || unsafe { libc::sched_getcpu() } == cpu as i32;
    loop {
        gate::sleep_until(due);
        let ns = is_there().then(sample).filter(|_| is_there());
        let Some(ns) = ns else { return slot.has_left.store(1, SeqCst) };
        slot.add(ns);
        due += PERIOD_NS * (1 + sys::now_ns().saturating_sub(due) / PERIOD_NS);
    }
}

/// Time the loop in CPU time of this thread. An interrupt hits one part, so the median part is used.
fn sample() -> u64 {
    let now = || sys::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID);
    let part = |_| {
        let from = now();
        black_box(work(black_box(STEPS)));
        now() - from
    };
    black_box(work(black_box(STEPS / 4)));
    now(); // caches are filled, and the predictor of branches has learned
    let mut parts = [(); PARTS].map(part);
    parts.sort_unstable();
    parts[PARTS / 2] * PARTS as u64
}

/// Six independent chains: the core can execute as many instructions at once as it has units for.
#[inline(never)]
fn work(steps: u64) -> u64 {
    let (mut a, mut b, mut c, mut d, mut e, mut f) = (1u64, 2u64, 3u64, 4u64, 5u64, 6u64);
    for _ in 0..steps {
        a = a.wrapping_mul(5) ^ 1;
        b = (b >> 1).wrapping_add(7);
        c = c.rotate_left(5) ^ 3;
        d = (d << 1).wrapping_sub(9);
        e = e.wrapping_add(11) ^ 5;
        f = (f ^ 13).wrapping_add(2);
    }
    a ^ b ^ c ^ d ^ e ^ f
}
