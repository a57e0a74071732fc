//! What an agent told of itself until it was cut off from who listened to it.

use super::lines::Lines;
use super::pipes::LINE_MAX;
use super::{Ended, all};
use crate::run::Spent;

/// Returns what an agent has used by what its program wrote on its standard output; nothing of a runner
/// that tells none. `before` is what its conversation had come to.
pub(crate) fn used(runner: &str, written: &[u8], before: Spent) -> Spent {
    let mut ended = Ended {
        before,
        ..Ended::default()
    };
    let known = all().into_iter().find(|known| known.name() == runner);
    if let Some(known) = known {
        let mut hear = |line: &str| {
            known.hear(line, &mut ended);
        };
        let mut lines = Lines::new(LINE_MAX);
        lines.take(written, &mut hear);
        lines.end(&mut hear);
    }
    Spent {
        usage: ended.usage,
        cost: ended.cost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_before_a_line_that_is_torn_counts() {
        let written = br#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":7,"output_tokens":2}}}
no event
{"type":"assistant","message":{"id":"m2","usage":{"input_tokens":9,"output_tokens":1}}}
{"type":"result","total_cost_usd":0"#;
        let used = |runner| used(runner, written, Spent::default());
        let usage = used("claude").usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens),
            (Some(16), Some(3))
        );
        assert_eq!(used("claude").cost, None);
        assert_eq!(used("command"), Spent::default());
    }

    #[test]
    fn of_a_conversation_only_what_is_new_counts() {
        let written = br#"{"type":"result","total_cost_usd":0.5}"#;
        let before = Spent {
            usage: None,
            cost: Some(0.2),
        };
        assert_eq!(used("claude", written, before).cost, Some(0.3));
    }
}
