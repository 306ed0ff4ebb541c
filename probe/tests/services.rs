//! Services: started in order, waited for, accounted in the window, stopped in reverse order, never left behind.

mod common;
use common::*;
use serde_json::{json, Value};
use std::net::TcpListener;
use std::path::PathBuf;

/// Listens on a port as soon as it can; a second argument makes it so many sockets.
const LISTEN: &str = "import socket, sys, time
held = []
for _ in range(int(sys.argv[2])):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(('127.0.0.1', int(sys.argv[1])))
    s.listen()
    held.append(s)
time.sleep(1000)";

fn service(name: &str, argv: &[&str], more: Value) -> Value {
    let mut command = command(argv, json!({"name": name, "role": "service"}));
    merge(&mut command, more);
    command
}

fn line_service(name: &str, script: &str, more: Value) -> Value {
    let mut command = service(name, &["sh", "-c", script], json!({"ready": {"line": "ready"}}));
    merge(&mut command, more);
    command
}

fn driver(script: &str) -> Value {
    command(&["sh", "-c", script], json!({"name": "driver"}))
}

fn run_of(commands: &[Value]) -> Answer {
    probe(&spec(commands, json!({})))
}

fn reason(answer: &Answer) -> &str {
    assert_eq!(answer.run()["status"], "failed", "{:#?}", answer.events);
    answer.run()["reason"].as_str().unwrap()
}

/// A number in the arguments by which a process is found again.
fn token(which: u32) -> String {
    format!("7{which}{:06}", std::process::id())
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("scalograph-services-{name}-{}", std::process::id()))
}

#[test]
fn they_start_in_order_and_stop_in_reverse() {
    let log = scratch("order");
    let script = |name: &str| {
        let say = |what: &str| format!("echo {name} {what} >> {}", log.display());
        format!("trap '{}; exit 0' TERM; {}; echo ready; while :; do sleep 0.02; done", say("ends"), say("begins"))
    };
    let told = format!("echo driver >> {}", log.display());
    let answer = run_of(&[
        line_service("a", &script("a"), json!({})),
        line_service("b", &script("b"), json!({})),
        driver(&told),
    ]);
    let lines = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert_eq!(answer.run()["status"], "ok");
    assert_eq!(lines.lines().collect::<Vec<_>>(), ["a begins", "b begins", "driver", "b ends", "a ends"]);
    let processes = answer.all("process");
    assert_eq!(processes.iter().map(|p| &p["name"]).collect::<Vec<_>>(), ["a", "b", "driver"]);
    assert!(processes[0]["start_ns"].as_i64() < processes[1]["start_ns"].as_i64());
    assert!(processes[1]["start_ns"].as_i64().unwrap() < 0 && processes[2]["start_ns"].as_i64().unwrap() >= 0);
    assert!(processes[..2].iter().all(|p| p["stopped_by"] == "TERM" && p["ready_ns"].is_u64()));
    assert_eq!((&processes[2]["ready_ns"], &processes[2]["stopped_by"]), (&json!(null), &json!(null)));
    assert!(ns(answer.run(), "wall_ns") <= ns(answer.run(), "wall_outer_ns"));
    assert_eq!(ns(answer.run(), "n_survivors"), 0);
}

#[test]
fn each_way_of_being_ready_is_waited_for() {
    let (port, web) = (free_port(), free_port());
    let (port, web) = (port.to_string(), web.to_string());
    let late = line_service("late", "sleep 0.3; echo now ready to work >&2; sleep 1000", json!({}));
    let number = |text: &str| text.parse::<u16>().unwrap();
    let listens = service("port", &["python3", "-c", LISTEN, &port, "1"], json!({"ready": {"port": number(&port)}}));
    let serve = ["python3", "-m", "http.server", "--bind", "127.0.0.1", &web];
    let http = service("web", &serve, json!({"ready": {"http": {"port": number(&web), "path": "/proc/uptime"}}}));
    let plain = service("plain", &["sleep", "1000"], json!({}));
    let answer = run_of(&[late, listens, http, plain, driver("exit 0")]);
    assert_eq!(answer.run()["status"], "ok", "{:#?}", answer.events);
    let ready: Vec<u64> = answer.all("process")[..4].iter().map(|p| ns(p, "ready_ns")).collect();
    assert!(ready[0] >= 300_000_000, "{ready:?}");
    assert!(answer.all("copy")[2]["stderr_tail"].as_str().unwrap().contains("GET /proc/uptime"));
}

