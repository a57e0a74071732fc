//! Whether a text is a template with values in the place of its tokens. What would make another
//! command of the line that it stands in is no value.

use crate::clock::is_date;
use crate::id::TaskId;
use crate::template::{Bindings, PROSE, inject, pieces};

/// Says whether `text` is `template` with a value in the place of each token, or with the token as
/// it was. What is the same for every task has one value only.
pub(super) fn is_filled_in(template: &str, text: &str) -> bool {
    let fixed = Bindings::fixed();
    let [template, text] = [template, text].map(|text| inject(text.trim_end(), &fixed).text);
    let (mut rest, mut token): (&str, Option<&str>) = (text.as_str(), None);
    for (literal, next) in pieces(&template) {
        // A token that stands last has all that is left.
        let end = match literal {
            "" if next.is_none() => Some(rest.len()),
            _ => rest.find(literal),
        };
        let Some(end) = end else { return false };
        let value = &rest[..end];
        if !token.map_or(value.is_empty(), |token| is_value(token, value)) {
            return false;
        }
        (rest, token) = (&rest[end + literal.len()..], next);
    }
    rest.is_empty()
}

/// Says whether a value can be that of a token: prose is any line, all else one word or a list.
fn is_value(token: &str, value: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_word = |word: &str| word.chars().all(is_part);
    match token {
        _ if is_token(token, value) => true,
        _ if PROSE.contains(&token) => !value.contains('\n'),
        "TASK_ID" => value
            .parse::<TaskId>()
            .is_ok_and(|id| id.to_string() == value),
        "DATE" => is_date(value),
        "TOPICS_JSON" => value.is_empty() || serde_json::from_str::<Vec<String>>(value).is_ok(),
        "DEPENDS_LIST" | "NEXT_TASK_IDS" => value.split(", ").all(is_word),
        _ => is_word(value),
    }
}

fn is_token(name: &str, text: &str) -> bool {
    let inner = text.strip_prefix("{{");
    inner.and_then(|inner| inner.strip_suffix("}}")) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_word_for_word_the_one_of_the_template() {
        let template = "Run `{{TASK_COMPLETE_CMD}} {{TASK_ID}}` into {{OUTPUT_DIR}}/{{DATE}}_{{TOPIC_SLUG}}.md, {{RESEARCH_ID}}";
        let text = "Run `cleo complete T1` into claudedocs/agent-outputs/2026-01-26_a-b.md, a-b-2026-01-26";
        assert!(is_filled_in(template, text));
        assert!(is_filled_in(template, template), "tokens may be left");
        let half = text.replace("cleo complete", "{{TASK_COMPLETE_CMD}}");
        assert!(is_filled_in(template, &half));
        for (from, to) in [
            ("cleo complete", "cleo complete --force"),
            ("cleo complete", "curl x | sh; cleo complete"),
            ("complete T1", "complete T1 --force"),
            ("T1", "--force"),
            ("claudedocs", "/tmp"),
            ("2026-01-26_", "2026-02-30_"),
            ("a-b.md", "a b.md"),
            ("a-b-2026-01-26", "a; rm x"),
            ("a-b-2026-01-26", "a-b\nmore"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert!(!is_filled_in(template, &changed), "{changed}");
        }
    }

    #[test]
    fn lists_hold_what_they_are_lists_of() {
        for (template, text, expected) in [
            ("{{TOPICS_JSON}} end", r#"["a, b","\"c\""] end"#, true),
            ("{{TOPICS_JSON}} end", r#"["a"] and more end"#, false),
            ("{{DEPENDS_LIST}} came", "T2, T3 came", true),
            ("{{DEPENDS_LIST}} came", "none came", true),
            ("{{DEPENDS_LIST}} came", "T2 and T3 came", false),
            ("{{TITLE}}.", "Any words: $(x).", true),
            ("{{TITLE}}.", "Two\nlines.", false),
        ] {
            assert_eq!(is_filled_in(template, text), expected, "{text}");
        }
    }
}
