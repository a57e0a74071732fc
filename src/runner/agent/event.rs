//! Shared parts of agents' event streams: one JSON object a line, of which known fields count, and the
//! messages of model servers about errors.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{OutputState, all};
use crate::run::log::Stream;
use crate::run::transcript::{self, TEXT_MAX};
use crate::run::{self, Outcome, Spent, TaskEvent, Usage};

/// Longest description of what an agent does, in characters.
const DOING_MAX: usize = 120;
/// Returns the text at a JSON pointer, such as `/part/text`.
pub(super) fn text<'a>(event: &'a Value, place: &str) -> Option<&'a str> {
    event.pointer(place)?.as_str()
}

pub(super) fn number(event: &Value, place: &str) -> Option<u64> {
    event.pointer(place)?.as_u64()
}

pub(super) fn list<'a>(event: &'a Value, place: &str) -> &'a [Value] {
    let list = event.pointer(place).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

pub(super) fn sum(event: &Value, places: &[&str]) -> Option<u64> {
    let numbers = places.iter().filter_map(|place| number(event, place));
    numbers.reduce(u64::saturating_add)
}

pub(super) fn usage(input_tokens: Option<u64>, output_tokens: Option<u64>) -> Option<Usage> {
    let both = [input_tokens, output_tokens].into_iter().flatten();
    let total_tokens = both.reduce(u64::saturating_add)?;
    Some(Usage {
        input_tokens,
        output_tokens,
        total_tokens: Some(total_tokens),
    })
}

/// Notes the conversation, if its name is one that can be said to a program again.
pub(super) fn note_conversation(name: Option<&str>, state: &mut OutputState) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_name = |name: &&str| {
        (1..=100).contains(&name.len()) && !name.starts_with('-') && name.chars().all(is_plain)
    };
    let is_new = |name: &&str| state.end.conversation.as_deref() != Some(name);
    if let Some(name) = name.filter(is_name).filter(is_new) {
        let conversation = Some(name.to_string());
        state.end.conversation.clone_from(&conversation);
        state
            .events
            .push(TaskEvent::AgentConversation { conversation });
    }
}

/// Adds the event that a tool is used, with the subject that its input names.
pub(super) fn use_tool(tool: Option<&str>, input: Option<&Value>, state: &mut OutputState) {
    let tool = tool.unwrap_or("a tool");
    let about = input.and_then(transcript::find_subject);
    let words = [tool, about.unwrap_or_default()].join(" ");
    read_progress(words.lines().next().unwrap_or_default(), state);
}

/// Adds a line of text as progress, unless it is blank.
pub(super) fn read_progress(line: &str, state: &mut OutputState) {
    // Little is shown, and lines may be long.
    let plain = transcript::strip_escapes(&line[..line.floor_char_boundary(TEXT_MAX)]);
    let shown = plain.chars().filter(|c| !c.is_control());
    let shown: String = shown
        .skip_while(|c| c.is_whitespace())
        .take(DOING_MAX)
        .collect();
    if !shown.trim_end().is_empty() {
        let doing = Some(shown.trim_end().to_string());
        state.events.push(TaskEvent::AgentProgress { doing });
    }
}

pub(super) fn fail_with(message: &str, status: Option<u64>, state: &mut OutputState) {
    note_retry(message, status, state);
    let outcome = match state.refused {
        true => Outcome::RateLimited,
        false => Outcome::AgentError,
    };
    state.fail(
        outcome,
        Some(message.to_string()).filter(|it| !it.is_empty()),
    );
}

/// Notes that a program retries or ends because its model refused it, if that is the reason.
pub(super) fn note_retry(message: &str, status: Option<u64>, state: &mut OutputState) {
    state.refused = is_too_many(message, status);
    if state.refused {
        state.end.retry_after_ms = retry_after(message).or(state.end.retry_after_ms);
    }
}

/// Reads an event by which a program reports a retry and its reason.
pub(super) fn read_retry(why: Option<&str>, status: Option<u64>, state: &mut OutputState) {
    note_retry(why.unwrap_or_default(), status, state);
    state.end.reason = why.filter(|why| !why.is_empty()).map(String::from);
}

/// Returns the amount of money at a place, in US dollars; what is not an amount is none.
pub(super) fn money(event: &Value, place: &str) -> Option<f64> {
    let amount = event.pointer(place)?.as_f64()?;
    (amount.is_finite() && amount >= 0.0).then_some(amount)
}

/// Judges an exit by the outcome in its stream. A stream without an outcome is a failure, whatever the exit
/// code.
pub(super) fn judge_exit(state: &mut OutputState) {
    match (state.end.outcome, state.end.exit_code) {
        (Some(Outcome::Ok), Some(0)) => state.end.reason = None,
        (Some(Outcome::Ok), _) => state.fail(Outcome::AgentError, None),
        (Some(_), _) => {}
        (None, code) => {
            let stderr_tail = state.end.stderr_tail.join("\n");
            let said = state.end.reason.take();
            let without = || format!("{}, without a result", state.describe_exit());
            let reason = said.clone().unwrap_or_else(without);
            let known = [said.unwrap_or_default(), stderr_tail].join("\n");
            let status = is_too_many(&known, None).then_some(429);
            fail_with(&reason, status.filter(|_| code != Some(0)), state);
            state.end.retry_after_ms = state.end.retry_after_ms.or(retry_after(&known));
        }
    }
}

