//! Scans the indicators `-`, `?`, `:` and `...`, and says why others are refused: strictyaml takes
//! no flow style, anchors, aliases, tags or directives.

use crate::skill::front_matter::Fault;

use super::scanner::Scanner;
use super::token::{Kind, Mark, Scan};

impl Scanner {
    pub(super) fn stream_end(&mut self) -> Scan<()> {
        self.unwind(-1);
        self.forget_key()?;
        self.allow_simple_key = false;
        self.push_indicator(Kind::StreamEnd, 0);
        self.done = true;
        Ok(())
    }

    pub(super) fn document_marker(&mut self) -> Scan<()> {
        if self.cursor.peek() == '-' {
            return Err(several_documents(self.cursor.mark()));
        }
        self.unwind(-1);
        self.forget_key()?;
        self.allow_simple_key = false;
        self.push_indicator(Kind::DocumentEnd, 3);
        Ok(())
    }

    pub(super) fn entry(&mut self) -> Scan<()> {
        if !self.allow_simple_key {
            let message = "A list item must begin on its own line.";
            return Err(self.cursor.mark().fault("YAML_LIST_ITEM", message));
        }
        self.open_block(Kind::SequenceStart);
        self.allow_simple_key = true;
        self.forget_key()?;
        self.push_indicator(Kind::Entry, 1);
        Ok(())
    }

    pub(super) fn key(&mut self) -> Scan<()> {
        if !self.allow_simple_key {
            let message = "A key cannot begin here; quote the text.";
            return Err(self.cursor.mark().fault("YAML_KEY", message));
        }
        self.open_block(Kind::MappingStart);
        self.allow_simple_key = true;
        self.forget_key()?;
        self.push_indicator(Kind::Key, 1);
        Ok(())
    }

    pub(super) fn value(&mut self) -> Scan<()> {
        if let Some(key) = self.simple_key.take() {
            self.insert_key(&key);
            self.allow_simple_key = false;
        } else if self.allow_simple_key {
            self.open_block(Kind::MappingStart);
        } else {
            let message = "A value with a colon and a blank in it must be in quotes.";
            return Err(self.cursor.mark().fault("YAML_COLON", message));
        }
        self.push_indicator(Kind::Value, 1);
        Ok(())
    }

    /// Why `character` cannot start a token.
    pub(super) fn refusal(&self, character: char) -> Fault {
        let (code, message) = match character {
            '[' | '{' | ']' | '}' | ',' => (
                "YAML_FLOW_STYLE",
                "Flow style is not allowed; write one item per line.",
            ),
            '&' => (
                "YAML_ANCHOR",
                "Anchors are not allowed; quote text that begins with `&`.",
            ),
            '*' => (
                "YAML_ALIAS",
                "Aliases are not allowed; quote text that begins with `*`.",
            ),
            '!' => (
                "YAML_TAG",
                "Tags are not allowed; quote text that begins with `!`.",
            ),
            '%' => (
                "YAML_DIRECTIVE",
                "Directives are not allowed; quote text that begins with `%`.",
            ),
            '\t' => (
                "YAML_TAB",
                "A tab cannot separate or indent here; use spaces.",
            ),
            _ => (
                "YAML_CHARACTER",
                "No value can begin with this character; put it in quotes.",
            ),
        };
        self.cursor.mark().fault(code, message)
    }
}

pub(super) fn several_documents(mark: Mark) -> Fault {
    mark.fault(
        "YAML_SEVERAL_DOCUMENTS",
        "The front matter must hold exactly one document.",
    )
}
