//! Where the lines of an agent's log are. What they say is read when it is asked for, so a long log takes little
//! memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use crate::error::Result;
use crate::file::{open, unreadable};
use crate::run::log::{LINE_MAX, LINES_MAX, LOG_MAX};

/// Most bytes of a line of a log that are read: no byte of an output takes more than six there.
const READ_MAX: u64 = 6 * LINE_MAX as u64 + 1024;
/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// The log of an attempt; by itself one that is not there.
#[derive(Default)]
pub(super) struct Written {
    path: PathBuf,
    input: Option<BufReader<File>>,
    /// How far it was read.
    at: u64,
    /// Where each line ends, with its end.
    ends: Vec<u32>,
    /// Whether there are more lines.
    is_cut: bool,
}

impl Written {
    /// Finds the lines that are whole by now.
    pub(super) fn read(path: PathBuf) -> Result<Written> {
        let mut written = Written {
            path,
            ..Written::default()
        };
        if written.path.is_file() {
            let input = BufReader::with_capacity(CHUNK, open(&written.path)?);
            let found = written.find_ends(input);
            found.map_err(|cause| unreadable(&written.path, cause))?;
        }
        Ok(written)
    }

    fn find_ends(&mut self, mut input: BufReader<File>) -> io::Result<()> {
        while self.ends.len() <= LINES_MAX {
            let bytes = input.fill_buf()?;
            let read = bytes.len().min((LOG_MAX - self.at) as usize);
            if read == 0 {
                break;
            }
            let ends = memchr::memchr_iter(b'\n', &bytes[..read]);
            let at = self.at as u32;
            self.ends.extend(ends.map(|end| at + end as u32 + 1));
            input.consume(read);
            self.at += read as u64;
        }
        self.is_cut = self.ends.len() > LINES_MAX;
        self.ends.truncate(LINES_MAX);
        self.input = Some(input);
        Ok(())
    }

    /// Returns how many lines there are, with one for all that are too many.
    pub(super) fn total(&self) -> usize {
        self.ends.len() + usize::from(self.is_cut)
    }

    /// Reads a line; none for the line that replaces all over the maximum.
    pub(super) fn line(&mut self, n: usize) -> Result<Option<Vec<u8>>> {
        let (Some(end), Some(input)) = (self.ends.get(n), &mut self.input) else {
            return Ok(None);
        };
        let before = n.checked_sub(1).map_or(0, |n| self.ends[n]);
        let mut bytes = Vec::new();
        let mut read = || -> io::Result<usize> {
            input.seek_relative(i64::from(before) - self.at as i64)?;
            let length = u64::from(end - before - 1);
            input.take(length.min(READ_MAX)).read_to_end(&mut bytes)
        };
        let read = read().map_err(|cause| unreadable(&self.path, cause))?;
        self.at = u64::from(before) + read as u64;
        Ok(Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str) -> Written {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("T1-1.log");
        fs::write(&path, text).unwrap();
        Written::read(path).unwrap()
    }

    #[test]
    fn lines_can_be_read_in_any_order() {
        let text: String = (0..30_000).map(|n| format!("line {n}\n")).collect();
        let mut written = read(&(text + "torn"));
        assert_eq!(written.total(), 30_000);
        for n in [29_999, 0, 1, 2, 15_000, 14_999, 29_998, 29_999] {
            let line = written.line(n).unwrap().unwrap();
            assert_eq!(line, format!("line {n}").as_bytes());
        }
    }

    #[test]
    fn of_very_many_lines_the_first_are_told_and_one_for_the_rest() {
        let mut written = read(&"\n".repeat(LINES_MAX + 3));
        assert_eq!(written.total(), LINES_MAX + 1);
        assert!(written.line(LINES_MAX).unwrap().is_none());
        assert!(written.line(LINES_MAX - 1).unwrap().is_some());
    }

    #[test]
    fn a_line_without_bounds_is_read_within_bounds() {
        let mut written = read(&("x".repeat(2 * READ_MAX as usize) + "\n"));
        assert_eq!(written.line(0).unwrap().unwrap().len() as u64, READ_MAX);
    }
}
