//! The log of an attempt: one JSON line for each line that its agent wrote, in the order in which they came. Pure.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::words::closed;

/// How much of one output is kept, in bytes of its log; less in tests, which fill it.
pub(crate) const KEPT_MAX: u64 = if cfg!(test) { 16 << 20 } else { 64 << 20 };
/// Most bytes of a log: both outputs and the notes about omitted bytes.
pub(crate) const LOG_MAX: u64 = 2 * KEPT_MAX + 1024;
/// Longest line that is kept and that a runner reads, in bytes.
pub(crate) const LINE_MAX: usize = 1 << 20;
/// Most lines that are shown of an agent: the first ones.
pub(crate) const LINES_MAX: usize = 1_000_000;

closed! {
    /// The output that an agent writes to.
    Stream, "output of an agent":
    /// Its standard output.
    Out = "out",
    /// Its standard error.
    Err = "err",
}

/// A line that an agent wrote, without its end.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry<'a> {
    /// When its end came, in milliseconds since 1970.
    pub(crate) ms: i64,
    pub(crate) stream: Stream,
    pub(crate) text: Cow<'a, str>,
    /// How many bytes of the line are not in the text.
    #[serde(default, skip_serializing_if = "is_none")]
    pub(crate) beyond: usize,
}

fn is_none(beyond: &usize) -> bool {
    *beyond == 0
}

/// Reads the lines of a log; those that are damaged are left out.
pub(crate) fn read(log: &[u8]) -> impl Iterator<Item = Entry<'static>> {
    let lines = log.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

/// Joins what was written to one output.
pub(crate) fn join_stream(log: &[u8], stream: Stream) -> String {
    let mut text = String::new();
    for entry in read(log).filter(|entry| entry.stream == stream) {
        text.push_str(&entry.text);
        text.push('\n');
    }
    text
}

/// Makes the log of an agent that wrote some lines at the beginning of 1970.
#[cfg(test)]
pub(crate) fn write(stream: Stream, lines: &str) -> String {
    let entry = |text| Entry {
        ms: 0,
        stream,
        text: Cow::Borrowed(text),
        beyond: 0,
    };
    let line = |text| crate::document::to_json(&entry(text)).unwrap() + "\n";
    lines.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_lines_of_log_are_skipped() {
        let log = "{\"ms\":1,\"stream\":\"out\",\"text\":\"one\"}\n\0\0\n{\"ms\":2,\"stream\":\"err\",\"text\":\"two\"}\n\
                   {\"ms\":3,\"stream\":\"out\",\"text\":\"three\",\"beyond\":4}\n{\"ms\":5,\"stre";
        let beyond: Vec<usize> = read(log.as_bytes()).map(|entry| entry.beyond).collect();
        assert_eq!(beyond, [0, 0, 4]);
        assert_eq!(join_stream(log.as_bytes(), Stream::Out), "one\nthree\n");
        assert_eq!(join_stream(log.as_bytes(), Stream::Err), "two\n");
    }
}
