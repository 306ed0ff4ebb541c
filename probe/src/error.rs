//! Refusals: `where: found, expected; what to do`, and the exit code.

use crate::sys;
use serde_json::Value;

/// The number is the exit code of the probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// The run failed before its gate, by no fault of the probe.
    Lost = 0,
    Bug = 1,
    Spec = 2,
    Host = 3,
}

#[derive(Clone, Debug)]
pub struct Refusal {
    pub kind: Kind,
    pub place: String,
    pub found: String,
    pub expected: String,
    pub fix: String,
}

impl Refusal {
    pub fn new(kind: Kind, place: &str, found: &str, expected: &str, fix: &str) -> Refusal {
        let [place, found, expected, fix] = [place, found, expected, fix].map(String::from);
        Refusal { kind, place, found, expected, fix }
    }

    pub fn host(place: &str, found: &str, expected: &str, fix: &str) -> Refusal {
        Refusal::new(Kind::Host, place, found, expected, fix)
    }

    /// Return the refusal of a call that the operating system refused.
    pub fn os(what: &str, error: &std::io::Error) -> Refusal {
        let fix = "ask the administrator, or lower the number of copies";
        Refusal::host(what, &sys::describe_error(error), "to be granted", fix)
    }

    pub fn spec(place: &str, found: Option<&Value>, expected: &str) -> Refusal {
        let found = found.map_or("nothing".into(), |v| shorten(&v.to_string()));
        Refusal::new(Kind::Spec, place, &found, expected, "correct the specification (protocol/probe.md)")
    }
}

/// Cut a quoted value to 80 characters: a long one would hide the message.
pub fn shorten(text: &str) -> String {
    const LIMIT: usize = 80;
    if text.chars().count() <= LIMIT {
        return text.into();
    }
    text.chars().take(LIMIT).chain("...".chars()).collect()
}
