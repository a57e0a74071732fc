//! Pictures of a graph, as text that other programs draw: DOT and SVG. Pure and the same for the
//! same tasks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::json;

use crate::error::{is_control_character, shorten};
use crate::id::TaskId;
use crate::markdown::escape_html;
use crate::task::Status;
use crate::task::graph::depths;
use crate::task::layout::arrange;

pub(crate) const DRAWN_MAX: usize = 2_000;
const TEMPLATE: &str = include_str!("drawing.svg.hbs");

#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Picture {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) svg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dot: Option<String>,
    /// How many tasks or steps there are.
    pub(crate) total: usize,
}

/// A task as it is drawn, or a step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The task; for a step, its number in the plan.
    pub(crate) id: TaskId,
    /// Its name; may hold anything.
    pub(crate) name: String,
    /// Its title; may hold anything.
    pub(crate) title: String,
    pub(crate) state: Look,
    pub(crate) is_epic: bool,
    pub(crate) depends: Vec<TaskId>,
    pub(crate) parent: Option<TaskId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Look {
    pub(crate) word: &'static str,
    line: &'static str,
    ground: &'static str,
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

/// Returns the text as it may be shown, at most `max` characters.
fn clean_text(text: &str, max: usize) -> String {
    let clean = |c: char| {
        if is_control_character(c) {
            '\u{fffd}'
        } else {
            c
        }
    };
    let text: String = text.chars().map(clean).collect();
    shorten(&text, max - 1).into_owned()
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
        let name = escape_label(&clean_text(&shape.name, LABEL_MAX));
        let title = escape_label(&clean_text(&shape.title, LABEL_MAX));
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

/// Writes the same for other shapes, with `key` as the legend.
pub(crate) fn svg_with(shapes: &[Shape], key: &[Look]) -> String {
    let edges = edges(shapes);
    let plain: Vec<(usize, usize)> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
    let rows = rows(shapes, &plain);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(4);
    let width = 2 * MARGIN + columns * (BOX_WIDTH + GAP) - GAP;
    let height = 2 * MARGIN + LEGEND + rows.len() * (BOX_HEIGHT + ROW_GAP);
    let places = position_boxes(&rows, shapes.len(), width);
    let edge = |(from, to, is_part): (usize, usize, bool)| {
        let ((x1, top), (x2, y2)) = (places[from], places[to]);
        let (x1, y1, x2) = (x1 + BOX_WIDTH / 2, top + BOX_HEIGHT, x2 + BOX_WIDTH / 2);
        json!({
            "from": {"x": x1, "y": y1, "bend": y1 + ROW_GAP / 2},
            "to": {"x": x2, "y": y2, "bend": y2.saturating_sub(ROW_GAP / 2)},
            "is_part": is_part,
        })
    };
    let task = |(shape, (x, y)): (&Shape, &(usize, usize))| {
        json!({
            "x": x,
            "y": y,
            "name": clean_text(&shape.name, TITLE_MAX),
            "title": clean_text(&shape.title, TITLE_MAX),
            "whole_title": clean_text(&shape.title, 500),
            "look": shape.state,
            "is_epic": shape.is_epic,
        })
    };
    let legend = |(column, look): (usize, &Look)| {
        let (x, y) = (MARGIN + column * 115, height - MARGIN);
        json!({"x": x, "y": y - 10, "text_x": x + 18, "text_y": y, "look": look})
    };
    let data = json!({
        "width": width,
        "height": height,
        "box_width": BOX_WIDTH,
        "box_height": BOX_HEIGHT,
        "edges": edges.into_iter().map(edge).collect::<Vec<_>>(),
        "boxes": shapes.iter().zip(&places).map(task).collect::<Vec<_>>(),
        "key": key.iter().enumerate().map(legend).collect::<Vec<_>>(),
    });
    let mut engine = Handlebars::new();
    engine.register_escape_fn(escape_html);
    let picture = engine.render_template(TEMPLATE, &data);
    picture.unwrap_or_else(|cause| escape_html(&cause.to_string()))
}

/// Returns the upper left corner of each box; rows are centered.
fn position_boxes(rows: &[Vec<usize>], n_shapes: usize, width: usize) -> Vec<(usize, usize)> {
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

/// Maximum number of tasks in a row; a layer with more has several rows.
const COLUMNS: usize = 6;

/// Returns rows of places in `shapes`, from the top to the bottom.
fn rows(shapes: &[Shape], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let graph = edges.iter().copied().collect();
    let depths = depths(&graph, |_| 1);
    for place in 0..shapes.len() {
        // Tasks in a circle are at the top.
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
    let places = shapes.iter().enumerate();
    let places = places.map(|(place, shape)| (shape.id, place));
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
    fn no_title_breaks_out_of_dot_label() {
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
    fn no_title_breaks_out_of_svg_text() {
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
    fn picture_is_no_wider_than_page_and_same_every_time() {
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
    fn circles_and_edges_to_nowhere_are_drawn_anyway() {
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
