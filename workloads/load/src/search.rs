//! Looks for a text in bytes that arrive in pieces.

use memchr::memmem::Finder;

pub struct Search {
    finder: Finder<'static>,
    /// The last bytes so far, one fewer than the text has.
    tail: Vec<u8>,
    pub found: bool,
}

impl Search {
    pub fn new(needle: &[u8]) -> Self {
        Search { finder: Finder::new(needle).into_owned(), tail: Vec::new(), found: false }
    }

    /// Whether it looks for this text.
    pub fn is_for(&self, needle: &[u8]) -> bool {
        self.finder.needle() == needle
    }

    pub fn reset(&mut self) {
        self.tail.clear();
        self.found = false;
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        if self.found {
            return;
        }
        let overlap = self.finder.needle().len() - 1;
        self.tail.extend_from_slice(&bytes[..overlap.min(bytes.len())]);
        self.found = self.finder.find(&self.tail).is_some() || self.finder.find(bytes).is_some();
        if bytes.len() >= overlap {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - overlap..]);
        } else {
            self.tail.drain(..self.tail.len().saturating_sub(overlap));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Search;

    #[test]
    fn the_text_is_found_across_pieces_and_only_if_it_is_there() {
        for n in 1..20 {
            for (body, there) in
                [("say hell, hello", true), ("hellhell, ello", false), ("hello", true), ("hell", false)]
            {
                let mut search = Search::new(b"hello");
                body.as_bytes().chunks(n).for_each(|piece| search.feed(piece));
                assert_eq!(search.found, there, "{body} {n}");
                search.reset();
                search.feed(b"o");
                assert!(!search.found);
            }
        }
    }
}
