//! How long a process carried a run out that was gone before it told so: as long as events tell. Pure.

use super::told::kind;
use super::{Event, PLAN_RESUMED, RUN_FINISHED};
use crate::clock::between_ms;

/// Returns how long the last process of a run over tasks or of a plan carried it out, in milliseconds: from
/// when it began or went on until something was told last. None where that was counted before.
pub fn until_left(events: &[Event]) -> Option<u64> {
    let is_begin = |event: &Event| {
        let kind = event.kind.as_str();
        matches!(kind, kind::RUN_STARTED | kind::RUN_RESUMED | PLAN_RESUMED)
    };
    // No event of its own says that a plan began: its first one is what was asked for.
    let own = events.get(events.iter().rposition(is_begin).unwrap_or(0)..)?;
    if own.iter().any(is_counted) {
        return None;
    }
    // Others ask for the end, perhaps long after the process was gone.
    let last = own.iter().rfind(|event| event.kind != kind::RUN_CANCEL)?;
    between_ms(&own.first()?.at, &last.at)
}

/// Says whether the time of a process is counted with an event. Steps of plans tell errors of their own.
fn is_counted(event: &Event) -> bool {
    match event.kind.as_str() {
        kind::RUN_LEFT => !event.detail.contains_key("stepId"),
        other => other == RUN_FINISHED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Detail;

    fn event(second: u8, kind: &str) -> Event {
        Event {
            cursor: second.into(),
            run: "run_1".into(),
            at: format!("2026-01-26T10:00:{second:02}.000Z"),
            kind: kind.into(),
            detail: Detail::new(),
        }
    }

    #[test]
    fn each_process_counts_once_until_it_told_something_last() {
        let mut events = Vec::new();
        for (second, kind, counted) in [
            (1, kind::RUN_STARTED, Some(0)),
            (4, kind::AGENT_DOING, Some(3_000)),
            (20, kind::RUN_CANCEL, Some(3_000)),
            (30, kind::RUN_LEFT, None),
            (31, kind::AGENT_ENDED, None),
            (40, kind::RUN_RESUMED, Some(0)),
            (42, kind::AGENT_STARTED, Some(2_000)),
            (43, RUN_FINISHED, None),
        ] {
            events.push(event(second, kind));
            assert_eq!(until_left(&events), counted, "{kind}");
        }
        assert_eq!(until_left(&[]), None);
    }

    #[test]
    fn a_plan_counts_from_its_first_event_and_errors_of_its_steps_end_nothing() {
        let mut events = Vec::new();
        for (second, kind, step, counted) in [
            (1, "chat", None, Some(0)),
            (2, "plan", None, Some(1_000)),
            (4, "error", Some("a"), Some(3_000)),
            (5, "plan", None, Some(4_000)),
            (9, kind::RUN_CANCEL, None, Some(4_000)),
            (10, kind::RUN_LEFT, None, None),
            (20, PLAN_RESUMED, None, Some(0)),
            (23, "stepCompleted", Some("a"), Some(3_000)),
            (24, RUN_FINISHED, None, None),
            (30, kind::RUN_CANCEL, None, None),
        ] {
            let mut told = event(second, kind);
            let step = step.map(|step: &str| ("stepId".to_string(), step.into()));
            told.detail.extend(step);
            events.push(told);
            assert_eq!(until_left(&events), counted, "{second} {kind}");
        }
    }
}
