//! Composes tokens into nodes, block style only. It asks the scanner in the same order as the
//! reference, for each question may move comments, and where two meet the file is refused.

use crate::skill::front_matter::Fault;

use super::indicator::several_documents;
use super::scanner::Scanner;
use super::token::{Kind, Mark, Scan, Token};

pub(super) struct Node {
    pub(super) content: Content,
    pub(super) mark: Mark,
}

pub(super) enum Content {
    Scalar { text: String, plain: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

pub(super) struct Composer {
    scanner: Scanner,
    depth: usize,
}

impl Composer {
    /// How many lists and mappings may stand inside each other. Found by trial: Python 3.11 ends
    /// the reference with a `RecursionError` at one more.
    const DEPTH_LIMIT: usize = 245;

    pub(super) fn new(scanner: Scanner) -> Self {
        Self { scanner, depth: 0 }
    }

    pub(super) fn document(mut self) -> Scan<Node> {
        self.take_and_pass_comments()?;
        if self.scanner.check(&[Kind::StreamEnd])? {
            let message = "The front matter is empty.";
            return Err(self.mark().fault("YAML_NOT_MAPPING", message));
        }
        self.scanner.settle()?;
        let node = self.node(false)?;
        self.scanner.settle()?;
        let ended = self.scanner.check(&[Kind::DocumentEnd])?;
        if ended {
            self.scanner.take()?;
        }
        match self.scanner.check(&[Kind::StreamEnd])? {
            true => Ok(node),
            false if ended => Err(several_documents(self.mark())),
            false => Err(self.misplaced()),
        }
    }

    fn mark(&mut self) -> Mark {
        self.scanner
            .head()
            .map(|token| token.start)
            .unwrap_or_default()
    }

    fn take_and_pass_comments(&mut self) -> Scan<Token> {
        let mut token = self.scanner.take()?;
        self.pass_comments(&mut token)?;
        Ok(token)
    }

    /// Hands the comments of `token` on to the token after it, unless that is the last.
    fn pass_comments(&mut self, token: &mut Token) -> Scan<()> {
        self.scanner.settle()?;
        match self.scanner.head() {
            Some(head) if head.kind != Kind::StreamEnd => match token.comments.take() {
                Some(comments) => head.receive(comments),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn node(&mut self, after_key: bool) -> Scan<Node> {
        // The reference asks for alias, anchor, tag and mark here, which the scanner refuses.
        for _question in 0..4 {
            self.scanner.settle()?;
        }
        if after_key && self.scanner.check(&[Kind::Entry])? {
            return self.nested(Self::sequence_after_key);
        }
        if self.scanner.check(&[Kind::Scalar])? {
            return self.scalar();
        }
        // And here for the two starts of flow style.
        for _question in 0..2 {
            self.scanner.settle()?;
        }
        if self.scanner.check(&[Kind::SequenceStart])? {
            return self.nested(Self::sequence);
        }
        if self.scanner.check(&[Kind::MappingStart])? {
            return self.nested(Self::mapping);
        }
        self.scanner.settle()?;
        Err(self
            .mark()
            .fault("YAML_SYNTAX", "A value is expected here."))
    }

    fn nested(&mut self, read: fn(&mut Self) -> Scan<Content>) -> Scan<Node> {
        self.scanner.settle()?;
        let mark = self.mark();
        if self.depth == Self::DEPTH_LIMIT {
            let message = format!("Values may be nested {} deep at most.", Self::DEPTH_LIMIT);
            return Err(mark.fault("YAML_DEPTH", message));
        }
        self.depth += 1;
        let content = read(self)?;
        self.depth -= 1;
        Ok(Node { content, mark })
    }

    fn scalar(&mut self) -> Scan<Node> {
        let token = self.scanner.take()?;
        let content = Content::Scalar {
            text: token.text,
            plain: token.plain,
        };
        Ok(Node {
            content,
            mark: token.start,
        })
    }

    fn sequence(&mut self) -> Scan<Content> {
        self.scanner.take()?;
        let mut items = Vec::new();
        while self.scanner.check(&[Kind::Entry])? {
            items.push(self.item(&[Kind::Entry, Kind::BlockEnd])?);
        }
        if !self.scanner.check(&[Kind::BlockEnd])? {
            return Err(self.misplaced());
        }
        self.scanner.take()?;
        Ok(Content::Sequence(items))
    }

    fn sequence_after_key(&mut self) -> Scan<Content> {
        if let Some(head) = self.scanner.head() {
            head.drop_comment_after();
        }
        let mut items = Vec::new();
        while self.scanner.check(&[Kind::Entry])? {
            items.push(self.item(&[Kind::Entry, Kind::Key, Kind::Value, Kind::BlockEnd])?);
        }
        self.scanner.settle()?;
        if let Some(head) = self.scanner.head() {
            head.drop_comment_before();
        }
        Ok(Content::Sequence(items))
    }

    fn item(&mut self, empty_before: &[Kind]) -> Scan<Node> {
        let token = self.take_and_pass_comments()?;
        if self.scanner.check(empty_before)? {
            return Ok(empty(token.end));
        }
        self.node(false)
    }

    fn misplaced(&mut self) -> Fault {
        let message = "This does not belong to the lines before it; check the indentation.";
        self.mark().fault("YAML_INDENTATION", message)
    }

    fn mapping(&mut self) -> Scan<Content> {
        self.scanner.take()?;
        let mut entries = Vec::new();
        while let Some(key) = self.mapping_key()? {
            entries.push((key, self.mapping_value()?));
        }
        if !self.scanner.check(&[Kind::BlockEnd])? {
            return Err(self.misplaced());
        }
        self.take_and_pass_comments()?;
        Ok(Content::Mapping(entries))
    }

    fn mapping_key(&mut self) -> Scan<Option<Node>> {
        if self.scanner.check(&[Kind::Key])? {
            let token = self.take_and_pass_comments()?;
            if self
                .scanner
                .check(&[Kind::Key, Kind::Value, Kind::BlockEnd])?
            {
                return Ok(Some(empty(token.end)));
            }
            return self.node(true).map(Some);
        }
        let without_key = self.scanner.check(&[Kind::Value])?;
        Ok(without_key.then(|| empty(self.mark())))
    }

    fn mapping_value(&mut self) -> Scan<Node> {
        if !self.scanner.check(&[Kind::Value])? {
            self.scanner.settle()?;
            return Ok(empty(self.mark()));
        }
        let mut token = self.scanner.take()?;
        let value_follows = self.scanner.check(&[Kind::Value])?;
        if value_follows || !self.scanner.check(&[Kind::Key])? {
            self.pass_comments(&mut token)?;
        }
        if self
            .scanner
            .check(&[Kind::Key, Kind::Value, Kind::BlockEnd])?
        {
            // An empty value takes the comment that follows it off the next token.
            if token.comments.is_none() {
                self.scanner.settle()?;
                if let Some(head) = self.scanner.head() {
                    head.drop_comment_after();
                }
            }
            return Ok(empty(token.end));
        }
        self.node(true)
    }
}

fn empty(mark: Mark) -> Node {
    Node {
        content: Content::Scalar {
            text: String::new(),
            plain: true,
        },
        mark,
    }
}
