//! A server with known delays, and the driver run against it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the handler sees of a request.
pub struct Seen {
    /// Its number of all requests to this server, from 0.
    pub number: u64,
    pub line: String,
    pub body: String,
}

pub struct Server {
    pub address: String,
    pub n_requests: Arc<AtomicU64>,
    pub lines: Arc<Mutex<Vec<String>>>,
}

/// Serves each connection with a thread of its own until the test ends; the handler returns status and body.
pub fn serve(handler: impl Fn(&Seen) -> (u16, String) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        address: listener.local_addr().unwrap().to_string(),
        n_requests: Arc::default(),
        lines: Arc::default(),
    };
    let (handler, n_requests, lines) = (Arc::new(handler), server.n_requests.clone(), server.lines.clone());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (handler, n_requests, lines) = (handler.clone(), n_requests.clone(), lines.clone());
            thread::spawn(move || answer(stream, &*handler, &n_requests, &lines));
        }
    });
    server
}

fn answer(
    stream: TcpStream,
    handler: &dyn Fn(&Seen) -> (u16, String),
    n_requests: &AtomicU64,
    lines: &Mutex<Vec<String>>,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut input = BufReader::new(stream.try_clone().ok()?);
    let mut output = stream;
    loop {
        let mut seen = Seen { number: 0, line: String::new(), body: String::new() };
        input.read_line(&mut seen.line).ok().filter(|n| *n > 0)?;
        let length = header_length(&mut input)?;
        let mut body = vec![0; length];
        input.read_exact(&mut body).ok()?;
        seen.body = String::from_utf8(body).ok()?;
        seen.number = n_requests.fetch_add(1, Relaxed);
        lines.lock().ok()?.push(format!("{} {}", seen.line.trim(), seen.body));
        let (status, body) = handler(&seen);
        // A status of 0 stands for a server that hangs up.
        if status == 0 {
            return None;
        }
        write!(output, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    }
}

fn header_length(input: &mut impl BufRead) -> Option<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok().filter(|n| *n > 0)?;
        match line.trim().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            Some(_) => {}
            None => return Some(length),
        }
    }
}

pub fn driver(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_scalograph-load");
    Command::new(program).args(arguments).env_clear().output().unwrap()
}

/// What a run said: its values, and the buckets of its histograms by phase and operation.
pub struct Said {
    pub values: HashMap<String, Vec<f64>>,
    pub histograms: HashMap<String, Vec<(usize, u64)>>,
    pub phases: Vec<String>,
    pub iteration: Vec<u64>,
    pub told: String,
}

impl Said {
    pub fn one(&self, name: &str) -> f64 {
        self.values[name][0]
    }

    pub fn ms(&self, name: &str) -> f64 {
        self.one(name) / 1e6
    }
}

/// Carries out a test up to three times: what is right must be seen once, since a machine that stands still for a part
/// of a short phase is no fault of the driver.
pub fn once_of_three(test: impl Fn() + std::panic::RefUnwindSafe) {
    if (0..2).all(|_| std::panic::catch_unwind(&test).is_err()) {
        test();
    }
}

/// Runs the driver to a good end and reads its lines.
pub fn load(arguments: &[&str]) -> Said {
    let done = driver(arguments);
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{told}");
    let text = String::from_utf8(done.stdout).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("ready"));
    let (values, histograms) = Default::default();
    let mut said = Said { values, histograms, phases: Vec::new(), iteration: Vec::new(), told };
    for line in lines {
        assert!(line.is_ascii() && line.len() < 512, "{line}");
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "value" => said.values.entry(words[1].into()).or_default().push(words[2].parse().unwrap()),
            "phase" => said.phases.push(words[1].into()),
            "iteration" => said.iteration = words[1..].iter().map(|word| word.parse().unwrap()).collect(),
            "histogram" => {
                let pairs = words[3..].iter().map(|pair| pair.split_once(':').unwrap());
                let pairs = pairs.map(|(index, count)| (index.parse().unwrap(), count.parse().unwrap()));
                said.histograms.entry(format!("{} {}", words[1], words[2])).or_default().extend(pairs);
            }
            _ => panic!("{line}"),
        }
    }
    said
}

/// A server that answers the requests of each connection with these bytes, one after the other, and then closes it.
pub fn speak(answers: Vec<&'static [u8]>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answers = answers.clone();
            thread::spawn(move || {
                for bytes in &answers {
                    let _ = stream.read(&mut [0; 1024]);
                    let _ = stream.write_all(bytes);
                }
            });
        }
    });
    address
}
