//! The lines of protocol/workload.md: parsed strictly, kept within limits.

use serde_json::Number;
use std::collections::{BTreeMap, BTreeSet};

const MAX_LINE: usize = 512;
const MAX_ITERATIONS: usize = 1_000_000;
const MAX_NAMES: usize = 256;
const MAX_NUMBERS: usize = 100_000;
const MAX_PHASES: usize = 64;
const MAX_HISTOGRAMS: usize = 256;
const MAX_PAIRS: usize = 1_000_000;
const LAST_BUCKET: u64 = 7295;

#[derive(Debug, PartialEq)]
pub enum Line {
    Ready,
    Iteration(Iteration),
    Value(String, Number),
    Phase(Phase),
    /// Phase, operation, and pairs of bucket and count.
    Histogram(String, String, Vec<(u64, u64)>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    pub name: String,
    pub start: u64,
    pub end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    pub index: u64,
    pub start: u64,
    pub end: u64,
    pub work: u64,
    pub cpu: Option<u64>,
}

/// None where the line follows no form of the page.
pub fn parse(line: &str) -> Option<Line> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["ready"] => Some(Line::Ready),
        ["iteration", i, start, end, work] => iteration([i, start, end, work], None),
        ["iteration", i, start, end, work, cpu] => iteration([i, start, end, work], Some(integer(cpu)?)),
        ["value", name, number] if is_name(name) => Some(Line::Value(name.into(), figure(number)?)),
        ["phase", name, start, end] if is_name(name) => phase(name, integer(start)?, integer(end)?),
        ["histogram", phase, operation, ref pairs @ ..] if is_name(phase) && is_name(operation) => {
            let pairs: Vec<(u64, u64)> = pairs.iter().map(|p| pair(p)).collect::<Option<_>>()?;
            (!pairs.is_empty()).then(|| Line::Histogram(phase.into(), operation.into(), pairs))
        }
        _ => None,
    }
}

fn phase(name: &str, start: u64, end: u64) -> Option<Line> {
    (start <= end).then(|| Line::Phase(Phase { name: name.into(), start, end }))
}

fn pair(word: &str) -> Option<(u64, u64)> {
    let (index, count) = word.split_once(':')?;
    Some((integer(index).filter(|i| *i <= LAST_BUCKET)?, integer(count)?))
}

fn iteration(words: [&str; 4], cpu: Option<u64>) -> Option<Line> {
    let [index, start, end, work] = words.map(integer);
    let found = Iteration { index: index?, start: start?, end: end?, work: work?, cpu };
    (found.start <= found.end).then_some(Line::Iteration(found))
}

fn integer(word: &str) -> Option<u64> {
    // Rust would accept a leading plus sign, the page does not.
    let digits = word.bytes().all(|b| b.is_ascii_digit());
    // Beyond 2^63 no reader of a record has a place for a number.
    word.parse().ok().filter(|n| digits && *n <= i64::MAX as u64)
}

fn figure(word: &str) -> Option<Number> {
    if let Ok(whole) = word.parse::<i64>() {
        return Some(whole.into());
    }
    // Keeps `inf`, `NaN` and their like out before Rust's parser accepts them.
    let plain = word.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    plain.then(|| word.parse::<f64>().ok().and_then(Number::from_f64))?
}

fn is_name(word: &str) -> bool {
    let body = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    word.len() <= 64 && word.starts_with(|c: char| c.is_ascii_lowercase()) && word.bytes().all(body)
}

/// What is left of the limits, over all copies of a run.
pub struct Budget {
    iterations: usize,
    numbers: usize,
    phases: usize,
    histograms: usize,
    pairs: usize,
    /// A name counts once, however many copies use it.
    names: BTreeSet<String>,
}

impl Budget {
    pub fn new() -> Budget {
        let (iterations, numbers, phases) = (MAX_ITERATIONS, MAX_NUMBERS, MAX_PHASES);
        let (histograms, pairs, names) = (MAX_HISTOGRAMS, MAX_PAIRS, BTreeSet::new());
        Budget { iterations, numbers, phases, histograms, pairs, names }
    }

    fn name(&mut self, name: &str) -> Result<(), String> {
        if !self.names.contains(name) {
            self.names.insert(name.into());
        }
        if self.names.len() > MAX_NAMES {
            Err(beyond("names"))
        } else {
            Ok(())
        }
    }
}

fn beyond(what: &str) -> String {
    format!("more {what} than protocol/workload.md allows")
}

fn take(left: &mut usize, what: &str) -> Result<(), String> {
    *left = left.checked_sub(1).ok_or_else(|| beyond(what))?;
    Ok(())
}

/// What one copy said so far.
#[derive(Default)]
pub struct Speech {
    partial: Vec<u8>,
    pub ready: bool,
    pub spoke: bool,
    pub iterations: Vec<Iteration>,
    pub values: BTreeMap<String, Vec<Number>>,
    pub phases: Vec<Phase>,
    /// By phase and operation: counts by bucket.
    pub histograms: BTreeMap<(String, String), BTreeMap<u64, u64>>,
}

impl Speech {
    /// Err is the reason for status `protocol`.
    pub fn feed(&mut self, bytes: &[u8], budget: &mut Budget) -> Result<(), String> {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.partial);
                self.line(&line, budget)?;
            } else if self.partial.len() + 1 >= MAX_LINE {
                return Err(format!("a line longer than {MAX_LINE} bytes: {}", quote(&self.partial)));
            } else {
                self.partial.push(byte);
            }
        }
        Ok(())
    }

    /// At the end of a copy that was not killed, nothing may be left without its newline.
    pub fn finish(&self) -> Result<(), String> {
        if self.partial.is_empty() {
            Ok(())
        } else {
            Err(format!("a line without its newline: {}", quote(&self.partial)))
        }
    }

    fn line(&mut self, line: &[u8], budget: &mut Budget) -> Result<(), String> {
        self.spoke = true;
        let found = std::str::from_utf8(line).ok().and_then(parse);
        match found.ok_or_else(|| format!("a line that follows no form: {}", quote(line)))? {
            Line::Ready if self.ready => Err("ready written twice".into()),
            Line::Ready => {
                self.ready = true;
                Ok(())
            }
            Line::Iteration(iteration) => {
                take(&mut budget.iterations, "iterations")?;
                self.iterations.push(iteration);
                Ok(())
            }
            Line::Value(name, number) => self.value(name, number, budget),
            Line::Phase(phase) => {
                take(&mut budget.phases, "phases")?;
                self.phases.push(phase);
                Ok(())
            }
            Line::Histogram(phase, operation, pairs) => self.count((phase, operation), pairs, budget),
        }
    }

    fn count(&mut self, of: (String, String), pairs: Vec<(u64, u64)>, budget: &mut Budget) -> Result<(), String> {
        if !self.histograms.contains_key(&of) {
            take(&mut budget.histograms, "histograms")?;
        }
        let counts = self.histograms.entry(of).or_default();
        for (index, count) in pairs {
            take(&mut budget.pairs, "pairs of a histogram")?;
            let sum = counts.entry(index).or_default();
            *sum = sum.checked_add(count).filter(|n| *n <= i64::MAX as u64).ok_or_else(|| beyond("counts"))?;
        }
        Ok(())
    }

    fn value(&mut self, name: String, number: Number, budget: &mut Budget) -> Result<(), String> {
        take(&mut budget.numbers, "numbers")?;
        budget.name(&name)?;
        self.values.entry(name).or_default().push(number);
        Ok(())
    }
}

/// Control characters must not reach a terminal through a reason.
pub fn quote(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().take(120).collect();
    format!("\"{}\"", text.escape_debug())
}
