//! Start copies up to their gate: one gate for all drivers, one for each service.

use crate::board::{Board, Stage};
use crate::checked::Checked;
use crate::contain::Containment;
use crate::copies::Copy;
use crate::error::{Kind, Refusal};
use crate::gate;
use crate::launch::{self, Image, Place};
use crate::spec::{Command, Spec};
use crate::sys::{self, SECOND};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

pub struct Starter<'a> {
    spec: &'a Spec,
    checked: &'a Checked,
    contain: &'a Containment,
    images: &'static [Image],
    null: OwnedFd,
    /// Descriptors by which commands enter their cgroups with limits.
    groups: Vec<Vec<OwnedFd>>,
    /// Whether copies share the probe's memory until exec.
    pub shares_memory: bool,
}

impl<'a> Starter<'a> {
    /// Prepare everything that copies need; memory is shared only without kernel records (`birth`).
    pub fn new(
        spec: &'a Spec,
        checked: &'a Checked,
        contain: &'a Containment,
        from_outside: bool,
    ) -> Result<Starter<'a>, Refusal> {
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null");
        let null = null.and_then(|file| sys::raised(OwnedFd::from(file))).map_err(|e| Refusal::os("/dev/null", &e))?;
        let image = |(c, p): (&Command, &PathBuf)| Image::new(c, p, spec.events);
        let images: Vec<Image> = spec.commands.iter().zip(&checked.programs).map(image).collect();
        // A change of user makes every process that shares the memory undumpable, the probe included.
        let shares_memory = from_outside && checked.user.is_none();
        let groups = (0..spec.commands.len()).map(|i| group_doors(spec, contain, i)).collect::<Result<_, _>>()?;
        Ok(Starter { spec, checked, contain, images: images.leak(), null, groups, shares_memory })
    }

    /// Start all copies of some commands up to the gate of this board; also return which are the first on their CPU.
    pub fn start(&self, commands: Range<usize>, board: &Board) -> Result<(Vec<Copy>, Vec<bool>), Refusal> {
        let members: Vec<(usize, usize)> =
            commands.flat_map(|i| (0..self.spec.commands[i].copies).map(move |k| (i, k))).collect();
        let masks: Vec<Vec<usize>> = members.iter().map(|(i, k)| self.mask(*i, *k)).collect();
        let spins = gate::spinners(&masks);
        let mut copies = Vec::new();
        for (index, &(i, k)) in members.iter().enumerate() {
            copies.push(self.start_copy(i, k, spins[index], board, index)?);
        }
        self.await_prepared(board, &copies)?;
        Ok((copies, spins))
    }

    fn mask(&self, command: usize, copy: usize) -> Vec<usize> {
        self.spec.commands[command].cpus.of(copy).map_or_else(|| self.checked.own.clone(), Vec::from)
    }

    fn start_copy(&self, i: usize, k: usize, spins: bool, board: &Board, index: usize) -> Result<Copy, Refusal> {
        let (command, user) = (&self.spec.commands[i], self.checked.user);
        let slot = board.slot(index);
        let group = |n: usize| self.groups[i].get(n).map(AsRawFd::as_raw_fd);
        let pipes = Copy::new(self.spec, i, &self.null, user, slot);
        let (mut copy, ends) = pipes.map_err(|e| Refusal::os("pipes of a copy", &e))?;
        let place = Place {
            image: &self.images[i],
            fds: ends.iter().map(AsRawFd::as_raw_fd).collect(),
            mask: command.cpus.of(k).map(launch::mask_words),
            policy: command.policy.as_deref().map(|name| (launch::policy_number(name), command.priority)),
            nice: command.nice,
            user,
            descriptors: self.checked.descriptors,
            spins,
            shares_memory: self.shares_memory,
            head: board.head(),
            slot,
            doors: [self.contain.door(i), group(0), group(1)],
            parent: self.contain.parent(),
        };
        copy.pid = launch::start(place, self.contain.birthplace(i)).map_err(|e| Refusal::os("clone of a copy", &e))?;
        Ok(copy)
    }

    fn await_prepared(&self, board: &Board, copies: &[Copy]) -> Result<(), Refusal> {
        let dead = || {
            let pid = sys::next_waitable().ok()?;
            copies.iter().position(|c| c.pid == pid)
        };
        let prepared = board.await_prepared(60 * SECOND, || dead().is_some());
        let failed = copies.iter().find_map(|copy| Some((copy.command, copy.slot.failure()?)));
        if let Some((command, (stage, errno))) = failed {
            return Err(refused(self.spec, command, stage, errno));
        }
        if let Some(copy) = dead() {
            let found = format!("copy {copy} was killed or stopped before the gate");
            return Err(Refusal::new(Kind::Lost, "commands", &found, "a copy at the gate", "look for who killed it"));
        }
        if !prepared {
            let found = "a copy that does not reach the gate within 60 s";
            return Err(Refusal::host("commands", found, "copies at the gate", "lower the number of copies"));
        }
        Ok(())
    }
}

fn refused(spec: &Spec, index: usize, stage: Stage, errno: i32) -> Refusal {
    let c = &spec.commands[index];
    let (field, asked, fix) = match stage {
        Stage::Cpus => ("cpus", format!("{:?}", c.cpus), "choose CPUs that this process may use (cpuset)"),
        Stage::Policy => ("policy", format!("{:?}", c.policy), "run with CAP_SYS_NICE, or choose other, batch or idle"),
        Stage::Nice => ("nice", format!("{:?}", c.nice), "run with CAP_SYS_NICE, or ask for a value that is not lower"),
        Stage::User => ("user", format!("{:?}", spec.user), "run as root to change the user"),
        Stage::Cwd => ("cwd", c.cwd.clone(), "make the folder, or let the user enter it"),
        Stage::Cgroup if !c.cgroups.is_empty() => {
            ("cgroup", format!("{:?}", c.cgroups), "let this user put processes into it")
        }
        _ => ("argv", format!("{stage:?}"), "see `scalograph-probe --capabilities`"),
    };
    let place = if stage == Stage::User { "user".into() } else { format!("commands[{index}].{field}") };
    let found = format!("{asked}: {}", sys::describe(errno));
    Refusal::host(&place, &found, "a setting that the kernel grants", fix)
}

/// Open a command's cgroups with limits, except one in which its copies start in a leaf.
fn group_doors(spec: &Spec, contain: &Containment, command: usize) -> Result<Vec<OwnedFd>, Refusal> {
    let part = contain.part(command);
    let is_inside = |folder: &&PathBuf| part.is_some_and(|part| part.folder().starts_with(folder));
    let open = |folder: &PathBuf| {
        let file = std::fs::OpenOptions::new().write(true).open(folder.join("cgroup.procs"));
        file.and_then(|file| sys::raised(OwnedFd::from(file))).map_err(|e| {
            let (place, found) =
                (format!("commands[{command}].cgroup"), format!("{folder:?}: {}", sys::describe_error(&e)));
            Refusal::host(&place, &found, "a cgroup that takes processes", "make it, or let this user write to it")
        })
    };
    spec.commands[command].cgroups.iter().filter(|folder| !is_inside(folder)).map(open).collect()
}
