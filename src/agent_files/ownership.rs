//! Tells our text from that of others: a marker has a digest of what we wrote, which shows later edits.

use std::ops::Range;

use crate::id::digest;

/// In the marker line of a file that is ours as a whole.
const SIGN: &str = "cleo:digest ";
const BEGIN: &str = "<!-- cleo:begin ";
const END: &str = "<!-- cleo:end -->";
/// Digits of a digest in a marker: enough to notice an edit, short enough for a prompt.
const DIGITS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    /// Whether our text was edited.
    pub(crate) holds_changes: bool,
}

/// Adds the marker line to a file that is ours as a whole, as its line number `line`.
pub(super) fn add_marker(text: &str, line: usize) -> String {
    let marker = format!(
        "# {SIGN}{} (cleo init --agents writes this file)",
        compute_short_digest(text)
    );
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(line.min(lines.len()), &marker);
    lines.join("\n") + "\n"
}

pub(super) fn replace_whole(there: &str, signed: &str) -> Outcome {
    if normalize_line_ends(there) == signed {
        return leave_unchanged(there);
    }
    Outcome {
        text: signed.to_string(),
        holds_changes: !there.trim().is_empty() && !is_untouched(there),
    }
}

fn is_untouched(text: &str) -> bool {
    let text = normalize_line_ends(text);
    let (markers, others): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains(SIGN));
    let body = others.join("\n") + "\n";
    matches!(markers[..], [marker] if marker.contains(&format!("{SIGN}{}", compute_short_digest(&body))))
}

/// Puts our block into a file of the project, in place of the old one or at the end. Everything else is
/// preserved byte for byte. It is an error if the markers are not a pair.
pub(super) fn put_block(there: &str, content: &str) -> Result<Outcome, String> {
    let end_of_line = if there.contains("\r\n") { "\r\n" } else { "\n" };
    let is_same =
        |old: &str| normalize_line_ends(old).trim_end() == format_block(content).trim_end();
    let block = format_block(content).replace('\n', end_of_line);
    Ok(match find(there)? {
        Some(range) if is_same(&there[range.clone()]) => leave_unchanged(there),
        Some(range) => Outcome {
            holds_changes: !is_untouched_block(&there[range.clone()]),
            text: format!("{}{block}{}", &there[..range.start], &there[range.end..]),
        },
        None => {
            let gap = match there {
                "" => "",
                _ if there.ends_with('\n') => end_of_line,
                _ => &end_of_line.repeat(2),
            };
            Outcome {
                text: format!("{there}{gap}{block}"),
                holds_changes: false,
            }
        }
    })
}

pub(super) fn has_marker(text: &str) -> bool {
    text.lines().any(|line| is_begin(line) || is_end(line))
}

pub(super) fn leave_unchanged(there: &str) -> Outcome {
    Outcome {
        text: there.to_string(),
        holds_changes: false,
    }
}

fn format_block(content: &str) -> String {
    let begin = format!(
        "{BEGIN}{} (cleo init --agents writes this block) -->",
        compute_short_digest(content)
    );
    format!("{begin}\n{content}{END}\n")
}

/// Finds the block: one marker that begins, then one that ends, each alone on its line.
fn find(text: &str) -> Result<Option<Range<usize>>, String> {
    let mut begins = Vec::new();
    let mut ends = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_begin(line) {
            begins.push(at);
        } else if is_end(line) {
            ends.push(at + line.len());
        }
        at += line.len();
    }
    match (&begins[..], &ends[..]) {
        ([], []) => Ok(None),
        ([begin], [end]) if begin < end => Ok(Some(*begin..*end)),
        _ => Err(format!(
            "the lines `{BEGIN}…` and `{END}` in it are not a pair; remove them"
        )),
    }
}

fn is_begin(line: &str) -> bool {
    line.starts_with(BEGIN)
}

fn is_end(line: &str) -> bool {
    line.trim_end() == END
}

fn is_untouched_block(there: &str) -> bool {
    let there = normalize_line_ends(there);
    let Some((begin, rest)) = there.split_once('\n') else {
        return false;
    };
    let content = rest.trim_end().strip_suffix(END).unwrap_or(rest);
    begin.starts_with(&format!("{BEGIN}{} ", compute_short_digest(content)))
}

/// Reads text as it was before a checkout changed its line ends.
fn normalize_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn compute_short_digest(text: &str) -> String {
    let digest = digest(text);
    let digits = digest.trim_start_matches("sha256:");
    digits.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_file_is_replaced_as_long_as_nobody_changed_it() {
        let old = add_marker("---\nname: a\n---\nold\n", 1);
        let new = add_marker("---\nname: a\n---\nnew\n", 1);
        for (there, holds_changes) in [
            (old.clone(), false),
            (old.replace('\n', "\r\n"), false),
            (String::new(), false),
            (old.replace("old", "mine"), true),
            (old.replace("cleo:digest ", ""), true),
            ("somebody's".to_string(), true),
        ] {
            let outcome = replace_whole(&there, &new);
            assert_eq!(
                (outcome.text, outcome.holds_changes),
                (new.clone(), holds_changes),
                "{there}"
            );
        }
        assert_eq!(replace_whole(&new, &new).text, new);
    }

    #[test]
    fn block_changes_nothing_around_it() {
        let first = put_block("# Mine\nno end", "one\n").unwrap();
        assert!(!first.holds_changes);
        assert_eq!(put_block(&first.text, "one\n").unwrap().text, first.text);
        let around = first.text.replace("# Mine", "# \u{feff}Mine\r") + "\nmore, no end";
        let second = put_block(&around, "two\n").unwrap();
        assert!(!second.holds_changes, "{}", second.text);
        assert_eq!(second.text.replace("two\r\n", "one\n").len(), {
            let crlf =
                format_block("one\n").replace('\n', "\r\n").len() - format_block("one\n").len() - 1;
            around.len() + crlf
        });
        assert!(second.text.ends_with("\nmore, no end"));
        assert!(second.text.starts_with("# \u{feff}Mine\r\n"));
    }

    #[test]
    fn edited_block_is_noticed() {
        let ours = put_block("", "one\n").unwrap().text;
        let mine = put_block(&ours.replace("one", "mine"), "two\n");
        assert!(mine.unwrap().holds_changes);
        assert!(!put_block(&ours, "two\n").unwrap().holds_changes);
    }

    #[test]
    fn markers_that_are_no_pair_are_refused() {
        let ours = put_block("before\n", "one\n").unwrap().text;
        for broken in [
            ours.replace(END, ""),
            format!("{END}\n{}", ours.replace(END, "")),
            format!("{ours}between\n{}after\n", format_block("one\n")),
            format!("{BEGIN}x -->\nmine\n{ours}"),
        ] {
            let error = put_block(&broken, "two\n").unwrap_err();
            assert!(error.contains("are not a pair"), "{broken}: {error}");
        }
    }
}
