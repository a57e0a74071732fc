//! Turns characters into tokens: indentation, simple keys (YAML 1.2, chapter 7.4.2) and comments.
//! Start at `Scanner::fetch`.

use std::collections::VecDeque;

use super::cursor::{Cursor, is_blank_or_end, is_end};
use super::token::{Kind, Mark, Scan, Token};

/// A place where a key without `?` may have begun.
pub(super) struct SimpleKey {
    token_number: usize,
    required: bool,
    index: usize,
    mark: Mark,
}

pub(super) struct Scanner {
    pub(super) cursor: Cursor,
    /// The column of the innermost open block, -1 outside of all.
    pub(super) indent: isize,
    pub(super) allow_simple_key: bool,
    indents: Vec<isize>,
    pub(super) simple_key: Option<SimpleKey>,
    tokens: VecDeque<Token>,
    taken: usize,
    pub(super) done: bool,
}

impl Scanner {
    /// The longest key without `?`, in characters (YAML 1.2, chapter 7.4.2).
    const KEY_LIMIT: usize = 1024;

    pub(super) fn new(cursor: Cursor) -> Self {
        let start = Token::new(Kind::StreamStart, cursor.mark(), cursor.mark());
        Self {
            cursor,
            indent: -1,
            allow_simple_key: true,
            indents: Vec::new(),
            simple_key: None,
            tokens: VecDeque::from([start]),
            taken: 0,
            done: false,
        }
    }

    /// Reads on until the kind of the next token is certain, and hangs comments on it.
    pub(super) fn settle(&mut self) -> Scan<()> {
        while self.needs_more()? {
            self.fetch()?;
        }
        self.gather_comments()
    }

    /// The next token, once `settle` has run.
    pub(super) fn head(&mut self) -> Option<&mut Token> {
        self.tokens.front_mut()
    }

    pub(super) fn check(&mut self, kinds: &[Kind]) -> Scan<bool> {
        self.settle()?;
        Ok(self
            .tokens
            .front()
            .is_some_and(|token| kinds.contains(&token.kind)))
    }

    /// Hands out the next token together with the comment that follows it.
    pub(super) fn take(&mut self) -> Scan<Token> {
        self.settle()?;
        self.attach_comment()?;
        self.taken += 1;
        let end = self.cursor.mark();
        Ok(self
            .tokens
            .pop_front()
            .unwrap_or(Token::new(Kind::StreamEnd, end, end)))
    }

    fn needs_more(&mut self) -> Scan<bool> {
        if self.done {
            return Ok(false);
        }
        if self.tokens.is_empty() {
            return Ok(true);
        }
        self.drop_stale_key()?;
        Ok(self
            .simple_key
            .as_ref()
            .is_some_and(|key| key.token_number == self.taken))
    }

    /// Joins comments that stand at the front and hangs them on the token after them.
    fn gather_comments(&mut self) -> Scan<()> {
        let mut found = self.drop_leading_comment();
        while self.needs_more()? {
            self.fetch()?;
            found |= self.drop_leading_comment();
        }
        if let Some(head) = self.tokens.front_mut().filter(|_| found) {
            head.add_comment_before()?;
        }
        if !self.done && self.tokens.len() < 2 {
            self.fetch()?;
        }
        Ok(())
    }

    fn drop_leading_comment(&mut self) -> bool {
        let found = self
            .tokens
            .front()
            .is_some_and(|token| token.kind == Kind::Comment);
        if found {
            self.tokens.pop_front();
            self.taken += 1;
        }
        found
    }

    /// Hangs a comment on a value before it: any on a scalar, one in the same line on a colon.
    fn attach_comment(&mut self) -> Scan<()> {
        let [Some(head), Some(next)] = [self.tokens.front(), self.tokens.get(1)] else {
            return Ok(());
        };
        let same_line = head.end.line == next.start.line;
        let attaches = head.kind == Kind::Scalar || (head.kind == Kind::Value && same_line);
        if !attaches || next.kind != Kind::Comment {
            return Ok(());
        }
        while self
            .tokens
            .get(1)
            .is_some_and(|token| token.kind == Kind::Comment)
        {
            self.tokens.remove(1);
            self.taken += 1;
            self.fetch()?;
        }
        if let Some(head) = self.tokens.front_mut() {
            head.add_comment_after();
        }
        Ok(())
    }

    fn fetch(&mut self) -> Scan<()> {
        if let Some(start) = self.skip_to_token() {
            self.push(Token::new(Kind::Comment, start, self.cursor.mark()));
            return Ok(());
        }
        self.drop_stale_key()?;
        self.unwind(self.column());
        if self.cursor.column() == 0 && self.cursor.is_at_document_marker() {
            return self.document_marker();
        }
        let next_is_blank = is_blank_or_end(self.cursor.peek_at(1));
        match self.cursor.peek() {
            '\0' => self.stream_end(),
            '-' if next_is_blank => self.entry(),
            '?' if next_is_blank => self.key(),
            ':' if next_is_blank => self.value(),
            '|' => self.block_scalar(false),
            '>' => self.block_scalar(true),
            quote @ ('\'' | '"') => self.quoted_scalar(quote),
            first if starts_plain_scalar(first) => self.plain_scalar(),
            other => Err(self.refusal(other)),
        }
    }

