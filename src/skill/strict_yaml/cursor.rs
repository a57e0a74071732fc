//! Walks over the characters of the front matter and counts lines and columns.

use super::token::Mark;

pub(super) struct Cursor {
    characters: Vec<char>,
    index: usize,
    mark: Mark,
}

impl Cursor {
    /// Folds CRLF and CR into LF, as Python does when it reads a text file.
    pub(super) fn new(text: &str) -> Self {
        let mut characters = Vec::with_capacity(text.len() + 1);
        let mut previous = '\0';
        for character in text.chars() {
            match character {
                '\n' if previous == '\r' => {}
                '\r' => characters.push('\n'),
                other => characters.push(other),
            }
            previous = character;
        }
        characters.push('\0');
        Self {
            characters,
            index: 0,
            mark: Mark::default(),
        }
    }

    pub(super) fn first_unprintable(&self) -> Option<(char, Mark)> {
        let text = &self.characters[..self.characters.len() - 1];
        let place = text
            .iter()
            .position(|&character| !is_printable(character))?;
        let line = text[..place]
            .iter()
            .filter(|&&character| character == '\n')
            .count();
        let start = text[..place]
            .iter()
            .rposition(|&character| character == '\n');
        let column = place - start.map_or(0, |start| start + 1);
        Some((text[place], Mark { line, column }))
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn mark(&self) -> Mark {
        self.mark
    }

    pub(super) fn column(&self) -> usize {
        self.mark.column
    }

    pub(super) fn peek(&self) -> char {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, offset: usize) -> char {
        self.characters
            .get(self.index + offset)
            .copied()
            .unwrap_or('\0')
    }

    /// Steps over `count` characters. Only LF starts a line, and a byte order mark has no width.
    pub(super) fn advance(&mut self, count: usize) {
        for _ in 0..count {
            match self.peek() {
                '\n' => {
                    self.mark = Mark {
                        line: self.mark.line + 1,
                        column: 0,
                    }
                }
                '\u{feff}' => {}
                _ => self.mark.column += 1,
            }
            self.index = (self.index + 1).min(self.characters.len());
        }
    }

    pub(super) fn take(&mut self, count: usize, text: &mut String) {
        let end = (self.index + count).min(self.characters.len());
        text.extend(&self.characters[self.index..end]);
        self.advance(count);
    }

    pub(super) fn count_while(&self, test: impl Fn(char) -> bool) -> usize {
        self.characters[self.index..]
            .iter()
            .take_while(|&&character| test(character))
            .count()
    }

    /// Steps over one line break and gives the character that it counts as.
    pub(super) fn line_break(&mut self) -> Option<char> {
        let folded = match self.peek() {
            '\n' | '\u{85}' => '\n',
            other @ ('\u{2028}' | '\u{2029}') => other,
            _ => return None,
        };
        self.advance(1);
        Some(folded)
    }

    /// Whether `---` or `...` stands here alone, wherever in the line that is.
    pub(super) fn is_at_document_marker(&self) -> bool {
        let first = self.peek();
        matches!(first, '-' | '.')
            && self.peek_at(1) == first
            && self.peek_at(2) == first
            && is_blank_or_end(self.peek_at(3))
    }
}

pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_end(character: char) -> bool {
    character == '\0' || is_break(character)
}

pub(super) fn is_blank_or_end(character: char) -> bool {
    matches!(character, ' ' | '\t') || is_end(character)
}

/// The character range of YAML 1.2, chapter 5.1.
fn is_printable(character: char) -> bool {
    matches!(character,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}'
        | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}
