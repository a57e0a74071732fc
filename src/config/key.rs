//! A setting.

use super::kind::{Kind, Value};

#[derive(Debug)]
pub(crate) struct Key {
    /// Its name, such as `list.limit`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// What it is unless told; none when what happens then is more than a value.
    pub(crate) default: Option<&'static str>,
    pub(crate) meaning: &'static str,
    pub(crate) variable: &'static str,
}

impl Key {
    /// Reads a value as it stands in a file or on the command line; the error is what it can be.
    pub(crate) fn read(&self, text: &str) -> std::result::Result<Value, String> {
        self.kind.read(text.trim(), ',')
    }

    pub(crate) fn read_variable(&self, text: &str) -> std::result::Result<Value, String> {
        self.kind.read(text.trim(), ':')
    }

    pub(crate) fn quoted(&self, text: &str) -> String {
        match self.kind {
            Kind::Variable => "that".to_string(),
            _ => format!("`{text}`"),
        }
    }
}
