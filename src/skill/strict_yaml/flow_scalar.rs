//! Scans plain and quoted values (YAML 1.2, chapter 7.3).

use super::cursor::{is_blank_or_end, is_break};
use super::scanner::Scanner;
use super::token::{Mark, Scan, Token};

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
            let is_left = self.cursor.column().cast_signed() < self.indent + 1;
            if gap.is_empty() || is_left {
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

impl Scanner {
    pub(super) fn quoted_scalar(&mut self, quote: char) -> Scan<()> {
        self.save_key()?;
        self.allow_simple_key = false;
        let start = self.cursor.mark();
        let mut text = String::new();
        self.cursor.advance(1);
        self.quoted_words(quote, &mut text, start)?;
        while self.cursor.peek() != quote {
            self.quoted_gap(&mut text, start)?;
            self.quoted_words(quote, &mut text, start)?;
        }
        self.cursor.advance(1);
        self.push(Token::scalar(text, false, start, self.cursor.mark()));
        Ok(())
    }

    fn quoted_words(&mut self, quote: char, text: &mut String, start: Mark) -> Scan<()> {
        loop {
            let length = self.cursor.count_while(|character| {
                !is_blank_or_end(character) && !matches!(character, '\'' | '"' | '\\')
            });
            self.cursor.take(length, text);
            match (quote, self.cursor.peek()) {
                ('\'', '\'') if self.cursor.peek_at(1) == '\'' => {
                    text.push('\'');
                    self.cursor.advance(2);
                }
                ('"', '\'') | ('\'', '"' | '\\') => self.cursor.take(1, text),
                ('"', '\\') => self.escape(text, start)?,
                _ => return Ok(()),
            }
        }
    }

    fn escape(&mut self, text: &mut String, start: Mark) -> Scan<()> {
        self.cursor.advance(1);
        let letter = self.cursor.peek();
        if is_break(letter) {
            self.cursor.line_break();
            text.push_str(&self.quoted_breaks(start)?);
            return Ok(());
        }
        let character = match letter {
            'x' => self.numeric_escape(2),
            'u' => self.numeric_escape(4),
            'U' => self.numeric_escape(8),
            _ => escaped(letter),
        };
        let unknown = "This is not an escape that YAML knows; double the backslash.";
        let fault = self.cursor.mark().fault("YAML_ESCAPE", unknown);
        text.push(character.ok_or(fault)?);
        self.cursor.advance(1);
        Ok(())
    }

    /// Reads `length` hexadecimal digits and stops on the last.
    fn numeric_escape(&mut self, length: usize) -> Option<char> {
        let mut code = 0_u32;
        for place in 1..=length {
            code = code.checked_mul(16)? + self.cursor.peek_at(place).to_digit(16)?;
        }
        // Python text may hold lone surrogates, so the reference takes them; here each stands for itself
        // as a private character.
        let character = match code {
            0xd800..=0xdfff => char::from_u32(0x10_f000 + (code - 0xd800))?,
            _ => char::from_u32(code)?,
        };
        self.cursor.advance(length);
        Some(character)
    }

    fn quoted_gap(&mut self, text: &mut String, start: Mark) -> Scan<()> {
        let length = self
            .cursor
            .count_while(|character| matches!(character, ' ' | '\t'));
        let mut blanks = String::new();
        self.cursor.take(length, &mut blanks);
        if self.cursor.peek() == '\0' {
            return Err(start.fault("YAML_QUOTE", "The closing quote of this value is missing."));
        }
        match self.cursor.line_break() {
            Some(first) => text.push_str(&folded(first, self.quoted_breaks(start)?)),
            None => text.push_str(&blanks),
        }
        Ok(())
    }

    fn quoted_breaks(&mut self, start: Mark) -> Scan<String> {
        let mut breaks = String::new();
        loop {
            if self.cursor.is_at_document_marker() {
                let message = "The closing quote of this value is missing.";
                return Err(start.fault("YAML_QUOTE", message));
            }
            let blank = |character| matches!(character, ' ' | '\t');
            self.cursor.advance(self.cursor.count_while(blank));
            match self.cursor.line_break() {
                Some(character) => breaks.push(character),
                None => return Ok(breaks),
            }
        }
    }
}

/// The escapes of one letter (chapter 5.7).
fn escaped(letter: char) -> Option<char> {
    Some(match letter {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => letter,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}
