//! Untrusted YAML. The time of the YAML reader grows with the square of the nesting of brackets, so the nesting
//! is limited first.

use serde::de::{DeserializeOwned, Error as _};
use serde_yaml::Error;

/// Maximum nesting of brackets, little below that of the reader.
const DEPTH_MAX: usize = 100;
/// Maximum of brackets times bytes of an untrusted document.
const COST_MAX: usize = 1 << 32;

/// Reads a document, with or without a byte order mark.
///
/// # Errors
///
/// What is wrong with it, with line and column where they are known.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_shape(text)?;
    serde_yaml::from_str(text)
}

/// Refuses brackets that are nested too deep, and a second document.
/// Brackets in quotes and comments count as well.
///
/// # Errors
///
/// The line where they are too deep, or where the other document begins.
pub(crate) fn check_shape(text: &str) -> Result<(), Error> {
    if let Some(line) = second(text) {
        let what = format!("another document begins in line {line}; one is read");
        return Err(Error::custom(what));
    }
    let (mut depth, mut line) = (0_usize, 1);
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            let what = format!("brackets are nested more than {DEPTH_MAX} deep in line {line}");
            return Err(Error::custom(what));
        }
    }
    Ok(())
}

/// Returns what is wrong with a text, with line and column also where the reader does not tell them: at its very
/// start, and of control characters.
pub(crate) fn describe_fault(text: &str, fault: &Error) -> String {
    let what = fault.to_string();
    if what.contains(" line ") {
        return what;
    }
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let odd = text.find(is_odd).map(|at| {
        let before = &text[..at];
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (before.matches('\n').count() + 1, column)
    });
    let place = || fault.location().map(|at| (at.line(), at.column()));
    let what = what.split(" at position ").next().unwrap_or_default();
    match odd.or_else(place) {
        Some((line, column)) => format!("{what} at line {line} column {column}"),
        None => what.to_string(),
    }
}

/// Finds the line where a second document begins: three hyphens at the start of a line are never text
/// (YAML 1.2, 9.1.2).
fn second(text: &str) -> Option<usize> {
    let mut has_begun = false;
    let mut lines = (1..).zip(text.lines());
    lines.find_map(|(number, line)| {
        let rest = line.strip_prefix("---");
        let is_mark = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        let is_second = is_mark && has_begun;
        let is_nothing = line.trim().is_empty() || line.starts_with(['#', '%']);
        has_begun |= !is_nothing;
        is_second.then_some(number)
    })
}

/// Refuses a document of a project whose brackets, were all of them within one another, would take
/// the reader longer than seconds: closing ones in quotes can hide how deep they are.
///
/// # Errors
///
/// That there are too many.
pub(crate) fn check_cost(text: &str) -> Result<(), Error> {
    let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{'));
    match brackets.count().saturating_mul(text.len()) > COST_MAX {
        true => Err(Error::custom(
            "it has too many brackets for its size; write them as lines, or the file as JSON",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn brackets_whose_depth_quotes_hide_cost_no_more_than_seconds() {
        let hidden = format!("a: {}", "[\"]\",".repeat(150_000));
        assert!(check_shape(&hidden).is_ok());
        assert!(check_cost(&hidden).is_err());
        let agents = "- {id: a, name: A, prompt: p, tags: [one, two]}\n".repeat(1_000);
        assert!(check_cost(&agents).is_ok());
    }

    #[test]
    fn deep_nesting_is_refused_early() {
        let deep = format!("a: 1\nb: {}", "[".repeat(1 << 20));
        let fault = from_str::<Value>(&deep).unwrap_err().to_string();
        assert_eq!(fault, "brackets are nested more than 100 deep in line 2");
        let fine = format!("b: {}{}", "[".repeat(99), "]".repeat(99));
        assert!(from_str::<Value>(&fine).is_ok());
        let wide = format!("b: [{}]", "{a: [1]}, ".repeat(1_000));
        assert!(from_str::<Value>(&wide).is_ok());
    }

    #[test]
    fn errors_have_line_and_column() {
        for (text, place) in [
            ("\tname: x\n", " at line 1 column 1"),
            ("name: x\nprompt: a\u{7}b\n", " at line 2 column 10"),
            ("name: a\n  bad: [1\n", " at line 2 column 6"),
        ] {
            let fault = from_str::<serde_yaml::Value>(text).unwrap_err();
            let told = describe_fault(text, &fault);
            assert!(told.ends_with(place), "{told}");
        }
    }

    #[test]
    fn second_document_is_named_by_its_line() {
        for (text, line) in [
            ("a: 1\n---\nb: 2\n", Some(2)),
            ("# c\n---\na: 1\n--- # next\nb: 2\n", Some(4)),
            ("---\n---\na: 1\n", Some(2)),
            ("%YAML 1.2\n---\na: 1\n...\n", None),
            ("a: |\n  x\n  ---\n  y\n", None),
            ("a: ---\n", None),
            ("--- {a: 1}\n", None),
            ("", None),
        ] {
            assert_eq!(second(text), line, "{text:?}");
            assert_eq!(from_str::<Value>(text).is_err(), line.is_some(), "{text:?}");
        }
    }

    #[test]
    fn byte_order_mark_and_ends_of_lines_of_windows_are_no_fault() {
        let read: Value = from_str("\u{feff}id: a\r\ntags: [b]\r\n").unwrap();
        assert_eq!(read, json!({"id": "a", "tags": ["b"]}));
    }
}
