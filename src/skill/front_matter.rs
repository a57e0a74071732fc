//! Reads the front matter of SKILL.md and protocol files leniently, for loading. The strict
//! reading for `skill validate` is in `validate`; start here at `parse`.

pub(crate) use super::Fault;
use super::fields::{Fields, read};

/// The largest front matter that is read, in bytes.
pub(crate) const FRONT_MATTER_LIMIT: usize = 64 * 1024;

/// The largest file that is read, in bytes.
pub(crate) const FILE_LIMIT: usize = 1024 * 1024;

/// The line that opens and closes the front matter (Agent Skills specification, `SKILL.md`).
const FENCE: &str = "---";

#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    /// The keys and values, in the order of the file.
    pub(crate) fields: Fields,
    pub(crate) body: &'a str,
}

impl Document<'_> {
    /// The value of `key`, if it is a scalar and not null.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.fields.text(key).map(str::to_owned)
    }

    /// The value of `key` in the mapping `metadata`, if it is a scalar and not null.
    pub(crate) fn metadata(&self, key: &str) -> Option<String> {
        let metadata = self.fields.mapping("metadata")?;
        metadata.text(key).map(str::to_owned)
    }
}

/// Reads a file: any YAML in the front matter, with or without byte order mark, LF or CRLF.
///
/// # Errors
///
/// The first fault, if the file is too large or has no front matter that can be read.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, Fault> {
    if text.len() > FILE_LIMIT {
        let message = format!("The file is larger than {} KiB.", FILE_LIMIT / 1024);
        return Err(Fault::new("FILE_TOO_LARGE", (1, 1), message));
    }
    let marked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = marked
        .strip_prefix(FENCE)
        .ok_or_else(missing_front_matter)?;
    match split_at_fence(rest) {
        Some(parts) => {
            let other = || parse_document(rest.split_once(FENCE).unwrap_or(parts));
            parse_document(parts).or_else(|fault| other().map_err(|_| fault))
        }
        None => parse_document(rest.split_once(FENCE).ok_or_else(report_unclosed)?),
    }
}

pub(super) fn missing_front_matter() -> Fault {
    Fault::new(
        "FRONT_MATTER_MISSING",
        (1, 1),
        "The file must begin with a line `---`.",
    )
}

pub(super) fn report_unclosed() -> Fault {
    Fault::new(
        "FRONT_MATTER_UNCLOSED",
        (1, 1),
        "The front matter has no closing line `---`.",
    )
}

fn split_at_fence(rest: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        if start > 0 && line.trim_end() == FENCE {
            return Some((&rest[..start], &rest[start + FENCE.len()..]));
        }
        start += line.len();
    }
    None
}

