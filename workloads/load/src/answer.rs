//! Reads one HTTP/1.1 answer from bytes as they arrive, and keeps of it what is checked.

use crate::search::Search;

const MAX_HEAD: usize = 65_536;
const MAX_LINE: usize = 4_096;
/// Bytes that no body and no chunk has: such a size is a mistake, for which nobody waits.
const MAX_BODY: u64 = 1 << 60;
const N_HEADERS: usize = 100;
const SAMPLE: usize = 100;

/// An answer came to its end.
#[derive(Debug, PartialEq)]
pub struct Ended {
    pub keep_alive: bool,
    /// Bytes of the last piece that do not belong to it.
    pub left: usize,
}

/// What is read is no answer to an HTTP/1.1 request.
#[derive(Debug, PartialEq)]
pub struct Malformed;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Head,
    Counted(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailer,
    UntilClosed,
}

pub struct Answer {
    state: State,
    of_head: bool,
    keep_alive: bool,
    pub status: u16,
    /// Of a head or a line that has arrived in part.
    partial: Vec<u8>,
    search: Option<Search>,
    /// How the body begins.
    pub sample: Vec<u8>,
}

impl Answer {
    pub fn new() -> Self {
        Answer {
            state: State::Head,
            of_head: false,
            keep_alive: true,
            status: 0,
            partial: Vec::new(),
            search: None,
            sample: Vec::new(),
        }
    }

    /// Forgets the last answer. `of_head`: a HEAD request has no body; `contains`: what its body must contain.
    pub fn expect(&mut self, of_head: bool, contains: &[u8]) {
        (self.state, self.of_head, self.status) = (State::Head, of_head, 0);
        self.partial.clear();
        self.sample.clear();
        match &mut self.search {
            Some(search) if search.is_for(contains) => search.reset(),
            _ => self.search = (!contains.is_empty()).then(|| Search::new(contains)),
        }
    }

    /// Whether the body contained what it must.
    pub fn contained(&self) -> bool {
        self.search.as_ref().is_none_or(|search| search.found)
    }

