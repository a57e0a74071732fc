//! YAML from strangers. The reader of YAML takes time with the square of how deep brackets stand
//! within one another before it refuses them, so they are counted first.

use serde::de::{DeserializeOwned, Error as _};
use serde_yaml::Error;

/// How deep brackets may stand within one another; the reader itself takes little more.
const DEPTH_MAX: usize = 100;

/// Reads a document, with or without a byte order mark.
///
/// # Errors
///
/// What is wrong with it, with line and column where they are known.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_depth(text)?;
    serde_yaml::from_str(text)
}

/// Refuses brackets that stand deeper within one another than any document needs. Those in quotes
/// and comments count as well.
///
/// # Errors
///
/// The line where they are too deep.
pub fn check_depth(text: &str) -> Result<(), Error> {
    let (mut depth, mut line) = (0_usize, 1);
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            let what = format!("brackets stand more than {DEPTH_MAX} deep in line {line}");
            return Err(Error::custom(what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn brackets_that_are_nested_too_deep_are_refused_before_they_cost_anything() {
        let deep = format!("a: 1\nb: {}", "[".repeat(1 << 20));
        let fault = from_str::<Value>(&deep).unwrap_err().to_string();
        assert_eq!(fault, "brackets stand more than 100 deep in line 2");
        let fine = format!("b: {}{}", "[".repeat(99), "]".repeat(99));
        assert!(from_str::<Value>(&fine).is_ok());
        let wide = format!("b: [{}]", "{a: [1]}, ".repeat(1_000));
        assert!(from_str::<Value>(&wide).is_ok());
    }

    #[test]
    fn a_byte_order_mark_and_ends_of_lines_of_windows_are_no_fault() {
        let read: Value = from_str("\u{feff}id: a\r\ntags: [b]\r\n").unwrap();
        assert_eq!(read, json!({"id": "a", "tags": ["b"]}));
    }
}