#[test]
fn one_that_never_becomes_ready_ends_the_run_before_its_gate() {
    let port = free_port();
    for (ready, missing) in [
        (json!({"line": "ready"}), "no line of its output has \"ready\"".to_string()),
        (json!({"port": port}), format!("nobody listens on port {port}")),
        (json!({"port": port, "host": "::1"}), format!("nobody listens on port {port}")),
        (json!({"http": {"port": port, "path": "/"}}), format!("nobody listens on port {port}")),
    ] {
        let first = service("first", &["sleep", "1000"], json!({}));
        let more = json!({"ready": ready, "ready_timeout_ns": SECOND / 5});
        let stuck = service("app", &["sh", "-c", "echo began >&2; exec sleep 1000"], more);
        let answer = run_of(&[first, stuck, driver("exit 0")]);
        let expected = format!("service app was not ready after 0.2 s: {missing}");
        assert!(reason(&answer).starts_with(&expected), "{}", reason(&answer));
        let copies = answer.all("copy");
        assert_eq!(copies.len(), 2);
        assert_eq!((&copies[1]["stderr_tail"], &copies[1]["start_ns"]), (&json!("began\n"), &json!(null)));
        let figures = answer.run().as_object().unwrap();
        let told = ["event", "run", "status", "reason", "degraded"];
        assert!(figures.iter().all(|(name, value)| told.contains(&name.as_str()) || value.is_null()), "{figures:#?}");
        assert!(answer.all("process").is_empty());
    }
}

#[test]
fn one_is_asked_at_the_address_that_is_named() {
    let port = free_port();
    let serve = ["python3", "-m", "http.server", "--bind", "::1", &port.to_string()];
    let run = |ready: Value| {
        let more = json!({"ready": ready, "ready_timeout_ns": 2 * SECOND});
        run_of(&[service("web", &serve, more), driver("exit 0")])
    };
    for ready in
        [json!({"port": port, "host": "::1"}), json!({"http": {"port": port, "path": "/proc/uptime", "host": "::1"}})]
    {
        let answer = run(ready);
        assert_eq!(answer.run()["status"], "ok", "{:#?}", answer.events);
    }
    let answer = run(json!({"port": port}));
    let expected = format!("nobody listens on 127.0.0.1:{port}, but on port {port} of another address");
    assert!(reason(&answer).ends_with(&expected), "{}", reason(&answer));
}

#[test]
fn one_that_listens_elsewhere_is_told_where() {
    let (asked, other) = (free_port(), free_port());
    let argv = ["python3", "-c", LISTEN, &other.to_string(), "1"];
    let more = json!({"ready": {"port": asked}, "ready_timeout_ns": 2 * SECOND});
    let answer = run_of(&[service("app", &argv, more), driver("exit 0")]);
    let expected = format!("was not ready after 2.0 s: nobody listens on port {asked}; it listens on port {other}");
    assert_eq!(reason(&answer), format!("service app {expected}"));
}

#[test]
fn one_that_ends_is_told_by_when_it_did() {
    let early = line_service("app", "echo no configuration >&2; exit 4", json!({}));
    let answer = run_of(&[early, driver("exit 0")]);
    assert_eq!(reason(&answer), "service app ended before it was ready (exit code 4)");
    assert_eq!(answer.one("copy")["stderr_tail"], "no configuration\n");
    let first = line_service("app", "echo ready; sleep 0.1; kill -KILL $$", json!({}));
    let answer = run_of(&[first, line_service("app", "sleep 10; echo ready", json!({})), driver("exit 0")]);
    assert_eq!(reason(&answer), "service app (1 of 2) ended before drivers were started (signal 9)");
    let answer = run_of(&[line_service("app", "echo ready; sleep 0.5; exit 3", json!({})), driver("sleep 1000")]);
    assert_eq!(reason(&answer), "service app ended while drivers worked (exit code 3)");
    assert_eq!(answer.all("copy")[1]["signal"], 9);
    assert!(answer.run()["gate_ns"].is_u64());
}

