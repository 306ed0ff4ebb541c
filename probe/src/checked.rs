//! What the host was asked for and grants, before anything is started.

use crate::error::{shorten, Refusal};
use crate::host;
use crate::in_force;
use crate::spec::{Command, Spec};
use std::path::PathBuf;

pub struct Checked {
    pub online: Vec<usize>,
    pub own: Vec<usize>,
    pub user: Option<(u32, u32)>,
    pub programs: Vec<PathBuf>,
    pub descriptors: libc::rlimit,
}

pub fn check(spec: &Spec) -> Result<Checked, Refusal> {
    let (online, own) = (host::online_cpus(), in_force::cpus_of(0).unwrap_or_default());
    for (i, command) in spec.commands.iter().enumerate() {
        let wanted = (0..command.copies).filter_map(|c| command.cpus.of(c)).flatten();
        if let Some(cpu) = wanted.copied().find(|cpu| !online.contains(cpu)) {
            let expected = format!("a CPU of this host: {}", host::format_cpu_list(&online));
            let place = format!("commands[{i}].cpus");
            return Err(Refusal::host(
                &place,
                &format!("CPU {cpu}"),
                &expected,
                "lower the level or choose another host",
            ));
        }
    }
    for (i, path) in spec.commands.iter().enumerate().filter_map(|(i, c)| Some((i, c.stdin.as_ref()?))) {
        if let Err(error) = std::fs::File::open(path) {
            let found = format!("{path}: {error}");
            return Err(Refusal::host(
                &format!("commands[{i}].stdin"),
                &found,
                "a file that can be read",
                "name another",
            ));
        }
    }
    let user = spec.user.as_deref().map(find_user).transpose()?;
    Ok(Checked { online, own, user, programs: programs(spec)?, descriptors: raise_descriptors() })
}

fn find_user(name: &str) -> Result<(u32, u32), Refusal> {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let unknown = || Refusal::host("user", name, "a user of this host's /etc/passwd", "name another user");
    host::find_user(&passwd, name).ok_or_else(unknown)
}

/// Four pipes for each of thousands of copies; the copies get the old limit back.
fn raise_descriptors() -> libc::rlimit {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `old` is valid for both calls.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut old);
        libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: old.rlim_max, ..old });
    }
    old
}

fn programs(spec: &Spec) -> Result<Vec<PathBuf>, Refusal> {
    let find = |(i, c): (usize, &Command)| {
        let path = c.env.get("PATH").map(String::as_str);
        host::find_program(&c.argv[0], &c.cwd, path).map_err(|why| missing(i, &why))
    };
    spec.commands.iter().enumerate().map(find).collect()
}

fn missing(command: usize, why: &str) -> Refusal {
    let place = format!("commands[{command}].argv");
    Refusal::host(&place, &shorten(why), "a program that can be started", "install it, or correct argv or env.PATH")
}
