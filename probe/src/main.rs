//! `scalograph-probe`: one specification line in, event lines out. The contract is
//! protocol/probe.md.

mod asked;
mod birth;
mod board;
mod capabilities;
mod capture;
mod cgroup;
mod checked;
mod conditions;
mod contain;
mod copies;
mod crowd;
mod descendants;
mod error;
mod events;
mod families;
mod fields;
mod gate;
mod hold;
mod host;
mod http;
mod in_force;
mod launch;
mod listeners;
mod namespace;
mod neighbors;
mod others;
mod path;
mod perf;
mod poller;
mod processes;
mod raw;
mod reading;
mod readings;
mod record;
mod records;
mod replay;
mod report;
mod role;
mod run;
mod running;
mod sentinel;
mod served;
mod services;
mod shares;
mod spec;
mod starting;
mod stopping;
mod summary;
mod sys;
#[cfg(test)]
mod tests;
mod timeline;
mod tracepoints;
mod tree;
mod watch;
mod window;
mod workload;

use error::{Kind, Refusal};
use events::{ErrorEvent, Event};
use std::process::ExitCode;

const HELP: &str = "scalograph-probe: carries out one run and prints what it measured

Reads one specification line (JSON) from standard input and writes event lines
(JSON) to standard output. The contract is protocol/probe.md.

  --capabilities  print one line: what this host grants, and why not the rest
  --hold          start a process that keeps wake-up records set up between
                  runs, until standard input ends
  --version       print the version
  --help          print this

Exit code: 0 the run was carried out, whatever became of the workload;
2 the specification or command line is wrong; 3 the host refused; 1 a bug.";

fn main() -> ExitCode {
    poller::hear_signals();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => one_run(),
        ["--help" | "-h"] => print(HELP),
        ["--version" | "-V"] => print(concat!("scalograph-probe ", env!("CARGO_PKG_VERSION"))),
        ["--capabilities"] => capabilities::print(),
        ["--hold"] => hold::start(),
        _ => {
            eprintln!("scalograph-probe: found {}, expected no argument; see --help", arguments.join(" "));
            ExitCode::from(Kind::Spec as u8)
        }
    }
}

fn print(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

fn one_run() -> ExitCode {
    // The documented code of a bug, whatever the build makes of a panic.
    std::panic::set_hook(Box::new(|info| {
        eprintln!("scalograph-probe: {info}");
        std::process::exit(Kind::Bug as i32);
    }));
    let mut name = None;
    match read_and_run(&mut name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refuse(name, refusal),
    }
}

fn read_and_run(name: &mut Option<String>) -> Result<(), Refusal> {
    let value = spec::read_line(std::io::stdin().lock())?;
    *name = value["run"].as_str().map(error::shorten);
    let spec = spec::parse(&value)?;
    run::carry_out(&spec, &mut std::io::BufWriter::new(std::io::stdout().lock()))
}

fn refuse(run: Option<String>, refusal: Refusal) -> ExitCode {
    let Refusal { kind, place, found, expected, fix } = refusal;
    eprintln!("scalograph-probe: {place}: found {found}, expected {expected}; {fix}");
    // Nobody may be reading any more; the exit code still tells.
    let _ = Event::Error(ErrorEvent { run, place, found, expected, fix }).write(&mut std::io::stdout());
    ExitCode::from(kind as u8)
}
