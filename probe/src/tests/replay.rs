//! Runs without their neighbors, from records whose right answer is known.

use crate::path::Clock;
use crate::record::{Stamped, What};
use crate::tree::Tree;

const IN: What = What::In;
const OUT: What = What::Out { preempted: false };
const PREEMPTED: What = What::Out { preempted: true };
/// Main of the run, a neighbor, a daemon.
const MAIN: u32 = 10;
const NEIGHBOR: u32 = 70;
const DAEMON: u32 = 80;
const START: u64 = 1000;

type Row = (u64, u32, usize, What);

fn next(pid: u32) -> What {
    What::Next { pid }
}

fn wake(tid: u32, cpu: usize) -> What {
    What::Wake { tid, cpu, interrupt: false }
}

fn timer(tid: u32, cpu: usize) -> What {
    What::Wake { tid, cpu, interrupt: true }
}

fn exit(pid: u32, tid: u32) -> What {
    What::Exit { pid, tid }
}

fn thread(tid: u32) -> What {
    What::Fork { pid: MAIN, tid, parent_pid: MAIN, parent_tid: MAIN }
}

/// A tree of one driver on CPUs 0 and 1, which starts on CPU 0 at 1000; idle CPUs are seen. Others are processes of one thread.
fn fed(rows: &[Row]) -> Tree {
    fed_on(&[0, 1], rows)
}

fn fed_on(allowed: &[usize], rows: &[Row]) -> Tree {
    let mut tree = Tree::new(&[0, 1], 512, vec![1]);
    (tree.gate, tree.switches_from, tree.sees_idle, tree.sees_wakes) = (900, 800, true, true);
    tree.add_main(MAIN, 0);
    tree.replay.add_driver(MAIN);
    tree.replay.allow(allowed);
    let begin = [(900, 1, 0, wake(MAIN, 0)), (900, 0, 0, next(MAIN)), (900, MAIN, 0, IN), (900, MAIN, 1, next(0))];
    let image = [(START, MAIN, 0, What::Image)];
    for (time, tid, cpu, what) in begin.into_iter().chain(image).chain(rows.iter().copied()) {
        let pid = if (MAIN..MAIN + 10).contains(&tid) { MAIN } else { tid };
        tree.feed(&Stamped { time, pid, tid, cpu, what });
    }
    tree
}

fn bounds(tree: &Tree) -> [u64; 2] {
    tree.replay.total(true).expect("a run that is told").clock
}

#[test]
fn who_is_alone_keeps_the_time_that_it_took() {
    let tree = fed(&[(1500, MAIN, 0, exit(MAIN, MAIN))]);
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock, total.overlap_ns, total.sleep_ns, total.n_wakes), ([500, 500], 0, 0, 0));
}

