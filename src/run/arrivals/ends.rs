//! Where the lines of an output end. Pure.

use std::ops::Range;

use super::LINES_MAX;

/// Where the lines of an output end, in bytes from its beginning, as far as they can be told.
#[derive(Debug, Default)]
pub struct Ends {
    /// Those of whole lines, one more than are told at most.
    pub(super) whole: Vec<u32>,
    /// That of a last line that has no end of its own.
    pub(super) open: Option<u32>,
    size: u32,
}

impl Ends {
    /// Takes the bytes that come next. Together they are a few times [`KEPT_MAX`](super::KEPT_MAX) at
    /// most.
    pub fn take(&mut self, bytes: &[u8]) {
        let before = self.size;
        let room = (LINES_MAX + 1).saturating_sub(self.whole.len());
        let ends = memchr::memchr_iter(b'\n', bytes).take(room);
        self.whole.extend(ends.map(|end| before + end as u32 + 1));
        self.size += bytes.len() as u32;
    }

    /// Says that no more bytes come: what follows the last end is a line as well.
    pub fn close(&mut self) {
        let last = self.whole.last().copied().unwrap_or(0);
        self.open = Some(self.size).filter(|size| *size > last && !self.are_full());
    }

    /// Says whether there are more lines than can be told.
    pub fn are_full(&self) -> bool {
        self.whole.len() > LINES_MAX
    }

    /// Says where a line is, without what ends it.
    pub fn line(&self, line: usize) -> Range<u64> {
        let former = line.checked_sub(1).and_then(|line| self.whole.get(line));
        let start = former.copied().unwrap_or(0);
        let whole = self.whole.get(line).map(|end| end - 1);
        let end = whole.or(self.open).unwrap_or(start);
        u64::from(start)..u64::from(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_where_they_are_however_the_bytes_come() {
        let text = b"one\n\nthree\nfo";
        for size in 1..=text.len() {
            let mut ends = Ends::default();
            text.chunks(size).for_each(|bytes| ends.take(bytes));
            assert_eq!(ends.open, None);
            ends.close();
            let lines: Vec<_> = (0..4).map(|line| ends.line(line)).collect();
            assert_eq!(lines, [0..3, 4..4, 5..10, 11..13], "{size}");
        }
    }

    #[test]
    fn after_a_last_end_no_line_is_left() {
        for text in ["", "\n", "one\n"] {
            let mut ends = Ends::default();
            ends.take(text.as_bytes());
            ends.close();
            assert_eq!(ends.open, None, "{text:?}");
        }
    }
}
