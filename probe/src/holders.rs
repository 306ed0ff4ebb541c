//! Which process holds a socket, asked only once something is wrong.

use crate::families;
use crate::listeners::Listener;
use crate::neighbors;
use crate::watch::Watch;
use std::fs;
use std::path::Path;

/// Inodes of the sockets that a process has open.
fn sockets(pid: i32) -> Vec<u64> {
    let links = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |entry: fs::DirEntry| {
        let link = fs::read_link(entry.path()).ok()?;
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    links.filter_map(inode).collect()
}

/// ` by NAME (PID)` where the process can be seen.
pub fn told(listener: &Listener) -> String {
    let holds = |pid: &i32| sockets(*pid).contains(&listener.inode);
    let holder = families::all(Path::new("/")).into_iter().map(|seen| seen.pid).find(holds);
    let named = holder.and_then(|pid| Some((neighbors::name_of(pid as u32)?, pid)));
    named.map_or(String::new(), |(name, pid)| format!(" by {name} ({pid})"))
}

impl Watch<'_> {
    /// Ports on which the processes of a command listen.
    pub fn ports_of(&self, command: usize, all: &[Listener]) -> Vec<u16> {
        let own: Vec<u64> = self.members(command).into_iter().flat_map(sockets).collect();
        let mut ports: Vec<u16> = all.iter().filter(|l| own.contains(&l.inode)).map(|l| l.port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    fn members(&self, command: usize) -> Vec<i32> {
        if let Some(leaf) = self.contain.part(command) {
            return leaf.processes();
        }
        let mains = self.copies.iter().map(|c| (c.pid, c.command)).collect();
        let all = families::commands(&families::all(Path::new("/")), &mains);
        all.into_iter().filter(|(_, of)| *of == command).map(|(pid, _)| pid).collect()
    }
}