fn parse_document<'a>((block, rest): (&'a str, &'a str)) -> Result<Document<'a>, Fault> {
    if block.len() > FRONT_MATTER_LIMIT {
        let message = format!(
            "The front matter is larger than {} KiB.",
            FRONT_MATTER_LIMIT / 1024
        );
        return Err(Fault::new("FRONT_MATTER_TOO_LARGE", (1, 1), message));
    }
    let fields = read(block)?;
    let body = match rest.split_once('\n') {
        Some((rest, body)) if rest.trim().is_empty() => body,
        _ => rest,
    };
    Ok(Document { fields, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: &str, expected: Option<&str>) {
        let document = parse(text).unwrap();
        let found = document.text(key).or_else(|| document.metadata(key));
        assert_eq!(found.as_deref(), expected, "`{key}` in {text:?}");
    }

    #[test]
    fn scalars_of_all_kinds_are_text() {
        for (value, expected) in [
            ("word", Some("word")),
            ("\"2\"", Some("2")),
            ("2", Some("2")),
            ("1.10", Some("1.10")),
            ("true", Some("true")),
            ("2026-01-02", Some("2026-01-02")),
            (">-\n  two\n  lines", Some("two lines")),
            ("|\n  two\n  lines", Some("two\nlines\n")),
            ("", None),
            ("~", None),
            ("null", None),
            ("\"null\"", Some("null")),
            ("[a, b]", None),
            ("{a: b}", None),
        ] {
            check(&format!("---\nkey: {value}\n---\n"), "key", expected);
        }
    }

    #[test]
    fn metadata_is_reached_in_block_and_flow_style() {
        check(
            "---\nmetadata:\n  cleo-tier: 2\n---\n",
            "cleo-tier",
            Some("2"),
        );
        check(
            "---\nmetadata: {cleo-tier: 2, open: true}\n---\n",
            "cleo-tier",
            Some("2"),
        );
        check(
            "---\nmetadata: {cleo-tier: 2, open: true}\n---\n",
            "open",
            Some("true"),
        );
        check("---\nmetadata: &m {a: b}\nwhen: *m\n---\n", "a", Some("b"));
        check("---\nmetadata: text\n---\n", "cleo-tier", None);
    }

    #[test]
    fn body_begins_after_closing_line() {
        for (text, body) in [
            ("---\na: b\n---\nbody\n", "body\n"),
            ("\u{feff}---\r\na: b\r\n---\r\nbody\r\n", "body\r\n"),
            ("---\na: b\n---", ""),
            ("---\na: b\n--- \n\n---\n", "\n---\n"),
            ("---\na: b --- c\n---\nbody", "body"),
            ("---a: b---body", "body"),
        ] {
            let document = parse(text).unwrap();
            assert_eq!(document.body, body, "{text:?}");
        }
    }

    #[test]
    fn faults_give_place_in_file() {
        for (text, code, line, column) in [
            ("# Title\n", "FRONT_MATTER_MISSING", 1, 1),
            ("", "FRONT_MATTER_MISSING", 1, 1),
            ("---\na: b\n", "FRONT_MATTER_UNCLOSED", 1, 1),
            ("---\n- a\n---\n", "FRONT_MATTER_NOT_MAPPING", 1, 1),
            ("---\n---\n", "FRONT_MATTER_NOT_MAPPING", 1, 1),
            ("---\na: b\nc: d: e\n---\n", "FRONT_MATTER_YAML", 3, 5),
            (
                "\u{feff}---\r\na: b\r\nc: d: e\r\n---\r\n",
                "FRONT_MATTER_YAML",
                3,
                5,
            ),
            ("---\na: [b\n---\n", "FRONT_MATTER_YAML", 3, 1),
            ("--- a: b: c\n---\n", "FRONT_MATTER_YAML", 1, 9),
        ] {
            let fault = parse(text).unwrap_err();
            assert_eq!(
                (fault.code, fault.line, fault.column),
                (code, line, column),
                "{text:?}"
            );
        }
    }

    #[test]
    fn sizes_and_bombs_are_refused() {
        let long = "x".repeat(FRONT_MATTER_LIMIT);
        let bomb: String = (1..20)
            .map(|n| format!("k{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1))
            .collect();
        for (text, code) in [
            (
                format!("---\na: b\n---\n{}", "x".repeat(FILE_LIMIT)),
                "FILE_TOO_LARGE",
            ),
            (format!("---\na: {long}\n---\n"), "FRONT_MATTER_TOO_LARGE"),
            (
                format!("---\nk0: &a0 [x, x]\n{bomb}---\n"),
                "FRONT_MATTER_YAML",
            ),
            (
                format!("---\na: {}\n---\n", "[".repeat(9000)),
                "FRONT_MATTER_YAML",
            ),
            (
                format!("---\na: {}b\n---\n", "- ".repeat(9000)),
                "FRONT_MATTER_YAML",
            ),
        ] {
            assert_eq!(parse(&text).unwrap_err().code, code);
        }
    }

    #[test]
    fn keys_have_their_places_in_file() {
        let text = "---\nb: 1\n\"d\" : e\nwhen:\n\n  # first\n  a: c\n---\n";
        let place = |fields: &Fields, key| fields.find(key).unwrap().place;
        let document = parse(text).unwrap();
        assert_eq!(place(&document.fields, "d"), (3, 1));
        let when = document.fields.mapping("when").unwrap();
        assert_eq!(place(when, "a"), (7, 3));
        let flow = parse("---\n'd': e\nwhen: {a: b}\n---\n").unwrap();
        assert_eq!(place(&flow.fields, "d"), (2, 1));
        let when = flow.fields.mapping("when").unwrap();
        assert_eq!(place(when, "a"), (3, 1), "that of the mapping");
    }
}
