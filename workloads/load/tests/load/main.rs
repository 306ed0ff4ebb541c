//! The driver against servers whose behavior is known. Times are those that the servers sleep, so none can be shorter.

mod common;
mod faults;
mod pool;

use common::{driver, load, once_of_three, serve, speak, Said, Seen, Server};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

fn right(_: &Seen) -> (u16, String) {
    (200, "hello".into())
}

fn targets(address: &str) -> String {
    format!("targets={address}")
}

/// Little's law: clients are the rate times response time and think time.
fn clients_by_law(said: &Said) -> f64 {
    said.one("rate") * (said.one("mean_ns") + said.one("cycle_ns")) / 1e9
}

#[test]
fn a_closed_loop_counts_what_the_server_counts_and_obeys_littles_law() {
    once_of_three(|| {
        let server = serve(|_| {
            sleep(10 * MS);
            (200, "hello".into())
        });
        let said = load(&[&targets(&server.address), "clients=4", "ramp_s=0.1", "steady_s=0.8", "contains=hello"]);
        assert_eq!(said.one("errors"), 0.0);
        assert!(said.ms("p50_ns") >= 9.9 && said.one("rate") <= 400.0, "{}", said.one("rate"));
        assert!(said.one("mean_ns") <= said.one("max_ns") && said.one("p50_ns") <= said.one("p99_ns"));
        assert!((clients_by_law(&said) / 4.0 - 1.0).abs() < 0.15, "{}", clients_by_law(&said));
        assert!((said.one("in_flight") - 4.0).abs() < 0.1);
        let counted: u64 = said.histograms.values().flatten().map(|(_, count)| count).sum();
        // Those in flight at the end are not counted.
        assert!((0..=4).contains(&(server.n_requests.load(Relaxed) - counted)));
        let steady: u64 = said.histograms["steady request"].iter().map(|(_, count)| count).sum();
        assert_eq!((said.one("requests"), said.iteration[3]), (steady as f64, steady));
        assert_eq!(said.phases, ["ramp", "steady"]);
        assert_eq!(said.iteration[2] - said.iteration[1], 800_000_000);
    });
}

#[test]
fn cycles_are_kept_and_those_that_were_too_short_are_told() {
    once_of_three(|| {
        let server = serve(|seen| {
            sleep(if seen.number % 4 == 0 { 30 * MS } else { MS });
            (200, "hello".into())
        });
        let said = load(&[&targets(&server.address), "clients=8", "cycle=fixed:20", "ramp_s=0.1", "steady_s=1"]);
        // A machine that stands still at an end of the phase is seen in 1 s; without the think time it would be a fraction.
        assert!((clients_by_law(&said) / 8.0 - 1.0).abs() < 0.15, "{}", clients_by_law(&said));
        assert!(said.one("rate") <= 8.0 * 50.0 * 1.05 && said.ms("cycle_ns") < 20.0);
        assert!((0.15..0.9).contains(&said.one("overrun_share")), "{}", said.one("overrun_share"));
        assert_eq!(said.values["rate_second"].len(), 1);
        let [p50, p95, p99] = ["p50", "p95", "p99"].map(|name| said.one(&format!("{name}_second_ns")));
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99 && p99 <= 1.01 * said.one("max_ns"));
        assert!((p50 / said.one("p50_ns") - 1.0).abs() < 0.1, "one second is the whole steady phase");
    });
}

/// Answers at once, but for 300 ms in which it answers nobody: half a second after its first request.
fn stalling() -> impl Fn(&Seen) -> (u16, String) {
    let begin = OnceLock::new();
    let busy = Mutex::new(());
    move |_| {
        let _held = busy.lock().unwrap();
        let begin: &Instant = begin.get_or_init(Instant::now);
        let stall = Duration::from_millis(500)..Duration::from_millis(800);
        if stall.contains(&begin.elapsed()) {
            sleep(stall.end - begin.elapsed());
        }
        (200, "hello".into())
    }
}

