//! The first requests without a right answer, in words.

use crate::mix::Operation;
use crate::options::Target;
use crate::slot::Slot;
use crate::tally::Failure;

/// Requests that are told in words.
pub const MAX_TOLD: usize = 10;
/// Bytes of an answer that are told.
pub const SAMPLE: usize = 100;

/// When each came to nothing, and what was asked and found.
#[derive(Default)]
pub struct Complaints(Vec<(u64, String)>);

impl Complaints {
    /// Keeps the first of one thread; later ones are not even put into words.
    pub fn add(&mut self, at: u64, words: impl FnOnce() -> String) {
        if self.0.len() < MAX_TOLD {
            self.0.push((at, words()));
        }
    }

    /// Those of another thread beside these: the first of all, in order.
    pub fn merge(&mut self, other: Complaints) {
        self.0.extend(other.0);
        self.0.sort();
        self.0.truncate(MAX_TOLD);
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, words)| words.as_str())
    }
}

/// What was asked, and what came of it: "GET http://127.0.0.1:80/x answered 500, expected 200; body: \"busy\"".
///
/// `detail`: of failures that an answer does not tell by itself.
pub fn complaint(slot: &Slot, asked: &Operation, target: &Target, failure: Failure, detail: &str) -> String {
    let answer = &slot.answer;
    let came = match failure {
        Failure::Status => format!("answered {}, expected {}", answer.status, asked.status),
        Failure::Content => {
            format!("answered {} without {:.100?}", answer.status, String::from_utf8_lossy(&asked.contains))
        }
        _ => detail.into(),
    };
    let body = match answer.sample.as_slice() {
        [] => String::new(),
        sample => format!("; body: \"{}\"", sample.escape_ascii()),
    };
    format!("{} {came}{body}", request(&slot.connection.out, &target.url()))
}

/// Method and address of a request, from its own bytes.
fn request(bytes: &[u8], url: &str) -> String {
    let line = bytes.split(|b| *b == b'\r').next().unwrap_or(bytes);
    let mut words = line.split(|b| *b == b' ').map(String::from_utf8_lossy);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    format!("{method} {url}{path:.200}")
}

/// Digits in groups of three: 4,032.
pub fn counted(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_all_threads_are_kept_in_order() {
        let thread = |from: u64, step: u64| {
            let mut found = Complaints::default();
            (0..99).for_each(|i| found.add(from + i * step, || (from + i * step).to_string()));
            found
        };
        let mut all = thread(7, 10);
        all.merge(thread(1, 2));
        assert_eq!(all.words().collect::<Vec<_>>(), ["1", "3", "5", "7", "7", "9", "11", "13", "15", "17"]);
    }

    #[test]
    fn a_request_is_told_by_method_and_address() {
        assert_eq!(request(b"PUT /a?b=1 HTTP/1.1\r\nHost: h:1\r\n\r\n{}", "http://h:1"), "PUT http://h:1/a?b=1");
        assert_eq!(request(b"", "http://h:1"), " http://h:1");
    }

    #[test]
    fn counts_have_groups_of_three_digits() {
        assert_eq!([0, 999, 1000, 4_032, 1_234_567].map(counted), ["0", "999", "1,000", "4,032", "1,234,567"]);
    }
}
