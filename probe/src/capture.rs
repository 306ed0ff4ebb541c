//! Bounded memory for what a copy writes: the first bytes of stdout, the last of stderr.

use crate::sys;
use std::collections::VecDeque;
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;

#[derive(Debug)]
pub struct Kept {
    bytes: VecDeque<u8>,
    limit: usize,
    keep_last: bool,
    pub truncated: bool,
}

impl Kept {
    pub fn first(limit: usize) -> Kept {
        Kept { bytes: VecDeque::new(), limit, keep_last: false, truncated: false }
    }

    pub fn last(limit: usize) -> Kept {
        Kept { keep_last: true, ..Kept::first(limit) }
    }

    pub fn push(&mut self, new: &[u8]) {
        let room = self.limit - self.bytes.len();
        self.truncated |= new.len() > room;
        if self.keep_last {
            let new = &new[new.len().saturating_sub(self.limit)..];
            let excess = (self.bytes.len() + new.len()).saturating_sub(self.limit);
            self.bytes.drain(..excess);
            self.bytes.extend(new);
        } else {
            self.bytes.extend(&new[..new.len().min(room)]);
        }
    }

    pub fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }
}

/// Hands what is there to `sink`; true at the end of the stream.
pub fn pump(fd: &OwnedFd, mut sink: impl FnMut(&[u8])) -> bool {
    let mut buffer = [0; 65536];
    // At most a mebibyte at a time: a copy that never stops writing must not hold up the rest.
    for _ in 0..16 {
        match sys::read(fd, &mut buffer) {
            Ok(0) => return true,
            Ok(n) => sink(&buffer[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return e.kind() != ErrorKind::WouldBlock,
        }
    }
    false
}

/// Where it is asked for, what a copy writes goes to our standard error too; whoever read that may have left.
pub fn echo(bytes: &[u8], is_asked: bool) {
    if is_asked {
        let _ = std::io::stderr().write_all(bytes);
    }
}

/// Pieces of at most `limit` bytes, cut between characters; at least one.
pub fn pieces(text: &str, limit: usize) -> Vec<&str> {
    let (mut rest, mut found) = (text, Vec::new());
    while rest.len() > limit {
        let cut = (0..=limit).rev().find(|i| rest.is_char_boundary(*i)).unwrap_or(limit);
        let (piece, after) = rest.split_at(cut);
        found.push(piece);
        rest = after;
    }
    found.push(rest);
    found
}
