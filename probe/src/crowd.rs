//! Who has each CPU, and while when a task of the run could have had another one: it waits for its own kind only in a crowd.

/// Who is on a CPU where no task of the run is.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Occupant {
    Run,
    Idle,
    Other,
    /// Nobody has told yet: to a clock it is somebody else, to the crowd a CPU that may be free.
    #[default]
    Unknown,
}

#[derive(Clone, Default)]
pub struct Cpu {
    pub running: Option<u32>,
    /// Who has exited here, and since when it cleans up; it wakes its parent then.
    pub dying: Option<(u32, u64)>,
    next: Occupant,
    since: u64,
    crowded_at: u64,
    pub idle_ns: u64,
    /// Time in which the run had it, in a crowd.
    pub run_ns: u64,
    allowed: bool,
}

impl Cpu {
    /// It goes to somebody; return who was dying on it.
    pub fn give(&mut self, occupant: Occupant) -> Option<(u32, u64)> {
        self.next = occupant;
        self.dying.take()
    }

    fn is_free(&self) -> bool {
        self.allowed && self.running.is_none() && matches!(self.next, Occupant::Idle | Occupant::Unknown)
    }

    fn advance(&mut self, time: u64, crowded_ns: u64) {
        let ns = time.saturating_sub(self.since);
        match (self.running, self.next) {
            (Some(_), _) | (_, Occupant::Run) => self.run_ns += crowded_ns - self.crowded_at,
            (None, Occupant::Idle) => self.idle_ns += ns,
            (None, Occupant::Other | Occupant::Unknown) => {}
        }
        (self.since, self.crowded_at) = (self.since + ns, crowded_ns);
    }
}

/// All CPUs, and for how long the run was crowded: more of its tasks were active than it has CPUs, or one was free.
#[derive(Default)]
pub struct Crowd {
    pub cpus: Vec<Cpu>,
    pub n_active: usize,
    n_allowed: usize,
    n_free: usize,
    total_ns: u64,
    since: u64,
}

impl Crowd {
    pub fn new(n_cpus: usize) -> Crowd {
        let mut crowd = Crowd { cpus: vec![Cpu::default(); n_cpus], ..Crowd::default() };
        crowd.allow(&(0..n_cpus).collect::<Vec<usize>>());
        crowd
    }

    pub fn allow(&mut self, rows: &[usize]) {
        self.cpus.iter_mut().for_each(|cpu| cpu.allowed = false);
        rows.iter().for_each(|row| self.cpus[*row].allowed = true);
        (self.n_allowed, self.n_free) = (rows.len(), self.cpus.iter().filter(|cpu| cpu.is_free()).count());
    }

    fn is_crowded(&self) -> bool {
        self.n_active > self.n_allowed || self.n_free > 0
    }

    fn crowded_ns(&mut self, time: u64) -> u64 {
        if self.is_crowded() {
            self.total_ns += time.saturating_sub(self.since);
        }
        self.since = self.since.max(time);
        self.total_ns
    }

    /// So many tasks more are running or ready.
    pub fn count(&mut self, time: u64, more: isize) {
        self.crowded_ns(time);
        self.n_active = self.n_active.saturating_add_signed(more);
    }

    pub fn advance(&mut self, row: usize, time: u64) -> &Cpu {
        let crowded_ns = self.crowded_ns(time);
        self.cpus[row].advance(time, crowded_ns);
        &self.cpus[row]
    }

    pub fn advance_all(&mut self, time: u64) {
        let crowded_ns = self.crowded_ns(time);
        self.cpus.iter_mut().for_each(|cpu| cpu.advance(time, crowded_ns));
    }

    /// Somebody comes to a CPU, or leaves it.
    pub fn change<T>(&mut self, row: usize, time: u64, to: impl FnOnce(&mut Cpu) -> T) -> T {
        self.advance(row, time);
        let was_free = self.cpus[row].is_free();
        let result = to(&mut self.cpus[row]);
        self.n_free = self.n_free + self.cpus[row].is_free() as usize - was_free as usize;
        result
    }
}
