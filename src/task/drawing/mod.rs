//! Pictures of a graph, as text that other programs draw: DOT and SVG. Pure and the same for the
//! same tasks.

mod dot;
mod layers;
mod svg;

use crate::error::steers;
use crate::id::TaskId;
use crate::task::Status;

pub use dot::dot;
pub use svg::{svg, svg_with};

/// Most tasks that are drawn.
pub const DRAWN_MAX: usize = 2_000;

/// A task as it is drawn, or a step of a plan.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The task; for a step, its number in the plan.
    pub id: TaskId,
    /// What it is called; may hold anything.
    pub name: String,
    /// Its title; may hold anything.
    pub title: String,
    /// Where it stands.
    pub state: Look,
    /// Whether it is an epic.
    pub is_epic: bool,
    /// What must be done first.
    pub depends: Vec<TaskId>,
    /// The task that it is a part of.
    pub parent: Option<TaskId>,
}

/// How it looks where something stands.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What that is called.
    pub word: &'static str,
    /// Color of the line.
    line: &'static str,
    /// Color of the ground.
    ground: &'static str,
}

impl Look {
    /// Gives the colors of a status another name: that of something else that looks like it.
    pub fn named(self, word: &'static str) -> Look {
        Look { word, ..self }
    }
}

impl From<Status> for Look {
    fn from(status: Status) -> Look {
        let (line, ground) = match status {
            Status::Pending => ("#64748b", "#f8fafc"),
            Status::Active => ("#2563eb", "#dbeafe"),
            Status::Review => ("#7c3aed", "#ede9fe"),
            Status::Blocked => ("#dc2626", "#fee2e2"),
            Status::Paused => ("#d97706", "#fef3c7"),
            Status::Done => ("#16a34a", "#dcfce7"),
            Status::Cancelled => ("#94a3b8", "#e2e8f0"),
        };
        Look {
            word: status.word(),
            line,
            ground,
        }
    }
}

/// Returns the text as it may be shown, at most `max` letters long.
fn shown(text: &str, max: usize) -> String {
    let clean = |c: char| if steers(c) { '\u{fffd}' } else { c };
    let mut letters = text.chars().map(clean);
    let short: String = letters.by_ref().take(max).collect();
    match letters.next() {
        None => short,
        Some(_) => short
            .chars()
            .take(max.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(id: u32, title: &str, depends: &[u32]) -> Shape {
        Shape {
            id: TaskId(id),
            name: TaskId(id).to_string(),
            title: title.to_string(),
            state: Status::Pending.into(),
            is_epic: false,
            depends: depends.iter().map(|id| TaskId(*id)).collect(),
            parent: None,
        }
    }

    const HOSTILE: &[&str] = &[
        "\"]; evil [label=\"",
        "</text><script>alert(1)</script>",
        "a & b < c > d ' e",
        "]]> <!-- x --> <?x?>",
        "back\\slash\\",
        "line\nline\u{1b}[31m\u{202e}",
        "\\N \\G \\l",
    ];

    #[test]
    fn no_title_breaks_out_of_a_dot_label() {
        for title in HOSTILE {
            let text = dot(&[shape(1, title, &[]), shape(2, "b", &[1])]);
            let line = text
                .lines()
                .find(|line| line.starts_with("  T1 ["))
                .unwrap();
            let (mut quotes, mut escaped) = (0, false);
            for c in line.chars() {
                quotes += usize::from(c == '"' && !escaped);
                escaped = c == '\\' && !escaped;
            }
            assert_eq!(quotes, 6, "{line}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
            assert!(text.contains("  T1 -> T2;"), "{text}");
        }
    }

    #[test]
    fn no_title_breaks_out_of_an_svg_text() {
        let plain = svg(&[shape(1, "a", &[]), shape(2, "b", &[1])]);
        for title in HOSTILE {
            let text = svg(&[shape(1, title, &[]), shape(2, "b", &[1])]);
            let marks = |text: &str| text.matches(['<', '>']).count();
            assert_eq!(marks(&text), marks(&plain), "{text}");
            let entities = text.split('&').skip(1);
            for rest in entities {
                let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
                assert!(known.iter().any(|known| rest.starts_with(known)), "&{rest}");
            }
            let controls = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(controls) && !text.contains('\u{202e}'));
        }
    }

    #[test]
    fn a_picture_is_no_wider_than_a_page_and_the_same_every_time() {
        let many: Vec<Shape> = (1..=300).map(|id| shape(id, "x", &[])).collect();
        let text = svg(&many);
        assert_eq!(text, svg(&many));
        let width: f64 = text
            .split("width=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(width <= 1_500.0, "{width}");
        assert_eq!(text.matches("class=\"task").count(), 300);
    }

    #[test]
    fn circles_and_edges_to_nowhere_are_drawn_all_the_same() {
        let odd = [
            shape(1, "a", &[2]),
            shape(2, "b", &[1]),
            shape(3, "c", &[99]),
        ];
        assert_eq!(svg(&odd).matches("class=\"task").count(), 3);
        assert!(!dot(&odd).contains("T99"));
        assert!(svg(&[]).contains("<svg"));
    }
}
