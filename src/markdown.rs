//! Markdown as agents write it: without comments, and by sections; and text that is to be shown as it is.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";
/// Columns that the marks of lists and quotes may take before the text of a line. The parser compares every
/// line with each open list item and quote, so without a limit a small file could take hours.
const MARKS_MAX: usize = 100;

/// A heading of the text itself, not one in a list or a quote, and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) level: usize,
    /// Where its heading starts in the text.
    pub(crate) start: usize,
    /// Its heading without marks.
    pub(crate) title: &'a str,
    /// Whether there is no letter or digit up to the next heading of this level or above, headings aside: a
    /// text of headings alone says nothing.
    pub(crate) is_empty: bool,
    /// The text up to the next heading of any level, including the title of a setext heading.
    pub(crate) body: &'a str,
}

/// Returns Markdown without its comments, keeping their line ends and whatever only looks like a comment: in
/// code, escaped, or not closed in its paragraph.
pub(crate) fn remove_comments(text: &str) -> String {
    let text = readable(text.trim_start_matches('\u{feff}'));
    if !text.contains(OPEN) {
        return text.to_string();
    }
    let mut visible = String::with_capacity(text.len());
    let mut end = 0;
    for comment in comments(text) {
        visible.push_str(&text[end..comment.start]);
        end = comment.end;
        visible.extend(text[comment].matches('\n'));
    }
    visible.push_str(&text[end..]);
    visible
}

fn comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::InlineHtml(html) if html.starts_with(OPEN) => found.push(range),
            Event::Start(Tag::HtmlBlock) => find_in_html(text, range, &mut found),
            _ => {}
        }
    }
    found
}

/// Finds the comments of a block of HTML. A comment that is not closed counts only if it begins the block.
fn find_in_html(text: &str, block: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut at = block.start;
    while let Some(start) = text[at..block.end].find(OPEN).map(|start| at + start) {
        // The shortest comment is `<!-->`.
        let inner = start + 2;
        let Some(end) = text[inner..block.end].find(CLOSE) else {
            found.extend((start == block.start).then_some(block));
            return;
        };
        at = inner + end + CLOSE.len();
        found.push(start..at);
    }
}

/// Finds the blocks of HTML in a text, other than those in lists and quotes. Lines that nest too deep count as blank.
pub(crate) fn html_blocks(text: &str) -> Vec<Range<usize>> {
    let lines = text.split_inclusive(['\n', '\r']);
    let lines = lines.map(|line| match is_too_deep(line) {
        true => "\n".repeat(line.len()),
        false => line.to_string(),
    });
    let (lines, mut depth) = (lines.collect::<String>(), 0);
    let blocks = Parser::new(&lines).into_offset_iter().filter(|(event, _)| {
        let is_block = depth == 0 && *event == Event::Start(Tag::HtmlBlock);
        let is_start = matches!(event, Event::Start(_));
        depth += i32::from(is_start) - i32::from(matches!(event, Event::End(_)));
        is_block
    });
    blocks.map(|(_, range)| range).collect()
}

pub(crate) fn sections(text: &str) -> Vec<Section<'_>> {
    let text = readable(text);
    let (mut found, mut around): (Vec<Section<'_>>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut depth, mut start) = (0, 0);
    let mut events = Parser::new(text).into_offset_iter();
    while let Some((event, range)) = events.next() {
        match &event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let level = *level as usize;
                let title = title(&mut events, range.start);
                let is_underlined = !text[range.clone()].starts_with('#');
                // A line of `-` was mostly meant as a rule, so its paragraph also fills the section before it.
                if is_underlined
                    && level == 2
                    && text[title.clone()].contains(char::is_alphanumeric)
                {
                    around.iter().for_each(|one| found[*one].is_empty = false);
                }
                if let Some(last) = found.last_mut() {
                    let end = if is_underlined {
                        title.end
                    } else {
                        range.start
                    };
                    last.body = &text[start..end];
                }
                start = range.end;
                while around.pop_if(|at| found[*at].level >= level).is_some() {}
                around.push(found.len());
                found.push(Section {
                    level,
                    start: range.start,
                    title: text[title].trim(),
                    is_empty: true,
                    body: "",
                });
                continue;
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        if says_something(&event) {
            around.iter().for_each(|one| found[*one].is_empty = false);
        }
    }
    if let Some(last) = found.last_mut() {
        last.body = &text[start..];
    }
    found
}

/// Takes the events of a heading, and returns where its text is.
fn title<'a>(
    events: &mut impl Iterator<Item = (Event<'a>, Range<usize>)>,
    start: usize,
) -> Range<usize> {
    let inner = events.take_while(|(event, _)| !matches!(event, Event::End(TagEnd::Heading(_))));
    let ranges = inner.map(|(_, range)| range);
    let all = ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end));
    all.unwrap_or(start..start)
}

fn says_something(event: &Event<'_>) -> bool {
    match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
            text.contains(char::is_alphanumeric)
        }
        Event::Start(Tag::Link { dest_url: url, .. } | Tag::Image { dest_url: url, .. }) => {
            url.contains(char::is_alphanumeric)
        }
        _ => false,
    }
}

/// Returns a text up to the first line whose marks take more than `MARKS_MAX`.
fn readable(text: &str) -> &str {
    let mut start = 0;
    let ends = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).map(|at| at + 1);
    for end in ends.chain([text.len()]) {
        if is_too_deep(&text[start..end]) {
            return &text[..start];
        }
        start = end;
    }
    text
}

fn is_too_deep(line: &str) -> bool {
    let is_before = |c: char| c.is_ascii_digit() || " \t>-+*.)".contains(c);
    let before = &line[..line.len() - line.trim_start_matches(is_before).len()];
    let columns = before.len() + 3 * before.matches('\t').count();
    let is_mark = |word: &str| {
        word.contains('>') || matches!(word, "-" | "+" | "*") || word.ends_with(['.', ')'])
    };
    columns > MARKS_MAX && before.split([' ', '\t']).any(is_mark)
}

