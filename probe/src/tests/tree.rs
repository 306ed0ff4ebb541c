//! Wait, neighbors and on-CPU time from switch records whose right answer is known.

use crate::record::{Stamped, What};
use crate::tree::Tree;

const IN: What = What::In;
const OUT: What = What::Out { preempted: false };
const PREEMPTED: What = What::Out { preempted: true };

/// A tree of main 10 on CPUs 0 and 4; the gate is at 1000, and so is its image.
fn fed(records: &[(u64, u32, usize, What)]) -> Tree {
    let mut tree = at_gate();
    tree.feed(&Stamped { time: 1000, pid: 10, tid: 10, cpu: 0, what: What::Image });
    feed(&mut tree, records);
    tree
}

fn at_gate() -> Tree {
    let mut tree = Tree::new(&[0, 4], 512, vec![1]);
    tree.gate = 1000;
    tree.add_main(10, 0);
    tree
}

fn feed(tree: &mut Tree, records: &[(u64, u32, usize, What)]) {
    for &(time, tid, cpu, what) in records {
        tree.feed(&Stamped { time, pid: if tid == 1 { 1 } else { 10 }, tid, cpu, what });
    }
}

fn thread(tid: u32) -> What {
    What::Fork { pid: 10, tid, parent_pid: 10, parent_tid: 10 }
}

#[test]
fn a_neighbor_is_who_ran_while_nobody_of_the_tree_did() {
    let mut tree = fed(&[(1100, 10, 0, IN), (1200, 10, 0, PREEMPTED), (1500, 10, 0, IN), (1600, 10, 0, OUT)]);
    tree.finish(2000);
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (300, 300));
    assert_eq!((tree.sums.switches, tree.sums.preemptions), (2, 1));
    assert_eq!(tree.per_cpu_ns(), [200, 0]);
    assert_eq!(tree.waiting.rows[0], [300]);
}

#[test]
fn a_cpu_is_taken_once_however_many_wait_for_it() {
    let mut tree = fed(&[
        (1000, 10, 0, thread(11)),
        (1100, 10, 0, IN),
        (1200, 10, 0, PREEMPTED),
        (1200, 11, 0, IN),
        (1300, 11, 0, PREEMPTED),
        (1500, 10, 0, IN),
        (1600, 10, 0, OUT),
        (1700, 11, 4, IN),
        (1800, 11, 4, OUT),
    ]);
    tree.finish(2000);
    // Both waited from 1300 to 1500, and 11 alone from 1600 until it ran elsewhere.
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (300 + 400, 200 + 100));
}

#[test]
fn who_ends_while_waiting_waits_no_longer() {
    let mut tree = fed(&[(1100, 10, 0, IN), (1200, 10, 0, PREEMPTED), (1400, 10, 4, What::Exit { pid: 10, tid: 10 })]);
    tree.finish(2000);
    assert_eq!(tree.sums.neighbor_ns, 200);
}

#[test]
fn a_wait_for_a_task_of_the_same_tree_has_no_neighbor() {
    let mut tree = fed(&[
        (1000, 10, 0, thread(11)),
        (1100, 10, 0, IN),
        (1200, 10, 0, PREEMPTED),
        (1200, 11, 0, IN),
        (1400, 11, 0, OUT),
        (1450, 10, 0, IN),
        (1500, 10, 0, OUT),
    ]);
    tree.finish(2000);
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (250, 50));
    assert_eq!((tree.sums.tasks, tree.sums.processes), (2, 1));
}

#[test]
fn the_tree_may_still_run_when_the_wait_ends_elsewhere() {
    let mut tree = fed(&[
        (1100, 10, 0, IN),
        (1200, 10, 0, PREEMPTED),
        (1200, 11, 0, IN),
        (1300, 10, 4, IN),
        (1400, 10, 4, OUT),
        (1500, 11, 0, OUT),
    ]);
    tree.finish(2000);
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns, tree.sums.migrations), (100, 0, 1));
    assert_eq!(tree.per_cpu_ns(), [400, 100]);
}

#[test]
fn nothing_before_the_gate_counts() {
    let mut tree = fed(&[(500, 10, 0, IN), (600, 10, 0, PREEMPTED), (700, 10, 4, IN), (1300, 10, 4, OUT)]);
    tree.finish(2000);
    assert_eq!((tree.sums.wait_ns, tree.sums.switches, tree.sums.migrations), (0, 1, 0));
    assert_eq!(tree.per_cpu_ns(), [0, 300]);
}

