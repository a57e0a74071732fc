//! Classifies the lines of Markdown by the block rules of CommonMark, as far as needed to tell comments and
//! headings from code and text.

use std::borrow::Cow;

/// Maximum nesting of quotes and list items; deeper ones count as text. Every line is checked against each
/// open one.
const DEPTH_MAX: usize = 32;
/// What begins HTML that only its end tag ends, in small letters.
const TAGS: [&str; 4] = ["pre", "script", "style", "textarea"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum Kind {
    Blank,
    Text,
    /// A heading with marks before it.
    Heading,
    /// The line below a paragraph that makes it a heading.
    Underline,
    Fence,
    Code,
    Comment,
    /// Of a block such as `<pre>`.
    Raw,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::protocol) struct Line<'a> {
    pub(in crate::protocol) kind: Kind,
    /// True when it belongs to the block of the line before it.
    pub(in crate::protocol) goes_on: bool,
    /// How many columns are blank before it.
    pub(in crate::protocol) indent: usize,
    pub(in crate::protocol) text: &'a str,
}

pub(in crate::protocol) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut blocks = Blocks::default();
    text.split_inclusive('\n').map(move |text| {
        let columns = columns(text);
        let (kind, goes_on) = blocks.take(&columns);
        let indent = indent(&columns);
        Line {
            kind,
            goes_on,
            indent,
            text,
        }
    })
}

pub(in crate::protocol) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if level == 0 || level > 6 || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    Some((level, rest.trim().trim_end_matches('#').trim_end()))
}

#[derive(Default)]
struct Blocks {
    open: Vec<Container>,
    leaf: Option<Leaf>,
}

#[derive(Clone, Copy)]
enum Container {
    Quote,
    /// A list item, and how many columns its content is indented.
    Item(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Paragraph,
    /// The mark of the fence, and how many of them begin it.
    Fence(char, usize),
    Comment,
    Raw,
}

impl Blocks {
    /// Takes the next line; says what it is and whether it goes on with the block before it.
    fn take(&mut self, line: &str) -> (Kind, bool) {
        let (depth, rest) = self.matched(line);
        let is_inside = depth == self.open.len();
        if is_inside && let Some(kind) = self.inside(rest) {
            return (kind, true);
        }
        // Only a paragraph goes on in a line that leaves its list item or quote.
        if !is_inside && self.leaf != Some(Leaf::Paragraph) {
            self.close(depth);
        }
        let (mut depth, mut rest) = (depth, rest);
        while depth < DEPTH_MAX
            && let Some((container, inner)) = self.begun(depth, rest)
        {
            self.close(depth);
            self.open.push(container);
            (depth, rest) = (depth + 1, inner);
        }
        self.begin(depth, rest)
    }

    /// Returns how many of the open containers a line stands in, and its content.
    fn matched<'l>(&self, line: &'l str) -> (usize, &'l str) {
        let mut rest = line;
        for (depth, container) in self.open.iter().enumerate() {
            let Some(inner) = container.inner(rest) else {
                return (depth, rest);
            };
            rest = inner;
        }
        (self.open.len(), rest)
    }

    fn inside(&mut self, rest: &str) -> Option<Kind> {
        let (kind, is_last) = match self.leaf? {
            Leaf::Paragraph => return None,
            Leaf::Fence(mark, least) => match closes(rest, mark, least) {
                true => (Kind::Fence, true),
                false => (Kind::Code, false),
            },
            Leaf::Comment => (Kind::Comment, rest.contains("-->")),
            Leaf::Raw => (Kind::Raw, ends_raw(rest)),
        };
        self.leaf = self.leaf.filter(|_| !is_last);
        Some(kind)
    }

    fn close(&mut self, depth: usize) {
        self.open.truncate(depth);
        self.leaf = None;
    }