#[test]
fn a_program_that_cannot_be_executed_starts_nothing() {
    let script = scratch("interpreter");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::process::Command::new("chmod").arg("755").arg(&script).status().unwrap();
    let answer = run_of(&[service("app", &[script.to_str().unwrap()], json!({})), driver("exit 0")]);
    std::fs::remove_file(&script).unwrap();
    assert_eq!(answer.run()["status"], "not started");
    let reason = answer.run()["reason"].as_str().unwrap();
    assert!(reason.contains("ENOENT") && reason.contains("commands[0].argv"), "{reason}");
}

#[test]
fn its_ports_are_its_own() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let answer = run_of(&[service("app", &["sleep", "1000"], json!({"ports": [port]})), driver("exit 0")]);
    let reason_of = reason(&answer);
    assert!(reason_of.starts_with(&format!("service app: port {port} is already listened on by ")), "{reason_of}");
    assert!(reason_of.ends_with(&format!(" ({})", std::process::id())), "{reason_of}");
    assert!(answer.all("copy").is_empty());
    drop(taken);
    let more = json!({"ports": [port]});
    let two = ["python3", "-c", LISTEN, &port.to_string(), "2"];
    let answer = run_of(&[service("app", &two, more.clone()), driver("exit 0")]);
    assert_eq!(reason(&answer), format!("service app: 2 sockets listen on port {port}"));
    let one = ["python3", "-c", LISTEN, &port.to_string(), "1"];
    let app = service("app", &one, more);
    assert_eq!(run_of(&[app.clone(), driver("exit 0")]).run()["status"], "ok");
    // A second one joins while drivers work.
    let n_listeners = format!("grep -c ':{port:04X} 00000000:0000 0A' /proc/net/tcp");
    let joins = format!("python3 -c \"{LISTEN}\" {port} 1 & until test $({n_listeners}) = 2; do sleep 0.02; done");
    let answer = run_of(&[app, driver(&joins)]);
    assert_eq!(reason(&answer), format!("service app: 2 sockets listen on port {port}"));
}

#[test]
fn one_that_ignores_its_signal_is_killed_after_its_grace() {
    let deaf = line_service(
        "deaf",
        "trap '' TERM; echo ready; while :; do sleep 0.1; done",
        json!({"stop_grace_ns": SECOND / 5}),
    );
    let quits = "trap 'exit 0' QUIT; echo ready; while :; do sleep 0.02; done";
    let other = line_service("other", quits, json!({"stop_signal": "QUIT"}));
    let answer = run_of(&[deaf, other, driver("exit 0")]);
    assert_eq!(answer.run()["status"], "ok");
    let processes = answer.all("process");
    assert_eq!((&processes[0]["stopped_by"], &processes[1]["stopped_by"]), (&json!("KILL"), &json!("QUIT")));
    assert!(ns(processes[0], "stop_ns") >= SECOND / 5);
    assert_eq!(answer.all("copy")[0]["signal"], 9);
}

#[test]
fn nobody_waits_for_a_service_that_is_being_stopped_once_the_probe_is_told_to_end() {
    let (which, told) = (token(5), scratch("told"));
    let script = format!("trap '> {}' TERM; echo ready; : {which}; while :; do sleep 0.1; done", told.display());
    let deaf = line_service("deaf", &script, json!({"stop_grace_ns": 1000 * SECOND}));
    let child = start(&[PROBE], &spec(&[deaf, driver("exit 0")], json!({})));
    assert!(eventually(|| std::fs::remove_file(&told).is_ok()));
    // SAFETY: a signal to the child just started.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let answer = finish(child);
    // What was measured counts: the window had closed.
    assert_eq!(answer.run()["status"], "ok");
    assert_eq!(answer.all("process")[0]["stopped_by"], "KILL");
    assert!(marked(&which).is_empty());
}