#[test]
fn a_wait_over_the_gate_counts_from_the_gate() {
    let mut tree = fed(&[(500, 10, 0, IN), (600, 10, 0, PREEMPTED), (1200, 10, 0, IN)]);
    tree.finish(1300);
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (200, 200));
    assert_eq!(tree.per_cpu_ns(), [100, 0]);
}

#[test]
fn a_wait_before_the_image_is_no_wait_of_the_program() {
    let mut tree = at_gate();
    feed(&mut tree, &[(1100, 10, 0, IN), (1200, 10, 0, PREEMPTED), (1500, 10, 0, IN), (1600, 10, 0, What::Image)]);
    feed(&mut tree, &[(1700, 10, 0, PREEMPTED), (1750, 10, 0, IN)]);
    tree.finish(1800);
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (50, 50));
    assert_eq!(tree.waiting.rows[0].iter().sum::<u64>(), 50);
}

#[test]
fn a_sleep_is_no_wait() {
    let mut tree = fed(&[(1100, 10, 0, IN), (1200, 10, 0, OUT), (1900, 10, 0, IN), (1950, 10, 0, OUT)]);
    tree.finish(2000);
    assert_eq!((tree.sums.wait_ns, tree.per_cpu_ns()[0]), (0, 150));
}

#[test]
fn what_was_lost_is_dropped_and_said() {
    // The switch off CPU 0 at some time before 1500 is missing.
    let mut tree = fed(&[
        (1100, 10, 0, IN),
        (1400, 10, 0, What::Lost(3)),
        (1500, 11, 0, IN),
        (1600, 11, 0, OUT),
        (1700, 10, 4, IN),
        (1800, 10, 4, OUT),
        (1900, 12, 0, OUT),
    ]);
    tree.finish(2000);
    assert_eq!(tree.sums.lost, 3);
    assert_eq!(tree.per_cpu_ns(), [100, 100]);
    assert_eq!(tree.sums.wait_ns, 0);
}

#[test]
fn the_last_end_of_a_main_is_that_of_its_last_thread() {
    let exit = |tid| What::Exit { pid: 10, tid };
    let name = What::Name { exec: true, name: *b"prog\0\0\0\0\0\0\0\0\0\0\0\0" };
    let mut tree = at_gate();
    let records = [
        (1100, 10, 0, name),
        (1150, 10, 0, What::Image),
        (1200, 10, 0, thread(11)),
        (1300, 10, 0, exit(10)),
        (1400, 11, 0, exit(11)),
        (1450, 10, 0, What::Image),
    ];
    feed(&mut tree, &records);
    let main = tree.mains[&10];
    assert_eq!((main.exec_ns, main.image_ns, main.exit_ns), (Some(1100), Some(1150), Some(1400)));
    assert_eq!(tree.sums.last_exit_ns, 1400);
    tree.finish(1500);
    assert!(tree.tasks(9).iter().all(|t| t.name.starts_with(b"prog")));
}

#[test]
fn the_probe_itself_is_not_of_the_tree() {
    let mut tree = fed(&[(1100, 1, 0, IN), (1200, 1, 0, PREEMPTED), (1300, 1, 0, IN)]);
    tree.finish(2000);
    assert_eq!((tree.sums.switches, tree.per_cpu_ns()), (0, vec![0, 0]));
}

#[test]
fn many_threads_take_turns_and_the_sums_agree() {
    let n = 600;
    let mut records = Vec::new();
    for i in 0..n {
        let (tid, start) = (100 + i as u32, 2000 + i * 10);
        records.push((start, 10, 4, thread(tid)));
        records.push((start, tid, 0, IN));
        records.push((start + 10, tid, 0, if i % 2 == 0 { OUT } else { PREEMPTED }));
        records.push((start + 10, tid, 0, What::Exit { pid: 10, tid }));
    }
    let mut tree = fed(&records);
    tree.finish(9000);
    assert_eq!(tree.sums.tasks, n + 1);
    assert_eq!(tree.per_cpu_ns(), [10 * n, 0]);
    assert_eq!(tree.busy.rows[0].iter().sum::<u64>(), 10 * n);
    let tasks = tree.tasks(64);
    assert_eq!((tasks.len(), tasks[0].cpu_ns), (64, 10));
}

