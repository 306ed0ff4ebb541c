//! What a copy said by the lines of protocol/workload.md, as events.

use crate::events::{Event, Histogram, Iterations, PhaseRow, Phases, Values};
use crate::window::Frame;
use crate::workload::{Iteration, Phase, Speech};

/// At most 105 bytes for each.
const ITERATIONS_PIECE: usize = 32768;

pub fn events(speech: &Speech, run: &str, copy: usize, frame: &Frame, list: &mut Vec<Event>) {
    let name = || run.to_string();
    for part in speech.iterations.chunks(ITERATIONS_PIECE) {
        list.push(Event::Iterations(iterations(name(), copy, frame, part)));
    }
    if !speech.values.is_empty() {
        list.push(Event::Values(Values { run: name(), copy, values: speech.values.clone() }));
    }
    if !speech.phases.is_empty() {
        let row =
            |p: &Phase| PhaseRow { name: p.name.clone(), start_ns: frame.since(p.start), end_ns: frame.since(p.end) };
        list.push(Event::Phases(Phases { run: name(), copy, phases: speech.phases.iter().map(row).collect() }));
    }
    for ((phase, operation), counts) in &speech.histograms {
        let (index, count) = counts.iter().map(|(i, n)| (*i, *n)).unzip();
        let (phase, operation) = (phase.clone(), operation.clone());
        list.push(Event::Histogram(Histogram { run: name(), copy, phase, operation, index, count }));
    }
}

fn iterations(run: String, copy: usize, frame: &Frame, part: &[Iteration]) -> Iterations {
    Iterations {
        run,
        copy,
        index: part.iter().map(|i| i.index).collect(),
        start_ns: part.iter().map(|i| frame.since(i.start)).collect(),
        end_ns: part.iter().map(|i| frame.since(i.end)).collect(),
        work: part.iter().map(|i| i.work).collect(),
        cpu_ns: part.iter().map(|i| i.cpu).collect(),
    }
}