    /// Takes the next bytes; None while the answer goes on.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Option<Ended>, Malformed> {
        loop {
            let before = self.state;
            let ended = match self.state {
                State::Head => self.head(&mut bytes)?,
                State::Counted(left) => {
                    let left = self.body(&mut bytes, left);
                    self.state = State::Counted(left);
                    left == 0
                }
                State::UntilClosed => {
                    self.body(&mut bytes, u64::MAX);
                    false
                }
                _ => self.chunked(&mut bytes)?,
            };
            if ended {
                return Ok(Some(Ended { keep_alive: self.keep_alive, left: bytes.len() }));
            }
            if bytes.is_empty() && self.state == before {
                return Ok(None);
            }
        }
    }

    /// Whether an answer is whole if the connection ends here.
    pub fn ends_with_connection(&self) -> bool {
        self.state == State::UntilClosed
    }

    fn head(&mut self, bytes: &mut &[u8]) -> Result<bool, Malformed> {
        if self.partial.is_empty() {
            return match self.parse(bytes)? {
                Some(n) => {
                    *bytes = &bytes[n..];
                    Ok(self.state == State::Counted(0))
                }
                None => {
                    self.partial.extend_from_slice(bytes);
                    *bytes = &[];
                    Ok(false)
                }
            };
        }
        let had = self.partial.len();
        self.partial.extend_from_slice(bytes);
        let partial = std::mem::take(&mut self.partial);
        match self.parse(&partial)? {
            Some(n) => {
                *bytes = &bytes[n.saturating_sub(had)..];
                Ok(self.state == State::Counted(0))
            }
            None if partial.len() > MAX_HEAD => Err(Malformed),
            None => {
                self.partial = partial;
                *bytes = &[];
                Ok(false)
            }
        }
    }

    /// Reads a whole head and returns its length; None where it goes on. An interim answer is passed over.
    fn parse(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let mut headers = [httparse::EMPTY_HEADER; N_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        let n = match head.parse(bytes) {
            Ok(httparse::Status::Complete(n)) => n,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Malformed),
        };
        self.status = head.code.ok_or(Malformed)?;
        self.keep_alive = head.version == Some(1);
        if (100..200).contains(&self.status) {
            return Ok(Some(n));
        }
        self.state = self.framing(head.headers)?;
        Ok(Some(n))
    }

    fn framing(&mut self, headers: &[httparse::Header<'_>]) -> Result<State, Malformed> {
        let (mut length, mut chunked) = (None, false);
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                let text = std::str::from_utf8(header.value).map_err(|_| Malformed)?;
                length = Some(text.trim().parse().ok().filter(|n| *n <= MAX_BODY).ok_or(Malformed)?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = header.value.to_ascii_lowercase().ends_with(b"chunked");
            } else if header.name.eq_ignore_ascii_case("connection") {
                let value = header.value.to_ascii_lowercase();
                self.keep_alive = value != b"close" && (self.keep_alive || value == b"keep-alive");
            }
        }
        Ok(match (length, chunked) {
            _ if self.of_head || self.status == 204 || self.status == 304 => State::Counted(0),
            (_, true) => State::ChunkSize,
            (Some(length), false) => State::Counted(length),
            (None, false) => {
                self.keep_alive = false;
                State::UntilClosed
            }
        })
    }

    /// Takes at most so many bytes as body; returns how many are still to come.
    fn body(&mut self, bytes: &mut &[u8], left: u64) -> u64 {
        let n = left.min(bytes.len() as u64) as usize;
        let (taken, rest) = bytes.split_at(n);
        if let Some(search) = &mut self.search {
            search.feed(taken);
        }
        let room = SAMPLE.saturating_sub(self.sample.len()).min(n);
        self.sample.extend_from_slice(&taken[..room]);
        *bytes = rest;
        left - n as u64
    }

    fn chunked(&mut self, bytes: &mut &[u8]) -> Result<bool, Malformed> {
        if let State::Chunk(left) = self.state {
            let left = self.body(bytes, left);
            self.state = if left == 0 { State::ChunkEnd } else { State::Chunk(left) };
            return Ok(false);
        }
        let Some(line) = self.line(bytes)? else { return Ok(false) };
        match self.state {
            State::ChunkSize => {
                let digits = line.split(|b| *b == b';').next().unwrap_or(&[]).trim_ascii();
                let text = std::str::from_utf8(digits).map_err(|_| Malformed)?;
                let size = u64::from_str_radix(text, 16).map_err(|_| Malformed)?;
                if size > MAX_BODY {
                    return Err(Malformed);
                }
                self.state = if size == 0 { State::Trailer } else { State::Chunk(size) };
                Ok(false)
            }
            State::ChunkEnd if !line.is_empty() => Err(Malformed),
            State::ChunkEnd => {
                self.state = State::ChunkSize;
                Ok(false)
            }
            _ => Ok(line.is_empty()),
        }
    }

    /// A whole line without its end; None while it goes on.
    fn line(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
        let end = memchr::memchr(b'\n', bytes);
        let n = end.map_or(bytes.len(), |end| end + 1);
        if self.partial.len() + n > MAX_LINE {
            return Err(Malformed);
        }
        self.partial.extend_from_slice(&bytes[..n]);
        *bytes = &bytes[n..];
        Ok(end.map(|_| {
            let mut line = std::mem::take(&mut self.partial);
            line.truncate(line.len() - 1);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            line
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nT: 1\r\n\r\n";

    /// Fed in pieces of n bytes: status, whether it holds "hello", what ended it, its sample.
    fn read(bytes: &[u8], n: usize, of_head: bool) -> (u16, bool, Result<Option<Ended>, Malformed>, Vec<u8>) {
        let mut answer = Answer::new();
        answer.expect(of_head, b"hello");
        let mut last = Ok(None);
        for piece in bytes.chunks(n) {
            last = answer.feed(piece);
            if last != Ok(None) {
                break;
            }
        }
        (answer.status, answer.contained(), last, answer.sample.clone())
    }

    #[test]
    fn however_it_is_cut_the_answer_is_the_same() {
        let interim = [b"HTTP/1.1 100 Continue\r\n\r\n", PLAIN].concat();
        for whole in [PLAIN, CHUNKED, &interim] {
            for n in 1..=whole.len() {
                let found = read(whole, n, false);
                assert_eq!(found, (200, true, Ok(Some(Ended { keep_alive: true, left: 0 })), b"hello".to_vec()), "{n}");
            }
        }
    }

    #[test]
    fn an_answer_without_a_body_ends_with_its_head() {
        for (bytes, of_head) in [
            (&b"HTTP/1.1 204 No Content\r\n\r\n"[..], false),
            (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
        ] {
            assert_eq!(read(bytes, 7, of_head).2, Ok(Some(Ended { keep_alive: true, left: 0 })));
        }
    }

    #[test]
    fn whether_the_connection_stays_is_told_by_version_and_header() {
        let keep = |head: &str| {
            let text = format!("HTTP/{head}\r\nContent-Length: 0\r\n\r\n");
            read(text.as_bytes(), 999, false).2.unwrap().unwrap().keep_alive
        };
        assert!(keep("1.1 200 OK") && keep("1.0 200 OK\r\nConnection: Keep-Alive"));
        assert!(!keep("1.0 200 OK") && !keep("1.1 200 OK\r\nConnection: close"));
        let mut open = Answer::new();
        open.expect(false, b"");
        assert_eq!(open.feed(b"HTTP/1.1 200 OK\r\n\r\nabc"), Ok(None));
        assert!(open.ends_with_connection());
    }

    #[test]
    fn what_is_no_answer_is_refused_and_never_grows() {
        for bytes in [
            &b"SSH-2.0-x\r\n"[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        ] {
            assert_eq!(read(bytes, 5, false).2, Err(Malformed));
        }
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'a'; 2 * MAX_HEAD]].concat();
        assert_eq!(read(&endless, 1000, false).2, Err(Malformed));
        assert_eq!(read(&[PLAIN, b"more"].concat(), 999, false).2, Ok(Some(Ended { keep_alive: true, left: 4 })));
    }
}
