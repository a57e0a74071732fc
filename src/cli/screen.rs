//! Text for people. All text passes [`clean`], so untrusted text cannot control a terminal.

use std::borrow::Cow;
use std::fmt::{Display, Write};
use std::io::{IsTerminal, stdout};

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use owo_colors::Style;

use crate::error::is_control_character;

/// Meaning of a piece of text, shown by its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Dim,
    Accent,
    Good,
    Warn,
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Accent => Style::new().cyan(),
            Tone::Good => Style::new().green(),
            Tone::Warn => Style::new().yellow(),
            Tone::Bad => Style::new().red().bold(),
        }
    }
}

/// Minimum width that the first column of a table leaves to the others.
const ROOM_BESIDE: usize = 20;

/// A cell of a table.
pub(super) type Cell = (Tone, String);

pub(super) fn plain(text: impl Display) -> Cell {
    (Tone::Plain, text.to_string())
}

pub(super) fn strong(text: impl Display) -> Cell {
    (Tone::Strong, text.to_string())
}

pub(super) fn dim(text: impl Display) -> Cell {
    (Tone::Dim, text.to_string())
}

pub(super) fn accent(text: impl Display) -> Cell {
    (Tone::Accent, text.to_string())
}

/// A status, in the tone of its meaning.
pub(super) fn status(word: impl Display) -> Cell {
    let word = word.to_string();
    let tone = match word.as_str() {
        "complete" | "completed" | "done" | "ok" | "pass" | "passed" | "proven" | "trusted"
        | "up" => Tone::Good,
        "active" | "claimed" | "review" | "running" | "verifying" => Tone::Accent,
        "changed" | "high" | "interrupted" | "partial" | "passed by force" | "stale"
        | "unanswered" | "untrusted" | "warn" => Tone::Warn,
        "blocked" | "critical" | "down" | "fail" | "failed" | "missing" => Tone::Bad,
        "archived" | "cancelled" | "ended" | "low" | "open (optional)" | "paused" | "skipped"
        | "unproven" | "waiting" => Tone::Dim,
        _ => Tone::Plain,
    };
    (tone, word)
}

/// Returns the lines that lead to each row of a tree, from the depths of the rows in order.
pub(super) fn tree_prefixes(depths: impl DoubleEndedIterator<Item = usize>) -> Vec<String> {
    // Going backwards, it is known on which levels more siblings follow.
    let mut continues: Vec<bool> = Vec::new();
    let drawn = depths.rev().map(|depth| {
        continues.resize(depth + 1, false);
        let piece = |level: usize| match (level == depth, continues[level]) {
            (true, true) => "├ ",
            (true, false) => "└ ",
            (false, true) => "│ ",
            (false, false) => "  ",
        };
        let branch: String = (1..=depth).map(piece).collect();
        continues[depth] = true;
        branch
    });
    let mut drawn: Vec<String> = drawn.collect();
    drawn.reverse();
    drawn
}

/// Shows a time to the second, as in `2026-01-26 09:00:12`, and midnight as its date.
pub(super) fn format_time(at: &str) -> String {
    let at = at.strip_suffix("T00:00:00.000Z").unwrap_or(at);
    at.get(..19).unwrap_or(at).replace('T', " ")
}

/// Counts things in words: `1 entry`, `2 entries`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A buffer of text.
pub(super) struct Screen {
    text: String,
    color: bool,
    width: usize,
    /// Whether lines of lists end where the terminal does.
    is_terminal: bool,
}

