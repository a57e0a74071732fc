//! Lines of an input, each within bounds.

use std::io::{self, BufRead, BufReader, Read};

use crate::error::{Code, Error, Result};

/// Lines of an input, one after the other, each within bounds.
pub(crate) struct Lines<R> {
    input: R,
    max: usize,
    number: usize,
    /// The part of the line that was in earlier chunks of the input.
    start: Vec<u8>,
    /// How much of the chunk at hand is the line that was handed out.
    used: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    /// The line without its end; none when it is longer than is allowed.
    pub(crate) bytes: Option<&'a [u8]>,
}

impl<'a> Line<'a> {
    pub(crate) fn is_blank(&self) -> bool {
        self.bytes
            .is_some_and(|bytes| bytes.trim_ascii().is_empty())
    }

    /// Returns what the line holds, without a byte order mark; `max` is how long it may be.
    pub(crate) fn content(&self, max: usize) -> Result<&'a [u8]> {
        let mark = "\u{feff}".as_bytes();
        match self.bytes {
            None => {
                let message = format!("line {} has more than {max} bytes", self.number);
                Err(Error::new(Code::InputInvalid, message))
            }
            Some(bytes) if self.number == 1 => Ok(bytes.strip_prefix(mark).unwrap_or(bytes)),
            Some(bytes) => Ok(bytes),
        }
    }

    /// Reads what the line holds; an error of `read` names the line.
    pub(crate) fn parse<T>(&self, max: usize, read: impl Fn(&[u8]) -> Result<T>) -> Result<T> {
        read(self.content(max)?).map_err(|error| error.in_line(self.number))
    }
}

/// Returns the error for standard input that cannot be read.
pub(crate) fn stdin_unreadable(cause: io::Error) -> Error {
    Error::new(Code::FileUnreadable, "standard input cannot be read").because(cause)
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, max: usize) -> Lines<R> {
        Lines {
            input,
            max,
            number: 0,
            start: Vec::new(),
            used: 0,
        }
    }

    /// Reads the next line; none at the end. A line that stands whole in a chunk is not copied.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.input.consume(std::mem::take(&mut self.used));
        self.start.clear();
        self.number += 1;
        let end = loop {
            let chunk = self.input.fill_buf()?;
            let end = memchr::memchr(b'\n', chunk);
            if let Some(end) = end.filter(|_| self.start.is_empty()) {
                break end;
            }
            let part = &chunk[..end.unwrap_or(chunk.len())];
            // One byte more than is allowed shows that the line is too long.
            let room = (self.max + 1).saturating_sub(self.start.len());
            self.start.extend_from_slice(&part[..part.len().min(room)]);
            let read = part.len() + usize::from(end.is_some());
            self.input.consume(read);
            if end.is_some() || read == 0 {
                let is_line = end.is_some() || !self.start.is_empty();
                return Ok(is_line.then(|| line(self.number, &self.start, self.max)));
            }
        };
        self.used = end + 1;
        let chunk = self.input.fill_buf()?;
        Ok(Some(line(self.number, &chunk[..end], self.max)))
    }
}

impl<R: Read> Lines<BufReader<R>> {
    pub(crate) fn needs_input(&self) -> bool {
        let rest = self.input.buffer().get(self.used..).unwrap_or_default();
        memchr::memchr(b'\n', rest).is_none()
    }
}

fn line(number: usize, bytes: &[u8], max: usize) -> Line<'_> {
    let bytes = (bytes.len() <= max).then_some(bytes);
    Line { number, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_lines_do_not_hide_the_next() {
        let mut lines = Lines::new(&b"ab\nabcdef\n\nabc\r\nxyz"[..], 4);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.number, line.bytes.map(<[u8]>::to_vec)));
        }
        let some = |text: &str| Some(text.as_bytes().to_vec());
        let expected = [
            (1, some("ab")),
            (2, None),
            (3, some("")),
            (4, some("abc\r")),
            (5, some("xyz")),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_come_whole_however_input_is_cut() {
        let text = b"ab\n\nabcde\nabcd\n\nxy";
        for chunk in 1..=text.len() {
            let mut lines = Lines::new(BufReader::with_capacity(chunk, &text[..]), 4);
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                found.push(line.bytes.map(<[u8]>::to_vec));
            }
            let expected = ["ab", "", "-", "abcd", "", "xy"];
            let expected = expected.map(|text| (text != "-").then(|| text.as_bytes().to_vec()));
            assert_eq!(found, expected, "{chunk}");
        }
    }
}
