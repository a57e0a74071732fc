//! Pictures of a graph, as text that other programs draw: DOT and SVG. Pure and the same for the
//! same tasks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use serde::Serialize;

use crate::error::steers;
use crate::id::TaskId;
use crate::markdown::escape_html;
use crate::task::Status;
use crate::task::graph::depths;
use crate::task::layout::arrange;

pub(crate) const DRAWN_MAX: usize = 2_000;

/// A graph, drawn.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(crate) struct Picture {
    /// A picture for pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) svg: Option<String>,
    /// A graph for Graphviz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dot: Option<String>,
    /// How many tasks or steps there are.
    pub(crate) total: usize,
}

/// A task as it is drawn, or a step of a plan.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The task; for a step, its number in the plan.
    pub(crate) id: TaskId,
    /// What it is called; may hold anything.
    pub(crate) name: String,
    /// Its title; may hold anything.
    pub(crate) title: String,
    pub(crate) state: Look,
    pub(crate) is_epic: bool,
    pub(crate) depends: Vec<TaskId>,
    pub(crate) parent: Option<TaskId>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) word: &'static str,
    line: &'static str,
    ground: &'static str,
}

impl Look {
    /// Gives the colors of a status another name: that of something else that looks like it.
    pub(crate) fn named(self, word: &'static str) -> Look {
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

const LABEL_MAX: usize = 60;

/// Writes a graph as DOT. An arrow leads from a task to one that waits for it; a dashed one from a
/// part to its whole.
pub(crate) fn dot(shapes: &[Shape]) -> String {
    let drawn: HashSet<TaskId> = shapes.iter().map(|shape| shape.id).collect();
    let mut text = String::from(
        "digraph tasks {\n  rankdir=TB;\n  \
         node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n  \
         edge [color=\"#94a3b8\"];\n",
    );
    for shape in shapes {
        let Look { line, ground, .. } = shape.state;
        let width = if shape.is_epic { ", penwidth=2" } else { "" };
        let name = escape_label(&shown(&shape.name, LABEL_MAX));
        let title = escape_label(&shown(&shape.title, LABEL_MAX));
        let _ = writeln!(
            text,
            "  {} [label=\"{name}\\n{title}\", color=\"{line}\", fillcolor=\"{ground}\"{width}];",
            shape.id
        );
    }
    for shape in shapes {
        for need in shape.depends.iter().filter(|need| drawn.contains(need)) {
            let _ = writeln!(text, "  {need} -> {};", shape.id);
        }
        if let Some(parent) = shape.parent.filter(|parent| drawn.contains(parent)) {
            let _ = writeln!(text, "  {} -> {parent} [style=dashed];", shape.id);
        }
    }
    text + "}\n"
}

/// Writes text for a label in quotes, in which nothing is taken for more than it is.
fn escape_label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Measures in pixels.
const BOX_WIDTH: usize = 210;
const BOX_HEIGHT: usize = 46;
const GAP: usize = 24;
const ROW_GAP: usize = 54;
const MARGIN: usize = 24;
const LEGEND: usize = 30;
const TITLE_MAX: usize = 30;

/// Writes a graph as SVG: tasks in layers, each below what it waits for, colored by status. The
/// width has a bound, the height grows.
pub(crate) fn svg(shapes: &[Shape]) -> String {
    let key: Vec<Look> = Status::ALL.iter().copied().map(Look::from).collect();
    svg_with(shapes, &key)
}

/// Writes the same of what stands elsewhere than tasks do, with `key` below it.
pub(crate) fn svg_with(shapes: &[Shape], key: &[Look]) -> String {
    let edges = edges(shapes);
    let plain: Vec<(usize, usize)> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
    let rows = rows(shapes, &plain);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(4);
    let width = 2 * MARGIN + columns * (BOX_WIDTH + GAP) - GAP;
    let height = 2 * MARGIN + LEGEND + rows.len() * (BOX_HEIGHT + ROW_GAP);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#94a3b8\"/></marker>\
         </defs>\n"
    );
    let places = places(&rows, shapes.len(), width);
    for (from, to, is_part) in edges {
        edge(&mut text, places[from], places[to], is_part);
    }
    for (shape, place) in shapes.iter().zip(places) {
        task(&mut text, shape, place);
    }
    legend(&mut text, key, height);
    text + "</svg>\n"
}

/// Returns the upper left corner of each box; rows stand in the middle.
fn places(rows: &[Vec<usize>], n_shapes: usize, width: usize) -> Vec<(usize, usize)> {
    let mut places = vec![(0, 0); n_shapes];
    for (row, in_row) in rows.iter().enumerate() {
        let left = (width - (in_row.len() * (BOX_WIDTH + GAP) - GAP)) / 2;
        for (column, place) in in_row.iter().enumerate() {
            let x = left + column * (BOX_WIDTH + GAP);
            places[*place] = (x, MARGIN + row * (BOX_HEIGHT + ROW_GAP));
        }
    }
    places
}

fn edge(text: &mut String, from: (usize, usize), to: (usize, usize), is_part: bool) {
    let (x1, y1) = (from.0 + BOX_WIDTH / 2, from.1 + BOX_HEIGHT);
    let (x2, y2) = (to.0 + BOX_WIDTH / 2, to.1);
    let (y3, y4) = (y1 + ROW_GAP / 2, y2.saturating_sub(ROW_GAP / 2));
    let dashes = if is_part {
        " stroke-dasharray=\"4 4\""
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "<path d=\"M{x1} {y1}C{x1} {y3} {x2} {y4} {x2} {y2}\" fill=\"none\" stroke=\"#94a3b8\" \
         stroke-width=\"1.5\" marker-end=\"url(#tip)\"{dashes}/>"
    );
}

fn task(text: &mut String, shape: &Shape, (x, y): (usize, usize)) {
    let Look { word, line, ground } = shape.state;
    let title = escape_html(&shown(&shape.title, TITLE_MAX));
    let name = escape_html(&shown(&shape.name, TITLE_MAX));
    let thick = if shape.is_epic { 3 } else { 1 };
    let _ = writeln!(
        text,
        "<g class=\"task {word}\" transform=\"translate({x} {y})\"><title>{name} {}: {word}</title>\
         <rect width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"8\" fill=\"{ground}\" \
         stroke=\"{line}\" stroke-width=\"{thick}\"/>\
         <text x=\"10\" y=\"18\" font-size=\"12\" font-weight=\"bold\" fill=\"{line}\">{name}</text>\
         <text x=\"10\" y=\"35\" font-size=\"12\" fill=\"#0f172a\">{title}</text></g>",
        escape_html(&shown(&shape.title, 500)),
    );
}

fn legend(text: &mut String, key: &[Look], height: usize) {
    for (column, Look { word, line, ground }) in key.iter().enumerate() {
        let (x, y) = (MARGIN + column * 115, height - MARGIN);
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"3\" fill=\"{ground}\" \
             stroke=\"{line}\"/><text x=\"{}\" y=\"{y}\" font-size=\"12\" \
             fill=\"#475569\">{word}</text>",
            y - 10,
            x + 18
        );
    }
}

