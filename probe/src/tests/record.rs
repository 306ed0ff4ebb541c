//! Records as the kernel writes them, byte for byte.

use crate::record::{Stamped, What};

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
