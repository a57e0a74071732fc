//! HTML comments, which no reader of a Markdown text sees.

/// Returns a Markdown text without its comments. Line ends inside them stay; fences and code keep
/// what looks like a comment.
pub fn removed(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let (mut fence, mut in_comment) = (None, false);
    for line in text.split_inclusive('\n') {
        if !in_comment {
            fence = fence_after(fence, line.trim());
        }
        if fence.is_some() {
            visible.push_str(line);
            continue;
        }
        in_comment = copy(line, in_comment, &mut visible);
    }
    visible
}

/// An open fence: its mark, and how many of them begin it.
pub(super) type Fence = (char, usize);

/// Returns the fence that is open behind a line, as CommonMark has it: a line of as many marks and
/// nothing else ends it, and code between backticks that ends on its line begins none.
pub(super) fn fence_after(open: Option<Fence>, line: &str) -> Option<Fence> {
    let mark = line.chars().next().filter(|first| "`~".contains(*first));
    let Some(mark) = mark else { return open };
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    match open {
        Some((own, least)) if own == mark && length >= least && rest.is_empty() => None,
        None if length >= 3 && !(mark == '`' && rest.contains('`')) => Some((mark, length)),
        open => open,
    }
}

/// Copies what can be seen of a line; says whether a comment is open at its end.
fn copy(line: &str, mut in_comment: bool, visible: &mut String) -> bool {
    let mut rest = line;
    loop {
        let mark = if in_comment { "-->" } else { "<!--" };
        let Some(at) = rest.find(mark) else { break };
        let (before, after) = (&rest[..at], &rest[at + mark.len()..]);
        if !in_comment {
            visible.push_str(before);
            // Between backticks it is shown as it stands.
            let is_code = before.matches('`').count() % 2 == 1;
            if is_code {
                visible.push_str(mark);
            }
            in_comment = !is_code;
        } else {
            in_comment = false;
        }
        rest = after;
    }
    if in_comment {
        visible.extend(rest.ends_with('\n').then_some('\n'));
    } else {
        visible.push_str(rest);
    }
    in_comment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_what_only_looks_like_one_stays() {
        for (text, expected) in [
            ("a <!-- b --> c <!-- d -->\n", "a  c \n"),
            ("<!-- a\nb\n--> c\n", "\n\n c\n"),
            ("<!-- open\nto the end", "\n"),
            ("```\n<!-- a\n```\nb", "```\n<!-- a\n```\nb"),
            ("`<!--` a `-->`", "`<!--` a `-->`"),
            ("````\n```\n<!-- a\n````\nb", "````\n```\n<!-- a\n````\nb"),
            ("```a``` <!-- b -->\n", "```a``` \n"),
            ("<!-- ``` -->\n# a", "\n# a"),
            ("<!--\n```\n-->\n# a", "\n\n\n# a"),
        ] {
            assert_eq!(removed(text), expected, "{text}");
        }
    }
}
