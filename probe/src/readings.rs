//! What each command of a run with services has used, read at both ends of the window.

use crate::cgroup::Leaf;
use crate::conditions::stall_ns;
use crate::watch::Watch;
use std::fs;

/// Nanoseconds since the command was started, all its processes together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    pub cpu_ns: Option<u64>,
    pub user_ns: Option<u64>,
    pub cpu_stall_ns: Option<u64>,
    pub memory_stall_ns: Option<u64>,
    pub io_stall_ns: Option<u64>,
}

impl Reading {
    fn of(leaf: &Leaf) -> Reading {
        let text = |file: &str| fs::read_to_string(leaf.folder().join(file)).ok();
        let stat = text("cpu.stat").unwrap_or_default();
        let number = |name: &str| stat.lines().find_map(|l| l.strip_prefix(name))?.trim().parse::<u64>().ok();
        Reading {
            cpu_ns: number("usage_usec ").map(|us| us * 1000),
            user_ns: number("user_usec ").map(|us| us * 1000),
            cpu_stall_ns: text("cpu.pressure").and_then(|t| stall_ns(&t)),
            memory_stall_ns: text("memory.pressure").and_then(|t| stall_ns(&t)),
            io_stall_ns: text("io.pressure").and_then(|t| stall_ns(&t)),
        }
    }

    /// What was used from `before` to here.
    pub fn since(&self, before: &Reading) -> Reading {
        let passed = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Reading {
            cpu_ns: passed(self.cpu_ns, before.cpu_ns),
            user_ns: passed(self.user_ns, before.user_ns),
            cpu_stall_ns: passed(self.cpu_stall_ns, before.cpu_stall_ns),
            memory_stall_ns: passed(self.memory_stall_ns, before.memory_stall_ns),
            io_stall_ns: passed(self.io_stall_ns, before.io_stall_ns),
        }
    }
}

impl Watch<'_> {
    /// Just before the gate opens.
    pub fn begin(&mut self) {
        let contain = self.contain;
        self.records.iter_mut().for_each(|r| r.begin(contain));
        self.used.0 = self.readings();
    }

    /// One for each command.
    pub fn readings(&self) -> Vec<Reading> {
        let of = |command| self.contain.part(command).map_or_else(Reading::default, Reading::of);
        (0..self.spec.commands.len()).map(of).collect()
    }
}
