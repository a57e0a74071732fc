//! What an agent is told that would leave with its work unproven: what is missing, and how to mend
//! exactly that.

use std::fmt::Write;

use serde::Serialize;

use crate::id::TaskId;

/// What a task is due.
#[derive(Clone, Copy, Debug)]
pub struct Due<'a> {
    /// The task.
    pub task: TaskId,
    /// Id of the entry.
    pub manifest_id: &'a str,
    /// The file, relative to the root.
    pub output_file: &'a str,
    /// The day of the entry.
    pub date: &'a str,
    /// What it is about.
    pub topics: &'a [String],
    /// What is wrong: the rule and what breaks it.
    pub faults: &'a [(String, String)],
    /// Whether an entry of this id stands in the manifest.
    pub has_entry: bool,
    /// The manifest, relative to the root.
    pub manifest: &'a str,
    /// Where the workspace lies.
    pub root: &'a str,
}

/// Writes the reason.
pub fn reason(due: &Due<'_>) -> String {
    let task = due.task;
    let mut text = format!("{task} is not finished, so you cannot end yet:\n");
    for (rule, what) in due.faults {
        let _ = writeln!(text, "- {rule}: {what}");
    }
    let _ = write!(text, "\nDo this now, below {}:\n", due.root);
    let mut number = 0;
    for step in steps(due) {
        number += 1;
        let _ = writeln!(text, "{number}. {step}");
    }
    text
}

fn steps(due: &Due<'_>) -> Vec<String> {
    let (task, file) = (due.task, due.output_file);
    let breaks = |rule: &str| due.faults.iter().any(|(broken, _)| broken == rule);
    let mut steps = Vec::new();
    if breaks("OUT-001") {
        steps.push(format!(
            "Write what you did or found to `{file}`, with a `# <title>` and a `## Summary` section."
        ));
    }
    if breaks("OUT-002") && due.has_entry {
        steps.push(format!(
            "Correct the line of the entry {id} in `{manifest}` until what is said above no longer \
             holds; `cleo manifest show {id}` shows it.",
            id = due.manifest_id,
            manifest = due.manifest,
        ));
    } else if breaks("OUT-002") {
        steps.push(format!(
            "Append the entry; replace each `<…>` (status `partial` or `blocked` where that is the \
             truth):\n{}",
            append(due)
        ));
    }
    steps.push(format!(
        "See that `cleo verify output {task}` passes, then end with the one line that your prompt \
         asks for."
    ));
    steps
}

/// An entry with gaps, in the order in which prompts have it.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    file: &'a str,
    title: &'a str,
    date: &'a str,
    status: &'a str,
    topics: &'a [String],
    key_findings: [&'a str; 3],
    actionable: bool,
    needs_followup: [&'a str; 0],
    linked_tasks: [TaskId; 1],
}

/// Writes the command that appends the entry.
fn append(due: &Due<'_>) -> String {
    let file = due.output_file.rsplit('/').next().unwrap_or_default();
    let entry = Entry {
        id: due.manifest_id,
        file,
        title: "<title>",
        date: due.date,
        status: "complete",
        topics: due.topics,
        key_findings: ["<fact>"; 3],
        actionable: true,
        needs_followup: [],
        linked_tasks: [due.task],
    };
    let entry = serde_json::to_string(&entry).unwrap_or_default();
    format!("cleo manifest append <<'CLEO_ENTRY'\n{entry}\nCLEO_ENTRY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_asked_for() {
        let topics = ["auth".to_string()];
        let told = |rules: &[&str], has_entry| {
            let faults = rules
                .iter()
                .map(|rule| (rule.to_string(), "why".to_string()));
            let faults: Vec<_> = faults.collect();
            reason(&Due {
                task: TaskId(3),
                manifest_id: "auth-2026-01-26",
                output_file: "claudedocs/agent-outputs/2026-01-26_auth.md",
                date: "2026-01-26",
                topics: &topics,
                faults: &faults,
                has_entry,
                manifest: "claudedocs/agent-outputs/MANIFEST.jsonl",
                root: "/w",
            })
        };
        let all = told(&["OUT-001", "OUT-002"], false);
        assert!(all.starts_with("T3 is not finished"), "{all}");
        for part in [
            "- OUT-001: why",
            "1. Write what you did or found to `claudedocs/agent-outputs/2026-01-26_auth.md`",
            "2. Append the entry",
            "\"id\":\"auth-2026-01-26\"",
            "\"linked_tasks\":[\"T3\"]",
            "3. See that `cleo verify output T3` passes",
        ] {
            assert!(all.contains(part), "{part}\n{all}");
        }
        let file = told(&["OUT-001"], false);
        assert!(
            !file.contains("manifest append") && file.contains("2. See"),
            "{file}"
        );
        let entry = told(&["OUT-002"], true);
        assert!(
            entry.contains("cleo manifest show auth-2026-01-26"),
            "{entry}"
        );
    }
}
