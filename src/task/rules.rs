//! Rules for the fields of a task, which agents, phases, plans and imports share. Declared files are checked by their
//! text alone.

use std::path::Path;

use crate::clock;
use crate::error::{Code, Error, Result};

/// Longest title, in characters.
pub(crate) const TITLE_MAX: usize = 500;
/// Longest description or note, in bytes.
pub(crate) const TEXT_MAX: usize = 1 << 20;
/// Longest line in a list (label, criterion, file, …), in characters.
pub(crate) const ITEM_MAX: usize = 2_000;
pub(crate) const ITEMS_MAX: usize = 1_000;

/// Checks a title: one line, not empty, without control characters, at most [`TITLE_MAX`] long.
pub(crate) fn check_title(title: &str) -> Result<()> {
    if title.is_empty() {
        return Err(Error::new(Code::TaskInvalid, "a task needs a title"));
    }
    refuse_unseen("the title", title)?;
    check_line("title", title, TITLE_MAX)
}

/// Refuses a text that has only control characters.
fn refuse_unseen(what: &str, text: &str) -> Result<()> {
    if text.chars().any(|c| !c.is_control() && !c.is_whitespace()) {
        return Ok(());
    }
    let message = format!("{what} has nothing but control characters, and must not be empty");
    Err(Error::new(Code::TaskInvalid, message))
}

/// Checks one line of text: no control characters, at most `max` characters.
pub(crate) fn check_line(field: &str, text: &str, max: usize) -> Result<()> {
    // Whole files come here, and most texts are short.
    let length = if text.len() > max {
        text.chars().count()
    } else {
        0
    };
    if length > max {
        let has = if is_plural(field) { "have" } else { "has" };
        let message = format!("the {field} {has} {length} characters; {max} are allowed");
        return Err(Error::new(Code::TextTooLong, message));
    }
    refuse_control(field, text, char::is_control)
}

/// Returns a line with spaces in the place of control characters; none when it has none of them.
pub(crate) fn clean_line(text: &str) -> Option<String> {
    if !can_hold_control(text) || !text.contains(char::is_control) {
        return None;
    }
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    let words = words.filter(|word| !word.is_empty());
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Returns a text of several lines without the control characters that it must not hold; none when
/// it holds none of them.
pub(crate) fn clean_text(text: &str) -> Option<String> {
    if !can_hold_control(text) || !text.contains(is_foreign) {
        return None;
    }
    Some(text.chars().filter(|c| !is_foreign(*c)).collect())
}

/// Returns whether a text of several lines must not hold a character.
fn is_foreign(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Looks at eight bytes at once, because whole files come here: returns true unless all are between 0x20 and 0x7E.
pub(crate) fn can_hold_control(text: &str) -> bool {
    let (words, rest) = text.as_bytes().as_chunks();
    let is_suspect = |word: &[u8; 8]| {
        let [word, each] = [*word, [1; 8]].map(u64::from_ne_bytes);
        (word.wrapping_sub(0x20 * each) | word.wrapping_add(each)) & (0x80 * each) != 0
    };
    words.iter().any(is_suspect) || rest.iter().any(|byte| !matches!(byte, b' '..=b'~'))
}

/// Checks a text of several lines: tabs and line ends are its only control characters.
pub(crate) fn check_text(field: &str, text: &str) -> Result<()> {
    if text.len() > TEXT_MAX {
        let message = format!(
            "the {field} has {} bytes; {TEXT_MAX} are allowed",
            text.len()
        );
        return Err(Error::new(Code::TextTooLong, message));
    }
    refuse_control(field, text, is_foreign)
}

/// Checks a note: not empty, and a text like a description.
pub(crate) fn check_note(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::new(Code::TaskInvalid, "a note must not be empty"));
    }
    refuse_unseen("a note", text)?;
    check_text("note", text)
}

fn refuse_control(field: &str, text: &str, is_refused: impl Fn(char) -> bool) -> Result<()> {
    let mut refused = text.chars().filter(|c| is_refused(*c));
    let Some(control) = can_hold_control(text).then(|| refused.next()).flatten() else {
        return Ok(());
    };
    let hold = if is_plural(field) { "hold" } else { "holds" };
    let message = format!(
        "the {field} {hold} the control character U+{:04X}",
        u32::from(control)
    );
    Err(Error::new(Code::TextControl, message))
}