impl Screen {
    pub(super) fn new(color: bool) -> Screen {
        let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
        Screen {
            text: String::new(),
            color,
            width: width.clamp(40, 140),
            is_terminal: stdout().is_terminal(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn say(&mut self, tone: Tone, text: impl Display) -> &mut Screen {
        let painted = self.paint(tone, &text.to_string());
        self.text.push_str(&painted);
        self
    }

    pub(super) fn line(&mut self, tone: Tone, text: impl Display) -> &mut Screen {
        // Text of others may hold line breaks too: an indented line looks like none of cleo's own.
        for (at, part) in text.to_string().split("\n  ").enumerate() {
            self.text.push_str(["", "\n    "][usize::from(at > 0)]);
            self.say(tone, part);
        }
        self.text.push('\n');
        self
    }

    /// Adds a line that begins with a text in a tone.
    pub(super) fn pair(&mut self, tone: Tone, text: impl Display, rest: impl Display) -> &mut Self {
        self.say(tone, text).line(Tone::Plain, rest)
    }

    /// Adds a line, on a terminal cut at its width.
    pub(super) fn fit(&mut self, pieces: &[Cell]) -> &mut Screen {
        if self.is_terminal {
            return self.cut(pieces);
        }
        for (tone, text) in pieces {
            self.say(*tone, text);
        }
        self.line(Tone::Plain, "")
    }

    /// Adds a line that is cut at the width of the terminal.
    pub(super) fn cut(&mut self, pieces: &[Cell]) -> &mut Screen {
        let width = textwrap::core::display_width;
        let total: usize = pieces.iter().map(|(_, text)| width(&clean(text))).sum();
        let most = self.width.saturating_sub(1);
        let (mut room, end) = match total <= most {
            true => (most, ""),
            false => (most.saturating_sub(1), "…"),
        };
        for (tone, text) in pieces {
            let mut shown = String::new();
            for letter in clean(text).chars() {
                let wide = width(letter.encode_utf8(&mut [0; 4]));
                if wide > room {
                    room = 0;
                    break;
                }
                room -= wide;
                shown.push(letter);
            }
            self.say(*tone, shown);
        }
        self.line(Tone::Plain, end)
    }

    /// Adds a line about one thing: its id, status and title.
    pub(super) fn headline(
        &mut self,
        id: impl Display,
        word: impl Display,
        title: impl Display,
    ) -> &mut Screen {
        let (tone, word) = status(word);
        let title = format!("  {title}");
        self.say(Tone::Strong, id).say(Tone::Plain, " ");
        self.say(tone, word).line(Tone::Plain, title.trim_end())
    }

    /// Adds a line with the word of a verdict, filled up to `width`.
    pub(super) fn verdict(&mut self, word: &str, width: usize, what: impl Display) -> &mut Screen {
        self.pair(status(word).0, format!("{word:width$}"), what)
    }

    /// Adds the verb of a change, or that nothing changed.
    pub(super) fn outcome(&mut self, verb: &str, changed: bool) -> &mut Screen {
        let (tone, word) = match changed {
            true => (Tone::Good, verb),
            false => (Tone::Dim, "Unchanged"),
        };
        self.say(tone, word).say(Tone::Plain, " ")
    }

    /// Adds a name and its value on a line; an empty value adds nothing.
    pub(super) fn field(&mut self, name: &str, value: impl Display) -> &mut Screen {
        let value = value.to_string();
        if !value.is_empty() {
            self.pair(Tone::Dim, format!("{name:>14}  "), value);
        }
        self
    }

    /// Adds a name and a time on a line, if there is one.
    pub(super) fn time<'a>(
        &mut self,
        name: &str,
        at: impl Into<Option<&'a String>>,
    ) -> &mut Screen {
        self.option(name, at.into().map(|at| format_time(at)))
    }

    /// Adds a name and its value on a line, if there is one.
    pub(super) fn option(&mut self, name: &str, value: Option<impl Display>) -> &mut Screen {
        let value = value.map(|value| value.to_string());
        self.field(name, value.unwrap_or_default())
    }

    pub(super) fn section(&mut self, heading: &str, text: &str) -> &mut Screen {
        if text.trim().is_empty() {
            return self;
        }
        self.text.push('\n');
        self.line(Tone::Strong, heading);
        for line in text.lines() {
            let options = textwrap::Options::new(self.width).initial_indent("  ");
            for row in textwrap::wrap(&clean(line), options.subsequent_indent("  ")) {
                self.text.push_str(row.trim_end());
                self.text.push('\n');
            }
        }
        self
    }

    pub(super) fn verbatim(&mut self, text: &str) -> &mut Screen {
        for line in text.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            self.text.push_str(&clean(bare));
            self.text.push_str(&line[bare.len()..]);
        }
        self
    }

    pub(super) fn raw(&mut self, text: &str) -> &mut Screen {
        self.text.push_str(text);
        self
    }

    /// Adds a table; the last column takes the remaining width. Cells of the first column are
    /// mostly ids, so they are not wrapped if the other columns have room.
    pub(super) fn rows<Row: AsRef<[Cell]>>(
        &mut self,
        head: &[&str],
        rows: impl IntoIterator<Item = Row>,
    ) -> &mut Screen {
        self.table(head, rows.into_iter().collect(), usize::MAX)
    }

    fn table<Row: AsRef<[Cell]>>(
        &mut self,
        head: &[&str],
        rows: Vec<Row>,
        height: usize,
    ) -> &mut Screen {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.width).unwrap_or(100));
        table.set_header(head.iter().map(|name| self.paint(Tone::Dim, name)));
        let first = widest_first(head, &rows);
        for row in rows {
            let cells = row.as_ref().iter();
            let mut row = comfy_table::Row::from(cells.map(|(tone, text)| self.paint(*tone, text)));
            row.max_height(height);
            table.add_row(row);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        if let Some(column) = table.column_mut(0)
            && first + ROOM_BESIDE <= self.width
        {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        for line in table.lines() {
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
        self
    }

    /// Adds a table, or a line if there are no rows. On a terminal, each row has one line.
    pub(super) fn list<Row: AsRef<[Cell]>>(
        &mut self,
        none: &str,
        head: &[&str],
        rows: impl IntoIterator<Item = Row>,
    ) -> &mut Screen {
        let rows: Vec<Row> = rows.into_iter().collect();
        match (rows.is_empty(), self.is_terminal) {
            (true, _) => self.line(Tone::Dim, none),
            (false, true) => self.table(head, rows, 1),
            (false, false) => self.rows(head, rows),
        }
    }

    /// Adds how many of all items a cut list has.
    pub(super) fn cut_at(&mut self, shown: usize, total: u64, items: &str) -> &mut Screen {
        let items = items.trim_end_matches(if total == 1 { "s" } else { "" });
        match (shown as u64) < total {
            true => self.line(Tone::Dim, format!("{shown} of {total} {items}")),
            false => self,
        }
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        let text = clean(text);
        if !self.color || tone == Tone::Plain || text.is_empty() {
            return text.into_owned();
        }
        tone.style().style(text).to_string()
    }
}

fn widest_first<Row: AsRef<[Cell]>>(head: &[&str], rows: &[Row]) -> usize {
    let cells = rows.iter().filter_map(|row| row.as_ref().first());
    let texts = cells.map(|(_, text)| text.as_str());
    let texts = texts.chain(head.first().copied());
    let widths = texts.map(|text| textwrap::core::display_width(&clean(text)));
    widths.max().unwrap_or(0)
}

/// Escapes invisible characters that could control a terminal.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control_character) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let is_joined = needs_joiners(before) && needs_joiners(letters.peek().copied());
        before = Some(c);
        match c {
            '\u{200c}' | '\u{200d}' if is_joined => shown.push(c),
            '\t' => shown.push_str("    "),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            c if is_control_character(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns whether a character is of a script, or an emoji, that joiners shape: Arabic, those of India, and later ones.
fn needs_joiners(letter: Option<char>) -> bool {
    letter.is_some_and(|c| c >= '\u{600}' && !is_control_character(c))
}

#[cfg(test)]
mod tests;
