//! When requests are meant to start: arrivals of an open loop, cycles of a closed one.

use crate::random::Random;
use crate::sys::{MILLISECOND, SECOND};

/// Cycles are cut at so many means, as in business benchmarks.
const CUT: f64 = 5.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cycle {
    None,
    Fixed(u64),
    /// Negative-exponential with this mean.
    Exponential(u64),
}

impl Cycle {
    /// `0`, `fixed:MS` or `exp:MS`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "0" {
            return Some(Cycle::None);
        }
        let (kind, ms) = text.split_once(':')?;
        let ms: f64 = ms.parse().ok().filter(|ms| (0.001..=86_400_000.0).contains(ms))?;
        let ns = (ms * MILLISECOND as f64) as u64;
        match kind {
            "fixed" => Some(Cycle::Fixed(ns)),
            "exp" => Some(Cycle::Exponential(ns)),
            _ => None,
        }
    }

    /// From the start of a request to the start that is meant for the next one of this client, nanoseconds.
    pub fn draw(self, random: &mut Random) -> u64 {
        match self {
            Cycle::None => 0,
            Cycle::Fixed(ns) => ns,
            Cycle::Exponential(mean) => (random.exponential().min(CUT) * mean as f64) as u64,
        }
    }

    /// Where in its first cycle a client begins: anywhere, or all would go in step.
    pub fn first(self, random: &mut Random) -> u64 {
        match self {
            Cycle::None => 0,
            Cycle::Fixed(ns) | Cycle::Exponential(ns) => (random.uniform() * ns as f64) as u64,
        }
    }
}

/// Arrivals at a rate that grows from 0 over the ramp and then stays.
pub struct Arrivals {
    rate: f64,
    ramp_s: f64,
    poisson: bool,
    /// Arrivals expected until the next one.
    expected: f64,
}

impl Arrivals {
    /// Args: per second, of one of several threads; `share` in [0, 1) shifts the threads against each other.
    pub fn new(rate: f64, ramp_s: f64, poisson: bool, share: f64) -> Self {
        Arrivals { rate, ramp_s, poisson, expected: if poisson { 0.0 } else { share } }
    }

    /// Nanoseconds from the beginning to the next arrival.
    pub fn next(&mut self, random: &mut Random) -> u64 {
        if self.poisson {
            self.expected += random.exponential();
        }
        let at = self.reached(self.expected);
        if !self.poisson {
            self.expected += 1.0;
        }
        (at * SECOND as f64) as u64
    }

    /// Seconds until so many arrivals are expected: the integral of the rate, inverted.
    fn reached(&self, n: f64) -> f64 {
        let in_ramp = self.rate * self.ramp_s / 2.0;
        if n < in_ramp {
            (2.0 * self.ramp_s * n / self.rate).sqrt()
        } else {
            self.ramp_s + (n - in_ramp) / self.rate
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(mut arrivals: Arrivals, until_s: f64) -> Vec<f64> {
        let mut random = Random::new(1, 0);
        let mut found = Vec::new();
        loop {
            let at = arrivals.next(&mut random) as f64 / SECOND as f64;
            if at >= until_s {
                return found;
            }
            found.push(at);
        }
    }

    #[test]
    fn constant_arrivals_are_evenly_apart_and_a_ramp_holds_half_of_them() {
        let steady = starts(Arrivals::new(100.0, 0.0, false, 0.0), 2.0);
        assert_eq!(steady.len(), 200);
        assert!(steady.windows(2).all(|pair| (pair[1] - pair[0] - 0.01).abs() < 1e-6));
        let ramped = starts(Arrivals::new(100.0, 2.0, false, 0.0), 4.0);
        assert_eq!(ramped.iter().filter(|at| **at < 1.0).count(), 25);
        assert_eq!(ramped.iter().filter(|at| **at < 2.0).count(), 100);
        assert_eq!(ramped.len(), 300);
    }

    #[test]
    fn poisson_arrivals_vary_as_they_must() {
        let found = starts(Arrivals::new(1000.0, 0.0, true, 0.0), 100.0);
        assert!((found.len() as f64 - 100_000.0).abs() < 4.0 * 100_000.0_f64.sqrt());
        let gaps: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
    }

    #[test]
    fn exponential_cycles_are_cut_at_five_means() {
        let mut random = Random::new(3, 0);
        let cycle = Cycle::parse("exp:2").unwrap();
        let drawn: Vec<u64> = (0..100_000).map(|_| cycle.draw(&mut random)).collect();
        assert_eq!(drawn.iter().max(), Some(&(10 * MILLISECOND)));
        let mean = drawn.iter().sum::<u64>() as f64 / 1e5 / MILLISECOND as f64;
        // Cut at five means, the mean is 1 - exp(-5) of what it was.
        assert!((mean / (2.0 * (1.0 - (-5.0_f64).exp())) - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_cycle_is_one_of_three_words() {
        assert_eq!(Cycle::parse("0"), Some(Cycle::None));
        assert_eq!(Cycle::parse("fixed:1.5"), Some(Cycle::Fixed(1_500_000)));
        for text in ["", "1", "fixed", "fixed:", "fixed:-1", "fixed:nan", "exp:0", "gauss:1", "exp:1e30"] {
            assert_eq!(Cycle::parse(text), None, "{text}");
        }
    }
}
