//! What a field can be, and how a value is read as that.

use serde_json::Value;

/// Longest text of a field, in characters.
const TEXT_MAX: usize = 10_000;
/// Longest address, in characters.
const ADDRESS_MAX: usize = 2_000;

/// The basic colours of CSS.
const COLORS: &str = "aqua black blue fuchsia gray green grey lime maroon navy olive orange purple red \
    silver teal transparent white yellow";

/// What a field can be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// One of these words.
    Options(&'static [&'static str]),
    /// `#RRGGBB`, `#RGB` or the name of a colour.
    Color,
    /// A line of text.
    Text,
    /// A line of text, such as the name of a font.
    Name,
    /// Where a link leads: an address or a path, without blanks.
    Address,
    /// True or false.
    Flag,
    /// A whole number.
    Number,
    /// A date or a time.
    Moment,
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
        let word = text.to_lowercase();
        match self {
            Kind::Options(options) => option(&word, options).map(Value::from),
            Kind::Color => is_color(&word).then(|| text.into()),
            Kind::Text => (text.chars().count() <= TEXT_MAX).then(|| text.into()),
            Kind::Name => is_name(&text).then(|| text.into()),
            Kind::Address => is_address(&text).then(|| text.into()),
            Kind::Flag => flag(&word).map(Value::from),
            Kind::Number => word.parse::<i64>().ok().map(Value::from),
            Kind::Moment => crate::clock::parse_moment(&text).map(Value::from),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Options(options) => formatter.write_str(&options.join(", ")),
            Kind::Color => formatter.write_str("a color such as #336699 or navy"),
            Kind::Text => write!(formatter, "a line of text of at most {TEXT_MAX} characters"),
            Kind::Name => formatter.write_str("a name of at most 100 characters"),
            Kind::Address => write!(
                formatter,
                "an address without blanks (http, https, mailto or a path) of at most {ADDRESS_MAX} characters"
            ),
            Kind::Flag => formatter.write_str("true or false"),
            Kind::Number => formatter.write_str("a whole number"),
            Kind::Moment => formatter.write_str("a date such as 2026-01-26"),
        }
    }
}

/// Finds the option that a word is, also when it is written with spaces: `soft shadow`.
fn option(word: &str, options: &[&'static str]) -> Option<&'static str> {
    let joined = word.replace([' ', '_'], "-");
    options.iter().copied().find(|option| *option == joined)
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

fn is_name(text: &str) -> bool {
    (1..=100).contains(&text.chars().count())
}

/// Whether a text is an address of the web or of a mailbox, or a path.
fn is_address(text: &str) -> bool {
    let scheme = text.split(['/', '?', '#']).next().unwrap_or_default();
    let scheme = scheme
        .split_once(':')
        .map(|(scheme, _)| scheme.to_lowercase());
    let is_known = |scheme: String| ["http", "https", "mailto"].contains(&scheme.as_str());
    text.chars().count() <= ADDRESS_MAX
        && !text.contains(char::is_whitespace)
        && !text.contains('\\')
        && scheme.is_none_or(is_known)
}

fn is_color(word: &str) -> bool {
    match word.strip_prefix('#') {
        Some(digits) => {
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|c| c.is_ascii_hexdigit())
        }
        None => COLORS.split_ascii_whitespace().any(|name| name == word),
    }
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
