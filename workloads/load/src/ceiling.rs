//! How many requests a second the driver could send: the CPU time that one takes it on an empty page of its own.
//!
//! CPU time, not elapsed time: neither the page's share of the CPUs nor other processes change it.

use crate::mix::Mix;
use crate::options::{Options, Refusal, Target};
use crate::sys::{thread_cpu_ns, SECOND};
use crate::worker::{Shared, Worker};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicU64;
use std::thread;

const N_REQUESTS: u64 = 2_000;
const MOST_CONNECTIONS: usize = 16;
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
/// More of a request is no longer kept.
const MOST_BYTES: usize = 1 << 22;

/// Requests per second with which the CPUs of so many threads would be used up; None where that cannot be measured, as
/// over TLS, which the page does not speak.
pub fn ceiling(options: &Options, n_threads: usize) -> Option<f64> {
    if options.targets.iter().any(|target| target.tls.is_some()) {
        return None;
    }
    let n = options.n_active().min(MOST_CONNECTIONS);
    let page = TcpListener::bind("127.0.0.1:0").ok()?;
    let own = on_page(options, &page, n)?;
    thread::spawn(move || page.incoming().take(n).flatten().for_each(|stream| drop(thread::spawn(|| serve(stream)))));
    let each_ns = cpu_ns(&own).ok()? as f64 / N_REQUESTS as f64;
    let n_cpus = thread::available_parallelism().map_or(1, usize::from);
    Some(n_cpus.min(n_threads) as f64 * SECOND as f64 / each_ns.max(1.0))
}

fn on_page(options: &Options, page: &TcpListener, n: usize) -> Option<Options> {
    let address = page.local_addr().ok()?;
    let targets = vec![Target { host: address.to_string(), address, tls: None }];
    let own = Options { targets, n_direct: 1, clients: Some(n), warmup: N_REQUESTS, ..options.clone() };
    Some(Options { timeout_ns: SECOND, audit: String::new(), pool: String::new(), ..own })
}

/// CPU time of this thread for a warm-up of the page: all that the driver does with a request.
fn cpu_ns(options: &Options) -> Result<u64, Refusal> {
    let mut mix = Mix::new(options)?;
    for operation in &mut mix.operations {
        operation.status = 200;
        operation.contains.clear();
    }
    let warmup = vec![AtomicU64::new(options.warmup)];
    let shared = Shared { options, mix: &mix, warmup, n_threads: 1 };
    let mut worker = Worker::new(&shared, 0)?;
    let before = thread_cpu_ns();
    worker.warm_up()?;
    Ok(thread_cpu_ns() - before)
}

/// Answers each request of a connection with nothing.
fn serve(mut stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut bytes, mut piece) = (Vec::new(), [0; 16_384]);
    loop {
        let n = stream.read(&mut piece).ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&piece[..n]);
        while let Some(n) = whole(&bytes).filter(|n| *n <= bytes.len()) {
            bytes.drain(..n);
            stream.write_all(PAGE).ok()?;
        }
        if bytes.len() > MOST_BYTES {
            return None;
        }
    }
}

/// Bytes of the first request; None while its head goes on.
fn whole(bytes: &[u8]) -> Option<usize> {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut head = httparse::Request::new(&mut headers);
    let n = head.parse(bytes).ok().filter(httparse::Status::is_complete)?.unwrap();
    let length = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let body = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok());
    Some(n + body.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_with_its_body() {
        let text = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET";
        assert_eq!(whole(text), Some(text.len() - 3));
        assert_eq!(whole(b"GET / HTTP/1.1\r\n\r\n"), Some(18));
        assert_eq!(whole(b"GET / HTTP/1.1\r\n"), None);
    }

    #[test]
    fn whatever_is_asked_for_the_driver_knows_its_ceiling() {
        for argument in ["path=/a", "loop=open", "method=HEAD", "status=404", "contains=x", "method=POST"] {
            let options = Options::parse([argument.to_string()].into_iter()).unwrap();
            let found = ceiling(&options, 1).unwrap();
            assert!((100.0..1e7).contains(&found), "{argument}: {found}");
        }
    }
}
