//! A cgroup v2 leaf for one run: copies start in it, it counts their CPU time, and it kills them; no controller needed.

use crate::{birth, raw, sys};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub struct Leaf {
    path: PathBuf,
    folder: OwnedFd,
    /// Set where clone3 cannot place a child: copies then write themselves in before the gate.
    procs: Option<OwnedFd>,
    /// CPU time of the child that tested the leaf.
    before_ns: u64,
    /// Locked while this probe lives, so that another session sees that the leaf is in use.
    _held: Option<OwnedFd>,
}

/// Return the folder of our cgroup v2, from the texts of /proc/self/mountinfo and /proc/self/cgroup.
pub fn own_folder(mountinfo: &str, cgroup: &str) -> Option<PathBuf> {
    let own = cgroup.lines().find_map(|l| l.strip_prefix("0::"))?;
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let fields: Vec<&str> = left.split(' ').collect();
        let (root, point) = (fields.get(3)?, fields.get(4)?);
        let below = own.strip_prefix(root.trim_end_matches('/'))?.trim_start_matches('/');
        right.starts_with("cgroup2 ").then(|| Path::new(&unescape(point)).join(below))
    })
}

/// Return the folder of our cgroup v1 of a controller.
pub fn own_folder_v1(mountinfo: &str, cgroup: &str, controller: &str) -> Option<PathBuf> {
    let has = |list: &str| list.split(',').any(|c| c == controller);
    let own = cgroup.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        parts.next().filter(|list| has(list)).and(parts.next())
    })?;
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let fields: Vec<&str> = left.split(' ').collect();
        let (root, point) = (fields.get(3)?, fields.get(4)?);
        let below = own.strip_prefix(root.trim_end_matches('/'))?.trim_start_matches('/');
        let ours = right.starts_with("cgroup ") && right.rsplit(' ').next().is_some_and(has);
        ours.then(|| Path::new(&unescape(point)).join(below))
    })
}

/// mountinfo writes a space in a path as \040.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}

