//! Listeners from recorded tables, a line in pieces, and a task that is older than the records.

use crate::families::{commands, parse};
use crate::http::Get;
use crate::listeners::{all, is_reached, n_of};
use crate::record::{Stamped, What};
use crate::role::{Ready, Service};
use crate::served::Served;
use crate::tree::Tree;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2001 1 0 100 0 0 10 0
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2002 1 0 100 0 0 10 0
   2: 0200000A:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2003 1 0 100 0 0 10 0
   3: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 2004 1 0 100 0 0 10 0
   4: 00000000:0051 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2005 1 0 100 0 0 10 0
";
const TCP6: &str = "  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000
   1: 00000000000000000000000001000000:0052 00000000000000000000000000000000:0000 0A 00000000:00000000
   2: 0000000000000000FFFF00000100007F:0053 00000000000000000000000000000000:0000 0A 00000000:00000000
   3: a line without meaning
";

#[test]
fn listeners_are_counted_by_port_and_family() {
    let root = std::env::temp_dir().join(format!("scalograph-listeners-{}", std::process::id()));
    std::fs::create_dir_all(root.join("proc/net")).unwrap();
    std::fs::write(root.join("proc/net/tcp"), TCP).unwrap();
    std::fs::write(root.join("proc/net/tcp6"), TCP6).unwrap();
    let (found, none) = (all(&root), all(&root.join("no such folder")));
    std::fs::remove_dir_all(&root).unwrap();
    assert!(none.is_empty());
    assert_eq!([8080, 80, 81, 82, 41394].map(|port| n_of(&found, port)), [2, 1, 0, 1, 0]);
    // 10.0.0.2 and ::1 are not where a connection to 127.0.0.1 goes.
    let reached = |host: &str| {
        let at = |port| SocketAddr::new(host.parse().unwrap(), port);
        [8080, 80, 82, 83].map(|port| is_reached(&found, at(port)))
    };
    assert_eq!(reached("127.0.0.1"), [true, false, false, true]);
    assert_eq!((reached("10.0.0.2")[1], reached("::1")[2]), (true, true));
}

#[test]
fn a_line_is_found_in_whatever_pieces_it_comes() {
    for n in 1..12 {
        let ready = Ready::Line("is ready".into());
        let (ports, stop_signal) = (Vec::new(), ("TERM", 15));
        let service = Service { ready, ready_timeout_ns: 1, ports, stop_signal, stop_grace_ns: 0 };
        let (mut early, mut whole) = (Served::new(&service), Served::new(&service));
        let pid = std::process::id() as i32;
        b"the server is read\nis not".chunks(n).for_each(|part| early.hear(part));
        b"the server is ready now\n".chunks(n).for_each(|part| whole.hear(part));
        // This process is the probe's own program: nothing is ready that still is.
        assert_eq!(early.missing(pid, &[], 0), Some("its program does not run".into()));
        assert!(early.missing(1, &[], 0).unwrap().contains("is ready"));
        assert_eq!(whole.missing(1, &[], 0), None);
    }
}

/// What came of one request, and what was asked for.
fn asked(host: &str, answer: &'static str) -> (bool, String, String) {
    let listener = TcpListener::bind((host, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut get = Get::new(&address.to_string(), "/x?y=1");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1000];
        let n = stream.read(&mut request).unwrap();
        // In two pieces: an answer may come in any.
        let (first, second) = answer.split_at(answer.len() / 2);
        stream.write_all(first.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        stream.write_all(second.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..n]).into_owned()
    });
    let mut done = false;
    while !done && get.last == "no answer yet" {
        done = get.step(address, 0);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    (done, get.last, server.join().unwrap())
}

