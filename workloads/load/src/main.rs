//! `scalograph-load`: drives HTTP servers in closed or open loop. README.md tells its arguments.

mod answer;
mod ask;
mod audit;
mod ceiling;
mod complaint;
mod connection;
mod cpu_wait;
mod drops;
mod histogram;
mod lines;
mod mix;
mod mix_file;
mod open_loop;
mod options;
mod pool;
mod random;
mod schedule;
mod search;
mod slot;
mod summary;
mod sys;
mod tally;
mod tls;
mod worker;

use complaint::Complaints;
use cpu_wait::process_wait_ns;
use lines::{Events, Used};
use mix::Mix;
use options::{refuse, Options, Refusal};
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;
use std::time::Duration;
use sys::{now_ns, process_cpu_ns};
use tally::{Phases, Tally, PHASES};
use worker::{Shared, Worker};

/// It cannot do what its arguments ask.
const UNAVAILABLE: u8 = 69;
/// The server answered nothing rightly.
const NO_ANSWER: u8 = 70;
/// Descriptors beside those of connections: standard ones, the protocol's, and epoll's of each thread.
const SPARE: u64 = 32;

type Ended = (Tally, Complaints);

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(Refusal(sentence)) => {
            eprintln!("scalograph-load: {sentence}");
            ExitCode::from(UNAVAILABLE)
        }
    }
}

fn run() -> Result<ExitCode, Refusal> {
    let options = Options::parse(std::env::args().skip(1))?;
    let mix = Mix::new(&options)?;
    let n_threads = options.threads.min(options.n_active());
    enough_descriptors(&options, n_threads)?;
    let mut events = Events::open().or_else(|error| refuse(format!("SCALOGRAPH_EVENTS: {error}")))?;
    let warmup = (0..options.n_direct).map(|_| AtomicU64::new(options.warmup)).collect();
    let shared = Shared { options: &options, mix: &mix, warmup, n_threads };
    let dropped_before = drops::listen_drops();
    let (phases, (tally, complaints), used) = drive(&shared, &mut events)?;
    let dropped = dropped_before.zip(drops::listen_drops());
    complaints.words().for_each(|words| eprintln!("{words}"));
    summary::sentences(&options, &tally, &complaints).iter().for_each(|words| eprintln!("scalograph-load: {words}"));
    // Before all else: a service that lost something has answered nothing rightly.
    audit::ask(&options, &mix, &tally.outcomes)?;
    if lines::answers(&tally).n == 0 {
        return Ok(ExitCode::from(NO_ANSWER));
    }
    let mut text = lines::lines(&options, &mix, &phases, &tally, &used);
    if let Some((before, after)) =
        dropped.filter(|_| options.targets.iter().all(|target| target.address.ip().is_loopback()))
    {
        text.push_str(&format!("value listen_drops {}\n", after.saturating_sub(before)));
    }
    events.say(&text).or_else(|error| refuse(format!("SCALOGRAPH_EVENTS: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

fn enough_descriptors(options: &Options, n_threads: usize) -> Result<(), Refusal> {
    let (needed, allowed) = (options.n_connections() as u64 + n_threads as u64 + SPARE, sys::raise_descriptors());
    if needed <= allowed {
        return Ok(());
    }
    let n = options.n_connections();
    refuse(format!("{n} connections need {needed} file descriptors, {allowed} are allowed: raise it with ulimit -n"))
}

/// Warms up, waits for the gate and drives the load.
fn drive(shared: &Shared<'_>, events: &mut Events) -> Result<(Phases, Ended, Used), Refusal> {
    thread::scope(|scope| {
        let (warm, all_warm) = channel();
        let (mut gates, mut threads) = (Vec::new(), Vec::new());
        for number in 0..shared.n_threads {
            let (gate, opens) = channel();
            let warm = warm.clone();
            gates.push(gate);
            threads.push(scope.spawn(move || work(shared, number, &warm, &opens)));
        }
        for _ in 0..shared.n_threads {
            all_warm.recv().unwrap_or_else(|_| refuse("a thread ended early".into()))?;
        }
        pool::check(shared.options)?;
        let ceiling = ceiling::ceiling(shared.options, shared.n_threads);
        events.ready().or_else(|error| refuse(format!("SCALOGRAPH_GO: {error}")))?;
        let phases = phases(shared.options, now_ns());
        gates.iter().for_each(|gate| gate.send(phases).unwrap_or(()));
        let used = Used { ceiling, ..steady_use(shared.options, &phases) };
        drop(gates);
        let mut whole = (Tally::new(shared.mix.operations.len()), Complaints::default());
        for thread in threads {
            let Ok(Some((tally, told))) = thread.join() else { return refuse("a thread ended early".into()) };
            whole.0.merge(&tally);
            whole.1.merge(told);
        }
        Ok((phases, whole, used))
    })
}

/// One thread: None where it never came to the gate.
fn work(
    shared: &Shared<'_>,
    number: usize,
    warm: &Sender<Result<(), Refusal>>,
    opens: &Receiver<Phases>,
) -> Option<Ended> {
    let ready = Worker::new(shared, number).and_then(|mut worker| {
        worker.warm_up()?;
        worker.turn_to_front()?;
        Ok(worker)
    });
    let worker = match ready {
        Ok(worker) => worker,
        Err(refusal) => {
            let _ = warm.send(Err(refusal));
            return None;
        }
    };
    let _ = warm.send(Ok(()));
    let phases = opens.recv().ok()?;
    let ended = worker.drive(phases);
    // What the kernel counts of a thread goes with it: it stays until that is read.
    let _ = opens.recv();
    Some(ended)
}

fn phases(options: &Options, begin: u64) -> Phases {
    let mut bounds = [begin; PHASES.len() + 1];
    for (i, length) in [options.ramp_ns, options.steady_ns, options.down_ns].into_iter().enumerate() {
        bounds[i + 1] = bounds[i] + length;
    }
    Phases(bounds)
}

/// What this process uses of CPUs in the steady phase, and what was in use of a pool.
fn steady_use(options: &Options, phases: &Phases) -> Used {
    let (start, end) = phases.steady();
    let at = |moment: u64| {
        thread::sleep(Duration::from_nanos(moment.saturating_sub(now_ns())));
        (process_cpu_ns(), process_wait_ns(), pool::read(options))
    };
    let (before, after) = (at(start), at(end));
    let pool = pool::between(&before.2, &after.2, end - start);
    Used { cpu_ns: after.0 - before.0, wait_ns: after.1.saturating_sub(before.1), ceiling: None, pool }
}
