//! The clocks of tasks as functions of time, in bounded memory. A task that reports an iteration runs at that time.

/// With more stretches, windows get no values.
const MAX_STRETCHES: usize = 100_000;

/// The clock of one task, in ns since the first start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    pub low: u64,
    pub high: u64,
    /// Sleep on the path of the low clock.
    pub slept: u64,
}

impl Clock {
    pub fn later(self, ns: u64) -> Clock {
        Clock { low: self.low + ns, high: self.high + ns, ..self }
    }

    pub fn sleep(self, ns: u64) -> Clock {
        Clock { slept: self.slept + ns, ..self.later(ns) }
    }

    pub fn max(self, other: Clock) -> Clock {
        let slept = if other.low > self.low { other.slept } else { self.slept };
        Clock { low: self.low.max(other.low), high: self.high.max(other.high), slept }
    }

    pub fn within(self, ns: u64) -> Clock {
        let low = self.low.min(ns);
        Clock { low, high: self.high.min(ns), slept: self.slept.min(low) }
    }

    fn since(self, start: Clock) -> Clock {
        let [a, b] = [self.low.saturating_sub(start.low), self.high.saturating_sub(start.high)];
        Clock { low: a.min(b), high: a.max(b), slept: self.slept.saturating_sub(start.slept).min(a.min(b)) }
    }
}

/// A stretch of time for which a task had a CPU.
struct Stretch {
    tid: u32,
    from: u64,
    until: u64,
    clock: Clock,
}

#[derive(Default)]
pub struct Paths {
    /// By row, in the order of time.
    rows: Vec<Vec<Stretch>>,
    n: usize,
}

impl Paths {
    pub fn new(n_rows: usize) -> Paths {
        Paths { rows: (0..n_rows).map(|_| Vec::new()).collect(), n: 0 }
    }

    pub fn begin(&mut self, row: usize, tid: u32, from: u64, clock: Clock) {
        self.end(row, from);
        self.n += 1;
        if self.n <= MAX_STRETCHES {
            self.rows[row].push(Stretch { tid, from, until: u64::MAX, clock });
        }
    }

    pub fn end(&mut self, row: usize, time: u64) {
        if let Some(last) = self.rows[row].last_mut() {
            last.until = last.until.min(time);
        }
    }

    /// The tasks that ran at a time, each with its clock then.
    fn at(&self, time: u64) -> impl Iterator<Item = (u32, Clock)> + '_ {
        self.rows.iter().filter_map(move |row| {
            let last = row.partition_point(|stretch| stretch.from <= time).checked_sub(1)?;
            let stretch = row.get(last).filter(|stretch| time <= stretch.until)?;
            Some((stretch.tid, stretch.clock.later(time - stretch.from)))
        })
    }

    /// The clock between two times at which a task ran; if several ran at both, from the least to the most.
    pub fn between(&self, start: u64, end: u64) -> Option<Clock> {
        let begins: Vec<(u32, Clock)> = self.at(start).collect();
        let lasted = self.at(end).filter_map(|(tid, clock)| {
            let (_, begin) = begins.iter().find(|(other, _)| *other == tid)?;
            Some(clock.since(*begin))
        });
        let wide =
            |a: Clock, b: Clock| Clock { low: a.low.min(b.low), high: a.high.max(b.high), slept: a.slept.max(b.slept) };
        lasted.reduce(wide).filter(|_| self.n <= MAX_STRETCHES)
    }
}
