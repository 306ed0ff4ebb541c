//! What can delay a run besides other programs: stalls, quotas, heat, swap, and clocks that jump.
//!
//! Each value is read at both ends of the window; what the kernel does not report is None, never 0.

use crate::cgroup::{self, number_after, throttled_time, throttled_usec, Leaf};
use crate::events::RunEvent;
use crate::sys;
use std::fs;
use std::path::{Path, PathBuf};

/// Readings since boot, or since the leaf was made.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    memory_stall_ns: Option<u64>,
    io_stall_ns: Option<u64>,
    machine_memory_stall_ns: Option<u64>,
    machine_io_stall_ns: Option<u64>,
    /// One value per cgroup, and per CPU below: a large old value must not hide a new one elsewhere.
    throttled_ns: Vec<u64>,
    thermal_ns: Vec<u64>,
    n_swapped_in: Option<u64>,
    disk_bytes: Option<u64>,
    clock_source: Option<String>,
    wall_clock_ns: Option<i64>,
    asleep_ns: Option<i64>,
    frequency_hz: Option<u64>,
}

impl Conditions {
    /// Read all of them; `root` holds /proc and /sys, `cpus` are those of the run.
    pub fn read(root: &Path, cpus: &[usize], leaf: Option<&Leaf>) -> Conditions {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let own = |file: &str| leaf.and_then(|l| fs::read_to_string(l.folder().join(file)).ok());
        let vmstat = text("proc/vmstat").unwrap_or_default();
        let pages = |name: &str| number_after(&vmstat, name);
        Conditions {
            memory_stall_ns: own("memory.pressure").and_then(|t| stall_ns(&t)),
            io_stall_ns: own("io.pressure").and_then(|t| stall_ns(&t)),
            machine_memory_stall_ns: text("proc/pressure/memory").and_then(|t| stall_ns(&t)),
            machine_io_stall_ns: text("proc/pressure/io").and_then(|t| stall_ns(&t)),
            throttled_ns: throttled_ns(root),
            thermal_ns: thermal_ns(root, cpus),
            n_swapped_in: pages("pswpin "),
            disk_bytes: pages("pgpgin ").zip(pages("pgpgout ")).map(|(i, o)| (i + o) * 1024),
            clock_source: text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            wall_clock_ns: ahead_of_monotonic(libc::CLOCK_REALTIME),
            asleep_ns: ahead_of_monotonic(libc::CLOCK_BOOTTIME),
            frequency_hz: frequency_hz(root, cpus),
        }
    }

    /// Write what happened since `before` into the event.
    pub fn since(&self, before: &Conditions, event: &mut RunEvent) {
        let passed = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let longest = |now: &[u64], then: &[u64]| now.iter().zip(then).map(|(n, t)| n.saturating_sub(*t)).max();
        event.memory_stall_ns = passed(self.memory_stall_ns, before.memory_stall_ns);
        event.io_stall_ns = passed(self.io_stall_ns, before.io_stall_ns);
        event.machine_memory_stall_ns = passed(self.machine_memory_stall_ns, before.machine_memory_stall_ns);
        event.machine_io_stall_ns = passed(self.machine_io_stall_ns, before.machine_io_stall_ns);
        event.throttled_ns = longest(&self.throttled_ns, &before.throttled_ns);
        event.thermal_ns = longest(&self.thermal_ns, &before.thermal_ns);
        event.n_swapped_in = passed(self.n_swapped_in, before.n_swapped_in);
        event.disk_bytes = passed(self.disk_bytes, before.disk_bytes);
        event.clock_step_ns = self.wall_clock_ns.zip(before.wall_clock_ns).map(|(now, then)| now - then);
        event.asleep_ns = self.asleep_ns.zip(before.asleep_ns).map(|(now, then)| (now - then).max(0) as u64);
        event.clock_source_changed = Some(self.clock_source != before.clock_source);
        event.frequency_hz = self.frequency_hz;
    }
}

/// Parse the time in which at least one task stalled (`total` of the line `some`), in nanoseconds.
pub fn stall_ns(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    some.split("total=").nth(1)?.trim().parse::<u64>().ok().map(|us| us * 1000)
}

/// Return how long quotas have held back each cgroup that we are in, and each one above.
fn throttled_ns(root: &Path) -> Vec<u64> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (mountinfo, own) = (read("proc/self/mountinfo"), read("proc/self/cgroup"));
    let unified = cgroup::own_folder(&mountinfo, &own).map(|f| all(under(root, &f), throttled_usec));
    let first = cgroup::own_folder_v1(&mountinfo, &own, "cpu").map(|f| all(under(root, &f), throttled_time));
    [unified, first].into_iter().flatten().flatten().collect()
}

fn under(root: &Path, folder: &Path) -> PathBuf {
    root.join(folder.strip_prefix("/").unwrap_or(folder))
}

fn all(folder: PathBuf, parse: fn(&str) -> Option<u64>) -> Vec<u64> {
    let read = |f: &Path| fs::read_to_string(f.join("cpu.stat")).ok().and_then(|text| parse(&text));
    folder.ancestors().filter_map(read).collect()
}

/// Return how long each CPU was slowed because it, or its package, was too hot.
fn thermal_ns(root: &Path, cpus: &[usize]) -> Vec<u64> {
    let read = |cpu: &usize, name: &str| {
        let file = format!("sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}_throttle_total_time_ms");
        fs::read_to_string(root.join(file)).ok()?.trim().parse::<u64>().ok().map(|ms| ms * 1_000_000)
    };
    cpus.iter().filter_map(|cpu| read(cpu, "core").max(read(cpu, "package"))).collect()
}

/// Return the mean of the CPUs' current frequencies.
fn frequency_hz(root: &Path, cpus: &[usize]) -> Option<u64> {
    let file = |cpu: &usize| root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"));
    let read = |cpu| fs::read_to_string(file(cpu)).ok()?.trim().parse::<u64>().ok();
    let known: Vec<u64> = cpus.iter().filter_map(read).collect();
    (!known.is_empty()).then(|| known.iter().sum::<u64>() * 1000 / known.len() as u64)
}

/// Return how far a clock is ahead of CLOCK_MONOTONIC.
///
/// The quickest of five readings counts: a preemption between two clocks would look like a step.
fn ahead_of_monotonic(clock: libc::clockid_t) -> Option<i64> {
    let reading = || {
        let (before, there, after) = (sys::now_ns(), sys::clock_ns(clock), sys::now_ns());
        (after - before, there as i64 - ((before + after) / 2) as i64)
    };
    (0..5).map(|_| reading()).min().map(|(_, ahead)| ahead)
}
