//! A cgroup with limits, which was made for a command before the run: what it grants, and what that took.

use crate::conditions::throttled;
use std::fs;
use std::path::Path;

/// Whether cgroups below it can hold processes as the leaf of a run does; else processes enter it themselves.
pub fn is_unified(folder: &Path) -> bool {
    folder.join("cgroup.controllers").exists()
}

/// For how long its quota has held its processes back.
pub fn throttled_ns(folder: &Path) -> Option<u64> {
    throttled(&fs::read_to_string(folder.join("cpu.stat")).ok()?)
}

/// CPU seconds in each second that it grants; None where nothing limits them.
pub fn quota_cpus(folder: &Path) -> Option<f64> {
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let first = || Some(format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim()));
    let text = read("cpu.max").or_else(first)?;
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}
