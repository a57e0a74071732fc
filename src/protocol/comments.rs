//! Removes HTML comments from Markdown, which no reader sees.

pub(super) mod lines;

use std::collections::HashMap;
use std::ops::Range;

use lines::Kind;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Returns Markdown without its comments, keeping their line ends and whatever only looks like a comment: in
/// code, escaped, or not closed in its paragraph.
pub(crate) fn removed(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let text = text.trim_start_matches('\u{feff}');
    let (mut kind, mut start, mut end) = (Kind::Blank, 0, 0);
    for line in lines::lines(text) {
        // A comment ends with its block, so a block is looked at as a whole.
        if !(line.goes_on && line.kind == kind) {
            copy(kind, &text[start..end], &mut visible);
            (kind, start) = (line.kind, end);
        }
        end += line.text.len();
    }
    copy(kind, &text[start..end], &mut visible);
    visible
}

fn copy(kind: Kind, block: &str, visible: &mut String) {
    match kind {
        Kind::Blank | Kind::Underline | Kind::Fence | Kind::Code => visible.push_str(block),
        Kind::Text | Kind::Heading => without(inline(block), block, visible),
        Kind::Comment | Kind::Raw => without(raw(block, kind == Kind::Comment), block, visible),
    }
}

fn without(comments: Vec<Range<usize>>, block: &str, visible: &mut String) {
    let mut end = 0;
    for comment in comments {
        visible.push_str(&block[end..comment.start]);
        end = comment.end;
        visible.extend(block[comment].matches('\n'));
    }
    visible.push_str(&block[end..]);
}

/// Finds the comments of HTML. One that is not closed is none, but for that which begins the block.
fn raw(block: &str, is_comment: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = block[at..].find(OPEN).map(|start| at + start) {
        let Some(end) = comment_end(block, start) else {
            let runs_on = is_comment && found.is_empty();
            found.extend(runs_on.then_some(start..block.len()));
            break;
        };
        found.push(start..end);
        at = end;
    }
    found
}

/// Finds the comments of a paragraph or a heading, past code and what a backslash stands before.
fn inline(block: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let last_runs = last_runs(block);
    // Nothing is looked for that is not there, or a text could have it looked for at each byte.
    let last_close = block.rfind(CLOSE).unwrap_or_default();
    while let Some(next) = block[at..].find(['\\', '`', '<']) {
        at += next;
        let rest = &block[at..];
        at = match rest.as_bytes()[0] {
            b'`' => code_end(block, at, &last_runs),
            b'\\' if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) => at + 2,
            _ if rest.starts_with(OPEN) && at + 2 <= last_close => {
                let end = comment_end(block, at).unwrap_or(block.len());
                found.push(at..end);
                end
            }
            _ => at + 1,
        };
    }
    found
}

/// Returns the end of the comment that begins at `start`. The shortest one is `<!-->`.
fn comment_end(block: &str, start: usize) -> Option<usize> {
    let inner = start + 2;
    Some(inner + block[inner..].find(CLOSE)? + CLOSE.len())
}

/// Returns where to go on behind backticks: behind as many of them as begin the code, if there are.
fn code_end(block: &str, start: usize, last_runs: &HashMap<usize, usize>) -> usize {
    let length = run(&block[start..]);
    let inner = start + length;
    if last_runs.get(&length).is_none_or(|last| *last < inner) {
        return inner;
    }
    let closing = runs(block, inner).find(|(_, other)| *other == length);
    closing.map_or(inner, |(at, _)| at + length)
}

fn last_runs(block: &str) -> HashMap<usize, usize> {
    runs(block, 0).map(|(at, length)| (length, at)).collect()
}

fn runs(block: &str, start: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut end = start;
    std::iter::from_fn(move || {
        let at = end + block[end..].find('`')?;
        let length = run(&block[at..]);
        end = at + length;
        Some((at, length))
    })
}

fn run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_their_line_ends_stay() {
        for (text, expected) in [
            ("a <!-- b --> c <!-- d -->\n", "a  c \n"),
            ("<!-- a\nb\n--> c\n", "\n\n c\n"),
            ("<!-- open\nto the end", "\n"),
            ("   <!-- open\n\n# to the end", "   \n\n"),
            ("<!-- ``` -->\n# a", "\n# a"),
            ("<!--\n```\n-->\n# a", "\n\n\n# a"),
            ("a\n<!-- b\n\nc -->\nd", "a\n\n\n\nd"),
            ("a <!-- b\nc --> d\n", "a \n d\n"),
            ("# a <!-- b --> c\n", "# a  c\n"),
            ("<!--> a <!---> b <!-- c", " a  b <!-- c"),
            ("a <!--> b\n\nc", "a  b\n\nc"),
            ("```a``` <!-- b -->\n", "```a``` \n"),
            ("`a`` <!-- b -->", "`a`` "),
            ("`a <!-- b --> c", "`a  c"),
            ("\\`<!-- a -->`", "\\``"),
            ("\\\\<!-- a -->", "\\\\"),
            ("\u{feff}<!-- a -->\nb", "\nb"),
            ("- <!-- a\n\n  b\n- c", "- \n\n\n- c"),
            ("> <!-- a\n> b\n\nc", "> \n\n\nc"),
            ("<pre>\n<!-- a -->`\n</pre>", "<pre>\n`\n</pre>"),
            (
                "- a\n  ```sh\n  b\n- c <!-- d -->",
                "- a\n  ```sh\n  b\n- c ",
            ),
        ] {
            assert_eq!(removed(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_comment_stays() {
        for text in [
            "```\n<!-- a\n```\nb",
            "`<!--` a `-->`",
            "````\n```\n<!-- a\n````\nb",
            "Use `<!--` to open.\n\nb\n",
            "a ` b `<!--` c\n\nd -->",
            "``a ` <!-- b --> ``",
            "`a\n<!- <!-- b --> c`",
            "a <!-- b\n\nc -->\n",
            "a <!-- b\n# c\n-->\n",
            "a <!-- b\n- c -->\n",
            "# a <!-- b\nc -->\n",
            "- a <!-- b\n- c -->\n",
            "\\<!-- a -->",
            "a\n\n    <!-- b -->\n\nc",
            "a\n\n\t<!-- b\n\nc",
            "- a\n\n      <!-- b -->\n",
            "<pre>\n<!-- a\n</pre>\nb -->\n",
        ] {
            assert_eq!(removed(text), text);
        }
    }

    #[test]
    fn a_text_that_is_made_to_take_long_does_not() {
        let ladder: String = (1..2_000).map(|length| "`".repeat(length) + "a").collect();
        for text in [ladder, "<!-- ".repeat(200_000), "\\`<".repeat(200_000)] {
            assert_eq!(removed(&format!("a {text}")), format!("a {text}"));
        }
    }
}