#[test]
fn what_a_service_leaves_behind_is_counted_and_killed() {
    let token = token(1);
    let script = format!("sleep {token} & trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done");
    let answer = run_of(&[line_service("app", &script, json!({})), driver("exit 0")]);
    assert_eq!(answer.run()["status"], "ok");
    assert_eq!(ns(answer.run(), "n_survivors"), 1);
    assert!(marked(&token).is_empty());
}

#[test]
fn whatever_ends_the_probe_ends_its_services() {
    for (which, signal) in [(2, libc::SIGTERM), (3, libc::SIGKILL)] {
        let token = token(which);
        let waits = service("app", &["sleep", &token], json!({"ready": {"line": "never"}}));
        let works = service("app", &["sleep", &token], json!({}));
        for command in [waits, works] {
            let child = start(&[PROBE], &spec(&[command, driver("sleep 1000")], json!({})));
            assert!(eventually(|| !marked(&token).is_empty()));
            // SAFETY: a signal to the child just started.
            unsafe { libc::kill(child.id() as i32, signal) };
            let answer = finish(child);
            if signal == libc::SIGTERM {
                assert_eq!(answer.run()["status"], "interrupted");
            }
            assert!(eventually(|| marked(&token).is_empty()));
        }
    }
}

#[test]
fn a_timeout_ends_services_too() {
    let token = token(4);
    let commands = [service("app", &["sleep", &token], json!({})), driver("sleep 1000")];
    let answer = probe(&spec(&commands, json!({"timeout_ns": SECOND / 5})));
    assert_eq!(answer.run()["status"], "timeout");
    assert_eq!(answer.all("process")[0]["stopped_by"], "KILL");
    assert!(marked(&token).is_empty());
}

#[test]
fn only_drivers_are_offered_the_protocol() {
    let looks = "env; test -e /proc/self/fd/3 || echo no third; echo ready; sleep 1000";
    let says = "echo ready >&3; read -r go <&4; echo phase steady 1 2 >&3; echo histogram steady get 5:1 5:2 >&3";
    let more = json!({"events": true, "stdout": "capture"});
    let answer = probe(&spec(&[line_service("app", looks, json!({})), driver(&format!("{says}; echo out"))], more));
    assert_eq!(answer.run()["status"], "ok", "{:#?}", answer.events);
    let (service, driver) = (answer.all("copy")[0], answer.all("copy")[1]);
    let tail = service["stderr_tail"].as_str().unwrap();
    assert!(tail.contains("no third") && !tail.contains("SCALOGRAPH"), "{tail}");
    assert_eq!((&service["stdout"], &driver["stdout"]), (&json!(null), &json!("out\n")));
    assert_eq!(answer.one("phases")["phases"][0]["name"], "steady");
    let histogram = answer.one("histogram");
    assert_eq!((&histogram["index"], &histogram["count"]), (&json!([5]), &json!([3])));
}

/// Burns 0.4 s before it is ready and 0.4 s when it is asked to, and says how much it used from then on; the driver waits
/// and uses next to nothing.
const BURN: &str = "import os, resource, sys, time
def used():
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
def burn(s):
    end = time.process_time() + s
    while time.process_time() < end:
        pass
