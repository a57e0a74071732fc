//! Rules for any text in an entry, and how a text is shown in a message.

/// Longest text that a message repeats, in characters.
const SHOWN_MAX: usize = 60;

/// A value like `<title>` or `<complete|partial|blocked>` was copied and never filled in.
pub(super) fn unfilled(text: &str) -> Option<String> {
    is_placeholder(text).then(|| "which is still to be replaced".to_string())
}

pub(super) fn is_placeholder(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('<');
    let inner = inner.and_then(|text| text.trim_end().strip_suffix('>'));
    inner.is_some_and(|inner| !inner.contains(['<', '>', '/', '=']))
}

/// One line of text: not blank, no control characters.
pub(super) fn line(text: &str) -> Option<String> {
    let blank = text.trim_start().is_empty();
    let message = if blank {
        "which is empty"
    } else {
        "not one line without control characters"
    };
    (blank || has_control(text, &[])).then(|| message.to_string())
}

/// Text that may have several lines.
pub(super) fn paragraph(text: &str) -> Option<String> {
    let blank = text.trim_start().is_empty();
    let message = if blank {
        "which is empty"
    } else {
        "not free of control characters"
    };
    (blank || has_control(text, &['\n', '\r', '\t'])).then(|| message.to_string())
}

fn has_control(text: &str, allowed: &[char]) -> bool {
    // Looks at all bytes without a branch, which is many times faster than one by one.
    let suspect =
        |byte: u8| u8::from(byte < 0x20) | u8::from(byte == 0x7f) | u8::from(byte == 0xc2);
    let foreign = |c: char| c.is_control() && !allowed.contains(&c);
    text.bytes().fold(0, |found, byte| found | suspect(byte)) != 0 && text.contains(foreign)
}

/// Quotes a text for a message: cut, and without what could steer a terminal.
pub(super) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_MAX).flat_map(visible).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

fn visible(c: char) -> impl Iterator<Item = char> {
    let plain = (!c.is_control()).then_some(c);
    let escaped = c.is_control().then(|| c.escape_default());
    plain.into_iter().chain(escaped.into_iter().flatten())
}
