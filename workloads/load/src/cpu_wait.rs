//! How long threads were ready and had no CPU: what of their delay is not their own doing.

use crate::sys::MILLISECOND;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// How long this thread was ready and had no CPU, by the kernel's account; 0 where it keeps none.
pub struct CpuWait {
    file: Option<File>,
    /// When it was looked at, and what it was then.
    at: u64,
    looked: u64,
    /// Since then, once somebody asked.
    since: Option<u64>,
}

impl CpuWait {
    pub fn of_this_thread() -> Self {
        let mut found = CpuWait { file: File::open("/proc/thread-self/schedstat").ok(), at: 0, looked: 0, since: None };
        found.looked = found.read();
        found
    }

    /// Looks, once a millisecond at most: before a wait, that what is late after it can be told apart.
    pub fn look(&mut self, now: u64) {
        self.since = None;
        if now >= self.at + MILLISECOND {
            (self.at, self.looked) = (now, self.read());
        }
    }

    /// Nanoseconds since the last look.
    pub fn since_look(&mut self) -> u64 {
        let found = self.since.unwrap_or_else(|| self.read().saturating_sub(self.looked));
        self.since = Some(found);
        found
    }

    fn read(&self) -> u64 {
        let mut text = [0; 64];
        let n = self.file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        waited_ns(&text[..n])
    }
}

/// The second number of a schedstat file.
fn waited_ns(text: &[u8]) -> u64 {
    let word = text.split(|b| *b == b' ').nth(1).and_then(|word| std::str::from_utf8(word).ok());
    word.and_then(|word| word.trim().parse().ok()).unwrap_or(0)
}

/// The same of all threads of this process.
pub fn process_wait_ns() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| std::fs::read(task.path().join("schedstat")).ok()).map(|text| waited_ns(&text)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_a_cpu_is_the_second_number() {
        assert_eq!([&b"0 102280 1\n"[..], b"", b"7", b"a b c"].map(waited_ns), [102_280, 0, 0, 0]);
    }

    #[test]
    fn what_is_asked_between_two_looks_is_one_figure() {
        let mut wait = CpuWait { file: None, at: 0, looked: 0, since: Some(9) };
        assert_eq!(wait.since_look(), 9);
        wait.look(1);
        assert_eq!((wait.since_look(), wait.at), (0, 0));
        wait.look(MILLISECOND);
        assert_eq!(wait.at, MILLISECOND);
    }
}
