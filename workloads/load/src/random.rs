//! Seeded random numbers: SplitMix64 (Steele, Lea, Flood 2014), enough for gaps, weights and values.

pub struct Random(u64);

impl Random {
    /// One stream of several from one seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Negative-exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Uniform among `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = (high as i128 - low as i128 + 1) as u128;
        (low as i128 + ((self.next() as u128 * width) >> 64) as i128) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(1, 0);
        let n = 200_000;
        let uniform: f64 = (0..n).map(|_| random.uniform()).sum::<f64>() / n as f64;
        let exponential: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
        let mean = exponential.iter().sum::<f64>() / n as f64;
        let square = exponential.iter().map(|x| x * x).sum::<f64>() / n as f64;
        assert!((uniform - 0.5).abs() < 0.005 && (mean - 1.0).abs() < 0.01 && (square - 2.0).abs() < 0.06);
    }

    #[test]
    fn both_ends_of_a_range_occur_and_nothing_beyond() {
        let mut random = Random::new(7, 3);
        let drawn: Vec<i64> = (0..1000).map(|_| random.between(-1, 2)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-1), Some(&2)));
        assert_eq!(random.between(i64::MAX, i64::MAX), i64::MAX);
    }

    #[test]
    fn streams_of_a_seed_differ_and_repeat() {
        assert_eq!(Random::new(1, 2).next(), Random::new(1, 2).next());
        assert_ne!(Random::new(1, 2).next(), Random::new(1, 3).next());
    }
}