#[test]
fn an_answer_is_good_an_error_or_none() {
    let (done, last, request) = asked("127.0.0.1", "HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!((done, last.as_str()), (true, "answered with status 204"));
    assert!(request.starts_with("GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
    let (done, _, request) = asked("::1", "HTTP/1.1 204 No Content\r\n\r\n");
    assert!(done && request.contains("\r\nHost: [::1]:"), "{request}");
    for (answer, told) in [
        ("HTTP/1.0 503 Service Unavailable\r\n\r\n", "answered with status 503"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "no answer of HTTP"),
        ("HTTP/1.1 2", "closed without an answer"),
    ] {
        assert_eq!(asked("127.0.0.1", answer).1, told);
    }
}

#[test]
fn who_does_not_answer_in_time_is_asked_anew() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut get = Get::new(&address.to_string(), "/");
    assert!(!get.step(address, 0) && !get.step(address, 1) && !get.step(address, 10 * crate::sys::SECOND));
    assert_eq!(get.last, "no answer");
    get.step(address, 11 * crate::sys::SECOND);
    assert!(listener.accept().is_ok() && listener.accept().is_ok());
}

fn at(time: u64, pid: u32, tid: u32, what: What) -> Stamped {
    Stamped { time, pid, tid, cpu: 0, what }
}

#[test]
fn each_task_counts_for_the_command_that_it_descends_from() {
    let mut tree = Tree::new(&[0], 512, vec![1]);
    tree.shares = crate::shares::Shares::new(2, 1, 512);
    tree.add_main(10, 0);
    let fork = |pid, tid, parent| What::Fork { pid, tid, parent_pid: parent, parent_tid: parent };
    tree.feed(&at(400, 1, 1, fork(10, 10, 1)));
    tree.feed(&at(500, 10, 10, fork(11, 11, 10)));
    tree.feed(&at(600, 10, 10, What::Exit { pid: 10, tid: 10 }));
    tree.feed(&at(700, 11, 11, fork(11, 12, 11)));
    (tree.gate, tree.switches_from) = (1000, 900);
    tree.add_main(20, 1);
    // 12 ran when the first records were written, and at the gate: only its end is told.
    let out = What::Out { preempted: false };
    for record in [
        at(1300, 11, 12, What::Out { preempted: true }),
        at(1300, 20, 20, What::In),
        at(1400, 20, 20, out),
        at(1400, 11, 12, What::In),
        at(1450, 11, 12, out),
        at(1500, 11, 11, out),
    ] {
        tree.feed(&record);
    }
    tree.finish(2000);
    let shares = &tree.shares.list;
    assert_eq!((shares[0].per_cpu_ns[0], shares[1].per_cpu_ns[0]), (300 + 50, 100));
    assert_eq!((shares[0].n_tasks, shares[1].n_tasks), (3, 1));
    assert_eq!((shares[0].wait_ns, shares[1].wait_ns), (100, 0));
    assert_eq!((shares[0].n_switches, shares[1].n_switches), (3, 1));
    assert_eq!(tree.sums.tasks, 4);
    assert_eq!(tree.shares.bins(0, 1_000_000, 2), Some(vec![350, 0]));
}

#[test]
fn a_process_belongs_to_the_command_above_it_or_to_the_session_that_it_has_stayed_in() {
    let line = |pid: i32, parent: i32, session: i32| {
        let stat = format!("{pid} (a) b (c) S {parent} {session} {session} 0 -1 4194560 1 2 3 4 50 6 70 8 20 0 1 0 99");
        parse(pid, &stat).unwrap()
    };
    // 13 was adopted by the probe, 1; 14 has left its session too; 30 and 31 close a circle.
    let all = [line(10, 1, 10), line(11, 10, 10), line(12, 11, 12), line(13, 1, 10), line(14, 1, 14)];
    let all = [&all[..], &[line(20, 1, 20), line(30, 31, 5), line(31, 30, 5)]].concat();
    let found = commands(&all, &[(10, 0), (20, 1)].into());
    let mut found: Vec<(i32, usize)> = found.into_iter().collect();
    found.sort_unstable();
    assert_eq!(found, [(10, 0), (11, 0), (12, 0), (13, 0), (20, 1)]);
    assert_eq!((all[0].user_ns, all[0].system_ns), (120 * crate::host::tick_ns(), 14 * crate::host::tick_ns()));
    assert_eq!(parse(1, "no such line"), None);
}

#[test]
fn the_clock_of_a_process_knows_no_ticks_and_none_is_of_one_that_has_ended() {
    let own = || crate::sys::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
    let (before, told, after) = (own(), crate::sys::process_cpu_ns(std::process::id() as i32).unwrap(), own());
    assert!((before..=after).contains(&told), "{before} {told} {after}");
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    assert_eq!(crate::sys::process_cpu_ns(gone.id() as i32), None);
}