/// Writes text so that HTML and XML show it as it is.
pub(crate) fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // XML cannot contain these.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes text so that Markdown shows it as it is, on one line, and GitHub finds no mention or formula in it.
pub(crate) fn escape_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' | '@' => {
                escaped.extend(['\\', c]);
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
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
            assert_eq!(remove_comments(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_comment_stays() {
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
            assert_eq!(remove_comments(text), text);
        }
    }

    #[test]
    fn text_that_is_made_to_take_long_does_not() {
        let ladder: String = (1..2_000).map(|length| "`".repeat(length) + "a").collect();
        for text in [ladder, "<!-- ".repeat(200_000), "\\`<".repeat(200_000)] {
            assert_eq!(remove_comments(&format!("a {text}")), format!("a {text}"));
        }
    }

    fn titles(text: &str) -> Vec<(usize, &str, bool)> {
        sections(text)
            .iter()
            .map(|s| (s.level, s.title, s.is_empty))
            .collect()
    }

    #[test]
    fn headings_are_found_with_what_stands_below_them() {
        let text = "# Title\n\n## Summary ##\ntext\n\n## Empty\n\n## Outer\n### Inner\nx\n#not\n";
        let expected = [
            (1, "Title", false),
            (2, "Summary", false),
            (2, "Empty", true),
            (2, "Outer", false),
            (3, "Inner", false),
        ];
        assert_eq!(titles(text), expected);
    }

    #[test]
    fn line_below_paragraph_makes_it_heading() {
        let text = "Title\r\n=====\r\n\r\nSummary\n-\nx\n\n    a\n    ---\n> b\n> ===\n";
        assert_eq!(titles(text), [(1, "Title", false), (2, "Summary", false)]);
        let ruled = "# a\n## b\nIt is red.\n---\n\n---\n";
        let expected = [(1, "a", false), (2, "b", false), (2, "It is red.", true)];
        assert_eq!(titles(ruled), expected);
        let bodies: Vec<&str> = sections(ruled).iter().map(|one| one.body).collect();
        assert_eq!(bodies, ["", "It is red.", "\n---\n"]);
    }

    #[test]
    fn fences_hide_headings() {
        let text = "```\n# no\n~~~\n```\n# yes\r\n~~~ sh\n## no\n";
        assert_eq!(titles(text), [(1, "yes", false)]);
    }

    #[test]
    fn fence_ends_with_as_many_marks_alone_on_their_line() {
        let nested = "# a\n````md\n```sh\n## no\n```\n````\n## b\n";
        assert_eq!(titles(nested), [(1, "a", false), (2, "b", true)]);
        let quoted = "# a\n```\n```sh\n## no\n```\n## b\n";
        assert_eq!(titles(quoted), [(1, "a", false), (2, "b", true)]);
        let inline = "# a\n```cargo test``` passes\n## b\n";
        assert_eq!(titles(inline), [(1, "a", false), (2, "b", true)]);
    }

    #[test]
    fn section_is_empty_if_its_parts_are() {
        for (text, expected) in [
            ("# a\n## b\n### c\n### d\n", "a- b- c- d-"),
            ("# a\n## b\n### c\nx\n### d\n", "a b c d-"),
            ("# a\n## b\n### c\n### d\nx\n## e\n", "a b c- d e-"),
            ("### a\n# b\n### c\nx\n", "a- b c"),
            ("# a\n## b\n> ### c\n", "a b"),
        ] {
            let mark = |is_empty| if is_empty { "-" } else { "" };
            let found = titles(text).into_iter();
            let found = found.map(|(_, title, is_empty)| format!("{title}{}", mark(is_empty)));
            assert_eq!(Vec::from_iter(found).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn code_holds_no_headings() {
        for text in [
            "# a\n\n    ## b\n",
            "# a\n\n\t## b\n",
            "# a\nx\n    ## b\n",
            "# a\n<pre>\n## b\n\n## c\n</pre>\n",
            "# a\n- x\n\n    ## b\n",
        ] {
            assert_eq!(titles(text), [(1, "a", false)], "{text}");
        }
        let ended = "# a\n- step:\n  ```sh\n  make\n- next\n## b\n";
        assert_eq!(titles(ended), [(1, "a", false), (2, "b", true)]);
        let closed = "# a\n<pre>x</pre>\n   ## b\n";
        assert_eq!(titles(closed), [(1, "a", false), (2, "b", true)]);
    }

    #[test]
    fn what_nobody_can_read_fills_no_section() {
        for body in ["\u{200b}", "\0", "---", "...", "```\n```", "```sh\n```"] {
            let text = format!("# a\n{body}\n");
            assert_eq!(titles(&text), [(1, "a", true)], "{body:?}");
        }
    }

    #[test]
    fn text_is_read_up_to_line_that_nests_too_deep() {
        let deep = format!("# a\n{}x\n# b\nx\n", "- ".repeat(20_000));
        assert_eq!(titles(&deep), [(1, "a", true)]);
        assert_eq!(remove_comments(&deep), "# a\n");
        let ladder: String = (0..2_000)
            .map(|depth| " ".repeat(depth) + "- a\n")
            .collect();
        assert_eq!(remove_comments(&ladder).lines().count(), 99);
        for fine in [
            format!("# a\n{}\nx\n", "-".repeat(500)),
            format!("# a\n{}x\n", " ".repeat(500)),
        ] {
            assert_eq!(titles(&fine).len(), 1, "{fine}");
            assert_eq!(remove_comments(&fine), fine);
        }
    }
}
