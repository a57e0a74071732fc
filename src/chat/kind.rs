//! What a field can be, and how a value is read as that.

use serde_json::{Value, json};

use super::vocabulary::contains_word;

/// Longest text of a field, in characters.
const TEXT_MAX: usize = 10_000;
/// Longest address, in characters.
const ADDRESS_MAX: usize = 2_000;
/// Longest name, in characters.
const NAME_MAX: usize = 100;

/// The basic colours of CSS.
const COLORS: &str = "aqua black blue fuchsia gray green grey lime maroon navy olive orange purple red \
    silver teal transparent white yellow";

/// What a field can be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Options(&'static [&'static str]),
    /// `#RRGGBB`, `#RGB` or the name of a colour.
    Color,
    /// A line of text.
    Text,
    /// A short text, such as the name of a font.
    Name,
    /// Where a link leads: an address or a path, without blanks.
    Address,
    Flag,
    /// A whole number.
    Number,
    /// A date or a time.
    Moment,
    /// What nothing changes.
    Protected,
}

impl Kind {
    /// Reads a value and writes it in its one form; none when the field cannot be that.
    pub(crate) fn read(self, value: &Value) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.trim().to_string(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        if text.contains(is_hidden) || !text.is_empty() && text.chars().all(is_blank) {
            return None;
        }
        let (word, length) = (text.to_lowercase(), text.chars().count());
        let is_fitting = match self {
            Kind::Options(options) => {
                let joined = word.replace([' ', '_'], "-");
                return options.iter().find(|it| **it == joined).map(|it| json!(it));
            }
            Kind::Flag => {
                return match word.as_str() {
                    "true" | "yes" | "on" | "1" => Some(true.into()),
                    "false" | "no" | "off" | "0" => Some(false.into()),
                    _ => None,
                };
            }
            Kind::Number => return word.parse::<i64>().ok().map(Value::from),
            Kind::Moment => return crate::clock::parse_moment(&text).map(Value::from),
            Kind::Protected => false,
            Kind::Color => is_color(&word),
            Kind::Text => length <= TEXT_MAX,
            Kind::Name => (1..=NAME_MAX).contains(&length),
            Kind::Address => length <= ADDRESS_MAX && is_address(&text),
        };
        is_fitting.then(|| text.into())
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Options(options) => out.write_str(&options.join(", ")),
            Kind::Color => out.write_str("a color such as #336699 or navy"),
            Kind::Text => write!(out, "a line of text of at most {TEXT_MAX} characters"),
            Kind::Name => write!(out, "a name of at most {NAME_MAX} characters"),
            Kind::Address => write!(
                out,
                "an address without blanks (http, https, mailto or a path) of at most {ADDRESS_MAX} characters"
            ),
            Kind::Flag => out.write_str("true or false"),
            Kind::Number => out.write_str("a whole number"),
            Kind::Moment => out.write_str("a date such as 2026-01-26"),
            Kind::Protected => out.write_str("nothing else"),
        }
    }
}

/// Whether a character is not seen itself, but changes how others are: a control or a direction.
pub(super) fn is_hidden(c: char) -> bool {
    let directions = ['\u{61c}', '\u{200b}', '\u{200e}', '\u{200f}', '\u{feff}'];
    let is_direction = matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    c.is_control() || is_direction || directions.contains(&c)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{34f}' | '\u{200c}' | '\u{200d}')
}

/// Whether a text is an address of the web or of a mailbox, or a path.
fn is_address(text: &str) -> bool {
    let lead = text.split(['/', '?', '#']).next().unwrap_or_default();
    let is_known = |scheme: &str| {
        let known = ["http", "https", "mailto"];
        known.iter().any(|it| it.eq_ignore_ascii_case(scheme))
    };
    !text.contains(|c: char| c.is_whitespace() || c == '\\')
        && (lead.split_once(':')).is_none_or(|(scheme, _)| is_known(scheme))
}

fn is_color(word: &str) -> bool {
    match word.strip_prefix('#') {
        Some(digits) => {
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|c| c.is_ascii_hexdigit())
        }
        None => contains_word(COLORS, word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_are_allowed() {
        let styles = Kind::Options(&["solid", "soft-shadow"]);
        for (kind, value, expected) in [
            (styles, json!("Soft Shadow"), Some(json!("soft-shadow"))),
            (styles, json!("hard-shadow"), None),
            (styles, json!(["solid"]), None),
            (Kind::Color, json!("#1f3A5f"), Some(json!("#1f3A5f"))),
            (Kind::Color, json!("#12"), None),
            (Kind::Color, json!("url(x)"), None),
            (Kind::Color, json!("Navy"), Some(json!("Navy"))),
            (Kind::Color, json!("gradient"), None),
            (Kind::Color, json!("red blue"), None),
            (Kind::Flag, json!("Yes"), Some(json!(true))),
            (Kind::Flag, json!(false), Some(json!(false))),
            (Kind::Flag, json!("maybe"), None),
            (Kind::Number, json!("3"), Some(json!(3))),
            (Kind::Number, json!("3.5"), None),
            (Kind::Name, json!("a\nb"), None),
            (Kind::Text, json!("a\nb"), None),
            (Kind::Text, json!("a\u{1b}[31m"), None),
            (Kind::Text, json!("\u{202e}evil"), None),
            (Kind::Text, json!("\u{200b}"), None),
            (Kind::Text, json!("\u{200d}"), None),
            (Kind::Address, json!("javascript:alert(1)"), None),
            (Kind::Address, json!("JavaScript:alert(1)//x"), None),
            (Kind::Address, json!("/a?b=c:d"), Some(json!("/a?b=c:d"))),
            (
                Kind::Address,
                json!("mailto:a@b.c"),
                Some(json!("mailto:a@b.c")),
            ),
            (Kind::Text, json!("x".repeat(TEXT_MAX + 1)), None),
            (Kind::Text, json!(null), None),
        ] {
            assert_eq!(kind.read(&value), expected, "{kind}: {value}");
        }
    }
}
