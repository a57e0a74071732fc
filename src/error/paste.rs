//! What a fix is made of: arguments that can be pasted, and the name that was probably meant.

use std::fmt::Write;

/// Says whether a character cannot be seen and steers what shows the text: control characters,
/// ends of lines, marks that turn the direction of writing, and characters without any width.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'
                | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Quotes one argument for a POSIX shell, so that a suggested command can be pasted as it is.
pub fn quote(argument: &str) -> String {
    if argument.contains(steers) {
        return escaped(argument);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_string();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Quotes what a screen could not show as it is, in the way of POSIX.1-2024.
fn escaped(argument: &str) -> String {
    let mut quoted = String::from("$'");
    for c in argument.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => quoted.extend(['\\', c]),
            c if steers(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// Finds the name nearest to `wanted`, for "did you mean".
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_survives_a_shell() {
        assert_eq!(quote("a-b_c.d"), "a-b_c.d");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("$(x)"), "'$(x)'");
    }

    #[test]
    fn a_quoted_argument_holds_nothing_that_a_screen_would_show_otherwise() {
        for (argument, quoted) in [
            ("a\nb\tc", r"$'a\nb\tc'"),
            ("it's\n\\", r"$'it\'s\n\\'"),
            ("\u{1b}7", r"$'\0337'"),
            ("\u{9b}x", r"$'\302\233x'"),
            ("a\u{202e}b\u{2028}", r"$'a\342\200\256b\342\200\250'"),
        ] {
            assert_eq!(quote(argument), quoted);
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_only_when_it_is_near() {
        assert_eq!(nearest("titel", ["title", "type"]), Some("title"));
        assert_eq!(nearest("zzz", ["title", "type"]), None);
        assert_eq!(nearest("sort", ["format"]), None);
    }
}
