//! Overviews and briefs as Markdown.

use std::path::Path;

use handlebars::{Handlebars, handlebars_helper, no_escape};

use super::overview::Overview;
use crate::error::{Code, Result};
use crate::file;
use crate::ops::Context;

/// The first line of every brief: only a file that begins with it is overwritten.
const MARK: &str = "<!-- written by cleo orchestrator brief -->";
const TEMPLATE: &str = include_str!("overview.md.hbs");

handlebars_helper!(count_rest: |few: Json| {
    let n_shown = few["shown"].as_array().map_or(0, Vec::len) as u64;
    few["total"].as_u64().unwrap_or(0).saturating_sub(n_shown)
});
handlebars_helper!(join: |words: Vec<String>| words.join(", "));

/// Writes a brief into a file that is new or a brief.
pub(crate) fn write_brief(context: &Context, path: &Path, brief: &Overview) -> Result<()> {
    let path = context.surroundings.directory.join(path);
    let written = file::write_over_own(&path, MARK, "a brief", &write_text(brief));
    written.map_err(|error| match error.code {
        Code::Exists => error.fix("cleo orchestrator brief --format text"),
        _ => error,
    })
}

/// Writes an overview: each list that it has is a section.
pub(crate) fn write_text(overview: &Overview) -> String {
    let states = overview.state.iter();
    let states: Vec<String> = states.map(|(status, n)| format!("{n} {status}")).collect();
    let standing = match states.is_empty() {
        true => "there are no tasks".to_string(),
        false => format!(
            "{} percent are done: {}",
            overview.percent,
            states.join(", ")
        ),
    };
    let mut data = serde_json::to_value(overview).unwrap_or_default();
    data["standing"] = standing.into();
    data["mark"] = MARK.into();
    let mut engine = Handlebars::new();
    engine.register_escape_fn(no_escape);
    engine.register_helper("rest", Box::new(count_rest));
    engine.register_helper("join", Box::new(join));
    let text = engine.render_template(TEMPLATE, &data);
    text.unwrap_or_else(|cause| cause.to_string())
}
