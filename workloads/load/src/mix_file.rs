//! Reads the file of operations (TOML); every key must be known. A mistake is told with its line.

use crate::mix::{Declared, Values};
use crate::options::{refuse, Refusal};
use std::io::Read;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

const MAX_FILE: u64 = 1 << 20;

type Found<'t> = Spanned<DeValue<'t>>;

/// The operations that a file declares.
pub fn read(path: &str) -> Result<Vec<Declared>, Refusal> {
    let text = whole(path)?;
    let file = MixFile { path, text: &text };
    let parsed = DeTable::parse(&text)
        .or_else(|error| file.refuse(error.span().map_or(0, |span| span.start), error.message()))?;
    let mut operations = Vec::new();
    for (key, value) in parsed.into_inner() {
        match value.into_inner() {
            DeValue::Array(tables) if key.get_ref() == "operation" => {
                for one in tables {
                    operations.push(file.operation(one)?);
                }
            }
            _ => return file.refuse(key.span().start, "expected tables [[operation]] and nothing else"),
        }
    }
    if operations.is_empty() {
        return refuse(format!("mix={path}: expected tables [[operation]]"));
    }
    Ok(operations)
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

struct MixFile<'t> {
    path: &'t str,
    text: &'t str,
}

impl MixFile<'_> {
    fn place(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(self.text);
        format!("mix={}, line {}", self.path, before.matches('\n').count() + 1)
    }

    fn refuse<T>(&self, at: usize, words: &str) -> Result<T, Refusal> {
        refuse(format!("{}: {}", self.place(at), words.replace('\n', " ")))
    }

    fn operation(&self, found: Found<'_>) -> Result<Declared, Refusal> {
        let begin = found.span().start;
        let DeValue::Table(table) = found.into_inner() else {
            return self.refuse(begin, "expected tables [[operation]]");
        };
        let mut keys = Keys { file: self, begin, table };
        let declared = Declared {
            place: self.place(begin),
            name: keys.required("name", "text", text)?,
            weight: keys.or("weight", 1, "an integer from 0", integer)?,
            method: keys.or("method", "GET".into(), "text", text)?,
            path: keys.required("path", "text", text)?,
            headers: keys.named("headers", "text", text)?,
            body: keys.or("body", String::new(), "text", text)?,
            values: keys.named("values", "[first, last] or a list of texts", values)?,
            status: keys.or("status", 200, "200 to 599", integer)?,
            contains: keys.or("contains", String::new(), "text", text)?,
        };
        match keys.table.into_iter().next() {
            Some((key, _)) => self.refuse(key.span().start, &format!("unknown key {:.64}", key.get_ref())),
            None => Ok(declared),
        }
    }
}

/// What is left of the keys of an operation that begins there.
struct Keys<'f, 't> {
    file: &'f MixFile<'f>,
    begin: usize,
    table: DeTable<'t>,
}

impl<'t> Keys<'_, 't> {
    fn taken<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl Fn(&DeValue<'t>) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.table.remove(key) else { return Ok(None) };
        match read(value.get_ref()) {
            Some(found) => Ok(Some(found)),
            None => self.file.refuse(value.span().start, &format!("{key}: expected {expected}")),
        }
    }

    fn or<T>(
        &mut self,
        key: &str,
        default: T,
        expected: &str,
        read: impl Fn(&DeValue<'t>) -> Option<T>,
    ) -> Result<T, Refusal> {
        Ok(self.taken(key, expected, read)?.unwrap_or(default))
    }

    fn required<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl Fn(&DeValue<'t>) -> Option<T>,
    ) -> Result<T, Refusal> {
        match self.taken(key, expected, read)? {
            Some(found) => Ok(found),
            None => self.file.refuse(self.begin, &format!("{key}: missing, expected {expected}")),
        }
    }

    fn named<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl Fn(&DeValue<'t>) -> Option<T>,
    ) -> Result<Vec<(String, T)>, Refusal> {
        let pairs = self.or(key, DeTable::new(), "a table", |value| value.as_table().cloned())?;
        let each = |(name, value): (Spanned<_>, Found<'t>)| {
            let name: &std::borrow::Cow<'_, str> = name.get_ref();
            match read(value.get_ref()) {
                Some(found) => Ok((name.to_string(), found)),
                None => self.file.refuse(value.span().start, &format!("{key}.{name:.64}: expected {expected}")),
            }
        };
        pairs.into_iter().map(each).collect()
    }
}

fn text(value: &DeValue<'_>) -> Option<String> {
    value.as_str().map(String::from)
}

fn integer<T: TryFrom<i64>>(value: &DeValue<'_>) -> Option<T> {
    let found = value.as_integer()?;
    i64::from_str_radix(found.as_str(), found.radix()).ok()?.try_into().ok()
}

fn values(value: &DeValue<'_>) -> Option<Values> {
    let found = value.as_array()?;
    match found.iter().map(|one| integer(one.get_ref())).collect::<Option<Vec<i64>>>().as_deref() {
        Some([low, high]) => Some(Values::Range(*low, *high)),
        _ => Some(Values::Choice(found.iter().map(|one| text(one.get_ref())).collect::<Option<_>>()?)),
    }
}
