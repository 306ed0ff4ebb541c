//! What has each CPU, when a waiting task could have had another CPU, and the speed of the run's work.

/// What is on a CPU.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Occupant {
    Run,
    Idle,
    Other,
    /// No record yet. A clock takes it as another process, and a crowd as a free CPU.
    #[default]
    Unknown,
}

#[derive(Clone, Default)]
pub struct Cpu {
    pub running: Option<u32>,
    /// The task that has exited here, and since when. It cleans up now, and then wakes its parent.
    pub dying: Option<(u32, u64)>,
    next: Occupant,
    since: u64,
    crowded_at: u64,
    pub idle_ns: u64,
    /// Time in which the run had it while it was crowded.
    pub run_ns: u64,
    allowed: bool,
}

impl Cpu {
    /// Give it to an occupant; return the task that was exiting on it.
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

/// All CPUs, and how long the run was crowded: it had more active tasks than CPUs, or one of these was free.
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

    /// From now on it is unknown what has the CPUs.
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

    /// The CPUs that its active tasks have or could have at once, over those that they could use.
    fn speed(&self) -> f64 {
        let usable = self.n_active.min(self.n_allowed);
        if usable == 0 {
            return 1.0;
        }
        (self.n_running + self.n_free).min(usable) as f64 / usable as f64
    }

    /// The time that the work up to a time takes with all CPUs that the run could use; None if it is no longer kept.
    pub fn flow_at(&self, time: u64) -> Option<f64> {
        self.flow.at(time)
    }

    /// Start all counts anew.
    pub fn restart(&mut self, time: u64) {
        self.advance_all(time);
        self.flow = Flow::default();
    }

    /// Count `more` tasks as running or ready.
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

    /// Change what is on a CPU.
    pub fn change<T>(&mut self, row: usize, time: u64, to: impl FnOnce(&mut Cpu) -> T) -> T {
        self.advance(row, time);
        let (was_free, ran) = (self.cpus[row].is_free(), self.cpus[row].runs());
        let result = to(&mut self.cpus[row]);
        self.n_free = self.n_free + self.cpus[row].is_free() as usize - was_free as usize;
        self.n_running = self.n_running + self.cpus[row].runs() as usize - ran as usize;
        result
    }
}

/// With more points, windows get no values.
const MAX_POINTS: usize = 400_000;

/// Work done, in ns of a run with all CPUs that it can use: points between which it rises linearly.
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