#[test]
fn an_open_loop_shows_a_stall_that_a_closed_one_hides() {
    once_of_three(|| {
        let phases = ["ramp_s=0", "steady_s=1.5"];
        let server = serve(stalling());
        let closed = load(&[&targets(&server.address), "clients=1", "cycle=fixed:1", phases[0], phases[1]]);
        let server = serve(stalling());
        let open = load(&[&targets(&server.address), "loop=open", "rate=500", "connections=1", phases[0], phases[1]]);
        // A fifth of the requests were due while nobody was answered.
        assert!(open.ms("p90_ns") > 100.0 && open.ms("p99_ns") > 250.0, "{}", open.ms("p90_ns"));
        assert!(closed.ms("max_ns") > 250.0 && closed.ms("p90_ns") < 100.0, "{}", closed.ms("p90_ns"));
        // It was the server: where a connection was free the driver had no reason to be late.
        assert!(open.one("waited_share") > 0.1 && open.one("own_late_share") <= open.one("late_share"));
    });
}

#[test]
fn an_open_loop_keeps_its_rate_and_counts_those_it_could_not_send() {
    once_of_three(|| {
        let server = serve(right);
        let kept =
            load(&[&targets(&server.address), "loop=open", "rate=400", "arrivals=constant", "steady_s=1", "ramp_s=0"]);
        assert!((250.0..=402.0).contains(&kept.one("rate")), "{}", kept.one("rate"));
        let slow = serve(|_| {
            sleep(50 * MS);
            (200, "hello".into())
        });
        let lost = ["loop=open", "rate=400", "connections=2", "waiting=5", "steady_s=1", "ramp_s=0"];
        let lost = load(&[&[targets(&slow.address).as_str()], &lost[..]].concat());
        assert!(lost.one("rate") <= 43.0 && lost.one("errors_waiting") > 200.0);
        assert_eq!(lost.one("errors"), lost.one("errors_waiting"));
    });
}

#[test]
fn each_target_gets_its_warm_up_before_ready() {
    let servers = [serve(right), serve(right), serve(right)];
    let all = servers.iter().map(|server| server.address.clone()).collect::<Vec<_>>().join(",");
    // One client: two of the targets get nothing but their warm-up.
    let said = load(&[&targets(&all), "clients=1", "warmup=50", "steady_s=1", "ramp_s=0", "threads=2"]);
    let counted: Vec<u64> = servers.iter().map(|server| server.n_requests.load(Relaxed)).collect();
    assert_eq!(counted[1..], [50, 50]);
    assert!(counted[0] as f64 >= 50.0 + said.one("requests"));
    assert_eq!(said.one("threads"), 1.0, "one client needs no second thread");
}

#[test]
fn the_load_goes_through_what_stands_in_front_and_the_warm_up_does_not() {
    let servers = [serve(right), serve(right), serve(right)];
    let [one, other, front] = [0, 1, 2].map(|i| servers[i].address.clone());
    let (all, through) = (targets(&format!("{one},{other}")), format!("through={front}"));
    let said = load(&[&all, &through, "clients=2", "warmup=50", "steady_s=1", "ramp_s=0", "threads=2"]);
    let counted: Vec<u64> = servers.iter().map(|server| server.n_requests.load(Relaxed)).collect();
    assert_eq!(counted[..2], [50, 50]);
    assert!(counted[2] as f64 >= said.one("requests"));
}

