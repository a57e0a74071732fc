//! A graph as SVG, complete in itself.

use std::fmt::Write;

use super::layers::{edges, rows};
use super::{Look, Shape, shown};
use crate::task::Status;

/// Measures in pixels.
const BOX_WIDTH: usize = 210;
const BOX_HEIGHT: usize = 46;
const GAP: usize = 24;
const ROW_GAP: usize = 54;
const MARGIN: usize = 24;
const LEGEND: usize = 30;
/// Most letters of a title.
const TITLE_MAX: usize = 30;

/// Writes a graph as SVG: tasks in layers, each below what it waits for, colored by status. The
/// width has a bound, the height grows.
pub fn svg(shapes: &[Shape]) -> String {
    let key: Vec<Look> = Status::ALL.iter().copied().map(Look::from).collect();
    svg_with(shapes, &key)
}

/// Writes the same of what stands elsewhere than tasks do, with `key` below it.
pub fn svg_with(shapes: &[Shape], key: &[Look]) -> String {
    let edges = edges(shapes);
    let plain: Vec<(usize, usize)> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
    let rows = rows(shapes, &plain);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(4);
    let width = 2 * MARGIN + columns * (BOX_WIDTH + GAP) - GAP;
    let height = 2 * MARGIN + LEGEND + rows.len() * (BOX_HEIGHT + ROW_GAP);
    let mut text = head(width, height);
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

fn head(width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#94a3b8\"/></marker>\
         </defs>\n"
    )
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
    let title = escaped(&shown(&shape.title, TITLE_MAX));
    let name = escaped(&shown(&shape.name, TITLE_MAX));
    let thick = if shape.is_epic { 3 } else { 1 };
    let _ = writeln!(
        text,
        "<g class=\"task {word}\" transform=\"translate({x} {y})\"><title>{name} {}: {word}</title>\
         <rect width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"8\" fill=\"{ground}\" \
         stroke=\"{line}\" stroke-width=\"{thick}\"/>\
         <text x=\"10\" y=\"18\" font-size=\"12\" font-weight=\"bold\" fill=\"{line}\">{name}</text>\
         <text x=\"10\" y=\"35\" font-size=\"12\" fill=\"#0f172a\">{title}</text></g>",
        escaped(&shown(&shape.title, 500)),
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

/// Writes text for an element or an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