fn is_plural(field: &str) -> bool {
    field.ends_with('s') && !field.ends_with("ss")
}

pub(crate) fn check_lines(field: &str, lines: &[String]) -> Result<()> {
    if lines.len() > ITEMS_MAX {
        let message = format!("{field} has {} lines; {ITEMS_MAX} are allowed", lines.len());
        return Err(Error::new(Code::TaskInvalid, message));
    }
    let mut lines = lines.iter();
    lines.try_for_each(|line| check_line(field, line.trim(), ITEM_MAX))
}

/// Trims the lines of a list, drops empty and repeated ones and checks the rest.
pub(crate) fn check_list(field: &str, lines: Vec<String>) -> Result<Vec<String>> {
    check_lines(field, &lines)?;
    let mut kept: Vec<String> = Vec::with_capacity(lines.len());
    for line in lines {
        let trimmed = line.trim();
        if !trimmed.is_empty() && !kept.iter().any(|other| other == trimmed) {
            kept.push(match trimmed.len() == line.len() {
                true => line,
                false => trimmed.to_string(),
            });
        }
    }
    Ok(kept)
}

/// Checks a short name: one line, not empty, at most 100 characters.
pub(crate) fn check_word(field: &str, word: Option<&str>) -> Result<()> {
    let Some(word) = word else { return Ok(()) };
    if word.trim().is_empty() {
        return Err(error!(TaskInvalid, "{field} must not be empty"));
    }
    refuse_unseen(field, word)?;
    check_line(field, word, 100)
}

/// Checks the name of a phase, which becomes part of the protocol block of a prompt: letters, digits, `.`, `_` and `-`,
/// at most 100.
pub(crate) fn check_phase(phase: Option<&str>) -> Result<()> {
    check_word("phase", phase)?;
    let Some(phase) = phase.filter(|phase| !is_slug(phase)) else {
        return Ok(());
    };
    let message = format!("phase is `{phase}`; letters, digits, `.`, `_` and `-` are allowed");
    Err(Error::new(Code::TaskInvalid, message))
}

/// Returns whether a text is a slug: [A-Za-z0-9._-], 1 to 100 characters.
pub(crate) fn is_slug(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=100).contains(&text.len()) && text.chars().all(fits)
}

/// Checks a due date and returns it as RFC 3339 in UTC.
pub(crate) fn check_due(text: &str) -> Result<String> {
    clock::parse_moment(text).ok_or_else(|| {
        let message = format!(
            "due is `{text}`; it has to be a date like 2026-12-31 or an RFC 3339 time in the years 0000 \
             to 9999"
        );
        Error::new(Code::TaskInvalid, message)
    })
}

/// Checks an estimate (hours, finite, not negative, below 1,000) and returns it with two decimals,
/// as many as the specification keeps.
pub(crate) fn check_estimate(hours: Option<f64>) -> Result<Option<f64>> {
    let rounded = hours.map(|hours| (hours * 100.0).round() / 100.0);
    match hours.zip(rounded) {
        Some((hours, rounded)) if hours < 0.0 || !(0.0..1_000.0).contains(&rounded) => {
            let message = format!("estimate is {hours}; it counts hours from 0 to 999.99");
            Err(Error::new(Code::TaskInvalid, message))
        }
        _ => Ok(rounded),
    }
}

/// Returns declared files without `.` and `..`, and refuses a file outside of the workspace.
pub(crate) fn check_files(files: &[String]) -> Result<Vec<String>> {
    files.iter().map(|file| check_file(file)).collect()
}

fn check_file(file: &str) -> Result<String> {
    normalize_inside(file).ok_or_else(|| {
        let message = format!(
            "the file `{file}` may lie outside of the workspace: a task declares paths and globs \
             below its root"
        );
        Error::new(Code::PathOutside, message)
    })
}

/// Returns whether a deliverable names a file or folder. Others are words or patterns.
pub(crate) fn is_path(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(|it| it.to_str());
    let has_extension = extension.is_some_and(|it| it.starts_with(|c: char| c.is_alphabetic()));
    let has_other = |c: char| c.is_whitespace() || "*?[]{}".contains(c);
    (text.contains('/') || has_extension) && !text.contains(has_other) && !text.contains("://")
}