#[test]
fn wrong_answers_are_counted_by_kind_and_the_first_ten_are_told() {
    let server = serve(|seen| match seen.number % 4 {
        0 => (500, "broken".into()),
        1 => (200, "good\tbye".into()),
        2 => (0, String::new()),
        _ => (200, "hello".into()),
    });
    let said = load(&[&targets(&server.address), "clients=2", "steady_s=0.6", "ramp_s=0", "contains=hello"]);
    let kinds = ["errors_status", "errors_content", "errors_closed"].map(|name| said.one(name));
    assert!(kinds.iter().all(|n| *n >= 3.0), "{kinds:?}");
    assert_eq!(said.one("errors"), kinds.iter().sum::<f64>());
    assert_eq!(said.told.lines().count(), 11);
    let first = format!("GET http://{}/ answered 500, expected 200; body: \"broken\"", server.address);
    assert!(said.told.contains(&first), "{}", said.told);
    let last = said.told.lines().last().unwrap();
    assert!(last.contains(" requests had no right answer (closed ") && last.contains("; first: GET http://"), "{last}");
    assert!(said.told.contains(r#"answered 200 without "hello"; body: "good\tbye""#));
}

#[test]
fn a_request_that_is_never_answered_is_a_timeout() {
    let server = serve(|seen| {
        sleep(if seen.number % 5 == 0 { 400 * MS } else { MS });
        (200, "hello".into())
    });
    let said = load(&[&targets(&server.address), "clients=2", "timeout_ms=100", "steady_s=0.8", "ramp_s=0"]);
    assert!(said.one("errors_timeout") >= 4.0 && said.one("errors") == said.one("errors_timeout"));
}

#[test]
fn operations_are_mixed_by_weight_with_seeded_values() {
    let file = std::env::temp_dir().join(format!("scalograph-load-{}.toml", std::process::id()));
    let text = r#"
        [[operation]]
        name = "read"
        weight = 3
        path = "/item/{id}"
        values = { id = [1, 9] }
        [[operation]]
        name = "order"
        method = "POST"
        path = "/orders"
        headers = { Content-Type = "application/json" }
        body = '{"color": "{color}", "n": {request}, "a": {}}'
        values = { color = ["red", "dark blue"] }
        status = 201
    "#;
    std::fs::write(&file, text).unwrap();
    let server = serve(|seen| (if seen.line.starts_with("POST") { 201 } else { 200 }, String::new()));
    let mix = format!("mix={}", file.display());
    let said = load(&[&targets(&server.address), &mix, "clients=2", "steady_s=0.5", "ramp_s=0"]);
    std::fs::remove_file(&file).unwrap();
    let count = |name: &str| said.histograms[name].iter().map(|(_, count)| *count).sum::<u64>() as f64;
    let (read, order) = (count("steady read"), count("steady order"));
    assert!((2.0..4.5).contains(&(read / order)), "{read} {order}");
    assert_eq!((said.one("errors"), said.one("requests")), (0.0, read + order));
    let lines = server.lines.lock().unwrap();
    let orders: std::collections::HashSet<_> = lines.iter().filter(|line| line.starts_with("POST")).collect();
    assert!(orders.len() as f64 >= order && orders.iter().any(|line| line.contains(r#""color": "dark blue", "n": "#)));
    assert!(lines.iter().any(|line| line.starts_with("GET /item/9 HTTP/1.1")));
}

#[test]
fn a_server_that_closes_after_each_answer_is_served_too() {
    let address = speak(vec![b"HTTP/1.0 200 OK\r\n\r\nhello"]);
    let said = load(&[&targets(&address), "clients=2", "steady_s=1", "ramp_s=0", "contains=hello", "warmup=3"]);
    assert!(said.one("requests") >= 10.0 && said.one("errors") == 0.0);
}

#[test]
fn what_it_cannot_do_is_one_sentence() {
    let server = serve(right);
    let here = targets(&server.address);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("targets={closed}");
    for (arguments, words) in [
        (vec!["targets=nowhere"], "expected HOST:PORT"),
        (vec!["targets=192.0.2.1:80"], "remote=yes"),
        (vec![&here, "through=192.0.2.1:80"], "through: 192.0.2.1:80 is another machine"),
        (vec![nobody.as_str()], "no connection to 127.0.0.1:"),
        (vec![&here, "clients=0"], "clients=0: expected 1 to 100000"),
        (vec![&here, "rate=nan"], "rate=nan"),
        (vec![&here, "loop=half"], "expected one of closed, open"),
        (vec![&here, "cycle=5"], "expected 0, fixed:MS or exp:MS"),
        (vec![&here, "mix=/no/such/file"], "mix=/no/such/file"),
        (vec![&here, "path=a b"], "path"),
        (vec![&here, "color=red"], "expected name=value with one of targets"),
        (vec!["nonsense"], "expected name=value"),
        (
            vec![&here, "contains=nothing", "warmup=20"],
            "10 of 10 requests failed in the warm-up; first: GET http://127.0.0.1:",
        ),
    ] {
        let done = driver(&arguments);
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), told.lines().count()), (Some(69), 1), "{arguments:?}: {told}");
        assert!(told.contains(words) && done.stdout.is_empty(), "{told}");
    }
}

#[test]
fn a_run_without_a_right_answer_fails() {
    let server = serve(|_| (503, "busy".into()));
    let done = driver(&[&targets(&server.address), "steady_s=1", "ramp_s=0"]);
    assert_eq!(done.status.code(), Some(70));
    let told = String::from_utf8(done.stderr).unwrap();
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("scalograph-load: no right answer in the steady phase of 1 s: "), "{told}");
    assert!(last.ends_with("answered 503, expected 200; body: \"busy\""), "{told}");
}

#[test]
fn too_few_descriptors_are_told_before_anything_is_sent() {
    let server = serve(right);
    let program = env!("CARGO_BIN_EXE_scalograph-load");
    let script = format!("ulimit -n 64; exec {program} targets={} clients=100", server.address);
    let done = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(done.status.code(), Some(69));
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(told.contains("100 connections need 133 file descriptors, 64 are allowed"), "{told}");
    assert_eq!(server.n_requests.load(Relaxed), 0);
}

#[test]
fn mix_files_with_mistakes_name_the_place() {
    let file = std::env::temp_dir().join(format!("scalograph-load-bad-{}.toml", std::process::id()));
    let server = serve(right);
    let mix = format!("mix={}", file.display());
    for (text, words) in [
        ("", "expected tables [[operation]]"),
        ("[[operation]]\nname = \"a\"", "line 1: path: missing, expected text"),
        ("[[operation]]\nname = \"a\"\npath = \"/\"\ncolor = 1", "line 4: unknown key color"),
        ("[[operation]]\nname = \"a\"\npath = 7", "line 3: path: expected text"),
        ("[[operation]]\nname = \"A\"\npath = \"/\"", "line 1: name: expected a-z"),
        ("[[operation]]\nname = \"a\"\npath = \"/\"\nweight = 0", "all weights are 0"),
        ("color = 1", "line 1: expected tables [[operation]] and nothing else"),
        (
            "[[operation]]\nname = \"a\"\npath = \"/\"\n\n[[operation]]\nname = \"a\"\npath = \"/\"",
            "line 5: name: operation a occurs twice",
        ),
        ("[[operation]]\nname = \"a\"\npath = \"/\"\nvalues = { id = [2, 1] }", "line 1: values.id"),
        ("[[operation]]\nname = \"a\"\npath = \"/\"\nheaders = { A = \"x\\r\\nB: y\" }", "line 1: headers"),
        ("\n[[operation]\n", "line 2"),
    ] {
        std::fs::write(&file, text).unwrap();
        let done = driver(&[&targets(&server.address), &mix]);
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), told.lines().count()), (Some(69), 1), "{told}");
        assert!(told.contains(words), "{text:?}: {told}");
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn an_open_loop_gives_each_target_its_turn() {
    let servers = [serve(right), serve(right)];
    let all = format!("{},{}", servers[0].address, servers[1].address);
    let said = load(&[&targets(&all), "loop=open", "rate=300", "connections=6", "steady_s=0.5", "ramp_s=0"]);
    let counted = servers.map(|server| server.n_requests.load(Relaxed) as f64);
    assert!((0.5..2.0).contains(&(counted[0] / counted[1])) && said.one("errors") == 0.0, "{counted:?}");
}