#[test]
fn what_a_neighbor_took_of_one_task_is_out() {
    let tree = fed(&[
        (1200, MAIN, 0, PREEMPTED),
        (1200, MAIN, 0, next(NEIGHBOR)),
        (1500, NEIGHBOR, 0, next(MAIN)),
        (1500, MAIN, 0, IN),
        (1600, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    assert_eq!(bounds(&tree), [300, 300]);
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (300, 300));
}

#[test]
fn a_wait_for_an_idle_cpu_is_the_runs_own() {
    let tree = fed(&[
        (1200, MAIN, 0, PREEMPTED),
        (1200, MAIN, 0, next(0)),
        (1230, 0, 0, next(MAIN)),
        (1230, MAIN, 0, IN),
        (1600, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    assert_eq!(bounds(&tree), [600, 600]);
}

#[test]
fn nobody_knows_who_has_the_cpu_where_others_are_not_seen() {
    let tree = fed(&[
        (1200, MAIN, 0, PREEMPTED),
        (1200, 5, 0, next(5)),
        (1300, MAIN, 0, IN),
        (1400, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    assert_eq!(bounds(&tree), [300, 300]);
}

/// A shell: process 20 works while 10 waits for it, and a neighbor has the CPU for a while.
fn shell() -> Vec<Row> {
    vec![
        (1100, MAIN, 0, What::Fork { pid: 20, tid: 20, parent_pid: MAIN, parent_tid: MAIN }),
        (1100, MAIN, 0, What::Placed { tid: 20, cpu: 1 }),
        (1110, MAIN, 0, OUT),
        (1110, MAIN, 0, next(0)),
        (1120, 0, 1, next(20)),
        (1120, 20, 1, IN),
        (1200, 20, 1, PREEMPTED),
        (1200, 20, 1, next(NEIGHBOR)),
        (1400, NEIGHBOR, 1, next(20)),
        (1400, 20, 1, IN),
        (1500, 20, 1, exit(20, 20)),
        (1505, 20, 1, wake(MAIN, 0)),
        (1510, 20, 1, next(0)),
        (1510, 0, 0, next(MAIN)),
        (1510, MAIN, 0, IN),
        (1600, MAIN, 0, exit(MAIN, MAIN)),
    ]
}

#[test]
fn a_shell_that_waits_for_its_child_goes_on_with_the_childs_clock() {
    let tree = fed(&shell());
    let total = tree.replay.total(true).unwrap();
    // All but the 200 of the neighbor.
    assert_eq!((total.clock, total.sleep_ns, total.n_wakes), ([400, 400], 0, 1));
    // The child is born before its parent waits, from 1100 to 1110.
    assert_eq!(total.overlap_ns, 10);
    // 20 for its first turn, 200 for the neighbor, 5 of the shell.
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (225, 200));
}

#[test]
fn a_child_that_is_preempted_while_it_ends_still_wakes_its_parent() {
    let mut rows = shell();
    let at = rows.iter().position(|row| row.0 == 1505).unwrap();
    rows.truncate(at);
    rows.extend([
        (1505, 20, 1, next(NEIGHBOR)),
        (1705, NEIGHBOR, 1, next(20)),
        (1706, 20, 1, wake(MAIN, 0)),
        (1710, 20, 1, next(0)),
        (1710, 0, 0, next(MAIN)),
        (1710, MAIN, 0, IN),
        (1800, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    let total = fed(&rows).replay.total(true).unwrap();
    // The time from its end to its wake-up is no sleep; 5 of it were its own.
    assert_eq!((total.clock, total.sleep_ns), ([399, 399], 0));
}

/// Threads 10 and 11 work for 100 each to a barrier on a CPU each, and 100 after it. `late` is lost by 11.
fn barrier(late: u64) -> Vec<Row> {
    let mut rows = vec![
        (1000, MAIN, 0, thread(11)),
        (1000, MAIN, 0, What::Placed { tid: 11, cpu: 1 }),
        (1000, 0, 1, next(MAIN)),
        (1000, 11, 1, IN),
        (1050, 11, 1, PREEMPTED),
        (1050, 11, 1, next(NEIGHBOR)),
        (1050 + late, NEIGHBOR, 1, next(MAIN)),
        (1050 + late, 11, 1, IN),
        (1100, MAIN, 0, OUT),
        (1100, MAIN, 0, next(0)),
        (1101 + late, 11, 1, wake(MAIN, 0)),
        (1101 + late, 0, 0, next(MAIN)),
        (1101 + late, MAIN, 0, IN),
        (1201 + late, 11, 1, exit(MAIN, 11)),
        (1202 + late, MAIN, 0, exit(MAIN, MAIN)),
    ];
    rows.sort_by_key(|row| row.0);
    rows
}

#[test]
fn a_barrier_waits_no_longer_for_who_was_preempted() {
    let (quiet, late) = (fed(&barrier(0)), fed(&barrier(300)));
    assert_eq!(bounds(&quiet), [202, 202]);
    assert_eq!(bounds(&late), [202, 202]);
    assert_eq!(late.replay.total(true).unwrap().sleep_ns, 0);
}

/// Both threads on CPU 0, by turns of 50, while the other one has somebody; all that is known of it, with CPUs allowed.
fn by_turns(other: Option<u32>, allowed: &[usize]) -> Tree {
    let mut rows = vec![(1000, MAIN, 0, thread(11))];
    rows.extend(other.map(|pid| (1000, MAIN, 1, next(pid))));
    for turn in 1..8u64 {
        let (time, [off, on]) = (1000 + turn * 50, if turn % 2 == 0 { [11, MAIN] } else { [MAIN, 11] });
        rows.extend([(time, off, 0, PREEMPTED), (time, on, 0, next(MAIN)), (time, on, 0, IN)]);
    }
    rows.extend([
        (1400, 11, 0, exit(MAIN, 11)),
        (1400, 11, 0, next(MAIN)),
        (1400, MAIN, 0, IN),
        (1400, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    fed_on(allowed, &rows)
}

#[test]
fn who_waits_for_its_own_kind_would_have_had_the_cpu_of_a_neighbor() {
    let tree = by_turns(Some(NEIGHBOR), &[0, 1]);
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock, total.overlap_ns, tree.sums.neighbor_ns), ([200, 200], 400, 0));
}

#[test]
fn who_waits_beside_a_free_cpu_or_in_a_crowd_waits_for_its_own_kind() {
    for tree in [by_turns(Some(0), &[0, 1]), by_turns(Some(NEIGHBOR), &[0])] {
        assert_eq!(bounds(&tree), [200, 400]);
    }
}

/// The main and three threads on CPU 0, one after the other, while a neighbor has the other CPU.
#[test]
fn more_tasks_than_cpus_take_no_longer_than_their_work_at_full_speed() {
    let mut rows = vec![(1000, MAIN, 1, next(NEIGHBOR))];
    rows.extend((11..14).map(|tid| (1000, MAIN, 0, thread(tid))));
    rows.extend([(1000, MAIN, 0, PREEMPTED), (1000, 11, 0, next(11))]);
    for tid in 11..14 {
        let time = 1000 + (tid as u64 - 11) * 100;
        rows.extend([(time, tid, 0, IN), (time + 100, tid, 0, exit(MAIN, tid)), (time + 100, tid, 0, next(MAIN))]);
    }
    rows.extend([(1300, MAIN, 0, IN), (1400, MAIN, 0, exit(MAIN, MAIN))]);
    // It waits for two of them, as four and three share two CPUs; at full speed these would have taken 150 in all.
    assert_eq!(bounds(&fed(&rows)), [100, 250]);
}

#[test]
fn a_timers_sleep_counts_and_the_wait_after_it_does_not() {
    let mut rows = Vec::new();
    for tick in 0..3u64 {
        let time = 1100 + tick * 1000;
        rows.extend([
            (time, MAIN, 0, OUT),
            (time, MAIN, 0, next(NEIGHBOR)),
            (time + 600, NEIGHBOR, 0, timer(MAIN, 0)),
            (time + 900, NEIGHBOR, 0, next(MAIN)),
            (time + 900, MAIN, 0, IN),
        ]);
    }
    rows.push((4100, MAIN, 0, exit(MAIN, MAIN)));
    let tree = fed(&rows);
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock, total.sleep_ns, total.n_wakes), ([3100 - 900; 2], 1800, 3));
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns, tree.takers()), (900, 900, vec![(NEIGHBOR, 900)]));
    assert_eq!(tree.replay.partners(), []);
}

/// 10 writes, 11 reads; a neighbor has the reader's CPU when it is woken.
#[test]
fn a_reader_waits_for_its_writer_and_not_for_a_neighbor() {
    let mut rows = vec![
        (1000, MAIN, 0, thread(11)),
        (1000, MAIN, 0, What::Placed { tid: 11, cpu: 1 }),
        (1000, 0, 1, next(MAIN)),
        (1000, 11, 1, IN),
        (1000, 11, 1, OUT),
    ];
    for turn in 0..3u64 {
        let time = 1000 + turn * 100;
        rows.extend([
            (time, 11, 1, next(NEIGHBOR)),
            (time + 40, MAIN, 0, wake(11, 1)),
            (time + 90, NEIGHBOR, 1, next(MAIN)),
            (time + 90, 11, 1, IN),
            (time + 100, 11, 1, OUT),
        ]);
    }
    rows.extend([
        (1300, MAIN, 0, OUT),
        (1300, MAIN, 0, next(0)),
        (1310, 1, 1, next(NEIGHBOR)),
        (1320, NEIGHBOR, 1, wake(MAIN, 0)),
    ]);
    rows.extend([(1320, 0, 0, next(MAIN)), (1320, MAIN, 0, IN), (1400, MAIN, 0, exit(MAIN, MAIN))]);
    let tree = fed(&rows);
    let total = tree.replay.total(true).unwrap();
    // The writer worked for 300, slept for 20 until somebody else woke it, and worked for 80.
    assert_eq!((total.clock, total.sleep_ns, total.n_wakes), ([400, 400], 20, 4));
    assert_eq!((tree.sums.wait_ns, tree.sums.neighbor_ns), (150, 150));
    assert_eq!(tree.replay.partners(), [(NEIGHBOR, 1)]);
}

#[test]
fn a_daemon_that_is_asked_and_answers_is_a_partner() {
    let tree = fed(&[
        (1100, MAIN, 0, wake(DAEMON, 1)),
        (1100, MAIN, 0, wake(1, 1)), // the probe is none
        (1110, MAIN, 0, OUT),
        (1110, MAIN, 0, next(0)),
        (1110, 0, 1, next(DAEMON)),
        (1300, DAEMON, 1, wake(MAIN, 0)),
        (1300, 0, 0, next(MAIN)),
        (1300, MAIN, 0, IN),
        (1310, 1, 1, wake(MAIN, 0)),
        (1400, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock, total.sleep_ns, tree.replay.partners()), ([400, 400], 190, vec![(DAEMON, 2)]));
}

#[test]
fn who_is_woken_on_its_way_to_sleep_has_not_slept() {
    let tree = fed(&[
        (1000, MAIN, 0, thread(11)),
        (1000, MAIN, 0, What::Placed { tid: 11, cpu: 1 }),
        (1000, 0, 1, next(MAIN)),
        (1000, 11, 1, IN),
        (1299, 11, 1, wake(MAIN, 0)), // before the record of its sleep
        (1300, MAIN, 0, OUT),
        (1300, MAIN, 0, next(0)),
        (1310, 0, 0, next(MAIN)),
        (1310, MAIN, 0, IN),
        (1400, 11, 1, exit(MAIN, 11)),
        (1400, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock[0] >= 390, total.sleep_ns), (true, 0));
}

#[test]
fn a_wake_up_long_before_a_sleep_does_not_end_it() {
    let tree = fed(&[
        (1100, DAEMON, 1, wake(MAIN, 0)), // it runs, and goes on
        (300_000, MAIN, 0, OUT),
        (300_000, MAIN, 0, next(0)),
        (900_000, 0, 0, next(MAIN)),
        (900_000, MAIN, 0, IN), // without a record of what woke it
        (900_100, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock, total.sleep_ns), ([899_100; 2], 600_000));
}

#[test]
fn a_waiter_is_where_it_was_moved_to() {
    let tree = fed(&[
        (1000, MAIN, 0, thread(11)),
        (1000, MAIN, 1, next(NEIGHBOR)),
        (1100, MAIN, 0, What::Placed { tid: 11, cpu: 1 }), // until then it waited for the run's own
        (1300, NEIGHBOR, 1, next(MAIN)),
        (1300, 11, 1, IN),
        (1400, 11, 1, exit(MAIN, 11)),
        (1400, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    assert_eq!((bounds(&tree), tree.sums.wait_ns, tree.sums.neighbor_ns), ([400, 400], 300, 200));
    assert_eq!(fed(&[(1100, MAIN, 0, PREEMPTED), (1200, MAIN, 0, IN)]).replay.total(true), None, "no driver has ended");
}

#[test]
fn a_thread_that_executes_a_program_keeps_its_clock() {
    let name = What::Name { exec: true, name: [0; 16] };
    let tree = fed(&[
        (1000, MAIN, 0, thread(11)),
        (1000, MAIN, 0, What::Placed { tid: 11, cpu: 1 }),
        (1000, 0, 1, next(MAIN)),
        (1000, 11, 1, IN),
        (1100, MAIN, 0, OUT),
        (1300, MAIN, 0, IN), // killed
        (1310, MAIN, 0, exit(MAIN, MAIN)),
        (1320, MAIN, 1, name),
        (1330, MAIN, 1, What::Image),
        (1400, MAIN, 1, PREEMPTED),
        (1400, MAIN, 1, next(NEIGHBOR)),
        (1500, NEIGHBOR, 1, next(MAIN)),
        (1500, MAIN, 1, IN),
        (1600, MAIN, 1, exit(MAIN, MAIN)),
    ]);
    assert_eq!(bounds(&tree), [500, 500]);
}

#[test]
fn of_several_drivers_the_latest_clock_counts() {
    let mut tree = Tree::new(&[0, 1], 512, vec![1]);
    (tree.gate, tree.switches_from, tree.sees_idle, tree.sees_wakes) = (900, 800, true, true);
    let rows = [
        (900, 10, 0, IN),
        (950, 20, 1, IN),
        (1000, 10, 0, What::Image),
        (1050, 20, 1, What::Image),
        (1100, 20, 1, PREEMPTED),
        (1100, 20, 1, next(NEIGHBOR)),
        (1300, 10, 0, exit(10, 10)),
        (1400, NEIGHBOR, 1, next(20)),
        (1400, 20, 1, IN),
        (1500, 20, 1, exit(20, 20)),
    ];
    for pid in [10, 20] {
        tree.add_main(pid, 0);
        tree.replay.add_driver(pid);
    }
    for (time, tid, cpu, what) in rows {
        tree.feed(&Stamped { time, pid: tid, tid, cpu, what });
    }
    // The first worked for 300; the second for 200, while it was ready from 1000 to 1300 beside the first.
    let total = tree.replay.total(true).unwrap();
    assert_eq!((total.clock, total.overlap_ns), ([300, 300], 300));
}

#[test]
fn what_is_lost_leaves_no_answer() {
    let mut rows = shell();
    assert!(fed(&rows).replay.total(true).is_some());
    rows.insert(3, (1110, 0, 0, What::Lost(1)));
    assert_eq!(fed(&rows).replay.total(true), None);
}

#[test]
fn without_wake_ups_one_task_that_never_slept_is_told_all_the_same() {
    let taken = [
        (1200, MAIN, 0, PREEMPTED),
        (1200, MAIN, 0, next(NEIGHBOR)),
        (1500, NEIGHBOR, 0, next(MAIN)),
        (1500, MAIN, 0, IN),
        (1600, MAIN, 0, exit(MAIN, MAIN)),
    ];
    assert_eq!(fed(&taken).replay.total(false).unwrap().clock, [300, 300]);
    let asleep = [(1200, MAIN, 0, OUT), (1500, MAIN, 0, IN), (1600, MAIN, 0, exit(MAIN, MAIN))];
    assert_eq!(fed(&asleep).replay.total(false), None);
    assert_eq!(fed(&shell()).replay.total(false), None);
}

#[test]
fn where_others_are_seen_no_longer_all_of_a_wait_counts_as_taken() {
    let mut tree = fed(&[(1200, MAIN, 0, PREEMPTED), (1200, MAIN, 0, next(0))]);
    tree.forget_others();
    for (time, what) in [(1300, IN), (1400, exit(MAIN, MAIN))] {
        tree.feed(&Stamped { time, pid: MAIN, tid: MAIN, cpu: 0, what });
    }
    assert_eq!(bounds(&tree), [300, 300]);
}

#[test]
fn windows_of_a_run_that_starts_and_stops_too_often_are_not_told() {
    let turns = 120_000;
    let rows = (1..turns).flat_map(|turn| {
        let time = START + turn * 10;
        [
            (time, MAIN, 0, PREEMPTED),
            (time, MAIN, 0, next(NEIGHBOR)),
            (time + 5, MAIN, 0, next(MAIN)),
            (time + 5, MAIN, 0, IN),
        ]
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.push((START + turns * 10, MAIN, 0, exit(MAIN, MAIN)));
    let tree = fed(&rows);
    assert_eq!(bounds(&tree), [10 + 5 * (turns - 1); 2]);
    assert_eq!(tree.replay.window(START, START + 100), None);
}

#[test]
fn windows_grow_with_the_clock_that_is_farthest() {
    let tree = fed(&[
        (1200, MAIN, 0, PREEMPTED),
        (1200, MAIN, 0, next(NEIGHBOR)),
        (1500, NEIGHBOR, 0, next(MAIN)),
        (1500, MAIN, 0, IN),
        (1600, MAIN, 0, OUT),
        (1600, MAIN, 0, next(0)),
        (1700, 0, 0, timer(MAIN, 0)),
        (1700, 0, 0, next(MAIN)),
        (1700, MAIN, 0, IN),
        (1800, MAIN, 0, exit(MAIN, MAIN)),
    ]);
    let low = |start, end| tree.replay.window(start, end).map(|clock| (clock.low, clock.slept));
    assert_eq!([low(1000, 1800), low(1000, 1100), low(1100, 1550)], [Some((500, 100)), Some((100, 0)), Some((150, 0))]);
    assert_eq!([low(1200, 1500), low(1550, 1750)], [Some((0, 0)), Some((200, 100))]);
    assert_eq!(low(1000, 1300), None); // nobody reports while it waits
    let threads = fed(&barrier(300));
    let [low, high] =
        [|clock: Clock| clock.low, |clock: Clock| clock.high].map(|of| threads.replay.window(1000, 1502).map(of));
    assert_eq!((low, high), (Some(202), Some(202)));
}

/// Made-up schedules of a main and three threads on two CPUs beside a neighbor, from one number each.
struct Schedule {
    seed: u64,
    time: u64,
    rows: Vec<Row>,
    /// Who has each CPU: a thread, or else the neighbor or nobody.
    on: [Option<u32>; 2],
    ready: Vec<u32>,
    blocked: Vec<u32>,
    main_cpu_ns: u64,
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let rows = (11..14).map(|tid| (START, MAIN, 0, thread(tid))).collect();
        let (on, ready, blocked) = ([Some(MAIN), None], vec![11, 12, 13], Vec::new());
        Schedule { seed, time: START, rows, on, ready, blocked, main_cpu_ns: 0 }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below
    }

    fn row(&mut self, tid: u32, cpu: usize, what: What) {
        self.rows.push((self.time, tid, cpu, what));
    }

    fn step(&mut self) {
        let ns = 1 + self.draw(200) as u64;
        self.time += ns;
        self.main_cpu_ns += if self.on.contains(&Some(MAIN)) { ns } else { 0 };
        let cpu = self.draw(2);
        if self.draw(3) == 0 && !self.blocked.is_empty() {
            let i = self.draw(self.blocked.len());
            let tid = self.blocked.remove(i);
            let (waker, interrupt) = (self.on[cpu].unwrap_or(NEIGHBOR), self.draw(3) == 0);
            let target = self.draw(2);
            self.row(waker, cpu, What::Wake { tid, cpu: target, interrupt });
            self.ready.push(tid);
        } else {
            self.switch(cpu);
        }
    }

    fn switch(&mut self, cpu: usize) {
        if let Some(tid) = self.on[cpu].take() {
            let preempted = self.draw(2) == 0;
            self.row(tid, cpu, What::Out { preempted });
            if preempted { &mut self.ready } else { &mut self.blocked }.push(tid);
        }
        match self.draw(4) {
            0 => self.row(5, cpu, next(NEIGHBOR)),
            1 => self.row(5, cpu, next(0)),
            _ if self.ready.is_empty() => self.row(5, cpu, next(NEIGHBOR)),
            _ => {
                let i = self.draw(self.ready.len());
                let tid = self.ready.remove(i);
                self.row(5, cpu, next(MAIN));
                self.row(tid, cpu, IN);
                self.on[cpu] = Some(tid);
            }
        }
    }

    fn end(mut self) -> (Vec<Row>, u64, u64) {
        (11..14).for_each(|tid| self.row(tid, 0, exit(MAIN, tid)));
        self.row(MAIN, 0, exit(MAIN, MAIN));
        (self.rows, self.main_cpu_ns, self.time - START)
    }
}

#[test]
fn bounds_lie_between_the_cpu_time_of_the_main_and_the_wall() {
    for seed in 0..2000 {
        let mut schedule = Schedule::new(seed);
        (0..100).for_each(|_| schedule.step());
        let (rows, cpu_ns, wall_ns) = schedule.end();
        let tree = fed(&rows);
        let [low, high] = bounds(&tree);
        assert!(cpu_ns <= low && low <= high && high <= wall_ns, "{seed}: {cpu_ns} {low} {high} {wall_ns}");
        let third = wall_ns / 3;
        for (from, to) in [(0, third), (third, 2 * third), (third, wall_ns), (0, wall_ns)] {
            if let Some(Clock { low, high, slept }) = tree.replay.window(START + from, START + to) {
                assert!(low <= high && high <= to - from && slept <= low, "{seed}: {low} {high} {from} {to}");
            }
        }
        let whole = tree.replay.window(START, START + wall_ns);
        assert!(whole.is_none_or(|clock| cpu_ns <= clock.low && clock.low <= low), "{seed}");
    }
}