/// Returns whether a server had too many requests: by its status, or by what a program says of it.
fn is_too_many(message: &str, status: Option<u64>) -> bool {
    const STATUSES: [u64; 2] = [429, 529];
    const WORDS: [&str; 6] = [
        "rate limit",
        "rate_limit",
        "too many requests",
        "resource_exhausted",
        "overloaded",
        "usage limit",
    ];
    if let Some(status) = status {
        return STATUSES.contains(&status);
    }
    let lower = message.to_lowercase();
    let mut numbers = lower.split(|c: char| !c.is_ascii_alphanumeric());
    numbers.any(|word| word == "429" || word == "529")
        || WORDS.iter().any(|word| lower.contains(word))
}

/// How a server says when to come back, in lower case.
static RETRY: LazyLock<Regex> = LazyLock::new(|| {
    let words = "retry[- ]after|retrydelay|try again in|retry in";
    let pattern = format!(r"(?:{words})[^a-z0-9]*([0-9]+(?:\.[0-9]+)?)\s*(ms|milli|m|h)?");
    Regex::new(&pattern).expect("the pattern is compiled by a test")
});

fn retry_after(message: &str) -> Option<u64> {
    let lower = message.to_lowercase();
    let found = RETRY.captures(&lower)?;
    let number: f64 = found[1].parse().ok()?;
    let factor = match found.get(2).map(|unit| unit.as_str()) {
        Some("ms" | "milli") => 1.0,
        Some("m") => 60_000.0,
        Some(_) => 3_600_000.0,
        None => 1_000.0,
    };
    Some((number * factor) as u64)
}

/// Returns the tokens and cost of an agent by its log; nothing if its runner reports none. `before` are those of its
/// conversation before.
pub(crate) fn read_spent(runner: &str, log: &[u8], before: Spent) -> Spent {
    let mut state = OutputState {
        before,
        ..OutputState::default()
    };
    let known = all().into_iter().find(|known| known.name() == runner);
    if let Some(known) = known {
        for entry in run::log::read(log).filter(|entry| entry.stream == Stream::Out) {
            known.read_line(entry.text.trim_end(), &mut state);
            state.events.clear();
        }
    }
    state.end.to_spent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limits_are_recognized() {
        for (message, status, is_it) in [
            ("", Some(429), true),
            ("", Some(529), true),
            ("rate limit", Some(400), false),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                None,
                true,
            ),
            ("{\"code\":529}", None, true),
            ("Overloaded", None, true),
            ("request req_4290 failed", None, false),
            ("port 14290", None, false),
        ] {
            assert_eq!(is_too_many(message, status), is_it, "{message} {status:?}");
        }
    }

    #[test]
    fn invalid_amounts_cost_nothing() {
        let event = serde_json::json!({"cost": -3.0, "all": 0.5, "text": "1"});
        let money = |place| money(&event, place);
        assert_eq!(
            (money("/all"), money("/cost"), money("/text")),
            (Some(0.5), None, None)
        );
    }

    #[test]
    fn retry_delay_is_read_in_all_units() {
        for (message, wait) in [
            ("Retry-After: 7", Some(7_000)),
            ("please try again in 1.5s.", Some(1_500)),
            ("try again in 250ms", Some(250)),
            ("\"retryDelay\": \"34s\"", Some(34_000)),
            ("try again in 2 minutes", Some(120_000)),
            ("try again in a while", None),
            ("later", None),
        ] {
            assert_eq!(retry_after(message), wait, "{message}");
        }
    }

    #[test]
    fn conversation_id_is_not_an_option() {
        let mut state = OutputState::default();
        for name in ["", "--last", "a b", "x/../y"] {
            note_conversation(Some(name), &mut state);
            assert!(state.events.is_empty());
        }
        note_conversation(Some("ses_1-a"), &mut state);
        note_conversation(Some("ses_1-a"), &mut state);
        assert_eq!(state.events.len(), 1, "added once");
    }

    #[test]
    fn usage_before_torn_line_counts() {
        let written = r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":7,"output_tokens":2}}}
no event
{"type":"assistant","message":{"id":"m2","usage":{"input_tokens":9,"output_tokens":1}}}
{"type":"result","total_cost_usd":0"#;
        let log = run::log::write(Stream::Out, written);
        let spent = |runner| read_spent(runner, log.as_bytes(), Spent::default());
        let usage = spent("claude").usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens),
            (Some(16), Some(3))
        );
        assert_eq!(spent("claude").cost, None);
        assert_eq!(spent("command"), Spent::default());
    }

    #[test]
    fn only_new_cost_of_conversation_counts() {
        let log = run::log::write(Stream::Out, r#"{"type":"result","total_cost_usd":0.5}"#);
        let before = Spent {
            usage: None,
            cost: Some(0.2),
        };
        assert_eq!(read_spent("claude", log.as_bytes(), before).cost, Some(0.3));
    }
}
