//! Which tools a job allows, in the words of Claude Code. Other programs have names of their own for
//! them, or only know kinds of tools. Pure.

use super::Job;

/// Tools that change files: without these, nothing is written.
const WRITING: [&str; 3] = ["Bash", "Edit", "Write"];

/// Returns whether a job allows a tool; a rule for a part of it, such as `Bash(git *)`, allows it too, since
/// only `claude` knows such parts.
pub(super) fn allows(job: &Job, tool: &str) -> bool {
    let named = |rule: &String| {
        rule.split('(')
            .next()
            .is_some_and(|name| name.trim() == tool)
    };
    job.tools.is_empty() || job.tools.iter().any(named)
}

pub(super) fn writes(job: &Job) -> bool {
    WRITING.iter().any(|tool| allows(job, tool))
}

pub(super) fn translate_allowed<'a>(job: &Job, names: &[(&str, &'a str)]) -> Vec<&'a str> {
    let allowed = names.iter().filter(|(tool, _)| allows(job, tool));
    allowed.map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::agent::tests::job;

    #[test]
    fn listed_tools_are_allowed_and_empty_list_allows_all() {
        let with = |tools: &[&str]| Job {
            tools: tools.iter().map(|tool| tool.to_string()).collect(),
            ..job()
        };
        assert!(allows(&with(&[]), "Bash") && writes(&with(&[])));
        let git = with(&["Read", "Bash(git *)"]);
        assert!(allows(&git, "Bash") && writes(&git) && !allows(&git, "Edit"));
        let reads = with(&["Read", "WebFetch"]);
        assert!(!writes(&reads));
        let names = [
            ("Read", "read_file"),
            ("Edit", "replace"),
            ("WebFetch", "web_fetch"),
        ];
        assert_eq!(
            translate_allowed(&reads, &names),
            ["read_file", "web_fetch"]
        );
    }
}
