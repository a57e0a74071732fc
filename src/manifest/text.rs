//! Rules for any text in an entry, and how a text is shown in a message.

/// Longest text that a message repeats, in characters.
const SHOWN_MAX: usize = 60;
/// The single words that the protocols ask to be replaced.
const ASKED: [&str; 3] = ["title", "fact", "reason"];

/// A value like `<title>` or `<complete|partial|blocked>` was copied and never filled in.
pub(super) fn unfilled(text: &str) -> Option<String> {
    is_placeholder(text).then(|| "which is still to be replaced".to_string())
}

/// Says whether a text is a `<…>` that the protocol asks to be replaced, or one like it. A single word
/// may be what an entry is about: `<dialog>`, `<stdin>`.
pub fn is_placeholder(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('<');
    let inner = inner.and_then(|text| text.trim_end().strip_suffix('>'));
    inner.is_some_and(|inner| !inner.contains(['<', '>', '/', '=']) && asks(inner))
}

fn asks(inner: &str) -> bool {
    let is_choice_or_many = inner.contains(|c: char| c == '|' || c == '…' || c.is_whitespace());
    let is_asked = || ASKED.iter().any(|word| word.eq_ignore_ascii_case(inner));
    inner.is_empty() || is_choice_or_many || inner.contains("...") || is_asked()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_replaced_is_told_from_words_in_angle_brackets() {
        for (text, expected) in [
            ("<title>", true),
            (" <Title> ", true),
            ("<fact>", true),
            ("<reason>", true),
            ("<true|false>", true),
            ("<complete|partial|blocked>", true),
            ("<what was found>", true),
            ("< dialog >", true),
            ("<>", true),
            ("<…>", true),
            ("<one fact…>", true),
            ("<...>", true),
            ("<dialog>", false),
            ("<stdin>", false),
            ("<T>", false),
            ("<my-element>", false),
            ("<br />", false),
            ("<a href=x>", false),
            ("<a> or <b>", false),
            ("title", false),
        ] {
            assert_eq!(is_placeholder(text), expected, "{text}");
        }
    }

    #[test]
    fn what_the_protocols_show_is_to_be_replaced() {
        for text in [
            include_str!("../../skills/_shared/subagent-protocol-base.md"),
            include_str!("../../protocols/error-handling.md"),
        ] {
            let shown = text
                .split('<')
                .skip(1)
                .filter(|rest| !rest.starts_with('\''));
            for word in shown.filter_map(|rest| rest.split_once('>')) {
                assert!(is_placeholder(&format!("<{}>", word.0)), "{}", word.0);
            }
        }
    }
}
