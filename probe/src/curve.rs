//! The largest clock of any task as a function of time, in bounded memory.

/// Of each replay; beyond them nothing is told of windows.
const MAX_POINTS: usize = 200_000;

/// Points of time and value. From one to the next it rises as fast as time or not at all; where two have the same
/// time it jumps.
#[derive(Default)]
struct Curve {
    points: Vec<(u64, u64)>,
    level: u64,
    since: u64,
    /// By how much the clock that is farthest of those that run is before the time; negative as a rule.
    ahead: Option<i64>,
}

impl Curve {
    fn advance(&mut self, time: u64) {
        if let Some(ahead) = self.ahead {
            let clock = |time: u64| time.saturating_add_signed(ahead);
            if clock(time) > self.level {
                let begins = self.level.saturating_add_signed(-ahead).max(self.since);
                let points = [(begins, self.level), (begins, clock(begins)), (time, clock(time))];
                points.into_iter().for_each(|point| self.push(point));
                self.level = clock(time);
            }
        }
        self.since = self.since.max(time);
    }

    fn push(&mut self, point: (u64, u64)) {
        let rises = |a: (u64, u64), b: (u64, u64)| b.0 > a.0 && b.0 - a.0 == b.1 - a.1;
        let n = self.points.len();
        match self.points[n.saturating_sub(2)..] {
            [.., last] if last == point => {}
            [first, last] if rises(first, last) && rises(last, point) => self.points[n - 1] = point,
            _ if n > MAX_POINTS => {}
            _ => self.points.push(point),
        }
    }

    fn at(&self, time: u64) -> u64 {
        let n = self.points.partition_point(|point| point.0 <= time);
        let Some(before) = n.checked_sub(1).map(|i| self.points[i]) else { return 0 };
        self.points.get(n).map_or(before.1, |next| next.1.min(before.1 + (time - before.0)))
    }
}

/// Low and high.
#[derive(Default)]
pub struct Curves {
    /// By row, of the task that runs there.
    rows: Vec<Option<[i64; 2]>>,
    curves: [Curve; 2],
}

impl Curves {
    pub fn new(n_rows: usize) -> Curves {
        Curves { rows: vec![None; n_rows], curves: Default::default() }
    }

    /// From now on this clock runs on a row, or none.
    pub fn set(&mut self, row: usize, time: u64, ahead: Option<[i64; 2]>) {
        self.rows[row] = ahead;
        for (k, curve) in self.curves.iter_mut().enumerate() {
            curve.advance(time);
            curve.ahead = self.rows.iter().flatten().map(|ahead| ahead[k]).max();
        }
    }

    pub fn between(&self, start: u64, end: u64) -> Option<[u64; 2]> {
        let full = self.curves.iter().any(|curve| curve.points.len() > MAX_POINTS);
        let [low, high] = self.curves.each_ref().map(|curve| curve.at(end).saturating_sub(curve.at(start)));
        // Both are differences of maxima: each may jump at another time.
        let low = low.min(end.saturating_sub(start));
        (!full).then(|| [low, high.clamp(low, end.saturating_sub(start).max(low))])
    }
}
