//! Scans values without quotes (YAML 1.2, chapter 7.3.3).

use super::cursor::{is_blank_or_end, is_break};
use super::scanner::Scanner;
use super::token::{Scan, Token};

impl Scanner {
    pub(super) fn plain_scalar(&mut self) -> Scan<()> {
        self.save_key()?;
        self.allow_simple_key = false;
        let start = self.cursor.mark();
        let (mut end, mut text, mut gap) = (start, String::new(), String::new());
        while self.cursor.peek() != '#' {
            let length = self.plain_length();
            if length == 0 {
                break;
            }
            self.allow_simple_key = false;
            text.push_str(&gap);
            self.cursor.take(length, &mut text);
            end = self.cursor.mark();
            gap = self.plain_gap();
            if gap.is_empty() || self.is_left_of_plain() {
                break;
            }
        }
        let mut token = Token::scalar(text, true, start, end);
        if gap.starts_with('\n') {
            token.add_comment_after();
        }
        self.push(token);
        Ok(())
    }

    fn is_left_of_plain(&self) -> bool {
        self.cursor.column().cast_signed() < self.indent + 1
    }

    /// How many characters follow up to a blank, a line end or a colon that ends a key.
    fn plain_length(&self) -> usize {
        let mut length = 0;
        loop {
            let character = self.cursor.peek_at(length);
            let ends_key = character == ':' && is_blank_or_end(self.cursor.peek_at(length + 1));
            if ends_key || is_blank_or_end(character) {
                return length;
            }
            length += 1;
        }
    }

    /// What the blanks and line breaks between two parts of the value count as. Nothing, where
    /// the value cannot go on.
    fn plain_gap(&mut self) -> String {
        let mut gap = String::new();
        self.cursor.take(
            self.cursor.count_while(|character| character == ' '),
            &mut gap,
        );
        let Some(first) = self.cursor.line_break() else {
            return gap;
        };
        self.allow_simple_key = true;
        self.plain_breaks(first).unwrap_or_default()
    }

    /// Folds the breaks after the `first` one; `None` before a document marker.
    fn plain_breaks(&mut self, first: char) -> Option<String> {
        let mut breaks = String::new();
        let mut at_line_start = true;
        loop {
            if at_line_start && self.cursor.is_at_document_marker() {
                return None;
            }
            at_line_start = false;
            match self.cursor.peek() {
                ' ' => self.cursor.advance(1),
                other if is_break(other) => {
                    breaks.extend(self.cursor.line_break());
                    at_line_start = true;
                }
                _ => return Some(folded(first, breaks)),
            }
        }
    }
}

/// A single LF counts as a blank, LF and empty lines as the empty lines (chapter 6.5).
pub(super) fn folded(first: char, mut breaks: String) -> String {
    if first != '\n' {
        breaks.insert(0, first);
    } else if breaks.is_empty() {
        breaks.push(' ');
    }
    breaks
}