    pub(super) fn push(&mut self, token: Token) {
        self.tokens.push_back(token);
    }

    fn column(&self) -> isize {
        isize::try_from(self.cursor.column()).unwrap_or(isize::MAX)
    }

    /// Skips blanks and line breaks. A comment or an empty line ends the walk and gives its start.
    pub(super) fn skip_to_token(&mut self) -> Option<Mark> {
        if self.cursor.index() == 0 && self.cursor.peek() == '\u{feff}' {
            self.cursor.advance(1);
        }
        loop {
            self.cursor
                .advance(self.cursor.count_while(|character| character == ' '));
            if self.cursor.peek() == '#' {
                let start = self.cursor.mark();
                self.cursor
                    .advance(self.cursor.count_while(|character| !is_end(character)));
                while self.cursor.line_break().is_some() {}
                self.allow_simple_key = true;
                return Some(start);
            }
            self.cursor.line_break()?;
            self.allow_simple_key = true;
            if self.cursor.peek() == '\n' {
                return Some(self.skip_empty_lines());
            }
        }
    }

    /// Also eats tabs and spaces before the next token, where the reference allows tabs.
    fn skip_empty_lines(&mut self) -> Mark {
        let start = self.cursor.mark();
        loop {
            if matches!(self.cursor.peek(), '\t' | ' ') {
                self.cursor.advance(1);
            } else if self.cursor.line_break().is_none() {
                return start;
            }
        }
    }

    fn drop_stale_key(&mut self) -> Scan<()> {
        let (line, index) = (self.cursor.mark().line, self.cursor.index());
        let stale = |key: &SimpleKey| key.mark.line != line || index - key.index > Self::KEY_LIMIT;
        if self.simple_key.as_ref().is_some_and(stale) {
            return self.forget_key();
        }
        Ok(())
    }

    pub(super) fn forget_key(&mut self) -> Scan<()> {
        match self.simple_key.take() {
            Some(key) if key.required => Err(key
                .mark
                .fault("YAML_KEY", "A key needs a colon and a blank after it.")),
            _ => Ok(()),
        }
    }

    pub(super) fn save_key(&mut self) -> Scan<()> {
        if !self.allow_simple_key {
            return Ok(());
        }
        self.forget_key()?;
        self.simple_key = Some(SimpleKey {
            token_number: self.taken + self.tokens.len(),
            required: self.indent == self.column(),
            index: self.cursor.index(),
            mark: self.cursor.mark(),
        });
        Ok(())
    }

    pub(super) fn unwind(&mut self, column: isize) {
        while self.indent > column {
            self.indent = self.indents.pop().unwrap_or(-1);
            self.push(Token::new(
                Kind::BlockEnd,
                self.cursor.mark(),
                self.cursor.mark(),
            ));
        }
    }

    fn indent_to(&mut self, column: isize) -> bool {
        let deeper = self.indent < column;
        if deeper {
            self.indents.push(self.indent);
            self.indent = column;
        }
        deeper
    }

    pub(super) fn push_indicator(&mut self, kind: Kind, width: usize) {
        let start = self.cursor.mark();
        self.cursor.advance(width);
        self.push(Token::new(kind, start, self.cursor.mark()));
    }

    pub(super) fn open_block(&mut self, kind: Kind) {
        if self.indent_to(self.column()) {
            self.push_indicator(kind, 0);
        }
    }

    pub(super) fn insert_key(&mut self, key: &SimpleKey) {
        let place = key
            .token_number
            .saturating_sub(self.taken)
            .min(self.tokens.len());
        self.tokens
            .insert(place, Token::new(Kind::Key, key.mark, key.mark));
        if self.indent_to(isize::try_from(key.mark.column).unwrap_or(isize::MAX)) {
            self.tokens
                .insert(place, Token::new(Kind::MappingStart, key.mark, key.mark));
        }
    }
}

/// Whether an unquoted value may begin with `first`. The indicators `-`, `?` and `:` with a blank
/// after them have been dealt with before.
fn starts_plain_scalar(first: char) -> bool {
    !is_blank_or_end(first)
        && !matches!(
            first,
            ',' | '['
                | ']'
                | '{'
                | '}'
                | '#'
                | '&'
                | '*'
                | '!'
                | '|'
                | '>'
                | '\''
                | '"'
                | '%'
                | '@'
                | '`'
        )
}
