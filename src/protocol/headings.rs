//! The headings of a Markdown text, as far as the protocol asks for sections.

/// A section of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Level of its heading, from 1.
    pub level: usize,
    /// Its heading without marks.
    pub title: &'a str,
    /// True when no letter or digit stands between its heading and the next of its level or above.
    pub is_empty: bool,
    /// What stands below it up to the next heading of any level.
    pub body: &'a str,
}

/// Finds the sections of a Markdown text. What looks like a heading inside a fence is none.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let mut found: Vec<Section<'_>> = Vec::new();
    let (mut fence, mut start) = (None, 0);
    let mut end = text.len() - text.trim_start_matches('\u{feff}').len();
    for whole in text[end..].split_inclusive('\n') {
        let line = whole.trim();
        end += whole.len();
        fence = super::comments::fence_after(fence, line);
        match heading(line).filter(|_| fence.is_none()) {
            Some((level, title)) => {
                // A subsection is content of what it stands in.
                fill(&mut found, |section| section.level < level);
                found.push(Section {
                    level,
                    title,
                    is_empty: true,
                    body: "",
                });
                start = end;
            }
            None => {
                if line.contains(char::is_alphanumeric) {
                    fill(&mut found, |_| true);
                }
                if let Some(last) = found.last_mut() {
                    last.body = &text[start..end];
                }
            }
        }
    }
    found
}

fn fill(found: &mut [Section<'_>], wanted: impl Fn(&Section<'_>) -> bool) {
    if let Some(last) = found.last_mut().filter(|section| wanted(section)) {
        last.is_empty = false;
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if level == 0 || level > 6 || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    Some((level, rest.trim().trim_end_matches('#').trim_end()))
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
    fn what_nobody_can_read_fills_no_section() {
        for body in ["\u{200b}", "\0", "---", "...", "```\n```"] {
            let text = format!("# a\n{body}\n");
            assert_eq!(titles(&text), [(1, "a", true)], "{body:?}");
        }
    }
}
