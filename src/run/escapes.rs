//! Sequences with which programs steer a terminal: colours, titles, places of the cursor. They are taken
//! out whole where the text is shown to people: half of one is noise.

use std::borrow::Cow;

/// Takes the sequences out of a text. What begins like one and does not end loses its beginning only.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(begins) {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    let mut endless = None;
    while let Some(place) = rest.find(begins) {
        plain.push_str(&rest[..place]);
        rest = after(&rest[place..], &mut endless);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Says whether a character begins a sequence: ESC, or one that stands for ESC and a bracket.
fn begins(c: char) -> bool {
    matches!(c, '\u{1b}' | '\u{9b}' | '\u{9d}')
}

/// Returns what follows the sequence that a text begins with. `endless` is for [`after_string`].
fn after<'a>(text: &'a str, endless: &mut Option<usize>) -> &'a str {
    let mut chars = text.chars();
    let kind = match chars.next() {
        Some('\u{9b}') => Some('['),
        Some('\u{9d}') => Some(']'),
        _ => chars.next(),
    };
    let rest = chars.as_str();
    match kind {
        Some('[') => after_control(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(rest, endless),
        Some(' '..='/') => ended(rest.trim_start_matches(|c: char| matches!(c, ' '..='/'))),
        Some('0'..='~') => rest,
        _ => text.strip_prefix('\u{1b}').unwrap_or(rest),
    }
}

/// Skips parameters and the letter that ends them.
fn after_control(rest: &str) -> &str {
    let rest = rest.trim_start_matches(|c: char| matches!(c, '0'..='?'));
    let rest = rest.trim_start_matches(|c: char| matches!(c, ' '..='/'));
    ended(rest)
}

fn ended(rest: &str) -> &str {
    rest.strip_prefix(|c: char| matches!(c, '0'..='~'))
        .unwrap_or(rest)
}

/// Skips a text, such as a title or the address of a link, with what ends it. None goes over a line.
/// `endless` keeps how much follows the last place until which nothing ends one: each place is looked
/// at once, however many begin there.
fn after_string<'a>(rest: &'a str, endless: &mut Option<usize>) -> &'a str {
    if endless.is_some_and(|left| rest.len() >= left) {
        return rest;
    }
    match rest.find(['\u{7}', '\u{9c}', '\u{1b}', '\n']) {
        Some(end) if !rest[end..].starts_with('\n') => {
            let end = &rest[end..];
            let end = end.strip_prefix(['\u{7}', '\u{9c}']).unwrap_or(end);
            end.strip_prefix("\u{1b}\\").unwrap_or(end)
        }
        end => {
            *endless = Some(end.map_or(0, |end| rest.len() - end));
            rest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_whole_and_nothing_else_does() {
        for (text, expected) in [
            ("plain [31m text", "plain [31m text"),
            ("\u{1b}[31mred text\u{1b}[0m", "red text"),
            ("\u{1b}[38;5;208;1mdeep\u{9b}0m", "deep"),
            ("\u{1b}[?25l\u{1b}[2K\u{1b}[1;1Hx", "x"),
            ("\u{1b}]0;title\u{7}after", "after"),
            (
                "\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\.",
                "link.",
            ),
            ("\u{1b}(Bcharset \u{1b}7saved", "charset saved"),
            ("\u{1b}]no end\nnext", "no end\nnext"),
            ("\u{1b}[31", ""),
            ("\u{1b}[31é", "é"),
            ("\u{1b}", ""),
            ("\u{1b}é\u{1b}\n", "é\n"),
            ("\u{9d}a\u{9d}b\n\u{9d}title\u{7}c", "ab\nc"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_of_nothing_but_beginnings_is_gone_through_once() {
        let text = "\u{9d}".repeat(1 << 19);
        assert_eq!(plain(&text), "");
        assert_eq!(plain(&format!("{text}\n{text}end")), "\nend");
    }
}
