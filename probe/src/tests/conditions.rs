//! Readings of a recorded tree, before and after.

use crate::conditions::{stall_ns, Conditions};
use crate::copies::Stopped;
use crate::events::RunEvent;
use crate::neighbors;
use std::fs;
use std::path::{Path, PathBuf};

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let folder = std::env::temp_dir().join(format!("scalograph-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Tree(folder)
    }

    fn with(self, file: &str, text: &str) -> Tree {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn between(before: &Path, after: &Path) -> RunEvent {
    let mut event = RunEvent::default();
    let first = Conditions::read(before, &[0, 1], None);
    Conditions::read(after, &[0, 1], None).since(&first, &mut event);
    event
}

const MOUNTS: &str = "29 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu,cpuacct\n\
                      30 1 0:27 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n";
const OWN: &str = "3:cpu,cpuacct:/box/inner\n0::/deep\n";
const HEAT: &str = "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms";

#[test]
fn what_happened_is_a_difference() {
    let at = |name: &str, n: u64| {
        Tree::new(name)
            .with("proc/pressure/memory", &format!("some avg10=0.00 total={}\nfull avg10=0.00 total=1\n", n * 1000))
            .with("proc/vmstat", &format!("pgpgin {n}\npgpgout {n}\npswpin {n}\npswpout 9\n"))
            .with("proc/self/mountinfo", MOUNTS)
            .with("proc/self/cgroup", OWN)
            .with("sys/fs/cgroup/cpu/box/cpu.stat", &format!("nr_throttled 7\nthrottled_time {}\n", n * 5))
            .with("sys/fs/cgroup/cpu/cpu.stat", "nr_throttled 9\nthrottled_time 1000000\n")
            .with("sys/fs/cgroup/unified/deep/cpu.stat", &format!("usage_usec 1\nthrottled_usec {n}\n"))
            .with(HEAT, &format!("{n}\n"))
            .with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n")
            .with("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n")
    };
    let (before, after) = (at("before", 10), at("after", 30));
    let event = between(&before.0, &after.0);
    assert_eq!(event.machine_memory_stall_ns, Some(20_000_000));
    assert_eq!((event.machine_io_stall_ns, event.memory_stall_ns, event.io_stall_ns), (None, None, None));
    assert_eq!((event.n_swapped_in, event.disk_bytes), (Some(20), Some(40 * 1024)));
    assert_eq!(event.throttled_ns, Some(20_000), "the longest of both hierarchies, whatever was long ago");
    assert_eq!(event.thermal_ns, Some(20_000_000));
    assert_eq!(event.frequency_hz, Some(2_500_000_000));
    assert_eq!(event.clock_source_changed, Some(false));
}

#[test]
fn what_is_not_told_is_none_and_a_changed_clock_is_seen() {
    let clock = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let (before, after) = (Tree::new("tsc").with(clock, "tsc\n"), Tree::new("hpet").with(clock, "hpet\n"));
    let event = between(&before.0, &after.0);
    let figures = (event.throttled_ns, event.thermal_ns, event.n_swapped_in, event.disk_bytes, event.frequency_hz);
    assert_eq!(figures, (None, None, None, None, None));
    assert_eq!(event.clock_source_changed, Some(true));
    assert!(event.clock_step_ns.unwrap().abs() < 50_000_000 && event.asleep_ns.unwrap() < 50_000_000);
}

#[test]
fn pressure_that_cannot_be_read() {
    assert_eq!(stall_ns("full avg10=0.00 total=5\n"), None);
    assert_eq!(stall_ns("some avg10=0.00 total=x\n"), None);
    assert_eq!(stall_ns("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"), Some(7000));
}

#[test]
fn neighbors_have_names_while_they_live() {
    let stat = |name: &str, flags: u64| format!("5 ({name}) S 1 5 5 0 -1 {flags} 0 0\n");
    let tree = Tree::new("names")
        .with("proc/5/stat", &stat("my (odd) name", 64))
        .with("proc/6/stat", &stat("kworker/0:1", 0x0020_0040));
    let told = neighbors::named(&tree.0, &[(5, 300), (6, 200), (7, 100), (8, 50)], &[5], |_| None);
    let plain: Vec<_> = told.iter().map(|n| (n.name.as_deref(), n.kernel, n.observer, n.taken_ns)).collect();
    let named = [(Some("my (odd) name"), false, true, 300), (Some("kworker/0:1"), true, false, 200)];
    assert_eq!(plain, [&named[..], &[(None, false, false, 150)]].concat());
    assert_eq!(neighbors::parse("no parentheses"), None);
}

#[test]
fn partners_are_user_processes_and_threads_count_for_theirs() {
    let status = |tgid: u32| format!("Name:\tx\nTgid:\t{tgid}\nPid:\t9\n");
    let stat = |name: &str, flags: u64| format!("5 ({name}) S 1 5 5 0 -1 {flags} 0 0\n");
    let tree = Tree::new("partners")
        .with("proc/5/stat", &stat("redis", 64))
        .with("proc/5/status", &status(5))
        .with("proc/55/status", &status(5))
        .with("proc/6/stat", &stat("kworker/0:1", 0x0020_0040))
        .with("proc/6/status", &status(6))
        .with("proc/7/stat", &stat("bash", 64))
        .with("proc/7/status", &status(7));
    let list = neighbors::partners(&tree.0, &[(7, 4), (6, 90), (55, 3), (5, 2), (8, 50)], &[(5, 700)]);
    let plain: Vec<_> = list.iter().map(|p| (p.pid, p.name.as_str(), p.n_wakes, p.taken_ns)).collect();
    assert_eq!(plain, [(5, "redis", 5, 700), (7, "bash", 4, 0)]);
}

#[test]
fn stops_of_several_copies_are_one_stretch() {
    let (stop, go_on, end) = (0x137f, 0xffff, 0);
    let mut stopped = Stopped::default();
    assert!(stopped.take(1, stop, 100));
    assert!(stopped.take(2, stop, 150));
    assert!(stopped.take(1, go_on, 200));
    assert!(!stopped.take(2, end, 300));
    stopped.gone(2, 300);
    stopped.gone(3, 400);
    assert_eq!(stopped.total_ns(), 200);
}

#[test]
fn a_cgroup_that_saw_less_than_its_processes_used_was_left() {
    use crate::summary::holds_all;
    assert!(holds_all(1_000_000_000, 1_005_000_000), "rounding");
    assert!(holds_all(1_000_000_000, 3_000_000), "nobody waited for most of them");
    assert!(!holds_all(1_000_000_000, 1_020_000_000));
    assert!(!holds_all(0, 2_000_000));
}
