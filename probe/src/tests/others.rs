//! CPU time of families of processes outside the run, between two snapshots that are made up.

use crate::families::Seen;
use crate::others::{Families, Snapshot};

const MS: u64 = 1_000_000;
/// The probe, and what is above it.
const ME: i32 = 100;

/// Processes as (pid, parent, CPU time in ms), all of them started at boot.
fn snapshot(at_ms: u64, list: &[(i32, i32, u64)]) -> Snapshot {
    let seen = |pid, parent| Seen { pid, parent, session: 0, user_ns: 0, system_ns: 0, children_ns: 0, start_ns: 0 };
    let above = [(1, 0, 0), (90, 1, 0), (ME, 90, 0)];
    let every = above.iter().chain(list).map(|(pid, parent, ms)| (*pid, (seen(*pid, *parent), ms * MS)));
    Snapshot { at_ns: at_ms * MS, since_boot_ns: at_ms * MS, processes: every.collect() }
}

type Used = Vec<(u32, u64, u64)>;

/// Pid, CPU time, and CPU time before, in ms.
fn used(before: &[(i32, i32, u64)], end: &[(i32, i32, u64)], own: &[i32]) -> Used {
    let families = Families::between(&snapshot(1000, before), &snapshot(2000, end), ME, own);
    assert!(families.others.processes.iter().all(|p| p.age_ns == 1000 * MS));
    let mut list: Used = families.others.processes.iter().map(|p| (p.pid, p.cpu_ns / MS, p.before_ns / MS)).collect();
    list.sort();
    list
}

#[test]
fn a_family_is_all_that_descends_from_one_process() {
    let (before, end) = ([(7, 1, 50), (8, 7, 10)], [(7, 1, 60), (8, 7, 30), (9, 7, 5)]);
    assert_eq!(used(&before, &end, &[]), [(7, 35, 60)]);
}

#[test]
fn what_has_ended_is_counted_by_its_parent_and_only_since_the_start() {
    // 8 had used 40 before, and ended after 15 more, which its parent now has among those of its children.
    assert_eq!(used(&[(7, 1, 50), (8, 7, 40)], &[(7, 1, 105)], &[]), [(7, 15, 90)]);
    // Its parent ended as well: the next one above has all of it.
    assert_eq!(used(&[(6, 1, 5), (7, 6, 50), (8, 7, 40)], &[(6, 1, 115)], &[]), [(6, 20, 95)]);
}

#[test]
fn neither_the_run_nor_the_kernel_nor_services_of_the_run_are_others() {
    let before = [(2, 0, 0), (3, 2, 0), (101, ME, 0), (102, 101, 0), (50, 1, 0), (51, 50, 0), (60, 1, 0)];
    let end = before.map(|(pid, parent, ms)| (pid, parent, ms + 20));
    assert_eq!(used(&before, &end, &[50]), [(60, 20, 0)]);
}

#[test]
fn siblings_below_what_is_above_the_probe_are_families_of_their_own() {
    let (before, end) = ([(95, 90, 0), (96, 90, 0)], [(95, 90, 20), (96, 90, 30), (97, 96, 5)]);
    assert_eq!(used(&before, &end, &[]), [(95, 20, 0), (96, 35, 0)]);
}

#[test]
fn little_cpu_time_is_not_reported_and_an_odd_clock_is_none() {
    assert_eq!(used(&[(7, 1, 50), (8, 1, 50)], &[(7, 1, 50), (8, 1, 40)], &[]), []);
}
