use serde_json::json;

use super::*;
use crate::id::TaskId;
use crate::run::view::RunView;
use crate::run::{Event, Run, RunKind, RunProjection, StepState};

const NASTY: &str =
    "<script>alert(1)</script> & \"x\" 'y' ]]> \u{1b}[31m\u{202e}, 50%: a\r\nb | `c`";

fn event(cursor: u64, kind: &str, detail: serde_json::Value) -> Event {
    Event {
        cursor,
        run: "run_1".into(),
        at: format!("2026-01-26T09:00:0{cursor}.000Z"),
        kind: kind.into(),
        detail: detail.as_object().unwrap().clone(),
    }
}

/// A run of three tasks: one is done, one failed, and the third waited for it.
fn events() -> Vec<Event> {
    let started = json!({"tasks": [
        {"taskId": "T2", "title": NASTY},
        {"taskId": "T3", "title": "Second", "needs": ["T2"]},
        {"taskId": "T4", "title": "Third", "needs": ["T3"]},
    ]});
    let begin = |id: &str| {
        json!({"taskId": id, "attempt": 1, "skill": "ct-x", "runner": "command",
        "manifestId": "m-1", "outputFile": "claudedocs/x.md"})
    };
    let end = |id: &str, text: &str| {
        json!({"taskId": id, "attempt": 1, "outcome": "protocol_violation",
        "durationMs": 1_500, "usage": {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12},
        "cost": 0.5, "message": text})
    };
    vec![
        event(0, "run.started", started),
        event(1, "task.started", begin("T2")),
        event(2, "agent.ended", end("T2", NASTY)),
        event(3, "task.completed", json!({"taskId": "T2"})),
        event(4, "task.started", begin("T3")),
        event(5, "agent.ended", end("T3", "gone")),
        event(
            6,
            "task.verification_failed",
            json!({"taskId": "T3", "outcome": "protocol_violation",
            "violations": [NASTY]}),
        ),
        event(
            7,
            "task.failed",
            json!({"taskId": "T3", "outcome": "protocol_violation",
            "reason": NASTY}),
        ),
        event(
            8,
            "task.skipped",
            json!({"taskId": "T4", "causedBy": "T3", "reason": "T3 failed"}),
        ),
    ]
}

fn with_record<T>(look: impl FnOnce(&RunView) -> T) -> T {
    let events = events();
    let mut run = Run::new("run_1".into(), RunKind::Epic, "cleo", NASTY.into());
    run.status = crate::run::RunStatus::Failed;
    run.error = Some(NASTY.into());
    run.started_at = "2026-01-26T09:00:00.000Z".into();
    look(&view(run, events))
}

fn view(run: Run, events: Vec<Event>) -> RunView {
    let mut view = RunView::new(run, &RunProjection::read(&events), &events, String::new());
    view.events = Some(events);
    view
}

/// Reads elements and returns whether each that is opened is closed, in order.
fn is_well_formed(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let Some(end) = rest[at..].find('>') else {
            return false;
        };
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/', '\n'])
            .next()
            .unwrap_or_default();
        let is_void = ["meta", "!doctype", "!--", "?xml"].contains(&name) || tag.ends_with('/');
        match tag.starts_with('/') {
            true if open.pop() != Some(name) => return false,
            false if !is_void => open.push(name),
            _ => {}
        }
    }
    open.is_empty()
}

