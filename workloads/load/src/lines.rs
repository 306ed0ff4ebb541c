//! What the driver says: the lines of protocol/workload.md.

use crate::histogram::Histogram;
use crate::mix::Mix;
use crate::options::Options;
use crate::pool::Pool;
use crate::sys::SECOND;
use crate::tally::{Phases, Tally, FAILURES, MOST_SECONDS, PHASES, STEADY};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

/// What is said of the durations in each second.
const SPANS: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];
/// A line is at most so long, its end included.
const MAX_LINE: usize = 512;

/// The descriptors that a run gets; standard output and no gate where there are none.
pub struct Events {
    out: Box<dyn Write>,
    go: Option<File>,
}

impl Events {
    pub fn open() -> io::Result<Self> {
        let (Ok(events), Ok(go)) = (std::env::var("SCALOGRAPH_EVENTS"), std::env::var("SCALOGRAPH_GO")) else {
            return Ok(Events { out: Box::new(io::stdout()), go: None });
        };
        Ok(Events { out: Box::new(OpenOptions::new().append(true).open(events)?), go: Some(File::open(go)?) })
    }

    /// Says that set-up is done and waits for the gate.
    pub fn ready(&mut self) -> io::Result<()> {
        self.say("ready\n")?;
        match &mut self.go {
            Some(go) => go.read(&mut [0]).map(|_| ()),
            None => Ok(()),
        }
    }

    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

/// What the driver itself used in the steady phase, and how many requests a second it could send.
pub struct Used {
    pub cpu_ns: u64,
    /// Its threads were ready for so long and had no CPU.
    pub wait_ns: u64,
    pub ceiling: Option<f64>,
    pub pool: Option<Pool>,
}

/// All lines of a run that has ended.
pub fn lines(options: &Options, mix: &Mix, phases: &Phases, tally: &Tally, used: &Used) -> String {
    let mut text = String::new();
    for (phase, name) in PHASES.iter().enumerate().filter(|(phase, _)| phases.0[*phase] < phases.0[phase + 1]) {
        let _ = writeln!(text, "phase {name} {} {}", phases.0[phase], phases.0[phase + 1]);
        for (operation, answers) in mix.operations.iter().zip(&tally.phases[phase].answers) {
            histogram(&mut text, &format!("histogram {name} {}", operation.name), answers);
        }
    }
    let (start, end) = phases.steady();
    let all = answers(tally);
    let _ = writeln!(text, "iteration 0 {start} {end} {} {}", all.n, used.cpu_ns);
    for (name, value) in values(options, tally, &all, end - start) {
        let _ = writeln!(text, "value {name} {value}");
    }
    for (name, answers) in told_apart(mix, tally) {
        let _ = writeln!(text, "value p90_{name}_ns {}", answers.quantile(0.9));
    }
    if !options.audit.is_empty() {
        let _ = writeln!(text, "value audited {}", tally.outcomes.right.iter().sum::<u64>());
    }
    let _ = writeln!(text, "value driver_cpu_ns {}\nvalue driver_wait_ns {}", used.cpu_ns, used.wait_ns);
    if let Some(ceiling) = used.ceiling {
        let _ = writeln!(text, "value ceiling {ceiling:.0}");
    }
    if let Some(Pool { size, busy, waiting, wait_ns }) = used.pool {
        let _ = writeln!(text, "value pool_size {size}\nvalue pool_busy {busy}");
        let _ = writeln!(text, "value pool_waiting {waiting}\nvalue pool_wait_ns {wait_ns:.0}");
    }
    for second in 0..((end - start) / SECOND) as usize {
        let _ = writeln!(text, "value rate_second {}", tally.seconds.get(second).unwrap_or(&0));
        for (name, share) in SPANS.iter().filter(|_| second < MOST_SECONDS) {
            let span = tally.spans.get(second).map_or(0, |span| span.quantile(*share));
            let _ = writeln!(text, "value {name}_second_ns {span}");
        }
    }
    text
}

/// Operations of a mix with right answers in the steady phase; with their names a value's is not too long.
fn told_apart<'a>(mix: &'a Mix, tally: &'a Tally) -> impl Iterator<Item = (&'a str, &'a Histogram)> {
    let names = mix.operations.iter().map(|operation| operation.name.as_str());
    let named = names.zip(&tally.phases[STEADY].answers).filter(|(name, answers)| name.len() <= 57 && answers.n > 0);
    named.filter(|_| mix.operations.len() > 1)
}

/// Right answers of the steady phase, of all operations.
pub fn answers(tally: &Tally) -> Histogram {
    let mut all = Histogram::default();
    tally.phases[STEADY].answers.iter().for_each(|answers| all.merge(answers));
    all
}

fn histogram(text: &mut String, begin: &str, answers: &Histogram) {
    let mut line = String::new();
    for (index, count) in answers.filled() {
        let pair = format!(" {index}:{count}");
        if line.len() + pair.len() + 1 > MAX_LINE {
            let _ = writeln!(text, "{line}");
            line.clear();
        }
        if line.is_empty() {
            line.push_str(begin);
        }
        line.push_str(&pair);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{line}");
    }
}

type Named = (String, f64);

fn values(options: &Options, tally: &Tally, all: &Histogram, steady_ns: u64) -> Vec<Named> {
    let steady = &tally.phases[STEADY];
    let errors: u64 = steady.failures.iter().sum();
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let mut found: Vec<(&str, f64)> = vec![
        ("requests", (all.n + errors) as f64),
        ("errors", errors as f64),
        ("error_percent", 100.0 * share(errors, all.n + errors)),
        ("rate", all.n as f64 * SECOND as f64 / steady_ns as f64),
        ("per_minute", all.n as f64 * 60.0 * SECOND as f64 / steady_ns as f64),
        ("mean_ns", all.mean() as f64),
        ("p50_ns", all.quantile(0.5) as f64),
        ("p90_ns", all.quantile(0.9) as f64),
        ("p99_ns", all.quantile(0.99) as f64),
        ("max_ns", all.max as f64),
        ("late_p99_ns", steady.late.quantile(0.99) as f64),
        ("late_share", share(steady.n_late, steady.late.n)),
        ("own_late_p99_ns", steady.own_late.quantile(0.99) as f64),
        ("own_late_share", share(steady.n_own_late, steady.late.n)),
        ("in_flight", tally.in_flight_ns as f64 / steady_ns as f64),
        ("unanswered", tally.unanswered_ns as f64 / steady_ns as f64),
        ("starved", tally.n_starved as f64),
        ("clients", options.n_active() as f64),
        ("threads", options.threads.min(options.n_active()) as f64),
    ];
    if options.clients.is_some() {
        found.push(("cycle_ns", share(steady.think_ns, steady.n_thoughts)));
        found.push(("overrun_share", share(steady.n_overruns, all.n + errors)));
    } else {
        found.push(("offered_rate", options.rate));
        found.push(("meant", steady.n_meant as f64));
        found.push(("waited_share", share(steady.n_waited, steady.late.n)));
    }
    let kinds = FAILURES.iter().map(|(kind, name)| (format!("errors_{name}"), steady.failures[*kind as usize] as f64));
    found.into_iter().map(|(name, value)| (name.to_string(), value)).chain(kinds).collect()
}
