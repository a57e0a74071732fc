//! Lines of what a program writes, and the last of them.

use std::collections::VecDeque;

use crate::error::Result;

/// How many lines a program's complaint may have, and how many bytes each of them.
pub(super) const LAST_LINES: usize = 20;
pub(super) const LAST_LINE_MAX: usize = 2_000;

/// Takes a line without its end, and how many bytes of it were left out.
type Take<'a> = dyn FnMut(&[u8], usize) -> Result<()> + 'a;

/// Splits bytes, which may come in any pieces, into lines of at most `max` bytes.
pub(super) struct Lines {
    max: usize,
    line: Vec<u8>,
    /// How many more bytes it has than are kept.
    beyond: usize,
}

impl Lines {
    pub(super) fn new(max: usize) -> Lines {
        Lines {
            max,
            line: Vec::new(),
            beyond: 0,
        }
    }

    pub(super) fn split(&mut self, bytes: &[u8], take: &mut Take<'_>) -> Result<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let more = text.unwrap_or(part);
            let room = self.max.saturating_sub(self.line.len()).min(more.len());
            self.line.extend_from_slice(&more[..room]);
            self.beyond += more.len() - room;
            if text.is_some() {
                take(&self.line, self.beyond)?;
                self.beyond = 0;
                self.line.clear();
                // A long line does not keep its room for the short ones that follow.
                self.line.shrink_to(64 * 1024);
            }
        }
        Ok(())
    }

    pub(super) fn last_open_line(&self) -> Option<(&[u8], usize)> {
        (!self.line.is_empty()).then_some((self.line.as_slice(), self.beyond))
    }
}

/// Adds a line to the last ones of what a program wrote.
pub(super) fn push_last(lines: &mut VecDeque<String>, line: &str) {
    let line = &line[..line.floor_char_boundary(LAST_LINE_MAX)];
    lines.push_back(line.to_string());
    lines.drain(..lines.len().saturating_sub(LAST_LINES));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_depend_on_chunks() {
        let text = "one\r\n\n12345678\nthree";
        for size in [1, 3, 100] {
            let (mut lines, mut taken) = (Lines::new(5), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                let take = &mut |line: &[u8], beyond| {
                    taken.push((line.len(), beyond));
                    Ok(())
                };
                lines.split(piece, take).unwrap();
            }
            assert_eq!(taken, [(4, 0), (0, 0), (5, 3)]);
            assert_eq!(lines.last_open_line(), Some((&b"three"[..], 0)));
        }
    }

    #[test]
    fn last_lines_are_bounded() {
        let mut lines = VecDeque::new();
        (0..30).for_each(|n| push_last(&mut lines, &format!("{n}{}", "x".repeat(3_000))));
        assert_eq!((lines.len(), lines[0].len()), (LAST_LINES, 2_000));
        assert!(lines[0].starts_with("10x"));
    }
}
