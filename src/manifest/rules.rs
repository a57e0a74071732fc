//! The rules for the texts of an entry (section 5 of the notes).

use std::path::{Component, Path};

use super::entry::{Status, followup, task};
use crate::clock;
use crate::task::rules::can_hold_control;

/// Longest line of the manifest, in bytes, without its end.
pub(crate) const LINE_MAX: usize = 1 << 20;

const ID_MAX: usize = 200;
const TITLE_MAX: usize = 500;

/// Says what is wrong with a text, to be read after it.
pub(super) type Rule = fn(&str) -> Option<String>;

pub(super) fn check_id(text: &str) -> Option<String> {
    let fits = is_id(text);
    (!fits).then(|| format!("not one word of letters, digits, `.`, `_`, `-` up to {ID_MAX} long"))
}

pub(super) fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !text.is_empty() && text.len() <= ID_MAX && text.bytes().all(plain)
}

pub(super) fn check_file(text: &str) -> Option<String> {
    // Nearly every file is a bare name; the way through the parts of a path takes its time.
    if is_id(text) && !text.starts_with('.') {
        return None;
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let stays = Path::new(text).components().all(plain) && !text.contains('\\');
    let names = stays && Path::new(text).file_name().is_some() && !text.ends_with('/');
    match check_line(text) {
        Some(message) => Some(message),
        None if !stays => Some("which leads out of the manifest's folder".to_string()),
        None => (!names).then(|| "which names no file".to_string()),
    }
}

pub(super) fn check_title(text: &str) -> Option<String> {
    let too_long = || text.chars().count() > TITLE_MAX;
    check_line(text).or_else(|| {
        let message = || format!("longer than {TITLE_MAX} characters");
        (text.len() > TITLE_MAX && too_long()).then(message)
    })
}

pub(super) fn check_date(text: &str) -> Option<String> {
    (!clock::is_date(text)).then(|| "no date like 2026-01-26".to_string())
}

pub(super) fn check_moment(text: &str) -> Option<String> {
    let fits = clock::is_moment(text);
    (!fits).then(|| "no time like 2026-01-26T09:00:00Z".to_string())
}

pub(super) fn check_status(text: &str) -> Option<String> {
    let words = || Status::ALL.iter().map(|status| status.word());
    let fits = words().any(|word| word == text);
    (!fits).then(|| format!("not one of {}", words().collect::<Vec<_>>().join(", ")))
}

pub(super) fn followup_item(text: &str) -> Option<String> {
    let message = || "neither a task id like T12 nor `BLOCKED:` and a reason".to_string();
    followup(text).is_none().then(message)
}

pub(super) fn task_item(text: &str) -> Option<String> {
    task(text)
        .is_none()
        .then(|| "no task id like T12".to_string())
}

/// Longest text that a message repeats, in characters.
const SHOWN_MAX: usize = 60;
/// The single words that the protocols ask to be replaced.
const ASKED: [&str; 3] = ["title", "fact", "reason"];

/// A value like `<title>` or `<complete|partial|blocked>` was copied and never filled in.
pub(super) fn find_placeholder(text: &str) -> Option<String> {
    is_placeholder(text).then(|| "which is still to be replaced".to_string())
}

/// Returns whether a text is a `<…>` that the protocol asks to be replaced, or one like it. A single word
/// may be what an entry is about: `<dialog>`, `<stdin>`.
pub(crate) fn is_placeholder(text: &str) -> bool {
    // Most texts need no look at their blanks.
    let text = if text.contains('<') { text.trim() } else { "" };
    let inner = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.contains(['<', '>', '/', '=']) && is_placeholder_text(inner))
}

fn is_placeholder_text(inner: &str) -> bool {
    let is_choice_or_many = inner.contains(|c: char| c == '|' || c == '…' || c.is_whitespace());
    let is_asked = || ASKED.iter().any(|word| word.eq_ignore_ascii_case(inner));
    inner.is_empty() || is_choice_or_many || inner.contains("...") || is_asked()
}

/// One line of text: not blank, no control characters.
pub(super) fn check_line(text: &str) -> Option<String> {
    check_text(text, &[], "not one line without control characters")
}

/// Text that may have several lines.
pub(super) fn check_paragraph(text: &str) -> Option<String> {
    check_text(text, &['\n', '\r', '\t'], "not free of control characters")
}

fn check_text(text: &str, allowed: &[char], message: &str) -> Option<String> {
    if text.chars().all(char::is_whitespace) {
        return Some("which is empty".to_string());
    }
    let is_control = |c: char| c.is_control() && !allowed.contains(&c);
    (can_hold_control(text) && text.contains(is_control)).then(|| message.to_string())
}

/// Quotes a text for a message: cut, and without what could steer a terminal.
pub(super) fn quote(text: &str) -> String {
    let start = text.chars().take(SHOWN_MAX);
    let mut short: String = start.flat_map(escape_control).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

fn escape_control(c: char) -> impl Iterator<Item = char> {
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
    fn what_protocols_show_is_to_be_replaced() {
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