    fn begun<'l>(&self, depth: usize, rest: &'l str) -> Option<(Container, &'l str)> {
        let before = indent(rest);
        let text = &rest[before..];
        if before > 3 || is_rule(text) {
            return None;
        }
        if let Some(inner) = quoted(text) {
            return Some((Container::Quote, inner));
        }
        let (width, inner) = item(text)?;
        // Inside of a paragraph a number at the start of a line is mostly no list.
        let is_paragraph = self.leaf == Some(Leaf::Paragraph) && depth == self.open.len();
        let cuts_in = !inner.trim().is_empty()
            && (!text.starts_with(digit) || text.starts_with("1.") || text.starts_with("1)"));
        (!is_paragraph || cuts_in).then_some((Container::Item(before + width), inner))
    }

    fn begin(&mut self, depth: usize, rest: &str) -> (Kind, bool) {
        let before = indent(rest);
        let in_paragraph = self.leaf == Some(Leaf::Paragraph);
        let may_underline = in_paragraph && depth == self.open.len();
        let (kind, leaf) = match &rest[before..] {
            "" => (Kind::Blank, None),
            _ if before > 3 && in_paragraph => (Kind::Text, Some(Leaf::Paragraph)),
            _ if before > 3 => (Kind::Code, None),
            text if may_underline && is_underline(text) => (Kind::Underline, None),
            text => leaf(text, in_paragraph),
        };
        let goes_on = in_paragraph && matches!(kind, Kind::Text | Kind::Underline);
        if !(goes_on && leaf.is_some()) {
            self.close(depth);
        }
        self.leaf = leaf;
        (kind, goes_on)
    }
}

impl Container {
    fn inner(self, rest: &str) -> Option<&str> {
        let before = indent(rest);
        match self {
            Container::Quote if before > 3 => None,
            Container::Quote => quoted(&rest[before..]),
            Container::Item(_) if before == rest.len() => Some(""),
            Container::Item(width) => (before >= width).then(|| &rest[width..]),
        }
    }
}

fn leaf(text: &str, in_paragraph: bool) -> (Kind, Option<Leaf>) {
    if let Some((mark, length)) = fence(text) {
        return (Kind::Fence, Some(Leaf::Fence(mark, length)));
    }
    if heading(text).is_some() {
        return (Kind::Heading, None);
    }
    if text.starts_with("<!--") {
        // `<!-->` is whole.
        let is_open = !text[2..].contains("-->");
        return (Kind::Comment, is_open.then_some(Leaf::Comment));
    }
    if let Some(tag) = text.strip_prefix('<')
        && let tag = &tag[..tag.find([' ', '>']).unwrap_or(tag.len())]
        && TAGS.iter().any(|known| known.eq_ignore_ascii_case(tag))
    {
        return (Kind::Raw, (!ends_raw(text)).then_some(Leaf::Raw));
    }
    let is_alone = is_rule(text) || (in_paragraph && is_underline(text));
    (Kind::Text, (!is_alone).then_some(Leaf::Paragraph))
}

/// Returns a line without its end and with tabs expanded, so that a column is a byte where only blanks and
/// markers precede it.
fn columns(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches([' ', '\t', '\r', '\n']);
    if !line.contains('\t') {
        return Cow::Borrowed(line);
    }
    let mut wide = String::with_capacity(line.len() + 8);
    let mut column = 0;
    for c in line.chars() {
        let (shown, times) = match c {
            '\t' => (' ', 4 - column % 4),
            c => (c, 1),
        };
        wide.extend(std::iter::repeat_n(shown, times));
        column += times;
    }
    Cow::Owned(wide)
}

fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

fn quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('>')?;
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