#[test]
fn a_server_that_dies_is_seen_and_the_run_comes_to_its_end() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for _ in 0..30 {
            let _ = std::io::Read::read(&mut stream, &mut [0; 1024]);
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let begin = Instant::now();
    let said = load(&[&targets(&address), "clients=1", "steady_s=0.5", "ramp_s=0"]);
    assert!(begin.elapsed() >= Duration::from_millis(500));
    assert_eq!(said.one("requests"), 30.0 + said.one("errors"));
    // It connects again every 10 ms, not as fast as it can.
    let refused = said.one("errors_connect");
    assert!((1.0..=51.0).contains(&refused) && said.one("errors") == refused + said.one("errors_closed"));
    assert!(said.told.contains("/ was not sent: Connection refused"), "{}", said.told);
}

const AUDITED: &str = r#"
    [[operation]]
    name = "read"
    weight = 3
    path = "/read"
    [[operation]]
    name = "write"
    path = "/write"
    contains = "kept"
"#;

/// Counts what it answers, answers some writes late or wrongly, and tells its counts where it is asked for them.
fn audited(holds: impl Fn(u64) -> u64 + Send + Sync + 'static) -> (Server, std::path::PathBuf) {
    static N_FILES: AtomicU64 = AtomicU64::new(0);
    let counts = [const { AtomicU64::new(0) }; 3];
    let server = serve(move |seen| {
        let [reads, writes, lost] = &counts;
        if let Some(query) = seen.line.split(' ').nth(1).and_then(|path| path.strip_prefix("/audit?")) {
            let [reads, writes, lost] = [reads, writes, lost].map(|count| count.load(Relaxed));
            let held = format!("read={reads}&write={}&unknown={lost}", holds(writes));
            return if query == held { (200, "equal".into()) } else { (500, format!("{held}, not\n{query}")) };
        }
        sleep(5 * MS);
        let is_write = seen.line.contains("/write");
        match seen.number % 50 {
            49 if is_write => {
                lost.fetch_add(1, Relaxed);
                (200, "forgotten".into())
            }
            _ => {
                [reads, writes][usize::from(is_write)].fetch_add(1, Relaxed);
                (200, "kept".into())
            }
        }
    });
    let name = format!("scalograph-load-audit-{}-{}.toml", std::process::id(), N_FILES.fetch_add(1, Relaxed));
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, AUDITED).unwrap();
    (server, file)
}

