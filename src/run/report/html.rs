//! A run as one page that needs nothing from elsewhere: no scripts, no fonts, no pictures but those
//! in it. Everything that somebody wrote is text in it.

use std::fmt::Write;

use super::steps::Steps;
use super::{bounded, escaped, money, time, timeline, tokens, why};
use crate::plan::Step;
use crate::run::told::{Told, kind};
use crate::run::track::TaskState;
use crate::run::view::RunView;
use crate::run::{Event, RunStatus};

const EVENTS_MAX: usize = 2_000;

pub(crate) fn page(view: &RunView) -> String {
    let title = escaped(&format!("cleo run {}", view.run.record.id));
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        include_str!("page.css")
    );
    head(&mut text, view);
    if !view.tasks.is_empty() {
        section(&mut text, "Graph", &timeline::draw_task_graph(view));
        section(&mut text, "Timeline", &timeline::draw_task_timeline(view));
        section(&mut text, "Tasks", &tasks(view));
        section(&mut text, "Evidence", &evidence(view));
    }
    if let Some(steps) = Steps::of(view) {
        section(&mut text, "Graph", &timeline::draw_step_graph(&steps));
        section(&mut text, "Timeline", &timeline::draw_step_timeline(&steps));
        section(&mut text, "Evidence", &results(&steps));
    }
    section(&mut text, "Routing", &routing(view));
    section(&mut text, "Messages", &messages(view));
    section(&mut text, "Events", &events(view));
    text + "</body>\n</html>\n"
}

fn section(text: &mut String, title: &str, content: &str) {
    if !content.is_empty() {
        let _ = write!(text, "<section>\n<h2>{title}</h2>\n{content}</section>\n");
    }
}

fn head(text: &mut String, view: &RunView) {
    let run = &view.run.record;
    let tone = match run.status {
        RunStatus::Completed => "good",
        RunStatus::Failed => "bad",
        RunStatus::Running => "accent",
        _ => "warn",
    };
    let _ = write!(
        text,
        "<header>\n<h1>{} <span class=\"{tone}\">{}</span></h1>\n<p>{}</p>\n",
        escaped(&run.id),
        run.status,
        escaped(&bounded(&run.input))
    );
    if let Some(error) = &run.error {
        let _ = writeln!(text, "<p class=\"bad\">{}</p>", escaped(&bounded(error)));
    }
    let counts = view.run.steps.unwrap_or_default();
    let some = |n: usize| (n > 0).then(|| n.to_string());
    let chips = [
        ("kind", Some(run.kind.to_string())),
        (
            "done",
            some(counts.total).map(|total| format!("{} of {total}", counts.done)),
        ),
        ("failed", some(counts.failed)),
        ("cancelled", some(counts.cancelled)),
        ("not begun", some(counts.skipped)),
        ("time", run.execution_time_ms.map(time)),
        ("tokens", run.usage.and_then(tokens)),
        ("cost", run.cost.map(money)),
        ("started", Some(run.started_at.clone())),
        ("ended", run.completed_at.clone()),
    ];
    text.push_str("<div class=\"chips\">\n");
    for (name, value) in chips {
        if let Some(value) = value {
            let _ = writeln!(
                text,
                "<div class=\"chip\"><b>{name}</b>{}</div>",
                escaped(&value)
            );
        }
    }
    text.push_str("</div>\n</header>\n");
}

