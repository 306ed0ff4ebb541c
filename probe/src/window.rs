//! The window of a run: what was read just before the gate, and when each copy started and ended.

use crate::conditions::Conditions;
use crate::copies::Copy;
use crate::host::{self, MachineTime};
use crate::tree::Main;
use crate::watch::Watch;
use std::sync::atomic::Ordering::SeqCst;

/// The window's beginning, read just before the gate opens.
pub struct Before {
    pub machine: Option<MachineTime>,
    pub conditions: Conditions,
    pub observer_ns: u64,
}

impl Before {
    pub fn read(watch: &Watch) -> Before {
        let conditions = watch.conditions();
        let machine = host::machine_time(&watch.cpus);
        Before { machine, conditions, observer_ns: watch.observer_ns() }
    }
}

/// When one copy left the gate, started, ended and was reaped; all on CLOCK_MONOTONIC.
pub struct Times {
    pub left: Option<u64>,
    pub before_ns: u64,
    pub main: Main,
    pub reaped: Option<u64>,
}

impl Times {
    /// As near to the program as is known: the kernel's record, else the clock of the gate.
    pub fn start(&self) -> Option<u64> {
        self.main.image_ns.or(self.left)
    }

    pub fn end(&self) -> Option<u64> {
        self.main.exit_ns.or(self.reaped)
    }
}

/// The gate, and the times of all copies.
pub struct Frame {
    pub gate: u64,
    pub copies: Vec<Times>,
}

impl Frame {
    pub fn of(watch: &Watch) -> Frame {
        let times = |copy: &Copy| {
            let slot = copy.slot;
            let main = watch.records.as_ref().and_then(|r| r.tree.mains.get(&(copy.pid as u32)).copied());
            let left = Some(slot.left_ns.load(SeqCst)).filter(|t| *t > 0);
            let before_ns = slot.before_ns.load(SeqCst);
            let mut main: Main = main.unwrap_or_default();
            // Records end with the window: of a service they tell no more than ends of its threads.
            main.exit_ns = main.exit_ns.filter(|_| copy.service.is_none());
            Times { left, before_ns, main, reaped: copy.end.map(|e| e.at_ns) }
        };
        Frame { gate: watch.gate_ns, copies: watch.copies.iter().map(times).collect() }
    }

    /// Those that the window is of.
    pub fn drivers(&self, watch: &Watch) -> Vec<&Times> {
        self.copies.iter().zip(&watch.copies).filter(|(_, c)| c.service.is_none()).map(|(times, _)| times).collect()
    }

    /// Negative before the gate.
    pub fn since(&self, time: u64) -> i64 {
        time as i64 - self.gate as i64
    }
}
