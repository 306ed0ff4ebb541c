//! Who has each CPU: while when a task of the run could have had another one, and how fast its work flows.

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

    fn runs(&self) -> bool {
        self.allowed && self.running.is_some()
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
    n_running: usize,
    total_ns: u64,
    since: u64,
    flow: Flow,
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

    /// Who has the CPUs is not known any more.
    pub fn forget_others(&mut self) {
        self.cpus.iter_mut().for_each(|cpu| cpu.next = Occupant::Other);
        self.n_free = 0;
    }

    fn is_crowded(&self) -> bool {
        self.n_active > self.n_allowed || self.n_free > 0
    }

    fn crowded_ns(&mut self, time: u64) -> u64 {
        let ns = time.saturating_sub(self.since);
        if self.is_crowded() {
            self.total_ns += ns;
        }
        self.flow.advance(self.since, ns, self.speed());
        self.since += ns;
        self.total_ns
    }

    /// The share of the CPUs that its active tasks could use which they have, or could have had at once.
    fn speed(&self) -> f64 {
        let usable = self.n_active.min(self.n_allowed);
        if usable == 0 {
            return 1.0;
        }
        (self.n_running + self.n_free).min(usable) as f64 / usable as f64
    }

    /// What the work up to a time would have taken had the run had all the CPUs that it could use; None where it is
    /// not held any more.
    pub fn flow_at(&self, time: u64) -> Option<f64> {
        self.flow.at(time)
    }

    /// Everything counts from here.
    pub fn restart(&mut self, time: u64) {
        self.advance_all(time);
        self.flow = Flow::default();
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
        let (was_free, ran) = (self.cpus[row].is_free(), self.cpus[row].runs());
        let result = to(&mut self.cpus[row]);
        self.n_free = self.n_free + self.cpus[row].is_free() as usize - was_free as usize;
        self.n_running = self.n_running + self.cpus[row].runs() as usize - ran as usize;
        result
    }
}

/// Beyond them nothing is told of windows.
const MAX_POINTS: usize = 400_000;

/// Work done, in ns of a run that has all the CPUs that it can use: points between which it rises evenly.
#[derive(Default)]
struct Flow {
    points: Vec<(u64, f64)>,
    done: f64,
    speed: f64,
    dropped: bool,
}

impl Flow {
    fn advance(&mut self, since: u64, ns: u64, speed: f64) {
        if ns == 0 {
            return;
        }
        let is_same = !self.points.is_empty() && speed == self.speed;
        if self.points.is_empty() {
            self.points.push((since, self.done));
        }
        self.done += ns as f64 * speed;
        let point = (since + ns, self.done);
        let n = self.points.len();
        match self.points.last_mut() {
            Some(last) if is_same && n > 1 => *last = point,
            _ if n > MAX_POINTS => self.dropped = true,
            _ => self.points.push(point),
        }
        self.speed = speed;
    }

    fn at(&self, time: u64) -> Option<f64> {
        if self.dropped {
            return None;
        }
        let next = self.points.partition_point(|point| point.0 < time);
        let (Some(before), Some(after)) = (next.checked_sub(1).map(|i| self.points[i]), self.points.get(next)) else {
            return self.points.get(next.min(self.points.len().checked_sub(1)?)).map(|point| point.1);
        };
        let share = (time - before.0) as f64 / (after.0 - before.0) as f64;
        Some(before.1 + share * (after.1 - before.1))
    }
}
