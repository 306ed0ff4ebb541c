//! Typed fields of a JSON object of the specification; a field of another type or range is refused by its name.

use crate::error::Refusal;
use serde_json::{Map, Value};

/// One object of the specification, and the path to it that refusals print before a field's name.
pub struct Fields<'a> {
    pub map: &'a Map<String, Value>,
    pub prefix: &'a str,
}

impl Fields<'_> {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|v| !v.is_null())
    }

    pub fn refuse(&self, name: &str, expected: &str) -> Refusal {
        Refusal::spec(&format!("{}{name}", self.prefix), self.map.get(name), expected)
    }

    pub fn optional_int(&self, name: &str, low: i64, high: i64) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_i64().filter(|n| (low..=high).contains(n));
        number.map(Some).ok_or_else(|| self.refuse(name, &range(low, high)))
    }

    pub fn int(&self, name: &str, default: Option<i64>, low: i64, high: i64) -> Result<i64, Refusal> {
        let number = self.optional_int(name, low, high)?.or(default);
        number.filter(|n| (low..=high).contains(n)).ok_or_else(|| self.refuse(name, &range(low, high)))
    }

    pub fn optional_text(&self, name: &str, limit: usize) -> Result<Option<String>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().filter(|s| !s.is_empty() && s.len() <= limit && !s.contains('\0'));
        let wrong = || self.refuse(name, &format!("a text of 1 to {limit} bytes without NUL"));
        text.map(|s| Some(s.into())).ok_or_else(wrong)
    }

    pub fn text(&self, name: &str, limit: usize) -> Result<String, Refusal> {
        let wrong = || self.refuse(name, &format!("a text of 1 to {limit} bytes"));
        self.optional_text(name, limit)?.ok_or_else(wrong)
    }

    pub fn flag(&self, name: &str, default: bool) -> Result<bool, Refusal> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.refuse(name, "true or false"))
    }

    pub fn choice(&self, name: &str, choices: &[&str]) -> Result<Option<String>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let choice = value.as_str().filter(|s| choices.contains(s));
        let wrong = || self.refuse(name, &format!("one of {}", choices.join(", ")));
        choice.map(|s| Some(s.into())).ok_or_else(wrong)
    }

    pub fn path(&self, name: &str) -> Result<Option<String>, Refusal> {
        let text = self.optional_text(name, 4096)?;
        if text.as_ref().is_some_and(|text| !text.starts_with('/')) {
            return Err(self.refuse(name, "an absolute path"));
        }
        Ok(text)
    }
}

fn range(low: i64, high: i64) -> String {
    match (low, high) {
        _ if low == high => format!("{low}"),
        (_, i64::MAX) => format!("an integer of at least {low}"),
        _ => format!("an integer, {low} to {high}"),
    }
}