#[test]
fn an_audit_gets_the_count_of_every_answer_also_of_the_last_ones() {
    let (server, file) = audited(|writes| writes);
    let mix = format!("mix={}", file.display());
    let mut arguments = vec![targets(&server.address), mix, "audit=/audit".into(), "clients=8".into()];
    arguments.extend(["warmup=40", "ramp_s=0.1", "steady_s=0.5", "down_s=0.1", "threads=2"].map(String::from));
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = load(&words);
    assert!(said.one("audited") >= 40.0 + said.one("requests") - said.one("errors"));
    assert!(said.ms("p90_read_ns") >= 4.9 && said.ms("p90_write_ns") >= 4.9);
    assert!((said.one("per_minute") / said.one("rate") - 60.0).abs() < 1e-6);
    let (server, file) = audited(|writes| writes - 1);
    arguments[..2].clone_from_slice(&[targets(&server.address), format!("mix={}", file.display())]);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = driver(&words);
    let told = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(69));
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("scalograph-load: audit: status 500: read="), "{told}");
}

#[test]
fn an_audit_that_is_not_answered_fails_the_run() {
    let server = serve(|seen| (if seen.line.contains("/audit") { 0 } else { 200 }, String::new()));
    let done = driver(&[&targets(&server.address), "audit=/audit", "steady_s=1", "ramp_s=0"]);
    let told = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(69));
    assert!(told.contains("audit: no answer to /audit?request="), "{told}");
    assert_eq!(driver(&["audit=here"]).status.code(), Some(69));
}
