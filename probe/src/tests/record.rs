//! Records as the kernel writes them, byte for byte.

use crate::record::{Stamped, What};
use crate::tracepoints::{woken_on, Tracepoint, Tracepoints};

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let length = (8 + body.len() + 24) as u16;
    let mut bytes = [kind.to_ne_bytes().as_slice(), &misc.to_ne_bytes(), &length.to_ne_bytes(), body].concat();
    for word in [70u32, 71] {
        bytes.extend(word.to_ne_bytes());
    }
    bytes.extend(123_456u64.to_ne_bytes());
    bytes.extend([3u32.to_ne_bytes(), 0u32.to_ne_bytes()].concat());
    bytes
}

fn words(list: &[u32]) -> Vec<u8> {
    list.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

fn parsed(kind: u32, misc: u16, body: &[u8]) -> Option<What> {
    let found = Stamped::parse(&record(kind, misc, body))?;
    assert_eq!((found.time, found.pid, found.tid, found.cpu), (123_456, 70, 71, 3));
    Some(found.what)
}

#[test]
fn switches() {
    assert_eq!(parsed(14, 0, &[]), Some(What::In));
    assert_eq!(parsed(14, 1 << 13, &[]), Some(What::Out { preempted: false }));
    assert_eq!(parsed(14, 3 << 13, &[]), Some(What::Out { preempted: true }));
    assert_eq!(parsed(15, 1 << 13, &words(&[80, 81])), Some(What::Next { pid: 80 }));
    assert_eq!(parsed(15, 0, &words(&[80, 81])), None, "who left was seen when it came");
}

#[test]
fn births_and_ends() {
    let body = [words(&[80, 70, 81, 71]), 9u64.to_ne_bytes().to_vec()].concat();
    assert_eq!(parsed(7, 0, &body), Some(What::Fork { pid: 80, tid: 81, parent_pid: 70, parent_tid: 71 }));
    assert_eq!(parsed(4, 0, &body), Some(What::Exit { pid: 80, tid: 81 }));
}

#[test]
fn names_and_images() {
    let name = [words(&[70, 71]), b"worker-0\0\0\0\0\0\0\0\0".to_vec()].concat();
    let mut expected = [0; 16];
    expected[..8].copy_from_slice(b"worker-0");
    assert_eq!(parsed(3, 1 << 13, &name), Some(What::Name { exec: true, name: expected }));
    assert_eq!(parsed(3, 0, &name), Some(What::Name { exec: false, name: expected }));
    let map = |file: &[u8]| [words(&[70, 71]), vec![0; 24], file.to_vec()].concat();
    assert_eq!(parsed(1, 0, &map(b"[vdso]\0\0")), Some(What::Image));
    assert_eq!(parsed(1, 0, &map(b"/bin/sh\0")), None);
}

#[test]
fn lost_records_are_counted_and_broken_ones_ignored() {
    let body = [7u64.to_ne_bytes(), 42u64.to_ne_bytes()].concat();
    assert_eq!(parsed(2, 0, &body), Some(What::Lost(42)));
    assert_eq!(parsed(99, 0, &[]), None);
    assert_eq!(parsed(4, 0, &[1, 2]), None);
    assert_eq!(Stamped::parse(&[0; 5]), None);
    assert_eq!(Stamped::parse(&[]), None);
}

const WAKING: &str = "name: sched_waking\nID: 375\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;
";
const MOVING: &str = "name: sched_migrate_task\nID: 371\nformat:
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;
\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;
\tfield:int orig_cpu;\toffset:20;\tsize:4;\tsigned:1;
\tfield:int dest_cpu;\toffset:24;\tsize:4;\tsigned:1;
";

fn points() -> Tracepoints {
    let placing = vec![Tracepoint::parse(MOVING, "dest_cpu").unwrap()];
    Tracepoints { waking: Tracepoint::parse(WAKING, "target_cpu"), placing }
}

/// A sample as a tracepoint writes it: thread 71 of process 70 on CPU 3.
fn sampled(id: u16, flags: u8, raw: &[u32]) -> Option<Stamped> {
    let raw = [&id.to_ne_bytes()[..], &[flags, 0], &words(raw)].concat();
    let body = [words(&[70, 71]), 123_456u64.to_ne_bytes().to_vec(), words(&[3, 0, raw.len() as u32]), raw].concat();
    let header = [9u32.to_ne_bytes().as_slice(), &0u16.to_ne_bytes(), &(8 + body.len() as u16).to_ne_bytes()].concat();
    points().parse(&[header, body].concat())
}

#[test]
fn wake_ups_and_moves() {
    let waking = [0, 0, 0, 0, 0, 80, 120, 1];
    let what = |interrupt| What::Wake { tid: 80, cpu: 1, interrupt };
    let asked = |flags| sampled(375, flags, &waking);
    assert_eq!(asked(1), Some(Stamped { time: 123_456, pid: 70, tid: 71, cpu: 3, what: what(false) }));
    assert_eq!(asked(0x08).map(|r| r.what), Some(what(true)), "a hard interrupt");
    assert_eq!(asked(0x10).map(|r| r.what), Some(what(true)), "a soft one");
    assert_eq!(sampled(371, 0, &[0, 0, 80, 120, 0, 1]).map(|r| r.what), Some(What::Placed { tid: 80, cpu: 1 }));
    assert_eq!(sampled(372, 0, &waking), None, "a tracepoint that nobody asked for");
    assert_eq!(sampled(375, 0, &waking[..4]), None, "cut");
    assert_eq!(points().parse(&record(14, 0, &[])), None);
    assert_eq!(Stamped::parse(&record(9, 0, &words(&[70, 71]))), None);
}

#[test]
fn a_tracepoint_whose_fields_are_not_told_is_none() {
    assert_eq!(Tracepoint::parse(WAKING, "dest_cpu"), None);
    assert_eq!(Tracepoint::parse("ID: x\n", "pid"), None);
    assert_eq!(woken_on(&[0, 1, 2, 8]), "(target_cpu >= 0 && target_cpu <= 2) || (target_cpu >= 8 && target_cpu <= 8)");
}