fn tasks(view: &RunView) -> String {
    let head = [
        "Task", "State", "Outcome", "Tries", "Skill", "Runner", "Time", "Tokens", "Cost",
    ];
    table(
        &head,
        view.work().map(|task| {
            let tone = match task.state {
                TaskState::Done => "good",
                state if state.is_undone() => "bad",
                state if state.is_under_way() => "accent",
                _ => "dim",
            };
            let text = |text: &Option<String>| escaped(text.as_deref().unwrap_or("–"));
            let begun = task.attempts > 0;
            vec![
                format!("<b>{}</b> {}", task.task_id, escaped(&task.title)),
                format!("<span class=\"{tone}\">{}</span>", task.state),
                task.outcome
                    .map_or("–", |outcome| outcome.word())
                    .to_string(),
                task.attempts.to_string(),
                text(&task.skill),
                text(&task.runner),
                text(&begun.then(|| time(task.duration_ms))),
                text(&task.spent.usage.and_then(tokens)),
                text(&task.spent.cost.map(money)),
            ]
        }),
    )
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = String::from("<div class=\"scroll\"><table>\n<tr>");
    head.iter()
        .for_each(|cell| text += &format!("<th>{cell}</th>"));
    text += "</tr>\n";
    for row in rows {
        text += "<tr>";
        row.iter()
            .for_each(|cell| text += &format!("<td>{cell}</td>"));
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn evidence(view: &RunView) -> String {
    let mut text = String::new();
    for task in view.work() {
        let open = if task.state.is_undone() { " open" } else { "" };
        let _ = writeln!(
            text,
            "<details{open}><summary><b>{}</b> {} — {}</summary>",
            task.task_id,
            escaped(&task.title),
            task.state
        );
        if !task.is_done() && !task.state.is_under_way() && task.reason.is_some() {
            let _ = writeln!(
                text,
                "<p class=\"bad\">{}</p>",
                escaped(&bounded(&why(task)))
            );
        }
        for (name, value) in [
            ("entry", &task.manifest_id),
            ("output file", &task.output_file),
            ("branch", &task.branch),
            ("worktree", &task.worktree),
        ] {
            if let Some(value) = value {
                let _ = writeln!(text, "<p>{name}: <code>{}</code></p>", escaped(value));
            }
        }
        let id = task.task_id.to_string();
        let is_own = |event: &&Event| event.detail.get("taskId").is_some_and(|one| *one == id);
        let own = view.events().iter().filter(is_own);
        let own: Vec<&Event> = own.collect();
        own.iter().for_each(|event| happened(&mut text, event));
        text += "</details>\n";
    }
    text
}

fn happened(text: &mut String, event: &Event) {
    let told = Told::read(&event.detail);
    let attempt = told.attempt.map_or(String::new(), |n| format!("try {n}, "));
    let mut lines: Vec<String> = told.missing.clone();
    match event.kind.as_str() {
        kind::AGENT_ENDED => {
            let outcome = told.outcome.map(|outcome| format!("outcome: {outcome}"));
            let exit = told.exit_code.map(|code| format!("exit code: {code}"));
            lines.extend(
                [outcome, exit, told.reason, told.message]
                    .into_iter()
                    .flatten(),
            );
            lines.extend(
                told.denied
                    .iter()
                    .map(|what| format!("not allowed: {what}")),
            );
            lines.extend(told.complaints);
        }
        kind::TASK_CHECKED | kind::TASK_LACKING | kind::TASK_KEPT | kind::TASK_FAILED => {
            lines.extend(told.reason);
        }
        kind::TASK_COMPLETED => lines.push("verified".to_string()),
        _ => return,
    }
    let _ = writeln!(
        text,
        "<p class=\"dim\">{attempt}{} {}</p>\n<pre>{}</pre>",
        escaped(&event.kind),
        escaped(&event.at),
        escaped(&bounded(&lines.join("\n")))
    );
}

fn routing(view: &RunView) -> String {
    let run = &view.run.record;
    let mut text = String::new();
    if !run.routing_reason.is_empty() {
        let agent = run.agent.as_deref().unwrap_or("nobody");
        let _ = writeln!(
            text,
            "<p>{} → <b>{}</b>: {} (score {})</p>",
            escaped(&run.supervisor),
            escaped(agent),
            escaped(&run.routing_reason),
            run.routing_score
        );
    }
    if !view.steps.is_empty() {
        text += &table(
            &["", "Agent", "Action", "Step"],
            view.steps.iter().map(|step| {
                vec![
                    format!("{} %", step.progress),
                    escaped(&step.agent),
                    step.action.to_string(),
                    escaped(&bounded(&step.content)),
                ]
            }),
        );
    }
    let chosen = view.work().filter(|task| task.skill.is_some());
    let chosen: Vec<Vec<String>> = chosen
        .map(|task| {
            let text = |text: &Option<String>| escaped(text.as_deref().unwrap_or("–"));
            vec![
                format!("<b>{}</b> {}", task.task_id, escaped(&task.title)),
                text(&task.skill),
                text(&task.runner),
                format!("<code>cleo why {}</code>", task.task_id),
            ]
        })
        .collect();
    if !chosen.is_empty() {
        text += &table(
            &["Task", "Skill", "Runner", "Every reason"],
            chosen.into_iter(),
        );
    }
    text
}

fn messages(view: &RunView) -> String {
    let mut text = String::new();
    for message in &view.messages {
        let sender = message
            .metadata
            .get("sender")
            .and_then(|sender| sender.as_str());
        let _ = writeln!(
            text,
            "<p class=\"dim\">{}</p>\n<pre>{}</pre>",
            escaped(sender.unwrap_or(message.speaker.word())),
            escaped(&bounded(&message.content))
        );
    }
    text
}

fn events(view: &RunView) -> String {
    if view.events().is_empty() {
        return String::new();
    }
    let shown = &view.events()[..view.events().len().min(EVENTS_MAX)];
    let rows = shown.iter().map(|event| {
        let detail = serde_json::to_string(&event.detail).unwrap_or_default();
        vec![
            escaped(&event.at),
            format!("<code>{}</code>", escaped(&event.kind)),
            format!("<code>{}</code>", escaped(&bounded(&detail))),
        ]
    });
    let table = table(&["Time", "Event", "Detail"], rows);
    let all = view.events().len();
    let note = match all - shown.len() {
        0 => String::new(),
        more => format!(
            "<p class=\"dim\">{more} more: <code>cleo runs logs {}</code></p>\n",
            escaped(&view.run.record.id)
        ),
    };
    format!("<details><summary>{all} events</summary>\n{table}{note}</details>\n")
}

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
    for one in own {
        let heading = format!("try {}, {} {}", one.attempt, one.agent, one.from);
        let _ = writeln!(
            text,
            "<p class=\"dim\">{}</p>\n<pre>{}</pre>",
            escaped(&heading),
            escaped(&bounded(&steps.result(one)))
        );
    }
    text + "</details>\n"
}
