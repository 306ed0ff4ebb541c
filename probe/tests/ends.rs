//! How a run ends, and what the probe's own exit code says.

mod common;
use common::*;
use serde_json::json;

#[test]
fn a_run_that_succeeds() {
    let answer = probe(&spec(&[command(&["sleep", "0.1"], json!({}))], json!({})));
    let run = answer.run();
    assert_eq!((&run["status"], &run["reason"]), (&json!("ok"), &json!(null)));
    assert!(ns(run, "wall_ns") >= 100_000_000);
    assert!(ns(run, "wall_outer_ns") >= ns(run, "wall_ns"));
    assert!(ns(run, "tree_wall_ns") >= ns(run, "wall_ns"));
    let copy = answer.one("copy");
    assert_eq!((&copy["exit_code"], &copy["signal"]), (&json!(0), &json!(null)));
    assert!(ns(copy, "end_ns") - ns(copy, "start_ns") >= 100_000_000);
}

#[test]
fn a_workload_that_fails_is_a_run_all_the_same() {
    let answer = probe(&spec(&[shell("exit 3")], json!({})));
    assert_eq!(answer.run()["status"], "failed");
    assert_eq!(answer.one("copy")["exit_code"], 3);
    let answer = probe(&spec(&[shell("kill -TERM $$")], json!({})));
    assert_eq!(answer.run()["status"], "signal");
    assert_eq!(answer.one("copy")["signal"], 15);
}

#[test]
fn the_sentence_of_exit_code_69_is_the_reason() {
    let answer = probe(&spec(&[shell("echo first >&2; echo no such thread here >&2; exit 69")], json!({})));
    assert_eq!((&answer.run()["status"], &answer.run()["reason"]), (&json!("failed"), &json!("no such thread here")));
}

#[test]
fn what_does_not_end_is_killed() {
    let commands = [command(&["sleep", "1000"], json!({"copies": 2}))];
    let answer = probe(&spec(&commands, json!({"timeout_ns": SECOND / 5})));
    assert_eq!(answer.run()["status"], "timeout");
    assert!(ns(answer.run(), "wall_outer_ns") >= SECOND / 5);
    assert!(answer.all("copy").iter().all(|c| c["signal"] == 9));
}

#[test]
fn a_signal_to_the_probe_ends_the_run() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        let token = format!("10{:06}.{signal}", std::process::id());
        let child = start(&[PROBE], &spec(&[command(&["sleep", &token], json!({}))], json!({})));
        assert!(eventually(|| marked(&token).len() == 1));
        // SAFETY: a signal to the child just started.
        unsafe { libc::kill(child.id() as i32, signal) };
        let answer = finish(child);
        assert_eq!(answer.run()["status"], "interrupted");
        let reason = answer.run()["reason"].as_str().unwrap();
        assert!(reason.contains(&format!("({})", std::process::id())), "{reason}");
        assert!(marked(&token).is_empty());
    }
}

