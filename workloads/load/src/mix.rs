//! Operations: what is sent, how often, and what a right answer is.

use crate::mix_file;
use crate::options::{refuse, Options, Refusal};
use crate::random::Random;
use std::fmt::Write as _;

const MAX_OPERATIONS: usize = 64;

/// An operation as it is written.
pub struct Declared {
    /// Where that is: file and line.
    pub place: String,
    pub name: String,
    pub weight: u32,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub values: Vec<(String, Values)>,
    pub status: u16,
    pub contains: String,
}

/// What a name in braces is replaced by: drawn anew for each request, the same in its path and its body.
pub enum Values {
    /// An integer from the first to the last.
    Range(i64, i64),
    Choice(Vec<String>),
}

impl Values {
    fn draw(&self, random: &mut Random) -> String {
        match self {
            Values::Range(low, high) => random.between(*low, *high).to_string(),
            Values::Choice(texts) => texts[random.between(0, texts.len() as i64 - 1) as usize].clone(),
        }
    }
}

enum Piece {
    Text(String),
    /// A value, by its place among the operation's.
    Value(usize),
    /// The number of the request, of this run.
    Request,
}

pub struct Operation {
    pub name: String,
    pub method: String,
    pub status: u16,
    pub contains: Vec<u8>,
    weight: u32,
    path: Vec<Piece>,
    headers: String,
    body: Vec<Piece>,
    values: Vec<Values>,
    /// The same bytes each time, one for each target; empty where values are drawn.
    fixed: Vec<Vec<u8>>,
}

pub struct Mix {
    pub operations: Vec<Operation>,
    total: u64,
}

impl Mix {
    /// The operations of the mix file, or the one that the options tell.
    pub fn new(options: &Options) -> Result<Self, Refusal> {
        let declared = if options.mix.is_empty() { vec![single(options)] } else { mix_file::read(&options.mix)? };
        let wrong = |what: &str| refuse(format!("mix: {what}"));
        if declared.is_empty() || declared.len() > MAX_OPERATIONS {
            return wrong(&format!("found {} operations, expected 1 to {MAX_OPERATIONS}", declared.len()));
        }
        let mut operations: Vec<Operation> = Vec::new();
        for one in declared {
            if operations.iter().any(|known| known.name == one.name) {
                return refuse(format!("{}: name: operation {:.64} occurs twice", one.place, one.name));
            }
            operations.push(Operation::new(one, &options.hosts())?);
        }
        let total = operations.iter().map(|operation| u64::from(operation.weight)).sum();
        if total == 0 {
            wrong("all weights are 0")
        } else {
            Ok(Mix { operations, total })
        }
    }

    /// Draws an operation by its weight.
    pub fn draw(&self, random: &mut Random) -> usize {
        if self.operations.len() == 1 {
            return 0;
        }
        let mut left = random.between(0, self.total as i64 - 1) as u64;
        for (i, operation) in self.operations.iter().enumerate() {
            match left.checked_sub(u64::from(operation.weight)) {
                Some(rest) => left = rest,
                None => return i,
            }
        }
        unreachable!("drawn below the sum of the weights")
    }
}

fn single(options: &Options) -> Declared {
    Declared {
        place: "arguments".into(),
        name: "request".into(),
        weight: 1,
        method: options.method.clone(),
        path: options.path.clone(),
        headers: options.headers.clone(),
        body: options.body.clone(),
        values: Vec::new(),
        status: options.status,
        contains: options.contains.clone(),
    }
}

