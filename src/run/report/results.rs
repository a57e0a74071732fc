//! What proves the steps of a plan: what the agent of each returned, or why it failed, try by try.

use std::fmt::Write;

use super::steps::{Steps, Try};
use super::{bounded, escaped};
use crate::plan::Step;
use crate::run::board::TaskState;

/// Tells it of each step, in the order of the plan.
pub(super) fn results(steps: &Steps<'_>) -> String {
    let all = steps.plan.steps.iter();
    all.map(|step| result(steps, step)).collect()
}

fn result(steps: &Steps<'_>, step: &Step) -> String {
    let state = steps.state(&step.id);
    let open = match state {
        TaskState::Failed => " open",
        _ => "",
    };
    let mut text = format!(
        "<details{open}><summary><b>{}</b> {} — {state}</summary>\n",
        escaped(&step.id),
        escaped(step.title.as_deref().unwrap_or(step.wanted()))
    );
    let own = steps.tries.iter().filter(|one| one.step == step.id);
    own.for_each(|one| tried(&mut text, steps, one));
    text + "</details>\n"
}

fn tried(text: &mut String, steps: &Steps<'_>, one: &Try<'_>) {
    let heading = format!("try {}, {} {}", one.attempt, one.agent, one.from);
    let _ = writeln!(
        text,
        "<p class=\"dim\">{}</p>\n<pre>{}</pre>",
        escaped(&heading),
        escaped(&bounded(&steps.result(one)))
    );
}
