//! The tokens that pass from the scanner to the composer, and where each stands.

use crate::skill::front_matter::Fault;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Mark {
    /// The width of the opening `---`, after which the block begins on line one of the file.
    const OPENING: usize = 3;

    pub(crate) fn in_file(self) -> (usize, usize) {
        let opening = if self.line == 0 { Self::OPENING } else { 0 };
        (self.line + 1, self.column + opening + 1)
    }

    pub(super) fn fault(self, code: &'static str, message: impl Into<String>) -> Fault {
        Fault::new(code, self.in_file(), message)
    }
}

pub(super) type Scan<T> = Result<T, Fault>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    StreamStart,
    StreamEnd,
    DocumentEnd,
    SequenceStart,
    MappingStart,
    BlockEnd,
    Entry,
    Key,
    Value,
    Scalar,
    Comment,
}

/// Which comments hang on a token. The reference refuses a file when two meet on one token, so
/// that they are here is all that counts; what they say does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Comments {
    pub(super) after: bool,
    pub(super) before: bool,
}

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: Mark,
    pub(super) end: Mark,
    pub(super) comments: Option<Comments>,
    pub(super) text: String,
    /// Whether a scalar stands without quotes or block header.
    pub(super) plain: bool,
}

impl Token {
    pub(super) fn new(kind: Kind, start: Mark, end: Mark) -> Self {
        Self {
            kind,
            start,
            end,
            comments: None,
            text: String::new(),
            plain: false,
        }
    }

    pub(super) fn scalar(text: String, plain: bool, start: Mark, end: Mark) -> Self {
        Self {
            text,
            plain,
            ..Self::new(Kind::Scalar, start, end)
        }
    }

    pub(super) fn add_comment_after(&mut self) {
        self.comments.get_or_insert_default().after = true;
    }

    pub(super) fn add_comment_before(&mut self) -> Scan<()> {
        let comments = self.comments.get_or_insert_default();
        if comments.before {
            return Err(comment_clash(self.start));
        }
        comments.before = true;
        Ok(())
    }

    pub(super) fn receive(&mut self, given: Comments) -> Scan<()> {
        let own = self.comments.get_or_insert_default();
        if (given.after && own.after) || (given.before && own.before) {
            return Err(comment_clash(self.start));
        }
        own.after |= given.after;
        own.before |= given.before;
        Ok(())
    }

    pub(super) fn drop_comment_after(&mut self) {
        if let Some(comments) = &mut self.comments {
            comments.after = false;
        }
    }

    pub(super) fn drop_comment_before(&mut self) {
        if let Some(comments) = &mut self.comments {
            comments.before = false;
        }
    }
}

fn comment_clash(mark: Mark) -> Fault {
    mark.fault(
        "YAML_COMMENT",
        "The reference validator cannot read a comment at this place.",
    )
}