impl Operation {
    fn new(declared: Declared, hosts: &[String]) -> Result<Self, Refusal> {
        check(&declared).or_else(|what| refuse(format!("{}: {what}", declared.place)))?;
        let names: Vec<&str> = declared.values.iter().map(|(name, _)| name.as_str()).collect();
        let (path, body) = (pieces(&declared.path, &names), pieces(&declared.body, &names));
        let drawn = path.iter().chain(&body).any(|piece| !matches!(piece, Piece::Text(_)));
        let headers = declared.headers.iter().fold(String::new(), |text, (k, v)| text + &format!("{k}: {v}\r\n"));
        let mut operation = Operation {
            name: declared.name,
            method: declared.method,
            status: declared.status,
            contains: declared.contains.into_bytes(),
            weight: declared.weight,
            path,
            headers,
            body,
            values: declared.values.into_iter().map(|(_, values)| values).collect(),
            fixed: Vec::new(),
        };
        if !drawn {
            operation.fixed = hosts.iter().map(|host| operation.compose(host, &[], 0).into_bytes()).collect();
        }
        Ok(operation)
    }

    /// Writes the bytes of one request.
    pub fn render(&self, target: usize, host: &str, random: &mut Random, request: u64, out: &mut Vec<u8>) {
        out.clear();
        if let Some(fixed) = self.fixed.get(target) {
            out.extend_from_slice(fixed);
            return;
        }
        let values: Vec<String> = self.values.iter().map(|values| values.draw(random)).collect();
        out.extend_from_slice(self.compose(host, &values, request).as_bytes());
    }

    fn compose(&self, host: &str, values: &[String], request: u64) -> String {
        let body = filled(&self.body, values, request);
        let path = filled(&self.path, values, request);
        let mut text = format!("{} {path} HTTP/1.1\r\nHost: {host}\r\n{}", self.method, self.headers);
        if !body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            let _ = write!(text, "Content-Length: {}\r\n", body.len());
        }
        text + "\r\n" + &body
    }
}

fn filled(pieces: &[Piece], values: &[String], request: u64) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(i) => text.push_str(&values[*i]),
            Piece::Request => text.push_str(&request.to_string()),
        }
    }
    text
}

/// Splits a text at the names in braces that are declared; all other braces are text.
fn pieces(text: &str, names: &[&str]) -> Vec<Piece> {
    let mut found = Vec::new();
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        kept.push_str(before);
        let name = after[1..].split('}').next().unwrap_or("");
        let piece = match names.iter().position(|known| *known == name) {
            Some(i) => Piece::Value(i),
            None if name == "request" => Piece::Request,
            None => {
                kept.push('{');
                rest = &after[1..];
                continue;
            }
        };
        found.extend([Piece::Text(std::mem::take(&mut kept)), piece]);
        rest = &after[name.len() + 2..];
    }
    found.push(Piece::Text(kept + rest));
    found
}

fn check(one: &Declared) -> Result<(), String> {
    let visible = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
    let plain = |text: &str| text.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    let token = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if !is_name(&one.name) {
        return Err("name: expected a-z, then a-z, 0-9 or _, at most 64 characters".into());
    }
    if !token(&one.method) {
        return Err(format!("method: found {:?}, expected one such as GET", one.method));
    }
    if !one.path.starts_with('/') || !visible(&one.path) {
        return Err(format!("path: found {:?}, expected ASCII without spaces that starts with /", one.path));
    }
    if let Some((name, _)) = one.headers.iter().find(|(name, value)| !token(name) || !plain(value)) {
        return Err(format!("headers: {name:?}: expected a name and one line of ASCII"));
    }
    if !(200..=599).contains(&one.status) {
        return Err(format!("status: found {}, expected 200 to 599", one.status));
    }
    for (name, values) in &one.values {
        let in_path = one.path.contains(&format!("{{{name}}}"));
        let fits = match values {
            Values::Range(low, high) => low <= high,
            Values::Choice(texts) => !texts.is_empty() && (!in_path || texts.iter().all(|text| visible(text))),
        };
        if !is_name(name) || name == "request" || !fits {
            return Err(format!("values.{name}: expected [first, last] or a list of texts, in a path without spaces"));
        }
    }
    Ok(())
}

/// A name of the protocol's values.
fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
