//! A run as one page that needs nothing from elsewhere: no scripts, no fonts, no pictures but those in it.
//! All values are escaped text.

use std::collections::HashMap;

use handlebars::{Handlebars, handlebars_helper};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{escape_xml, money, time, tokens};
use crate::clock::unix_ms;
use crate::error::{Code, Error, Result, shorten};
use crate::id::TaskId;
use crate::plan::{self, Plan};
use crate::run::attempt::Attempt;
use crate::run::view::RunView;
use crate::run::{RunKind, StepState, TaskRun, Usage};
use crate::task::Status;
use crate::task::drawing::{DRAWN_MAX, Look, Shape, svg_with};

/// The first lines of a page.
pub(crate) const START: &str = "<!doctype html>\n<!-- a run of cleo -->\n";
const TEMPLATE: &str = include_str!("page.hbs");
const STYLE: &str = include_str!("page.css");
/// Longest text that is shown of one thing, in characters.
const TEXT_MAX: usize = 20_000;
const EVENTS_MAX: usize = 2_000;
const BARS_MAX: usize = 2_000;

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
    let (all, tasks) = (view.events(), view.list_counted().collect::<Vec<_>>());
    let shown = &all[..all.len().min(EVENTS_MAX)];
    let data = json!({
        "style": STYLE,
        "run": view.run,
        "tasks": tasks,
        "graph": match view.run.record.kind {
            RunKind::Plan => draw_steps(view),
            _ => draw_tasks(&view.tasks),
        },
        "bars": bars(view),
        "steps": view.steps,
        "messages": view.messages,
        "events": shown,
        "total": all.len(),
        "more": all.len() - shown.len(),
    });
    let page = engine.render_template(TEMPLATE, &data);
    page.map_err(|cause| Error::new(Code::Internal, "the page cannot be written").because(cause))
}

fn draw_tasks(tasks: &[TaskRun]) -> String {
    let shapes = tasks.iter().take(DRAWN_MAX).map(|task| Shape {
        id: task.planned.task_id,
        name: task.planned.task_id.to_string(),
        title: task.planned.title.clone(),
        state: style_of(task.state),
        is_epic: task.planned.is_epic,
        depends: task.planned.needs.clone(),
        parent: None,
    });
    draw_graph(&shapes.collect::<Vec<_>>())
}

/// Draws the steps of a plan as its last events left them.
fn draw_steps(view: &RunView) -> String {
    let (mut plan, mut states) = (Plan::default(), HashMap::new());
    for event in view.events() {
        let word = |name: &str| event.detail.get(name).and_then(Value::as_str);
        let is_retried = event.detail.get("retried") == Some(&Value::Bool(true));
        let state = match (event.kind.as_str(), word("stepId")) {
            ("plan", None) => {
                let written = event.detail.get("plan").map(ToString::to_string);
                plan = plan::read(written.unwrap_or_default().as_bytes()).0;
                if word("refine") != Some("last-step") {
                    states.clear();
                }
                continue;
            }
            ("agentStart", Some(step)) => (step, StepState::Running),
            ("agentComplete", Some(step)) => (step, StepState::Done),
            ("error", Some(step)) if !is_retried => (step, StepState::Failed),
            _ => continue,
        };
        states.insert(state.0, state.1);
    }
    let shapes = plan.drawing_shapes().into_iter().map(|shape| {
        let state = states.get(shape.name.as_str());
        let state = style_of(state.copied().unwrap_or_default());
        Shape { state, ..shape }
    });
    draw_graph(&shapes.collect::<Vec<_>>())
}

fn draw_graph(shapes: &[Shape]) -> String {
    if shapes.is_empty() {
        return String::new();
    }
    let key: Vec<Look> = StepState::ALL.iter().copied().map(style_of).collect();
    svg_with(shapes, &key)
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
    Look::from(nearest).with_word(state.word())
}

/// An attempt in the timeline.
#[derive(Serialize)]
struct Bar {
    task: TaskId,
    attempt: u32,
    state: StepState,
    /// Where it begins, in hundredths of the width.
    left: f64,
    width: f64,
    took: String,
}

/// Returns the attempts in the order of their starts; one that is in progress ends with the last event.
fn bars(view: &RunView) -> Vec<Bar> {
    let last = view.events().last().and_then(|event| unix_ms(&event.at));
    let times = |one: &Attempt| {
        let from = unix_ms(&one.started_at)?;
        let ended = one.agent_ended_at.as_ref().or(one.ended_at.as_ref());
        let to = ended.map_or(last, |at| unix_ms(at)).unwrap_or(from);
        Some((from, to.max(from)))
    };
    let tasks = view.tasks.iter();
    let attempts =
        tasks.flat_map(|task| task.history.iter().map(|one| (task.planned.task_id, one)));
    let timed = attempts.filter_map(|(task, one)| Some((times(one)?, task, one)));
    let mut timed: Vec<((i64, i64), TaskId, &Attempt)> = timed.take(BARS_MAX).collect();
    timed.sort_by_key(|((from, _), ..)| *from);
    let begin = timed.iter().map(|((from, _), ..)| *from).min().unwrap_or(0);
    let end = timed.iter().map(|((_, to), ..)| *to).max().unwrap_or(0);
    let percent = |ms: i64| ms as f64 * 100.0 / (end - begin).max(1) as f64;
    let bar = |((from, to), task, one): ((i64, i64), TaskId, &Attempt)| Bar {
        task,
        attempt: one.attempt,
        state: one.state,
        left: percent(from - begin),
        width: percent(to - from),
        took: time((to - from).unsigned_abs()),
    };
    timed.into_iter().map(bar).collect()
}
