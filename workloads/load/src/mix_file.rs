//! Reads the file of operations (TOML); every key must be known.

use crate::mix::{Declared, Values};
use crate::options::{refuse, Refusal};
use std::io::Read;
use toml::{Table, Value};

const MAX_FILE: u64 = 1 << 20;

/// A value was missing, or is something else than this.
type Expected = &'static str;

/// The operations that a file declares.
pub fn read(path: &str) -> Result<Vec<Declared>, Refusal> {
    let text = whole(path)?;
    let mut table = text.parse::<Table>().or_else(|error| {
        let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
        refuse(format!("mix={path}, line {line}: {}", error.message().replace('\n', " ")))
    })?;
    let Some(Value::Array(operations)) = table.remove("operation").filter(|_| table.is_empty()) else {
        return refuse(format!("mix={path}: expected tables [[operation]] and nothing else"));
    };
    operations.into_iter().enumerate().map(|(i, one)| declared(path, i, one)).collect()
}

fn whole(path: &str) -> Result<String, Refusal> {
    let mut text = String::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_string(&mut text));
    match opened {
        Err(error) => refuse(format!("mix={path}: {error}")),
        Ok(_) if text.len() as u64 > MAX_FILE => refuse(format!("mix={path}: more than {MAX_FILE} bytes")),
        Ok(_) => Ok(text),
    }
}

fn declared(path: &str, number: usize, value: Value) -> Result<Declared, Refusal> {
    let Value::Table(mut table) = value else {
        return refuse(format!("mix={path}: expected tables [[operation]]"));
    };
    let wrong = |(key, expected): (String, Expected)| {
        refuse(format!("mix={path}: operation {}: {key:.64}: expected {expected}", number + 1))
    };
    let found = operation(&mut table).or_else(wrong)?;
    match table.into_iter().next() {
        Some((key, _)) => refuse(format!("mix={path}: operation {}: unknown key {key:.64}", number + 1)),
        None => Ok(found),
    }
}

fn operation(table: &mut Table) -> Result<Declared, (String, Expected)> {
    Ok(Declared {
        name: taken(table, "name", None, "text", text)?,
        weight: taken(table, "weight", Some(1), "an integer from 0", |value| value.as_integer()?.try_into().ok())?,
        method: taken(table, "method", Some("GET".into()), "text", text)?,
        path: taken(table, "path", None, "text", text)?,
        headers: named(table, "headers", "text", text)?,
        body: taken(table, "body", Some(String::new()), "text", text)?,
        values: named(table, "values", "[first, last] or a list of texts", values)?,
        status: taken(table, "status", Some(200), "200 to 599", |value| value.as_integer()?.try_into().ok())?,
        contains: taken(table, "contains", Some(String::new()), "text", text)?,
    })
}

fn taken<T>(
    table: &mut Table,
    key: &str,
    default: Option<T>,
    expected: Expected,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<T, (String, Expected)> {
    let found = table.remove(key).map_or(default, |value| read(&value));
    found.ok_or_else(|| (key.into(), expected))
}

fn named<T>(
    table: &mut Table,
    key: &str,
    expected: Expected,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<(String, T)>, (String, Expected)> {
    let pairs = taken(table, key, Some(Table::new()), "a table", |value| value.as_table().cloned())?;
    let each = |(name, value): (String, Value)| {
        let found = read(&value).ok_or_else(|| (format!("{key}.{name}"), expected))?;
        Ok((name, found))
    };
    pairs.into_iter().map(each).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(String::from)
}

fn values(value: &Value) -> Option<Values> {
    match value.as_array()?.as_slice() {
        [Value::Integer(low), Value::Integer(high)] => Some(Values::Range(*low, *high)),
        texts => Some(Values::Choice(texts.iter().map(text).collect::<Option<_>>()?)),
    }
}