burn(0.4)
before = used()
print('ready', flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
os.remove(sys.argv[1])
if os.fork() == 0:
    burn(0.2)
    os._exit(0)
os.wait()
burn(0.2)
with open(sys.argv[1] + '.said', 'w') as said:
    said.write(str(used() - before))
os.rename(sys.argv[1] + '.said', sys.argv[1] + '.done')
time.sleep(1000)";

/// The answer, and the seconds that the service says it used.
fn burnt(program: &[&str], which: &str, more: Value) -> (Answer, f64) {
    let file = scratch(which);
    let (asked, done) = (file.display().to_string(), format!("{}.done", file.display()));
    let app = service("app", &["python3", "-c", BURN, &asked], json!({"ready": {"line": "ready"}}));
    let script = format!("> {asked}; while ! test -e {done}; do sleep 0.2; done");
    let answer = finish(start(program, &spec(&[app, driver(&script)], more)));
    assert_eq!(answer.run()["status"], "ok", "{:#?}", answer.events);
    let said = std::fs::read_to_string(&done).unwrap().parse().unwrap();
    std::fs::remove_file(&done).unwrap();
    (answer, said)
}

fn check_burnt(program: &[&str], which: &str, more: Value, source: &str) {
    let (answer, said) = burnt(program, which, more);
    let processes = answer.all("process");
    let (app, driver) = (ns(processes[0], "cpu_ns"), ns(processes[1], "cpu_ns"));
    // What it did before the gate opened, and after it told, is little.
    assert!((app as f64 / 1e9 - said).abs() < 0.02, "{which} {app} {said}");
    assert!(said > 0.38, "{which} {said}");
    assert!(driver < 250_000_000, "{which} {driver}");
    assert_eq!(ns(answer.run(), "cpu_ns"), app + driver);
    assert_eq!(processes[0]["cpu_source"], source, "{which}");
    assert!(processes[0]["wait_ns"].is_u64());
}

#[test]
fn cpu_time_is_of_the_window_and_of_the_command() {
    let by_leaf = |answer: Answer| answer.events[0]["containment"] == "cgroup";
    let has_leaf = by_leaf(run_of(&[service("app", &["sleep", "1000"], json!({})), driver("exit 0")]));
    for backend in BACKENDS.into_iter().filter(|_| has_leaf) {
        check_burnt(&[PROBE], backend, json!({"backend": backend}), "cgroup");
    }
}

#[test]
fn without_a_cgroup_it_is_told_by_records_or_by_proc() {
    let Some(program) = unprivileged() else { return };
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    check_burnt(&program, "records", json!({}), "records");
    check_burnt(&program, "proc", json!({"backend": "plain"}), "rusage");
    check_burnt(&program, "best-effort", json!({"backend": "plain", "namespace": false}), "rusage");
}

#[test]
fn one_that_forks_away_is_told_to_stay_and_is_gone() {
    let (port, which) = (free_port(), token(6));
    let argv = format!("python3 -c \"{LISTEN}\" {port} 1 {which} & exit 0");
    let answer = run_of(&[service("app", &["sh", "-c", &argv], json!({"ready": {"port": port}})), driver("exit 0")]);
    let said = "service app ended before it was ready (exit code 0); processes that it left: 1; it has to stay in the \
                foreground";
    assert_eq!(reason(&answer), said);
    assert!(marked(&which).is_empty());
}

#[test]
fn a_port_that_is_held_after_its_end_is_told_with_its_holder() {
    let (port, told, done) = (free_port(), scratch("leaves"), scratch("left"));
    let ends = format!(
        "trap '> {}; while ! test -e {}; do sleep 0.02; done; kill $!; exit 0' TERM",
        told.display(),
        done.display()
    );
    let script = format!("python3 -c \"{LISTEN}\" {port} 1 & {ends}; while :; do sleep 0.02; done");
    let holder = std::thread::spawn({
        let done = done.clone();
        move || {
            assert!(eventually(|| std::fs::remove_file(&told).is_ok()));
            let child = std::process::Command::new("python3").args(["-c", LISTEN, &port.to_string(), "1"]).spawn();
            let row = format!(":{port:04X} 00000000:0000 0A");
            let n_listeners = || std::fs::read_to_string("/proc/net/tcp").unwrap().matches(&row).count();
            assert!(eventually(|| n_listeners() == 2));
            std::fs::write(&done, "").unwrap();
            child.unwrap()
        }
    });
    let answer = run_of(&[service("app", &["sh", "-c", &script], json!({"ready": {"port": port}})), driver("exit 0")]);
    let mut child = holder.join().unwrap();
    let said = reason(&answer).to_string();
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&done).unwrap();
    let expected = format!("service app: port {port} is listened on after its end by ");
    assert!(said.starts_with(&expected) && said.ends_with(&format!("({})", child.id())), "{said}");
    // What was measured stays.
    assert!(answer.run()["wall_ns"].is_u64());
}