/// Returns a path or glob without `.` and `..`; none when it leads out of the workspace, or may do so.
pub(crate) fn normalize_inside(file: &str) -> Option<String> {
    let file = file.trim();
    if file.starts_with('/') {
        return None;
    }
    // Braces may hold slashes, so that its names cannot be told apart.
    if file.contains('{') {
        let mut names = file.split(['/', '{', ',', '}']);
        return (!names.any(|name| name == "..")).then(|| file.to_string());
    }
    let mut names: Vec<&str> = Vec::new();
    for name in file.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_none_or(|above| *above == "**") => return None,
            ".." => _ = names.pop(),
            name => names.push(name),
        }
    }
    let folder = if file.ends_with('/') { "/" } else { "" };
    match names.is_empty() {
        true if file.is_empty() => Some(String::new()),
        true => Some(".".to_string()),
        false => Some(names.join("/") + folder),
    }
}

/// Refuses an empty item of the lists that were given, which says nothing and would be dropped.
pub(crate) fn refuse_blank(lists: &[(&str, &Vec<String>)]) -> Result<()> {
    let is_blank = |list: &Vec<String>| list.iter().any(|item| item.trim().is_empty());
    let Some((name, _)) = lists.iter().find(|(_, list)| is_blank(list)) else {
        return Ok(());
    };
    Err(error!(TaskInvalid, "an item of `{name}` is empty"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;
    use crate::task::fields::Draft;

    fn with_title(title: &str) -> Result<Task> {
        let title = title.to_string();
        let draft = Draft {
            title,
            ..Draft::default()
        };
        draft.into_task()
    }

    #[test]
    fn titles_are_one_clean_line_of_bounded_length() {
        for (title, code) in [
            ("", Code::TaskInvalid),
            ("  \n ", Code::TaskInvalid),
            ("a\nb", Code::TextControl),
            ("\u{1}\u{2}", Code::TaskInvalid),
            ("a\u{1b}[31mb", Code::TextControl),
            (&"x".repeat(501), Code::TextTooLong),
        ] {
            assert_eq!(with_title(title).unwrap_err().code, code, "{title:?}");
        }
        assert_eq!(
            with_title(" {{DATE}} & more ").unwrap().title,
            "{{DATE}} & more"
        );
    }

    #[test]
    fn text_of_control_chars_only_is_empty_one() {
        let error = with_title("\u{1} \u{2}").unwrap_err();
        assert_eq!(
            error.message,
            "the title has nothing but control characters, and must not be empty"
        );
        for error in [
            check_note("\u{7f}\n").unwrap_err(),
            check_word("feature", Some("\u{1}")).unwrap_err(),
        ] {
            assert_eq!(error.code, Code::TaskInvalid);
            assert!(error.message.contains("nothing but control"), "{error}");
        }
    }

    #[test]
    fn lists_are_trimmed_and_lose_empty_and_repeated_lines() {
        let lines = ["a ", "", "a", " b"].map(String::from).to_vec();
        assert_eq!(check_list("labels", lines).unwrap(), ["a", "b"]);
    }

    #[test]
    fn estimates_and_due_dates_are_checked() {
        for wrong in [f64::NAN, f64::INFINITY, -1.0, -0.001, 999.995, 1_000.0] {
            assert!(check_estimate(Some(wrong)).is_err(), "{wrong}");
        }
        for (hours, kept) in [(2.5, 2.5), (0.0, 0.0), (1.0 / 3.0, 0.33), (999.994, 999.99)] {
            assert_eq!(check_estimate(Some(hours)).unwrap(), Some(kept));
        }
        assert!(check_due("2026-02-30").is_err());
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        for (file, expected) in [
            ("src/auth/**", "src/auth/**"),
            ("./src/auth/../auth/login.rs", "src/auth/login.rs"),
            (" src//x/ ", "src/x/"),
            ("src/..", "."),
            ("./", "."),
            ("", ""),
            ("src/{a,b}/*.rs", "src/{a,b}/*.rs"),
            ("a..b", "a..b"),
        ] {
            assert_eq!(normalize_inside(file).as_deref(), Some(expected), "{file}");
        }
    }

    #[test]
    fn what_leads_out_or_nobody_knows_where_is_refused() {
        for file in [
            "/etc/passwd",
            "../../etc/passwd",
            "src/../../x",
            "**/../x",
            "{..,a}/x",
            "/",
        ] {
            let error = check_files(&[file.to_string()]).unwrap_err();
            assert_eq!(error.code, Code::PathOutside, "{file}");
        }
    }
}