fn item(text: &str) -> Option<(usize, &str)> {
    let digits = text.len() - text.trim_start_matches(digit).len();
    let is_mark = match digits {
        0 => text.starts_with(['-', '+', '*']),
        1..=9 => text[digits..].starts_with(['.', ')']),
        _ => false,
    };
    let rest = is_mark.then(|| &text[digits + 1..])?;
    let blanks = match indent(rest) {
        0 if !rest.is_empty() => return None,
        // With more of them the item begins with indented code.
        blanks @ 1..=4 => blanks,
        _ => 1,
    };
    Some((digits + 1 + blanks, rest.get(blanks..).unwrap_or_default()))
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_rule(text: &str) -> bool {
    let is_of = |mark: char| {
        text.chars().all(|c| c == mark || c == ' ') && text.matches(mark).nth(2).is_some()
    };
    ['-', '_', '*'].into_iter().any(is_of)
}

fn is_underline(text: &str) -> bool {
    let is_of = |mark: char| text.trim_start_matches(mark).is_empty();
    ['-', '='].into_iter().any(is_of)
}

/// Returns the character and length of the fence that a line begins with. Inline code that ends on its line
/// is no fence.
fn fence(text: &str) -> Option<(char, usize)> {
    let mark = text.chars().next().filter(|first| "`~".contains(*first))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

fn closes(rest: &str, mark: char, least: usize) -> bool {
    let before = indent(rest);
    let marks = &rest[before..];
    before <= 3 && marks.len() >= least && marks.trim_start_matches(mark).is_empty()
}

fn ends_raw(text: &str) -> bool {
    let ends = |tag: &str| {
        TAGS.iter().any(|known| {
            let start = tag.get(..known.len());
            let is_known = start.is_some_and(|start| start.eq_ignore_ascii_case(known));
            is_known && tag[known.len()..].starts_with('>')
        })
    };
    text.split("</").skip(1).any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let letter = |line: Line<'_>| match line.kind {
            Kind::Blank => '.',
            Kind::Text if line.goes_on => 't',
            Kind::Text => 'T',
            Kind::Heading => 'H',
            Kind::Underline => 'U',
            Kind::Fence => 'F',
            Kind::Code => 'C',
            Kind::Comment if line.goes_on => 'm',
            Kind::Comment => 'M',
            Kind::Raw => 'R',
        };
        lines(text).map(letter).collect()
    }

    #[test]
    fn lines_are_what_common_mark_says() {
        for (text, expected) in [
            ("# a\nb\nc\n\nd", "HTt.T"),
            ("   # a\n    # b\n\t# c\n", "HCC"),
            ("a\n    # b\n", "Tt"),
            ("a\n---\nb\n***\nc\n", "TUTtT"),
            ("a\nb\n===\n- c\n  ---\n- d\n---\n", "TtUTUTt"),
            ("```\n# a\n   ```\nb", "FCFT"),
            ("```\n    ```\n````\nb", "FCFT"),
            ("~~~\n```\n~~~~ x\n~~~\nb", "FCCFT"),
            ("- a\n  ```sh\n  b\n- c\n", "TFCT"),
            ("- a\n  ```sh\n  b\n# c\n", "TFCH"),
            ("- a\n  ```sh\n\n  b\nc\n", "TFCCT"),
            ("1. a\n   - b\n     ~~~\n     c\n   d\n", "TTFCT"),
            ("- a\n\n      b\n\n    c\n", "T.C.T"),
            ("-\ta\n\n\tb\n\n\t    c\n", "T.T.C"),
            ("- ```\n  # a\n  ```\n- b\n", "FCFT"),
            ("> ```\n> # a\nb\n", "FCT"),
            ("> a\nb\n> c\n\nd\n", "Ttt.T"),
            ("a\n2. b\n-\nc\n", "TtUT"),
            ("a\n1. b\n2. c\n* d\n", "TTTT"),
            ("- - -\n* * *\n", "TT"),
            ("<!-- a\n\nb -->\nc", "MmmT"),
            ("<!-->\n<!-- a --> b\nc", "MMT"),
            ("a\n   <!-- b\n# c", "TMm"),
            ("- <!--\n\n  a\n- b", "MmmT"),
            ("<PRE class=x>\n# a\n\n# b\n</pre> c\n# d", "RRRRRH"),
            ("<pre># a</Pre>\n# b\n<prefix>\n# c", "RHTH"),
        ] {
            assert_eq!(kinds(text), expected, "{text}");
        }
        let deep = "- ".repeat(DEPTH_MAX * 2) + "# a\n\n\n";
        assert_eq!(kinds(&deep), "T..", "what is too deep is text");
    }
}
