//! The golden lines of protocol/examples, which the Python side reads too.

use crate::events::Event;
use crate::{spec, workload};
use serde_json::Value;

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.is_empty())
}

#[test]
fn specifications_are_accepted() {
    let text = include_str!("../../../protocol/examples/probe_spec.jsonl");
    for line in lines(text) {
        let value = spec::read_line(line.as_bytes()).expect("a JSON line");
        let spec = spec::parse(&value).unwrap_or_else(|r| panic!("{line}: {r:?}"));
        assert_eq!(value["run"], spec.run.as_str());
        assert_eq!(value["commands"].as_array().map(Vec::len), Some(spec.commands.len()));
        assert_eq!(value["timeout_ns"].as_u64(), Some(spec.timeout_ns));
    }
    assert!(lines(text).count() >= 4);
}

#[test]
fn fields_of_a_specification_arrive() {
    let text = include_str!("../../../protocol/examples/probe_spec.jsonl");
    let of = |run: &str| {
        let value = lines(text).map(|l| serde_json::from_str::<Value>(l).unwrap()).find(|v| v["run"] == run);
        spec::parse(&value.expect("a golden line of this name")).unwrap()
    };
    let full = of("b003-t07-2");
    assert!(
        full.events
            && full.stdout.is_kept()
            && !full.echo
            && !full.plain
            && full.timeline
            && full.sentinel
            && full.namespace
    );
    assert_eq!((full.stdout_limit, full.stderr_limit), (1048576, 4096));
    assert_eq!((full.commands[0].cpus.of(0), full.commands[0].cpus.of(1)), (Some(&[0][..]), Some(&[1][..])));
    let two = of("two-commands");
    assert!(two.plain && !two.sentinel && !two.timeline && !two.events && !two.namespace);
    assert_eq!((two.commands[1].nice, two.commands[1].copies), (Some(5), 1));
    let short = of("r1");
    assert_eq!((short.stdout_limit, short.stderr_limit, short.ready_timeout_ns), (8388608, 65536, 60_000_000_000));
    assert_eq!((short.timeline_bins, short.timeline_tasks), (512, 64));
    assert_eq!(short.commands[0].cpus.of(0), None);
}

#[test]
fn wrong_specifications_are_rejected_where_they_are_wrong() {
    let text = include_str!("../../../protocol/examples/probe_spec_rejected.jsonl");
    for line in lines(text) {
        let golden: Value = serde_json::from_str(line).unwrap();
        let refusal = spec::parse(&golden["spec"]).map(|_| ()).expect_err(line);
        assert_eq!(golden["where"], refusal.place.as_str(), "{line}");
        assert_eq!(refusal.kind as u8, 2);
    }
    assert!(lines(text).count() >= 20);
}

#[test]
fn a_line_beyond_its_limit_is_refused_unread() {
    let long = format!("\"{}\"\n", "x".repeat(1 << 20));
    assert_eq!(spec::read_line(long.as_bytes()).unwrap_err().place, "spec");
    assert_eq!(spec::read_line(&b"\n"[..]).unwrap_err().found, "nothing");
}

/// Field by field, in the order of the page; only what is new since is absent there.
#[test]
fn events_are_written_as_on_the_page() {
    for line in lines(include_str!("../../../protocol/examples/probe_events.jsonl")) {
        let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let mut written = Vec::new();
        event.write(&mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        let (golden, ours): (Value, Value) =
            (serde_json::from_str(line).unwrap(), serde_json::from_str(&written).unwrap());
        let mut ours = ours;
        if golden["event"] == "timeline" && golden.get("source").is_none() {
            ours.as_object_mut().unwrap().remove("source");
        } else {
            assert_eq!(written.trim_end(), line);
        }
        assert_eq!(golden, ours);
    }
}

#[test]
fn workload_lines_are_accepted() {
    let text = include_str!("../../../protocol/examples/workload_lines.txt");
    lines(text).for_each(|line| assert!(workload::parse(line).is_some(), "{line}"));
    assert!(lines(text).count() >= 5);
}

#[test]
fn broken_workload_lines_are_rejected() {
    let text = include_str!("../../../protocol/examples/workload_lines_rejected.txt");
    lines(text).for_each(|line| assert_eq!(workload::parse(line), None, "{line}"));
    assert!(lines(text).count() >= 10);
}
