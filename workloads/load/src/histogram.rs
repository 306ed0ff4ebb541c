//! Counts of durations in buckets of less than 0.8 % width, as protocol/workload.md lays them out.

/// Below it a bucket is one nanosecond; above, each power of two has so many buckets.
const FINE: u64 = 128;

#[derive(Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    pub n: u64,
    sum: u128,
    pub max: u64,
}

/// The bucket that holds so many nanoseconds.
pub fn index(value: u64) -> usize {
    if value < FINE {
        return value as usize;
    }
    let e = value.ilog2() - 7;
    (FINE * u64::from(e) + (value >> e)) as usize
}

/// The middle of a bucket, nanoseconds.
fn middle(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * FINE {
        return index;
    }
    let e = index / FINE - 1;
    let low = (index - FINE * e) << e;
    low + (1 << (e - 1))
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        let index = index(value);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.n += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.n += other.n;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The least value that a share of all do not exceed, to half a bucket; 0 where there is none.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = ((share * self.n as f64).ceil() as u64).clamp(1, self.n.max(1));
        let mut below = 0;
        for (index, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= wanted {
                return middle(index).min(self.max);
            }
        }
        0
    }

    pub fn mean(&self) -> u64 {
        if self.n == 0 {
            0
        } else {
            (self.sum / u128::from(self.n)) as u64
        }
    }

    /// Buckets that hold something, in order: index and count.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The buckets one after the other, as their widths are told: 128 of 1 ns, then 128 of each power of two.
    fn lows() -> Vec<u64> {
        let mut lows: Vec<u64> = (0..FINE).collect();
        for e in 0..40 {
            lows.extend((FINE..2 * FINE).map(|i| i << e));
        }
        lows
    }

    #[test]
    fn the_index_is_what_walking_the_buckets_finds() {
        let lows = lows();
        for (i, pair) in lows.windows(2).enumerate() {
            for value in [pair[0], pair[0] + (pair[1] - pair[0]) / 2, pair[1] - 1] {
                assert_eq!(index(value), i, "{value}");
            }
            assert!(pair[0] < FINE || (pair[1] - pair[0]) as f64 / pair[0] as f64 <= 1.0 / 128.0);
            assert_eq!(index(middle(i)), i);
        }
        assert!(index(u64::MAX) < 8000);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values_to_half_a_bucket() {
        let mut values: Vec<u64> = (1..=10_000u64).map(|i| i * i * 37).collect();
        let mut histogram = Histogram::default();
        values.iter().for_each(|v| histogram.add(*v));
        values.sort_unstable();
        for share in [0.5, 0.9, 0.99, 1.0] {
            let truth = values[((share * 10_000.0_f64).ceil() as usize).max(1) - 1] as f64;
            assert!((histogram.quantile(share) as f64 / truth - 1.0).abs() < 0.004, "{share}");
        }
        assert_eq!(histogram.max, *values.last().unwrap());
        assert_eq!(histogram.mean(), values.iter().sum::<u64>() / 10_000);
    }

    #[test]
    fn two_halves_merged_are_the_whole() {
        let (mut whole, mut first, mut second) = (Histogram::default(), Histogram::default(), Histogram::default());
        for value in 0..1000 {
            whole.add(value * 1001);
            if value < 10 {
                first.add(value * 1001)
            } else {
                second.add(value * 1001)
            }
        }
        first.merge(&second);
        assert_eq!(first.filled().collect::<Vec<_>>(), whole.filled().collect::<Vec<_>>());
        assert_eq!((first.n, first.max, first.mean()), (1000, 999 * 1001, whole.mean()));
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }
}
