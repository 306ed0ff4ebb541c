//! Carry out one run, from the parsed specification to its last event.

use crate::board::Board;
use crate::checked::{self, Checked};
use crate::contain::Containment;
use crate::error::{Kind, Refusal};
use crate::events::{Degraded, Event, Header};
use crate::poller::Poller;
use crate::records::{self, Records};
use crate::sentinel::Sentinel;
use crate::spec::Spec;
use crate::starting::Starter;
use crate::watch::Watch;
use crate::window::Before;
use crate::{gate, readings, report};
use std::io::{self, Write};
use std::sync::atomic::Ordering::SeqCst;

pub fn carry_out(spec: &Spec, out: &mut impl Write) -> Result<(), Refusal> {
    let checked = checked::check(spec)?;
    let poller = Poller::new().map_err(|e| Refusal::os("signalfd", &e))?;
    let mut degraded = Vec::new();
    let cpus = usable(spec, &checked);
    let sentinel = if spec.sentinel { Sentinel::start(&cpus, &mut degraded) } else { None };
    let contain = Containment::choose(spec, &mut degraded);
    let mut records = open_records(spec, &checked, &mut degraded);
    write(out, Event::Header(header(spec, &contain, records.is_some(), &degraded)))?;
    if spec.is_divided() {
        records.iter_mut().for_each(|r| r.divide(spec.commands.len()));
    }
    records.iter_mut().for_each(|r| r.tree.others.extend(sentinel.as_ref().map(|s| s.pid)));
    let starter = Starter::new(spec, &checked, &contain, records.is_none())?;
    let n: usize = spec.commands.iter().map(|c| c.copies).sum();
    let board = Board::new(n - spec.n_services()).map_err(|e| Refusal::os("shared memory", &e))?;
    let mut watch = Watch::new(spec, cpus, &board, &contain, &poller, records, starter.shares_memory);
    watch.sentinel = sentinel;
    let before = match start(&mut watch, &starter) {
        Err(refusal) if refusal.kind == Kind::Lost => {
            return write(out, report::not_started(spec, refusal.found, degraded));
        }
        started => started?,
    };
    watch.until_gone();
    for event in report::events(&mut watch, before.as_ref(), &checked.online, degraded) {
        write(out, event)?;
    }
    Ok(())
}

/// Start services, then drivers, and open the gate; None if the run ended before that.
fn start(watch: &mut Watch, starter: &Starter) -> Result<Option<Before>, Refusal> {
    watch.listen().map_err(|e| Refusal::os("epoll", &e))?;
    watch.meet_running();
    if watch.early.is_none() {
        watch.start_services(starter)?;
    }
    if watch.early.is_some() {
        return Ok(None);
    }
    let drivers = watch.spec.n_services()..watch.spec.commands.len();
    watch.join(starter.start(drivers, watch.board)?).map_err(|e| Refusal::os("epoll", &e))?;
    if watch.spec.is_asked {
        watch.await_gate();
        if watch.early.is_some() {
            return Ok(None);
        }
    }
    open_gate(watch)
}

fn write(out: &mut impl Write, event: Event) -> Result<(), Refusal> {
    let written = event.write(out).and_then(|()| out.flush());
    written.map_err(|e| Refusal::new(Kind::Bug, "standard output", &e.to_string(), "a reader", "keep the pipe open"))
}

/// Open kernel records with context switches, or without if those are refused; add refusals to `degraded`.
fn open_records(spec: &Spec, checked: &Checked, degraded: &mut Vec<Degraded>) -> Option<Records> {
    if spec.plain {
        return None;
    }
    let open = |switches| Records::open(&checked.online, &usable(spec, checked), switches, spec.timeline_bins);
    let say = |what: &str, e: &io::Error| {
        let (reason, fix) = records::refusal(e);
        Degraded::new(what, &reason, fix)
    };
    let wanted = spec.timeline;
    let (first, what) = (open(wanted), if wanted { "switch records" } else { "kernel records" });
    let mut records = first.inspect_err(|e| degraded.push(say(what, e))).ok().or_else(|| {
        let second = if wanted { open(false) } else { return None };
        second.inspect_err(|e| degraded.push(say("kernel records", e))).ok()
    })?;
    if records.with_switches {
        degraded.extend(records.open_wakes().err().map(|e| records::wake_refusal(&e)));
    }
    Some(records)
}

/// Return the CPUs that the copies together may use.
fn usable(spec: &Spec, checked: &Checked) -> Vec<usize> {
    let masks = spec.commands.iter().flat_map(|c| (0..c.copies).map(move |k| c.cpus.of(k)));
    let mut cpus: Vec<usize> = masks.flat_map(|mask| mask.unwrap_or(&checked.own)).copied().collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn header(spec: &Spec, contain: &Containment, records: bool, degraded: &[Degraded]) -> Header {
    Header {
        run: spec.run.clone(),
        protocol: 1,
        probe: env!("CARGO_PKG_VERSION").into(),
        kind: "native".into(),
        containment: contain.name().into(),
        cgroup: contain.leaf().map(|l| l.name()),
        backend: if records { "kernel" } else { "plain" }.into(),
        degraded: degraded.to_vec(),
    }
}

fn open_gate(watch: &mut Watch) -> Result<Option<Before>, Refusal> {
    let mains: Vec<(i32, usize)> = watch.drivers().map(|c| (c.pid, c.command)).collect();
    let enabled = watch.records.as_mut().map_or(Ok(()), |r| r.enable(&mains));
    enabled.map_err(|e| Refusal::os("perf events", &e))?;
    watch.rehearse();
    if watch.spec.is_divided() {
        if watch.early.is_some() {
            return Ok(None);
        }
        let contain = watch.contain;
        watch.records.iter_mut().for_each(|r| r.begin(contain));
        watch.own_running();
        watch.used.0 = readings::read(watch.spec, contain, &watch.copies);
    }
    let before = Before::read(watch);
    gate::open(watch.board, watch.mains_left);
    watch.gate_ns = watch.board.head().deadline_ns.load(SeqCst);
    let gate_ns = watch.gate_ns;
    watch.sentinel.iter_mut().for_each(|s| s.begin(gate_ns));
    if watch.spec.is_asked {
        watch.announce("window");
    }
    Ok(Some(before))
}
