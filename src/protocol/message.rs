//! The allowed last messages of an agent (OUT-003; section 5 of the notes). They are compared byte for byte,
//! so an extra blank is a failure (exit 61).

use serde::Serialize;

use crate::error::nearest;
use crate::skill::Skill;

pub(crate) const KINDS: [&str; 9] = [
    "Research",
    "Implementation",
    "Testing",
    "Validation",
    "Specification",
    "Planning",
    "Documentation",
    "Release",
    "Task",
];

/// Returns the kind that an agent with this skill reports; an unknown kind counts as Task.
pub(crate) fn kind_of(skill: &Skill) -> &str {
    KINDS
        .into_iter()
        .find(|kind| *kind == skill.result_kind)
        .unwrap_or("Task")
}

/// How far the work came, as the agent says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Complete,
    Partial,
    Blocked,
}

impl Status {
    pub(crate) const ALL: [Status; 3] = [Status::Complete, Status::Partial, Status::Blocked];

    fn ending(self) -> &'static str {
        match self {
            Status::Complete => " complete. See MANIFEST.jsonl for summary.",
            Status::Partial => " partial. See MANIFEST.jsonl for details.",
            Status::Blocked => " blocked. See MANIFEST.jsonl for blocker details.",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The problem, to be read after "the message".
    pub(crate) reason: &'static str,
    /// The allowed sentence that is most like it.
    pub(crate) nearest: String,
}

/// Checks a message: it must be exactly one of the [`sentences`].
pub(crate) fn check(text: &str) -> Result<Status, Refused> {
    if let Some(status) = status_of(text) {
        return Ok(status);
    }
    let reason = if text.trim().is_empty() {
        "is empty"
    } else if status_of(text.trim()).is_some() {
        "has blanks or line ends around the sentence"
    } else if sentences().any(|sentence| text.contains(&sentence)) {
        "says more than the sentence"
    } else {
        "is none of the allowed sentences"
    };
    Err(Refused {
        reason,
        nearest: most_like(text),
    })
}

/// Returns all sentences that are allowed: each kind with each ending.
pub(crate) fn sentences() -> impl Iterator<Item = String> {
    let endings = || Status::ALL.into_iter().map(Status::ending);
    KINDS
        .into_iter()
        .flat_map(move |kind| endings().map(move |ending| format!("{kind}{ending}")))
}

pub(crate) fn list_allowed() -> String {
    let forms = Status::ALL.map(|status| format!("`<Kind>{}`", status.ending()));
    let (last, kinds) = KINDS.split_last().unwrap_or((&"Task", &[]));
    format!(
        "{}, with {} or {last} for <Kind>",
        forms.join(", "),
        kinds.join(", ")
    )
}

fn status_of(text: &str) -> Option<Status> {
    let fits = |status: &Status| {
        text.strip_suffix(status.ending())
            .is_some_and(|kind| KINDS.contains(&kind))
    };
    Status::ALL.into_iter().find(fits)
}

fn most_like(text: &str) -> String {
    let sentences: Vec<String> = sentences().collect();
    let within = sentences.iter().find(|sentence| text.contains(*sentence));
    // A long text is compared by its start: that is where an agent puts the sentence.
    let start: String = text.trim().chars().take(100).collect();
    let like = || nearest(&start, sentences.iter().map(String::as_str));
    let found = within.map(String::as_str).or_else(like);
    found
        .unwrap_or("Task complete. See MANIFEST.jsonl for summary.")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_three_sentences() {
        assert_eq!(sentences().count(), 27);
        for (text, status) in [
            (
                "Research complete. See MANIFEST.jsonl for summary.",
                Status::Complete,
            ),
            (
                "Research partial. See MANIFEST.jsonl for details.",
                Status::Partial,
            ),
            (
                "Research blocked. See MANIFEST.jsonl for blocker details.",
                Status::Blocked,
            ),
            (
                "Task complete. See MANIFEST.jsonl for summary.",
                Status::Complete,
            ),
        ] {
            assert_eq!(check(text), Ok(status), "{text}");
        }
        assert!(sentences().all(|sentence| check(&sentence).is_ok()));
    }

    #[test]
    fn other_final_messages_are_refused_with_nearest_one() {
        let right = "Testing partial. See MANIFEST.jsonl for details.";
        for (text, reason) in [
            (
                "Testing partial. See MANIFEST.jsonl for details.\n",
                "has blanks or line ends around the sentence",
            ),
            (
                " Testing partial. See MANIFEST.jsonl for details.",
                "has blanks or line ends around the sentence",
            ),
            (
                "Done.\nTesting partial. See MANIFEST.jsonl for details.",
                "says more than the sentence",
            ),
            (
                "Testing partial. See MANIFEST.jsonl for details",
                "is none of the allowed sentences",
            ),
            (
                "testing partial. See MANIFEST.jsonl for details.",
                "is none of the allowed sentences",
            ),
            (
                "Testing partial. See MANIFEST.jsonl for summary.",
                "is none of the allowed sentences",
            ),
            (
                "Tests partial. See MANIFEST.jsonl for details.",
                "is none of the allowed sentences",
            ),
        ] {
            let refused = check(text).unwrap_err();
            assert_eq!(
                (refused.reason, refused.nearest.as_str()),
                (reason, right),
                "{text:?}"
            );
        }
        assert_eq!(check(" \n").unwrap_err().reason, "is empty");
        assert!(check(&"x".repeat(1 << 20)).is_err());
    }

    #[test]
    fn allowed_sentences_are_told_in_one_line() {
        let line = list_allowed();
        assert!(
            line.contains("`<Kind> blocked. See MANIFEST.jsonl for blocker details.`"),
            "{line}"
        );
        assert!(line.ends_with("Release or Task for <Kind>"), "{line}");
    }
}
