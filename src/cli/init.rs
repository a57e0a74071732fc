//! Renders the reply of `cleo init`.

use super::screen::{Screen, Tone};
use crate::ops::init::Initialized;

/// Examples of `cleo init`, and what it writes.
pub(super) const HELP: &str = "\
Examples:
  cleo init
  cleo init --agents claude,codex --dry-run
  cleo init --agents claude,codex --hooks
  cleo --root ../project init --agents all

For claude: .claude/agents/cleo-subagent.md and an import in CLAUDE.md. For codex:
.codex/agents/cleo-subagent.toml. For both: a block in AGENTS.md. With --hooks: `cleo hook` in
.claude/settings.json and .codex/hooks.json (Codex runs hooks only in trusted projects). Other
content of these files stays. Files that were edited are not overwritten; in AGENTS.md and
CLAUDE.md cleo only changes the text between its markers.";

pub(super) fn render(screen: &mut Screen, done: &Initialized) {
    headline(screen, done);
    for (word, paths) in [("created", &done.created), ("updated", &done.updated)] {
        let word = if done.dry_run {
            format!("would be {word}")
        } else {
            word.to_string()
        };
        for path in paths {
            screen
                .say(Tone::Good, format!("  {word}  "))
                .line(Tone::Plain, path);
        }
    }
    for path in &done.unchanged {
        screen
            .say(Tone::Dim, "  unchanged  ")
            .line(Tone::Plain, path);
    }
    if !done.dry_run && !done.created.is_empty() {
        screen
            .say(Tone::Dim, "next: ")
            .line(Tone::Accent, "cleo add 'Describe the work in one line'");
    }
}

fn headline(screen: &mut Screen, done: &Initialized) {
    let is_new = done.created.iter().any(|path| path == ".cleo");
    let text = match (is_new, done.dry_run) {
        (true, true) => format!("Would create a workspace in {}", done.root),
        (true, false) => format!("Created a workspace in {}", done.root),
        (false, _) => format!("{} is already a workspace", done.root),
    };
    let tone = if is_new { Tone::Good } else { Tone::Plain };
    screen.line(tone, text);
}
