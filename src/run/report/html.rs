//! A run as one page that needs nothing from elsewhere: no scripts, no fonts, no pictures but those in it.
//! All values are escaped text.

use handlebars::{Handlebars, handlebars_helper};
use serde::Deserialize;
use serde_json::json;

use super::{escape_xml, money, time, tokens};
use crate::error::{Code, Error, Result, shorten};
use crate::run::view::RunView;
use crate::run::{StepState, TaskRun, Usage};
use crate::task::Status;
use crate::task::drawing::{DRAWN_MAX, Look, Shape, svg_with};

/// The first lines of a page.
pub(crate) const START: &str = "<!doctype html>\n<!-- a run of cleo -->\n";
const TEMPLATE: &str = include_str!("page.hbs");
const STYLE: &str = include_str!("page.css");
/// Longest text that is shown of one thing, in characters.
const TEXT_MAX: usize = 20_000;
const EVENTS_MAX: usize = 2_000;

handlebars_helper!(write_time: |ms: Json| ms.as_u64().map(time).unwrap_or_default());
handlebars_helper!(write_money: |cost: Json| cost.as_f64().map(money).unwrap_or_default());
handlebars_helper!(write_tokens: |usage: Json| {
    Usage::deserialize(usage).ok().and_then(tokens).unwrap_or_default()
});
handlebars_helper!(write_json: |value: Json| value.to_string());

/// Writes the page of a run. Text that is written into it is cut and escaped by the template engine.
pub(crate) fn page(view: &RunView) -> Result<String> {
    let mut engine = Handlebars::new();
    engine.register_escape_fn(|text| escape_xml(&shorten(text, TEXT_MAX)));
    engine.register_helper("time", Box::new(write_time));
    engine.register_helper("money", Box::new(write_money));
    engine.register_helper("tokens", Box::new(write_tokens));
    engine.register_helper("json", Box::new(write_json));
    let all = view.events.as_deref().unwrap_or_default();
    let tasks: Vec<&TaskRun> = view.list_counted().collect();
    let shown = &all[..all.len().min(EVENTS_MAX)];
    let data = json!({
        "style": STYLE,
        "run": view.run,
        "tasks": tasks,
        "graph": draw_graph(&view.tasks),
        "steps": view.steps,
        "messages": view.messages,
        "events": shown,
        "total": all.len(),
        "more": all.len() - shown.len(),
    });
    let page = engine.render_template(TEMPLATE, &data);
    page.map_err(|cause| Error::new(Code::Internal, "the page cannot be written").because(cause))
}

fn draw_graph(tasks: &[TaskRun]) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    let shapes = tasks.iter().take(DRAWN_MAX).map(|task| Shape {
        id: task.planned.task_id,
        name: task.planned.task_id.to_string(),
        title: task.planned.title.clone(),
        state: style_of(task.state),
        is_epic: task.planned.is_epic,
        depends: task.planned.needs.clone(),
        parent: None,
    });
    let key: Vec<Look> = StepState::ALL.iter().copied().map(style_of).collect();
    svg_with(&shapes.collect::<Vec<_>>(), &key)
}

/// Returns how a state looks: like the status that is nearest to it, under its own name.
fn style_of(state: StepState) -> Look {
    let nearest = match state {
        StepState::Waiting => Status::Pending,
        StepState::Running | StepState::Verifying => Status::Active,
        StepState::Done => Status::Done,
        StepState::Failed => Status::Blocked,
        StepState::Skipped | StepState::Cancelled => Status::Cancelled,
    };
    let mut look = Look::from(nearest);
    look.word = state.word();
    look
}