#[test]
fn the_busiest_tasks_survive_the_cut() {
    let mut records = Vec::new();
    for i in 0..5000u64 {
        let (tid, start) = (100 + i as u32, 2000 + i * 100);
        let ran = if i == 7 { 90 } else { 10 };
        records.push((start, tid, 0, IN));
        records.push((start + ran, tid, 0, OUT));
        records.push((start + ran, tid, 0, What::Exit { pid: 10, tid }));
    }
    let mut tree = fed(&records);
    tree.finish(1_000_000);
    assert_eq!((tree.tasks(1)[0].tid, tree.sums.tasks), (107, 5001));
}

#[test]
fn what_was_taken_is_told_by_cpu_and_by_process() {
    let next = |pid| What::Next { pid };
    let mut tree = fed(&[
        (1100, 10, 0, IN),
        (1200, 10, 0, PREEMPTED),
        (1200, 10, 0, next(70)),
        (1500, 70, 0, next(1)), // the probe itself: taken all the same
        (1550, 1, 0, next(80)),
        (1600, 80, 0, next(10)),
        (1600, 10, 0, IN),
        (1700, 10, 0, OUT),
        (1700, 10, 0, next(70)), // nobody of the tree is ready: nothing is taken
        (1900, 70, 4, next(70)),
    ]);
    tree.finish(2000);
    assert_eq!(tree.takers(), [(70, 300), (1, 50), (80, 50)]);
    assert_eq!(tree.neighbor_per_cpu_ns(), [400, 0]);
    assert_eq!(tree.sums.neighbor_ns, 400);
}

#[test]
fn records_of_other_processes_make_no_tasks() {
    let mut tree = fed(&[(1100, 10, 0, IN), (1200, 70, 4, What::Next { pid: 71 }), (1300, 10, 0, OUT)]);
    tree.finish(2000);
    assert_eq!((tree.sums.tasks, tree.sums.switches), (1, 1));
}

#[test]
fn a_thread_that_has_exited_holds_its_cpu_until_the_next_is_seen() {
    let next = |pid| What::Next { pid };
    let exit = What::Exit { pid: 10, tid: 11 };
    let waits = [
        (1000, 10, 0, thread(11)),
        (1100, 10, 0, IN),
        (1200, 10, 0, PREEMPTED),
        (1200, 10, 0, next(10)),
        (1200, 11, 0, IN),
        (1300, 11, 0, exit),
    ];
    let mut told = fed(&waits);
    feed(&mut told, &[(1340, 11, 0, next(70)), (1400, 70, 0, next(10)), (1400, 10, 0, IN)]);
    told.finish(2000);
    assert_eq!((told.sums.neighbor_ns, told.takers()), (60, vec![(70, 60)]));
    // Where others are not seen it may have held it for a tenth of a millisecond.
    let alone: Vec<_> = waits.iter().copied().filter(|r| !matches!(r.3, What::Next { .. })).collect();
    let mut untold = fed(&alone);
    feed(&mut untold, &[(151_300, 10, 0, IN)]);
    untold.finish(200_000);
    assert_eq!(untold.sums.neighbor_ns, 50_000);
}

#[test]
fn an_idle_cpu_is_nobodys_where_idle_can_be_told() {
    let waits = [(1100, 10, 0, IN), (1200, 10, 0, PREEMPTED), (1200, 10, 0, What::Next { pid: 0 }), (1900, 10, 0, IN)];
    let mut told = at_gate();
    told.sees_idle = true;
    told.feed(&Stamped { time: 1000, pid: 10, tid: 10, cpu: 0, what: What::Image });
    feed(&mut told, &waits);
    assert_eq!(told.sums.neighbor_ns, 0);
    assert_eq!(fed(&waits).sums.neighbor_ns, 700, "in a namespace 0 may be anybody");
}

#[test]
fn after_a_loss_nobody_is_taken_to_wait() {
    let mut tree = fed(&[(1100, 10, 0, IN), (1200, 10, 0, PREEMPTED), (1300, 0, 0, What::Lost(5)), (1900, 10, 0, OUT)]);
    tree.finish(2000);
    assert_eq!((tree.sums.neighbor_ns, tree.sums.lost), (0, 5));
}
