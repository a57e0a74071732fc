//! The files that introduce cleo to other programs: the files of each client, their text, and which part of a
//! file is ours. Pure: `ops::init` reads and writes them.

mod hooks;
mod ownership;

use handlebars::{Handlebars, no_escape};
use serde_json::{Value, json};

use crate::error::{Code, Error, Result};
use crate::words::closed;

pub(crate) use ownership::Outcome;

const NAME: &str = "cleo-subagent";

closed! {
    #[derive(clap::ValueEnum)]
    Client, "client":
    /// Claude Code
    Claude = "claude",
    /// Codex
    Codex = "codex",
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentFile {
    pub(crate) path: &'static str,
    part: Part,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Block,
    /// A block with a line that the file may also hold outside of it.
    Line,
    Hooks(Client),
}

impl AgentFile {
    /// Returns the new text of the file whose text is `there`, or why it cannot be written.
    pub(crate) fn update_text(&self, there: &str) -> std::result::Result<Outcome, String> {
        let has_line = || there.lines().any(|line| line.trim() == self.text.trim());
        match self.part {
            Part::Hooks(client) => hooks::merge_hooks(there, &hooks::for_client(client)),
            Part::Whole => Ok(ownership::replace_whole(there, &self.text)),
            Part::Line if !ownership::has_marker(there) && has_line() => {
                Ok(ownership::leave_unchanged(there))
            }
            Part::Block | Part::Line => ownership::put_block(there, &self.text),
        }
    }
}

const DESCRIPTION: &[&str] = &[
    "Carries out one cleo task and leaves proof of it.",
    "Use it with the prompt that `cleo spawn TASK` prints, unchanged.",
    "Writes the output file, appends the manifest entry, answers with one fixed sentence.",
];

pub(crate) fn hook_files(clients: &[Client]) -> Vec<AgentFile> {
    let file = |client: &Client| {
        let path = match client {
            Client::Claude => ".claude/settings.json",
            Client::Codex => ".codex/hooks.json",
        };
        for_part(path, Part::Hooks(*client), String::new())
    };
    clients.iter().map(file).collect()
}

/// Returns the files for some clients. `base` is the base protocol, of which an agent file repeats only the
/// first paragraph: everything else comes with each prompt.
pub(crate) fn make_files(clients: &[Client], base: &str) -> Result<Vec<AgentFile>> {
    let values = json!({
        "name": NAME,
        "description": DESCRIPTION,
        "instructions": first_paragraph(base)?,
    });
    let mut files = Vec::new();
    if clients.contains(&Client::Claude) {
        let text = render(include_str!("templates/claude-agent.md.hbs"), &values)?;
        // Front matter has to begin in the first line, so the marker is its second.
        files.push(for_whole_file(".claude/agents/cleo-subagent.md", &text, 1));
    }
    if clients.contains(&Client::Codex) {
        let text = render(include_str!("templates/codex-agent.toml.hbs"), &values)?;
        files.push(for_whole_file(".codex/agents/cleo-subagent.toml", &text, 0));
    }
    if !clients.is_empty() {
        let text = render(include_str!("templates/agents-block.md.hbs"), &values)?;
        files.push(for_part("AGENTS.md", Part::Block, text));
    }
    if clients.contains(&Client::Claude) {
        let text = render(include_str!("templates/claude-block.md.hbs"), &values)?;
        files.push(for_part("CLAUDE.md", Part::Line, text));
    }
    Ok(files)
}

fn for_whole_file(path: &'static str, text: &str, marker_line: usize) -> AgentFile {
    for_part(path, Part::Whole, ownership::add_marker(text, marker_line))
}

fn for_part(path: &'static str, part: Part, text: String) -> AgentFile {
    AgentFile { path, part, text }
}

fn first_paragraph(base: &str) -> Result<&str> {
    let mut paragraphs = base.split("\n\n").map(str::trim);
    paragraphs
        .find(|text| !text.is_empty() && !text.starts_with('#'))
        .ok_or_else(|| Error::new(Code::Internal, "the base protocol has no text"))
}

/// Renders a Handlebars template. Only `init --agents` does, so no other command pays for the engine. Unknown
/// names are an error, and nothing is escaped, because the output is not HTML.
fn render(template: &str, values: &Value) -> Result<String> {
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(no_escape);
    engine.render_template(template, values).map_err(|cause| {
        let message = format!("a template cannot be filled: {cause}");
        Error::new(Code::Internal, message).because(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::list_known_protocols;

    fn text_of(path: &str) -> String {
        let base = list_known_protocols().unwrap().remove(0);
        let files = make_files(Client::ALL, &base.text).unwrap();
        let file = files.into_iter().find(|file| file.path == path).unwrap();
        file.update_text("").unwrap().text
    }

    #[test]
    fn claude_agent_repeats_reasons_not_rules() {
        let text = text_of(".claude/agents/cleo-subagent.md");
        let (front, body) = text
            .strip_prefix("---\n")
            .unwrap()
            .split_once("---\n")
            .unwrap();
        let front: serde_json::Value = serde_yaml::from_str(front).unwrap();
        assert_eq!(front["name"], NAME);
        assert_eq!(front["model"], "sonnet");
        assert_eq!(front["tools"].as_array().unwrap().len(), 23);
        assert_eq!(front["description"].as_str().unwrap().lines().count(), 3);
        assert!(body.contains("nobody reads the chat"), "{body}");
        assert!(
            !body.contains("OUT-0") && body.trim().lines().count() == 1,
            "{body}"
        );
    }

    #[test]
    fn codex_agent_has_the_keys_codex_reads() {
        let text = text_of(".codex/agents/cleo-subagent.toml");
        for start in [
            "# cleo:digest ",
            "name = \"cleo-subagent\"",
            "description = \"",
            "developer_instructions = '''",
        ] {
            assert!(
                text.lines().any(|line| line.starts_with(start)),
                "{start}\n{text}"
            );
        }
        assert_eq!(text.matches("'''").count(), 2);
        assert!(
            !text
                .lines()
                .any(|line| line.starts_with("description") && line.matches('"').count() != 2)
        );
    }

    #[test]
    fn import_that_is_there_is_left_alone() {
        let base = list_known_protocols().unwrap().remove(0);
        let files = make_files(&[Client::Claude], &base.text).unwrap();
        let claude = files.iter().find(|file| file.path == "CLAUDE.md").unwrap();
        assert_eq!(
            claude.update_text("# Mine\n@AGENTS.md\n").unwrap().text,
            "# Mine\n@AGENTS.md\n"
        );
        let added = claude.update_text("# Mine\n").unwrap().text;
        assert!(added.contains("\n@AGENTS.md\n"));
    }

    #[test]
    fn values_go_in_unchanged_and_must_all_be_there() {
        let values = json!({ "name": "<a & b>" });
        assert_eq!(render("{{name}}!", &values).unwrap(), "<a & b>!");
        assert_eq!(
            render("{{nmae}}", &values).unwrap_err().code,
            Code::Internal
        );
    }
}