/// As under nohup, in a background job of a shell without job control, or below a careless parent.
fn start_deaf(spec: &serde_json::Value) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    let mut program = std::process::Command::new(PROBE);
    let deafen = || {
        // SAFETY: only sets what this process does with signals; the set is initialized by sigfillset.
        unsafe {
            for signal in 1..32 {
                libc::signal(signal, libc::SIG_IGN);
            }
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: `deafen` makes system calls only.
    start_command(unsafe { program.pre_exec(deafen) }, spec)
}

#[test]
fn signals_that_were_ignored_or_blocked_change_nothing() {
    let status = command(&["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], json!({}));
    for backend in BACKENDS {
        let more = json!({"stdout": "capture", "backend": backend});
        let answer = finish(start_deaf(&spec(std::slice::from_ref(&status), more)));
        assert_eq!(answer.run()["status"], "ok");
        assert_eq!(answer.one("copy")["stdout"], "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    }
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        let token = format!("50{:06}.{signal}", std::process::id());
        let child = start_deaf(&spec(&[command(&["sleep", &token], json!({}))], json!({})));
        assert!(eventually(|| marked(&token).len() == 1));
        // SAFETY: a signal to the child just started.
        unsafe { libc::kill(child.id() as i32, signal) };
        assert_eq!(finish(child).run()["status"], "interrupted");
        assert!(marked(&token).is_empty());
    }
}

#[test]
fn a_missing_program_is_refused_before_anything_starts() {
    let answer = probe(&spec(&[command(&["no-such-program"], json!({}))], json!({})));
    let error = answer.error(3);
    assert_eq!(error["where"], "commands[0].argv");
    assert!(error["found"].as_str().unwrap().contains("ENOENT"), "{error}");
}

#[test]
fn a_program_that_cannot_be_executed_is_not_started() {
    let script = std::env::temp_dir().join(format!("scalograph-script-{}", std::process::id()));
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::process::Command::new("chmod").arg("755").arg(&script).status().unwrap();
    let commands = [command(&[script.to_str().unwrap()], json!({})), command(&["sleep", "1000"], json!({}))];
    let answers = BACKENDS.map(|backend| probe(&spec(&commands, json!({"backend": backend}))));
    std::fs::remove_file(&script).unwrap();
    for answer in answers {
        assert_eq!(answer.run()["status"], "not started");
        let reason = answer.run()["reason"].as_str().unwrap();
        assert!(reason.contains("ENOENT") && reason.contains("commands[0].argv"), "{reason}");
        assert_eq!(answer.run()["wall_ns"], json!(null));
    }
}

#[test]
fn each_copy_reads_the_file_from_its_beginning_and_other_codes_may_be_right() {
    let file = std::env::temp_dir().join(format!("scalograph-input-{}", std::process::id()));
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let more = json!({"stdin": file.to_str().unwrap(), "copies": 2, "ok_exits": [3]});
    let answer = probe(&spec(&[command(&["sh", "-c", "cat; exit 3"], more)], json!({"stdout": "capture"})));
    let refused = probe(&spec(&[command(&["true"], json!({"ok_exits": [3]}))], json!({})));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(answer.run()["status"], "ok");
    assert!(answer.all("copy").iter().all(|copy| copy["stdout"] == "one\ntwo\n" && copy["exit_code"] == 3));
    assert_eq!(refused.run()["status"], "failed");
}

#[test]
fn what_the_host_does_not_have_is_refused() {
    for (more, place) in [
        (json!({"cpus": [8191]}), "commands[0].cpus"),
        (json!({"cwd": "/no/such/folder"}), "commands[0].cwd"),
        (json!({"env": {}}), "commands[0].argv"),
        (json!({"stdin": "/no/such/file"}), "commands[0].stdin"),
    ] {
        for backend in BACKENDS {
            let asked = spec(&[command(&["true"], more.clone())], json!({"backend": backend}));
            assert_eq!(probe(&asked).error(3)["where"], place);
        }
    }
    let answer = probe(&spec(&[command(&["true"], json!({}))], json!({"user": "no-such-user"})));
    assert_eq!(answer.error(3)["where"], "user");
}

#[test]
fn a_wrong_specification_is_refused() {
    let answer = probe(&json!({"protocol": 1, "run": "r9", "commands": [], "timeout_ns": 1}));
    let error = answer.error(2);
    assert_eq!((&error["where"], &error["run"]), (&json!("commands"), &json!("r9")));
    assert_eq!(probe(&json!([])).error(2)["where"], "spec");
}

#[test]
fn it_says_who_it_is_and_what_is_granted() {
    let said = |flag: &str| std::process::Command::new(PROBE).arg(flag).output().unwrap();
    assert_eq!(said("--version").stdout, b"scalograph-probe 0.1.0\n");
    assert!(String::from_utf8(said("--help").stdout).unwrap().contains("--capabilities"));
    assert_eq!(said("--nonsense").status.code(), Some(2));
    let line: serde_json::Value = serde_json::from_slice(&said("--capabilities").stdout).unwrap();
    let entries = line["capabilities"].as_array().unwrap();
    assert!(entries.iter().any(|e| e["name"] == "cgroup leaf"));
    assert!(entries.iter().all(|e| e["granted"] == true || (e["why"].is_string() && e["fix"].is_string())));
}

#[test]
fn a_copy_that_is_stopped_for_a_while_says_so() {
    let script = "(sleep 0.1; kill -STOP $$; sleep 1; kill -CONT $$) & sleep 0.05; wait";
    let answer = probe(&spec(&[shell(script)], json!({})));
    assert_eq!(answer.run()["status"], "ok");
    // On a busy machine the stop is noticed late, and not before the probe has a CPU.
    assert!(ns(answer.run(), "stopped_ns") >= SECOND / 2);
    let still = probe(&spec(&[command(&["sleep", "0.1"], json!({}))], json!({})));
    assert_eq!(ns(still.run(), "stopped_ns"), 0);
}

#[test]
fn a_copy_that_stays_stopped_is_killed_in_time() {
    let answer = probe(&spec(&[shell("kill -STOP $$")], json!({"timeout_ns": SECOND / 2})));
    assert_eq!(answer.run()["status"], "timeout");
    assert!(ns(answer.run(), "stopped_ns") >= 300_000_000);
}

/// Live processes that have inherited this text; a copy at the gate has the probe's command line.
fn inheriting(token: &str) -> usize {
    let holds = |file: std::path::PathBuf| {
        let text = std::fs::read(file.join("environ")).unwrap_or_default();
        text.windows(token.len()).any(|w| w == token.as_bytes())
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(|e| holds(e.path())).count()
}

#[test]
fn copies_that_are_born_while_the_probe_is_killed_are_gone() {
    let token = format!("80{:06}", std::process::id());
    let commands = [command(&["sleep", "1000"], json!({"copies": 200}))];
    for n in 1..=4 {
        let mut program = std::process::Command::new(PROBE);
        let mut child = start_command(program.env("MARK", &token), &spec(&commands, json!({})));
        let file = format!("/proc/{0}/task/{0}/children", child.id());
        let children = || std::fs::read_to_string(&file).unwrap_or_default();
        while children().split(' ').count() < 20 * n {}
        // Where there is a guard, it is the first; nobody else is left then to clean up.
        let guard = children().split(' ').next().unwrap().parse().unwrap();
        for victim in [guard, child.id() as i32] {
            // SAFETY: a signal to the child just started, and to a child of that.
            unsafe { libc::kill(victim, libc::SIGKILL) };
        }
        child.wait().unwrap();
        assert!(eventually(|| inheriting(&token) == 0), "after {} copies", 20 * n);
    }
}

#[test]
fn a_copy_that_is_killed_before_the_gate_fails_its_run_at_once() {
    // Hundreds take a while to get ready: the newest is killed as soon as there are some.
    let child = start(&[PROBE], &spec(&[command(&["sleep", "60"], json!({"copies": 200}))], json!({})));
    let of_probe = format!("/proc/{0}/task/{0}/children", child.id());
    let newest = || {
        let text = std::fs::read_to_string(&of_probe).unwrap_or_default();
        let pids: Vec<i32> = text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        pids.last().copied().filter(|_| pids.len() > 8)
    };
    let copy = (0..1_000_000).find_map(|_| newest()).expect("a copy");
    // SAFETY: a signal to a child of the child just started.
    unsafe { libc::kill(copy, libc::SIGKILL) };
    let answer = finish(child);
    assert_eq!(answer.run()["status"], "not started");
    let reason = answer.run()["reason"].as_str().unwrap();
    assert!(reason.contains("before the gate"), "{reason}");
}

#[test]
fn output_goes_where_it_is_asked_to() {
    let script = "test -t 0 && test -t 1 && printf tty; test -p /dev/fd/1 && printf pipe >&2; printf more; cat";
    let file = std::env::temp_dir().join(format!("scalograph-output-{}", std::process::id()));
    std::fs::write(&file, "what was there before").unwrap();
    let path = file.to_str().unwrap();
    for (stdout, kept, stderr) in [
        ("null", json!(null), ""),
        ("pipe", json!(null), "pipe"),
        ("capture", json!("more"), "pipe"),
        ("tty", json!("ttymore"), ""),
        (path, json!(null), ""),
    ] {
        let answer = probe(&spec(&[command(&["sh", "-c", script], json!({}))], json!({"stdout": stdout})));
        let copy = answer.one("copy");
        assert_eq!(answer.run()["status"], "ok", "{stdout}: {:#?}", answer.events);
        assert_eq!((&copy["stdout"], &copy["stdout_truncated"]), (&kept, &json!(false)), "{stdout}");
        assert_eq!(copy["stderr_tail"], stderr, "{stdout}");
    }
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(written, "more");
    // A pipe that nobody read would hold this up.
    let long = command(&["head", "-c", "10000000", "/dev/zero"], json!({}));
    assert_eq!(probe(&spec(&[long], json!({"stdout": "pipe"}))).run()["status"], "ok");
}