/// Most tasks side by side; a layer with more goes on in another row.
const COLUMNS: usize = 6;

/// Returns rows of places in `shapes`, from the top to the bottom.
fn rows(shapes: &[Shape], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let graph = edges.iter().copied().collect();
    let depths = depths(&graph, |_| 1);
    for place in 0..shapes.len() {
        // What is in a circle is at the top.
        let depth = depths.get(&place).copied().unwrap_or(0);
        layers.entry(depth).or_default().push(place);
    }
    let mut layers: Vec<Vec<usize>> = layers.into_values().collect();
    arrange(&mut layers, edges, shapes.len());
    let rows = layers.iter().flat_map(|layer| layer.chunks(COLUMNS));
    rows.map(<[usize]>::to_vec).collect()
}

/// Finds edges by places: from what comes first to what waits for it.
fn edges(shapes: &[Shape]) -> Vec<(usize, usize, bool)> {
    let places = shapes
        .iter()
        .enumerate()
        .map(|(place, shape)| (shape.id, place));
    let places: HashMap<TaskId, usize> = places.collect();
    let mut edges = Vec::new();
    for (to, shape) in shapes.iter().enumerate() {
        let needs = shape.depends.iter().filter_map(|need| places.get(need));
        edges.extend(needs.map(|from| (*from, to, false)));
        let parent = shape.parent.and_then(|parent| places.get(&parent));
        edges.extend(parent.map(|parent| (to, *parent, true)));
    }
    edges.retain(|(from, to, _)| from != to);
    edges
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
