//! The headings of Markdown, as far as the protocol requires sections.

use super::comments::lines::{Kind, Line, heading, lines};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) level: usize,
    /// Its heading without marks.
    pub(crate) title: &'a str,
    /// Whether there is no letter or digit up to the next heading of this level or above, headings aside: a
    /// text of headings alone says nothing.
    pub(crate) is_empty: bool,
    /// The text up to the next heading of any level, including the title of a setext heading.
    pub(crate) body: &'a str,
}

/// Finds the sections of a Markdown text. What looks like a heading in code or in `<pre>` is none.
pub(crate) fn sections(text: &str) -> Vec<Section<'_>> {
    let text = text.trim_start_matches('\u{feff}');
    let (mut found, mut around): (Vec<Section<'_>>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut start, mut paragraph, mut end) = (0, 0, 0);
    for line in lines(text) {
        let at = end;
        end += line.text.len();
        paragraph = if line.goes_on { paragraph } else { at };
        // Four blanks make code of it, or a heading so deep in a list that it is none of the text.
        let is_heading = line.kind == Kind::Heading && line.indent < 4;
        let heading = is_heading.then(|| heading(line.text.trim())).flatten();
        let heading = heading.or_else(|| underlined(&line, &text[paragraph..at]));
        let body_end = if heading.is_some() { at } else { end };
        if let Some(last) = found.last_mut() {
            last.body = &text[start..body_end];
        }
        if let Some((level, title)) = heading {
            while around.pop_if(|at| found[*at].level >= level).is_some() {}
            around.push(found.len());
            found.push(Section {
                level,
                title,
                is_empty: true,
                body: "",
            });
            start = end;
        } else if line.kind != Kind::Fence && line.text.contains(char::is_alphanumeric) {
            // The language of a fence says nothing of the work.
            around.iter().for_each(|one| found[*one].is_empty = false);
        }
    }
    found
}

/// The text above a line of `=` or `-` is a heading, unless both are quoted. It also fills the section before
/// it, because the line was mostly meant as a rule.
fn underlined<'a>(line: &Line<'_>, above: &'a str) -> Option<(usize, &'a str)> {
    let is_underline = line.kind == Kind::Underline && line.indent < 4;
    let mark = line.text.trim_start().chars().next();
    match mark.filter(|_| is_underline)? {
        '=' => Some((1, above.trim())),
        '-' => Some((2, above.trim())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_line_below_a_paragraph_makes_it_a_heading() {
        let text = "Title\r\n=====\r\n\r\nSummary\n-\nx\n\n    a\n    ---\n> b\n> ===\n";
        assert_eq!(titles(text), [(1, "Title", false), (2, "Summary", false)]);
        let ruled = "# a\n## b\nIt is red.\n---\n\n---\n";
        let expected = [(1, "a", false), (2, "b", false), (2, "It is red.", true)];
        assert_eq!(titles(ruled), expected);
        let bodies: Vec<&str> = sections(ruled).iter().map(|one| one.body).collect();
        assert_eq!(bodies, ["", "It is red.\n", "\n---\n"]);
    }

    #[test]
    fn fences_hide_headings() {
        let text = "```\n# no\n~~~\n```\n# yes\r\n~~~ sh\n## no\n";
        assert_eq!(titles(text), [(1, "yes", false)]);
    }

    #[test]
    fn a_fence_ends_with_as_many_marks_alone_on_their_line() {
        let nested = "# a\n````md\n```sh\n## no\n```\n````\n## b\n";
        assert_eq!(titles(nested), [(1, "a", false), (2, "b", true)]);
        let quoted = "# a\n```\n```sh\n## no\n```\n## b\n";
        assert_eq!(titles(quoted), [(1, "a", false), (2, "b", true)]);
        let inline = "# a\n```cargo test``` passes\n## b\n";
        assert_eq!(titles(inline), [(1, "a", false), (2, "b", true)]);
    }

    #[test]
    fn a_section_is_as_empty_as_all_that_stands_in_it() {
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
}
