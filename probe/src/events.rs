//! What is written: the events of protocol/probe.md, field by field, in the order of that page.

use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    Header(Header),
    Awaits(Awaits),
    Copy(Box<CopyEvent>),
    Output(Output),
    Iterations(Iterations),
    Values(Values),
    Phases(Phases),
    Histogram(Histogram),
    #[allow(dead_code)]
    Process(Box<ProcessEvent>),
    Timeline(Timeline),
    Run(Box<RunEvent>),
    Error(ErrorEvent),
    Capabilities(Capabilities),
}

impl Event {
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Degraded {
    pub what: String,
    pub why: String,
    pub fix: String,
}

impl Degraded {
    pub fn new(what: &str, why: &str, fix: &str) -> Degraded {
        Degraded { what: what.into(), why: why.into(), fix: fix.into() }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Header {
    pub run: String,
    pub protocol: u32,
    pub probe: String,
    pub kind: String,
    pub containment: String,
    pub cgroup: Option<String>,
    pub backend: String,
    pub degraded: Vec<Degraded>,
}

/// What a run waits for whose gate is opened from outside.
#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Awaits {
    pub run: String,
    pub what: String,
    /// CLOCK_REALTIME when this was written.
    pub clock_ns: u64,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct InForce {
    pub cpus: Vec<usize>,
    pub policy: String,
    pub priority: i32,
    pub nice: i32,
}

/// What of `in_force` was otherwise at the end.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Changed {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct CopyEvent {
    pub run: String,
    pub copy: usize,
    pub command: usize,
    pub pid: i32,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub start_ns: Option<i64>,
    pub exec_ns: Option<i64>,
    pub end_ns: Option<i64>,
    pub reap_ns: Option<u64>,
    pub user_ns: u64,
    pub system_ns: u64,
    pub in_force: InForce,
    pub changed: Option<Changed>,
    pub stdout: Option<String>,
    pub stdout_truncated: bool,
    pub stderr_tail: String,
}

/// Captured text that does not fit in the line of its `copy`.
#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Output {
    pub run: String,
    pub copy: usize,
    pub stdout: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Iterations {
    pub run: String,
    pub copy: usize,
    pub index: Vec<u64>,
    pub start_ns: Vec<i64>,
    pub end_ns: Vec<i64>,
    pub work: Vec<u64>,
    pub cpu_ns: Vec<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_ns: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_ns: Option<Vec<u64>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Values {
    pub run: String,
    pub copy: usize,
    pub values: BTreeMap<String, Vec<serde_json::Number>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Phases {
    pub run: String,
    pub copy: usize,
    pub phases: Vec<PhaseRow>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct PhaseRow {
    pub name: String,
    pub start_ns: i64,
    pub end_ns: i64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Histogram {
    pub run: String,
    pub copy: usize,
    pub phase: String,
    pub operation: String,
    pub index: Vec<u64>,
    pub count: Vec<u64>,
}

/// One command of a run that has services, in the window.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct ProcessEvent {
    pub run: String,
    pub command: usize,
    pub name: String,
    pub role: String,
    pub start_ns: Option<i64>,
    pub ready_ns: Option<u64>,
    pub stop_ns: Option<u64>,
    pub stopped_by: Option<String>,
    pub cpu_ns: Option<u64>,
    pub user_ns: Option<u64>,
    pub system_ns: Option<u64>,
    pub cpu_source: Option<String>,
    pub wait_ns: Option<u64>,
    pub wait_scope: Option<String>,
    pub n_switches: Option<u64>,
    pub max_rss_bytes: Option<u64>,
    pub n_tasks: Option<u64>,
    pub per_cpu_ns: Option<Vec<u64>>,
    pub busy_ns: Option<Vec<u64>>,
    pub cpu_stall_ns: Option<u64>,
    pub memory_stall_ns: Option<u64>,
    pub io_stall_ns: Option<u64>,
    pub throttled_ns: Option<u64>,
    pub quota_cpus: Option<f64>,
    pub cpus: Option<Vec<usize>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct TaskRow {
    pub tid: u32,
    pub name: String,
    pub cpu_ns: u64,
    pub wait_ns: u64,
    pub per_cpu_ns: Vec<u64>,
    pub migrations: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Timeline {
    pub run: String,
    #[cfg_attr(test, serde(default = "from_records"))]
    pub source: String,
    pub bin_ns: u64,
    pub cpus: Vec<usize>,
    pub busy_ns: Vec<Vec<u64>>,
    pub waiting_ns: Option<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_busy_ns: Option<Vec<u64>>,
    pub tasks: Vec<TaskRow>,
}

#[cfg(test)]
fn from_records() -> String {
    "records".into()
}

/// Someone who had a CPU that a preempted task of the tree waited for. Those that have ended, or took
/// little, are one entry without pid and name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Neighbor {
    pub pid: Option<u32>,
    pub name: Option<String>,
    pub kernel: bool,
    pub observer: bool,
    pub taken_ns: u64,
    /// The `pid` of its family among `others`, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<u32>,
}

/// The CPU time of families of processes outside the run, between two moments on CLOCK_MONOTONIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Others {
    pub from_ns: u64,
    pub to_ns: u64,
    pub processes: Vec<OtherProcess>,
}

/// A process and all that descend from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct OtherProcess {
    pub pid: u32,
    pub name: String,
    #[serde(skip)]
    pub largest: u32,
    pub cpu_ns: u64,
    /// What it had used before, and its age then.
    pub before_ns: u64,
    pub age_ns: u64,
    /// Wake-ups that it and the run exchanged.
    pub n_wakes: u64,
}

/// How long the loop of the sentinel took, one value for each online CPU.
#[derive(Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Speed {
    pub mean_ns: Vec<Option<u64>>,
    pub p10_ns: Vec<Option<u64>>,
    pub p90_ns: Vec<Option<u64>>,
    pub n: Vec<u64>,
    pub cost_ns: u64,
}

/// What the run would have taken without those who had its CPUs, between two bounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct ReplayFigures {
    pub low_ns: u64,
    pub high_ns: u64,
    pub overlap_ns: u64,
    pub sleep_ns: u64,
    pub n_wakes: u64,
    pub partners: Vec<Partner>,
}

/// A process outside that woke a task of the run, or was woken by one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Partner {
    pub pid: u32,
    pub name: String,
    pub n_wakes: u64,
    pub taken_ns: u64,
}

/// An absent value is null, never 0: a zero was measured.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct RunEvent {
    pub run: String,
    pub status: String,
    pub reason: Option<String>,
    pub wall_ns: Option<u64>,
    pub wall_source: Option<String>,
    pub wall_outer_ns: Option<u64>,
    pub tree_wall_ns: Option<u64>,
    pub gate_ns: Option<u64>,
    pub gate_skew_ns: Option<u64>,
    pub queue_drain_ns: Option<u64>,
    pub start_skew_ns: Option<u64>,
    pub user_ns: Option<u64>,
    pub system_ns: Option<u64>,
    pub cpu_ns: Option<u64>,
    pub cpu_source: Option<String>,
    pub wait_ns: Option<u64>,
    pub neighbor_ns: Option<u64>,
    pub neighbor_per_cpu_ns: Option<Vec<u64>>,
    pub neighbors: Option<Vec<Neighbor>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    pub wait_scope: Option<String>,
    pub replay: Option<ReplayFigures>,
    pub n_switches: Option<u64>,
    pub n_preemptions: Option<u64>,
    pub n_migrations: Option<u64>,
    pub n_minor_faults: Option<u64>,
    pub n_major_faults: Option<u64>,
    pub n_blocks_in: Option<u64>,
    pub n_blocks_out: Option<u64>,
    pub max_rss_bytes: Option<u64>,
    pub n_tasks: Option<u64>,
    pub n_processes: Option<u64>,
    pub per_cpu_ns: Option<Vec<u64>>,
    pub outside_ns: Option<u64>,
    pub steal_ns: Option<u64>,
    pub worst_steal_ns: Option<u64>,
    pub machine_busy_ns: Option<u64>,
    pub memory_stall_ns: Option<u64>,
    pub io_stall_ns: Option<u64>,
    pub machine_memory_stall_ns: Option<u64>,
    pub machine_io_stall_ns: Option<u64>,
    pub throttled_ns: Option<u64>,
    pub thermal_ns: Option<u64>,
    pub stopped_ns: Option<u64>,
    pub n_swapped_in: Option<u64>,
    pub disk_bytes: Option<u64>,
    pub clock_step_ns: Option<i64>,
    pub asleep_ns: Option<u64>,
    pub clock_source_changed: Option<bool>,
    pub frequency_hz: Option<u64>,
    pub n_survivors: Option<u64>,
    pub observer_ns: Option<u64>,
    pub timeline_cost_ns: Option<u64>,
    pub n_lost_records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    pub degraded: Vec<Degraded>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct ErrorEvent {
    pub run: Option<String>,
    #[serde(rename = "where")]
    pub place: String,
    pub found: String,
    pub expected: String,
    pub fix: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Capabilities {
    pub protocol: u32,
    pub probe: String,
    pub capabilities: Vec<Capability>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Capability {
    pub name: String,
    pub granted: bool,
    pub why: Option<String>,
    pub fix: Option<String>,
}