#[test]
fn page_is_self_contained_and_escapes_text() {
    let page = with_record(html::page).unwrap();
    assert!(is_well_formed(&page), "{page}");
    for bad in [
        "<script", "\u{1b}", "\u{202e}", " src=", "href=", "url(http", "@import",
    ] {
        assert!(!page.contains(bad), "{bad}");
    }
    for part in [
        "<title>cleo run run_1</title>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<h2>Graph</h2>",
        "<h2>Tasks</h2>",
        "<h2>Evidence</h2>",
        "<details open><summary><b>T3</b>",
        "cleo why T3",
        "9 events",
        "$0.50",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn graph_and_table_agree_on_each_task() {
    let page = with_record(html::page).unwrap();
    let graph = page.split("<h2>Graph</h2>").nth(1).unwrap();
    let graph = graph.split("</section>").next().unwrap();
    let shown = |begin: &str, end: &str| -> Vec<String> {
        let all = graph.split(begin).skip(1);
        all.filter_map(|rest| rest.split_once(end))
            .map(|(inside, _)| inside.rsplit(' ').next().unwrap().to_string())
            .collect()
    };
    let states = ["done", "failed", "skipped"];
    assert_eq!(shown("<title>", "</title>"), states);
    assert_eq!(shown("class=\"task ", "\""), states);
    let key = StepState::ALL.iter().map(|state| state.word());
    let key: Vec<&str> = key.collect();
    assert_eq!(shown("fill=\"#475569\">", "</text>"), key);
    assert!(!graph.contains("blocked"), "{graph}");
}

#[test]
fn junit_has_suite_for_each_wave_and_case_for_each_task() {
    let text = with_record(junit::junit);
    assert!(is_well_formed(&text), "{text}");
    assert!(
        !text.contains('\u{1b}') && !text.contains("<script"),
        "{text}"
    );
    for part in [
        "<testsuites name=\"run_1\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"3.000\">",
        "<testsuite name=\"wave 0\" tests=\"1\" failures=\"0\"",
        "<testsuite name=\"wave 2\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\"",
        "<testcase classname=\"ct-x\" name=\"T3 Second\" time=\"1.500\">",
        "<failure type=\"E_NOT_VERIFIED\" message=\"protocol_violation: ",
        "<skipped message=\"T3 failed\"/>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn annotations_are_single_escaped_lines() {
    let text = with_record(github::annotations);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("::error title=T3 E_NOT_VERIFIED%3A Second::"),
        "{text}"
    );
    assert!(
        lines[0].contains("50%25") && lines[0].contains("%0Ab"),
        "{text}"
    );
    assert_eq!(
        text.matches("50%25").count(),
        1,
        "a reason stands once: {text}"
    );
    assert!(
        lines[1].starts_with("::warning title=T4 was not begun%3A Third::T3 failed"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("::notice title=run_1::1 of 3 tasks are done (failed)"),
        "{text}"
    );
    assert_eq!(
        github::annotation("error", "E_X", "a,b:c\n%"),
        "::error title=E_X::a,b:c%0A%25\n"
    );
}

#[test]
fn summary_table_stays_within_its_limit() {
    let text = with_record(|view| github::summary(view, github::SUMMARY_MAX));
    let rows = text.lines().filter(|line| line.starts_with("| T")).count();
    assert_eq!(rows, 4, "the head and three tasks: {text}");
    assert!(!text.contains("<script") && text.contains("\\|"), "{text}");
    let short = with_record(|view| github::summary(view, text.len() - 100));
    assert!(
        short.contains("more tasks: `cleo runs show run_1`"),
        "{short}"
    );
    assert!(short.len() <= text.len() - 100);
    assert_eq!(with_record(|view| github::summary(view, 10)), "");
    let outputs = with_record(github::outputs);
    assert_eq!(outputs, "run_id=run_1\nok=false\nfailed=T3\n");
}

#[test]
fn annotations_stay_within_limit_of_github() {
    let tasks: Vec<_> = (1..=40)
        .map(|id| json!({"taskId": format!("T{id}"), "title": "x"}))
        .collect();
    let mut events = vec![event(0, "run.started", json!({"tasks": tasks}))];
    events.extend((1..=40).map(|id| {
        event(
            1,
            "task.failed",
            json!({"taskId": format!("T{id}"), "outcome": "timeout"}),
        )
    }));
    let run = Run::new("run_1".into(), RunKind::Epic, "cleo", String::new());
    let view = view(run, events);
    let text = github::annotations(&view);
    assert_eq!(text.matches("::error ").count(), 10);
    assert!(text.contains("31 more tasks"), "{text}");
    assert_eq!(view.tasks[0].planned.task_id, TaskId(1));
}

#[test]
fn times_and_tokens_are_written_for_people() {
    let times = [340, 4_230, 185_000, 7_800_000].map(time);
    assert_eq!(times, ["340 ms", "4.2 s", "3m 05s", "2h 10m"]);
    let used = |total| {
        tokens(Usage {
            input_tokens: None,
            output_tokens: None,
            total_tokens: Some(total),
        })
    };
    let used = [9_999, 12_345, 1_250_000].map(|total| used(total).unwrap());
    assert_eq!(used, ["9999", "12k", "1.2M"]);
}

#[test]
fn small_costs_are_not_rounded_to_zero() {
    let costs = [0.0, 1.254, 0.01, 0.0042, 0.000_123_4, 0.000_000_001].map(money);
    let shown = [
        "$0.00",
        "$1.25",
        "$0.01",
        "$0.0042",
        "$0.00012",
        "$0.000000001",
    ];
    assert_eq!(costs, shown);
}
