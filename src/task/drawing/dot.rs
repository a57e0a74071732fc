//! A graph as DOT, the language of Graphviz.

use std::collections::HashSet;
use std::fmt::Write;

use super::{Look, Shape, shown};
use crate::id::TaskId;

/// Most letters of a title.
const TITLE_MAX: usize = 60;

/// Writes a graph as DOT. An arrow leads from a task to one that waits for it; a dashed one from a
/// part to its whole.
pub fn dot(shapes: &[Shape]) -> String {
    let drawn: HashSet<TaskId> = shapes.iter().map(|shape| shape.id).collect();
    let mut text = String::from(
        "digraph tasks {\n  rankdir=TB;\n  \
         node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n  \
         edge [color=\"#94a3b8\"];\n",
    );
    for shape in shapes {
        let Look { line, ground, .. } = shape.state;
        let width = if shape.is_epic { ", penwidth=2" } else { "" };
        let name = escaped(&shown(&shape.name, TITLE_MAX));
        let title = escaped(&shown(&shape.title, TITLE_MAX));
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
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
