//! Servers that do not serve: each is told, by kind and in words, and the run comes to its end.

use crate::common::{driver, load, serve, speak, Said};
use std::thread::sleep;
use std::time::Duration;

const SHORT: [&str; 2] = ["steady_s=1", "ramp_s=0"];

fn loaded(address: &str, more: &[&str]) -> Said {
    load(&[&[format!("targets={address}").as_str()], &SHORT[..], more].concat())
}

/// A server whose first answer to each connection is right, and whose next is this.
fn then(bytes: &'static [u8]) -> Said {
    let address = speak(vec![b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", bytes]);
    let said = loaded(&address, &["clients=2"]);
    assert!(said.one("requests") > said.one("errors") && said.one("errors") >= 2.0);
    said
}

#[test]
fn garbage_is_told_with_its_first_bytes() {
    let said = then(b"SSH-2.0-OpenSSH_9\r\n\x1b[31m");
    assert_eq!(said.one("errors"), said.one("errors_malformed"));
    assert!(said.told.contains(r#"/ answered no HTTP/1.1: "SSH-2.0-OpenSSH_9\r\n\x1b[31m""#), "{}", said.told);
}

#[test]
fn an_answer_that_is_cut_is_told_with_what_came() {
    let said = then(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf");
    assert_eq!(said.one("errors"), said.one("errors_closed"));
    let words = "/ was not answered to the end: the connection was closed; body: \"half\"";
    assert!(said.told.contains(words), "{}", said.told);
}

#[test]
fn bytes_after_an_answer_are_none_of_the_next() {
    let said = then(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(said.one("errors"), said.one("errors_malformed"));
    assert!(said.told.contains("/ was answered, and more bytes followed"), "{}", said.told);
}

#[test]
fn a_rate_that_the_server_does_not_take_is_told() {
    let slow = serve(|_| {
        sleep(Duration::from_millis(50));
        (200, String::new())
    });
    let said = loaded(&slow.address, &["loop=open", "rate=400", "connections=2"]);
    let last = said.told.lines().last().unwrap();
    assert!(last.starts_with("scalograph-load: 400 requests/s were not kept, "), "{last}");
    assert!(last.ends_with("all 2 connections were in use: the server is slower, or needs more of them"), "{last}");
    assert!(said.one("meant") > 100.0 && said.one("rate") * 0.4 < said.one("meant") / 2.0);
}

#[test]
fn a_run_without_mistakes_says_nothing() {
    let server = serve(|_| (200, String::new()));
    let said = loaded(&server.address, &["clients=2"]);
    assert_eq!((said.told.as_str(), said.one("errors")), ("", 0.0));
    assert!(said.one("ceiling") >= said.one("rate") && said.one("late_share") >= said.one("own_late_share"));
}

/// Bytes that a server sends before it falls silent, and what the driver says of them.
const SILENT: [(&[u8], &str); 5] = [
    (b"", "had no whole answer within 0.2 s"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf", "had no whole answer within 0.2 s; body: \"half\""),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nok", "answered no HTTP/1.1: "),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\nok", "answered no HTTP/1.1: "),
    (b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nok\n", "answered no HTTP/1.1: "),
];

#[test]
fn the_warm_up_ends_at_the_first_request_without_an_answer() {
    for (bytes, words) in SILENT {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let targets = format!("targets={}", listener.local_addr().unwrap());
        let n = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let seen = n.clone();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for mut stream in listener.incoming().flatten() {
                let seen = seen.clone();
                held.push(std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while std::io::Read::read(&mut stream, &mut buffer).is_ok_and(|n| n > 0) {
                        seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let _ = std::io::Write::write_all(&mut stream, bytes);
                    }
                }));
            }
        });
        let done = driver(&[&targets, "warmup=100", "timeout_ms=200", "steady_s=0.1", "ramp_s=0"]);
        let told = String::from_utf8(done.stderr).unwrap();
        let is_late = words.contains("0.2 s");
        assert!(told.contains(words), "{told}");
        // What is no HTTP is told at once, and asked again ten times.
        assert!(n.load(std::sync::atomic::Ordering::Relaxed) <= if is_late { 1 } else { 20 }, "{told}");
        assert_eq!(done.status.code(), Some(69), "{told}");
    }
}

#[test]
fn clients_that_get_no_answer_are_counted_and_their_wait_is_told_apart() {
    let slow = serve(|seen| {
        sleep(Duration::from_millis(if seen.number < 2 { 10_000 } else { 1 }));
        (200, String::new())
    });
    let said = loaded(&slow.address, &["clients=4", "ramp_s=0"]);
    assert_eq!((said.one("starved"), said.one("errors")), (2.0, 0.0));
    assert!((1.9..=2.01).contains(&said.one("unanswered")), "{}", said.one("unanswered"));
    assert!(said.one("unanswered") < said.one("in_flight"));
}
