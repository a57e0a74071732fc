//! Scans literal (`|`) and folded (`>`) blocks (YAML 1.2, chapter 8.1).

use super::cursor::is_end;
use super::scanner::Scanner;
use super::token::{Mark, Scan, Token};

#[derive(Clone, Copy, PartialEq)]
enum Chomping {
    Clip,
    Keep,
    Strip,
}

struct Header {
    chomping: Chomping,
    increment: Option<usize>,
    commented: bool,
}

struct Breaks {
    text: String,
    end: Mark,
}

impl Scanner {
    pub(super) fn block_scalar(&mut self, folded: bool) -> Scan<()> {
        self.allow_simple_key = true;
        self.forget_key()?;
        let start = self.cursor.mark();
        if self.indent < 0 {
            return Err(start.fault(
                "YAML_NOT_MAPPING",
                "The front matter must be keys and values.",
            ));
        }
        self.cursor.advance(1);
        let header = self.block_header()?;
        let (indent, breaks) = self.block_indent(header.increment);
        let (text, breaks) = self.block_text(folded, indent, breaks, header.chomping);
        let mut token = Token::scalar(text, false, start, breaks.end);
        if header.commented {
            token.add_comment_before()?;
        }
        if header.chomping != Chomping::Keep && !breaks.text.is_empty() {
            while self.skip_to_token().is_some() {}
            token.add_comment_after();
        }
        self.push(token);
        Ok(())
    }

    fn block_header(&mut self) -> Scan<Header> {
        let mut chomping = self.chomping();
        let increment = self.increment()?;
        if chomping.is_none() && increment.is_some() {
            chomping = self.chomping();
        }
        let bad = self.cursor.mark();
        let blanks = self.cursor.count_while(|character| character == ' ');
        self.cursor.advance(blanks);
        let adjoins = blanks == 0;
        let commented = self.cursor.peek() == '#' && !adjoins;
        if commented {
            self.cursor
                .advance(self.cursor.count_while(|character| !is_end(character)));
        }
        if !is_end(self.cursor.peek()) {
            let message = "Only `+`, `-`, a digit or a comment may follow `|` or `>`.";
            return Err(bad.fault("YAML_BLOCK_HEADER", message));
        }
        self.cursor.line_break();
        Ok(Header {
            chomping: chomping.unwrap_or(Chomping::Clip),
            increment,
            commented,
        })
    }

    fn chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.cursor.peek() {
            '+' => Chomping::Keep,
            '-' => Chomping::Strip,
            _ => return None,
        };
        self.cursor.advance(1);
        Some(chomping)
    }

    fn increment(&mut self) -> Scan<Option<usize>> {
        let Some(digit) = self.cursor.peek().to_digit(10) else {
            return Ok(None);
        };
        if digit == 0 {
            let message = "The indentation of a block must be a digit from 1 to 9.";
            return Err(self.cursor.mark().fault("YAML_BLOCK_HEADER", message));
        }
        self.cursor.advance(1);
        Ok(Some(digit as usize))
    }

    fn block_indent(&mut self, increment: Option<usize>) -> (usize, Breaks) {
        let least = (self.indent + 1).unsigned_abs();
        match increment {
            Some(increment) => {
                let indent = least + increment - 1;
                (indent, self.block_breaks(indent))
            }
            None => {
                let (widest, breaks) = self.measured_indent();
                (least.max(widest), breaks)
            }
        }
    }

    fn measured_indent(&mut self) -> (usize, Breaks) {
        let mut widest = 0;
        let mut breaks = Breaks {
            text: String::new(),
            end: self.cursor.mark(),
        };
        loop {
            if self.cursor.peek() == ' ' {
                self.cursor.advance(1);
                widest = widest.max(self.cursor.column());
            } else if let Some(character) = self.cursor.line_break() {
                breaks.text.push(character);
                breaks.end = self.cursor.mark();
            } else {
                return (widest, breaks);
            }
        }
    }

    fn block_breaks(&mut self, indent: usize) -> Breaks {
        let mut breaks = Breaks {
            text: String::new(),
            end: self.cursor.mark(),
        };
        loop {
            while self.cursor.column() < indent && self.cursor.peek() == ' ' {
                self.cursor.advance(1);
            }
            let Some(character) = self.cursor.line_break() else {
                return breaks;
            };
            breaks.text.push(character);
            breaks.end = self.cursor.mark();
        }
    }

    /// Reads the lines and gives the text with the breaks that were found after it.
    fn block_text(
        &mut self,
        folded: bool,
        indent: usize,
        mut breaks: Breaks,
        chomping: Chomping,
    ) -> (String, Breaks) {
        let (mut text, mut last) = (String::new(), None);
        while self.continues_block(indent) {
            text.push_str(&breaks.text);
            let is_text = !matches!(self.cursor.peek(), ' ' | '\t');
            self.cursor.take(
                self.cursor.count_while(|character| !is_end(character)),
                &mut text,
            );
            last = self.cursor.line_break();
            breaks = self.block_breaks(indent);
            if !self.continues_block(indent) {
                break;
            }
            let joins = is_text && !matches!(self.cursor.peek(), ' ' | '\t');
            match last {
                Some('\n') if folded && joins && breaks.text.is_empty() => text.push(' '),
                Some('\n') if folded && joins => {}
                other => text.extend(other),
            }
        }
        if chomping != Chomping::Strip {
            text.extend(last);
        }
        if chomping == Chomping::Keep {
            text.push_str(&breaks.text);
        }
        (text, breaks)
    }

    fn continues_block(&self, indent: usize) -> bool {
        self.cursor.column() == indent && self.cursor.peek() != '\0'
    }
}