impl Leaf {
    /// Make a leaf below our cgroup and test that a process can start in it; the error is the kernel's, as text.
    pub fn create() -> Result<Leaf, String> {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let own = own_folder(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
        let own = own.ok_or("no cgroup v2 is mounted")?;
        let path = own.join(format!("scalograph-{:x}{:x}", std::process::id(), sys::now_ns() & 0xffff_ffff));
        fs::create_dir(&path).map_err(|e| format!("mkdir of a leaf: {}", sys::describe_error(&e)))?;
        Leaf::enter(path.clone()).inspect_err(|_| drop(fs::remove_dir(&path)))
    }

    /// Make a leaf for one command within this one; its processes count for both and are killed with either.
    pub fn part(&self, number: usize) -> Result<Leaf, String> {
        self.part_at(self.path.join(format!("command-{number}")))
    }

    /// Make a leaf for one command within a cgroup with limits; `Containment` kills it with this one.
    pub fn part_within(&self, folder: &Path, number: usize) -> Result<Leaf, String> {
        self.part_at(folder.join(format!("{}-{number}", self.name())))
    }

    fn part_at(&self, path: PathBuf) -> Result<Leaf, String> {
        fs::create_dir(&path).map_err(|e| format!("mkdir of a part of the leaf: {}", sys::describe_error(&e)))?;
        let folder = open(&path, false, libc::O_DIRECTORY | libc::O_PATH)?;
        let procs = self.procs.as_ref().map(|_| open(&path.join("cgroup.procs"), true, 0)).transpose()?;
        Ok(Leaf { path, folder, procs, before_ns: 0, _held: None })
    }

    fn enter(path: PathBuf) -> Result<Leaf, String> {
        let folder = open(&path, false, libc::O_DIRECTORY | libc::O_PATH)?;
        let procs = open(&path.join("cgroup.procs"), true, 0)?;
        let held = open(&path, false, libc::O_DIRECTORY).ok();
        // SAFETY: a lock of a descriptor of ours; where the kernel has none the probe's own number tells of it.
        let _ = held.as_ref().map(|fd| unsafe { libc::flock(fd.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) });
        let mut leaf = Leaf { path, folder, procs: None, before_ns: 0, _held: held };
        if leaf.try_clone().is_err() {
            leaf.procs = Some(procs);
            leaf.try_clone().map_err(|e| format!("a process in the leaf: {}", sys::describe_error(&e)))?;
        }
        leaf.before_ns = leaf.usage_ns().unwrap_or(0);
        Ok(leaf)
    }

    /// Start a child that exits at once: a refusal shows now, not at the first copy.
    fn try_clone(&self) -> io::Result<()> {
        let pid = birth::fork(self.birthplace())?;
        if pid == 0 {
            let code = self.door().and_then(|door| join(door).err()).unwrap_or(0);
            // SAFETY: leaves without running anything of the probe's.
            unsafe { libc::_exit(code) };
        }
        sys::exit_code(pid)
    }

    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn folder(&self) -> &Path {
        &self.path
    }

    pub fn born_inside(&self) -> bool {
        self.procs.is_none()
    }

    /// Return the descriptor of the folder that children start in, where clone3 supports it.
    pub fn birthplace(&self) -> Option<i32> {
        self.born_inside().then(|| self.folder.as_raw_fd())
    }

    /// Return the descriptor by which children that start outside `join`.
    pub fn door(&self) -> Option<i32> {
        self.procs.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub fn kill(&self) {
        if fs::write(self.path.join("cgroup.kill"), "1").is_ok() {
            return;
        }
        // Before Linux 5.14. Frozen processes cannot fork away from the list.
        let freeze = |on: &str| drop(fs::write(self.path.join("cgroup.freeze"), on));
        freeze("1");
        for pid in self.processes() {
            // SAFETY: a signal to a process of our own leaf.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        freeze("0");
    }

    /// Kill what is left, and remove the leaf once the kernel has released the last process.
    pub fn clear(&self) {
        for _ in 0..100 {
            if !self.path.exists() || remove(&self.path).is_ok() {
                return;
            }
            self.kill();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// Return the processes of the leaf and of the leaves within it.
    pub fn processes(&self) -> Vec<i32> {
        processes(&self.path)
    }

    /// Return the CPU time of everything that ran in the leaf, without the child that tested it.
    pub fn usage_ns(&self) -> Option<u64> {
        let all = parse_usage(&fs::read_to_string(self.path.join("cpu.stat")).ok()?)?;
        Some(all.saturating_sub(self.before_ns))
    }
}

fn open(path: &Path, write: bool, flags: i32) -> Result<OwnedFd, String> {
    let file = fs::OpenOptions::new().read(!write).write(write).custom_flags(flags).open(path);
    file.and_then(|f| sys::raised(f.into())).map_err(|e| sys::describe_error(&e))
}

/// Return the processes in a cgroup and below it.
pub fn processes(path: &Path) -> Vec<i32> {
    let text = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let own = text.lines().filter_map(|l| l.parse().ok());
    let below = folders(path).into_iter().flat_map(|folder| processes(&folder));
    own.chain(below).collect()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()).collect()
}

/// Enter a cgroup: called by a copy that started outside; the error is an errno.
pub fn join(door: i32) -> Result<(), i32> {
    // SAFETY: one byte from a constant.
    unsafe { raw::call(libc::SYS_write, [door as usize, b"0".as_ptr() as usize, 1]) }.map(drop)
}

/// Parse the CPU time of cgroup v2, in nanoseconds.
pub fn parse_usage(cpu_stat: &str) -> Option<u64> {
    number_after(cpu_stat, "usage_usec ").map(|us| us * 1000)
}

/// Parse the number behind `name` at the beginning of a line.
pub fn number_after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// Whether leaves can be made below this cgroup; otherwise processes enter it themselves.
pub fn is_unified(folder: &Path) -> bool {
    folder.join("cgroup.controllers").exists()
}

/// Return how long the quota of a cgroup (v1 or v2) has held its processes back.
pub fn throttled_ns(folder: &Path) -> Option<u64> {
    let cpu_stat = fs::read_to_string(folder.join("cpu.stat")).ok()?;
    throttled_usec(&cpu_stat).or_else(|| throttled_time(&cpu_stat))
}

/// Parse the throttled time of cgroup v2, in nanoseconds.
pub fn throttled_usec(cpu_stat: &str) -> Option<u64> {
    number_after(cpu_stat, "throttled_usec ").map(|us| us * 1000)
}

/// Parse the throttled time of cgroup v1, in nanoseconds.
pub fn throttled_time(cpu_stat: &str) -> Option<u64> {
    number_after(cpu_stat, "throttled_time ")
}

/// Return the CPU seconds that a cgroup grants per second; None without a limit.
pub fn quota_cpus(folder: &Path) -> Option<f64> {
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let first = || Some(format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim()));
    let text = read("cpu.max").or_else(first)?;
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

impl Drop for Leaf {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Remove a cgroup and those below it: a privileged workload may have made its own.
fn remove(path: &Path) -> io::Result<()> {
    folders(path).iter().try_for_each(|folder| remove(folder))?;
    fs::remove_dir(path)
}
