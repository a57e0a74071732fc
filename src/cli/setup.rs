//! `cleo init`, `cleo config` and `cleo doctor`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::screen::{Cell, Screen, Tone, accent, count, dim, plain, status, strong};
use super::{Face, environment};
use crate::config::{KEYS, Kind, Value};
use crate::error::Result;
use crate::ops::config::{self, Changed, Listed, Setting, Shown};
use crate::ops::doctor::{Checks, Report};
use crate::ops::init::Initialized;
use crate::ops::operation::Nothing;
use crate::ops::trust::{Item, trust_given};
use crate::ops::{Surroundings, api};

/// Examples of `cleo init`, and what it writes.
pub(super) const INIT: &str = "\
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

pub(super) fn render_init(screen: &mut Screen, done: &Initialized) {
    init_headline(screen, done);
    for (word, paths) in [("created", &done.created), ("updated", &done.updated)] {
        let word = if done.dry_run {
            format!("would be {word}")
        } else {
            word.to_string()
        };
        for path in paths {
            screen.pair(Tone::Good, format!("  {word}  "), path);
        }
    }
    for path in &done.unchanged {
        screen.pair(Tone::Dim, "  unchanged  ", path);
    }
    if !done.dry_run && is_new(done) {
        screen
            .say(Tone::Dim, "next: ")
            .line(Tone::Accent, "cleo add 'Describe the work in one line'");
    }
}

fn init_headline(screen: &mut Screen, done: &Initialized) {
    let text = match (is_new(done), done.dry_run) {
        (true, true) => format!("Would create a workspace in {}", done.root),
        (true, false) => format!("Created a workspace in {}", done.root),
        (false, _) => format!("{} is already a workspace", done.root),
    };
    let tone = if is_new(done) {
        Tone::Good
    } else {
        Tone::Plain
    };
    screen.line(tone, text);
}

fn is_new(done: &Initialized) -> bool {
    done.created.iter().any(|path| path == ".cleo")
}

#[derive(Subcommand)]
#[command(after_help = "\
Settings come from options, CLEO_… variables, the project (.cleo/config.yaml), the user
(~/.config/cleo/config.yaml, or below XDG_CONFIG_HOME) and defaults, in this order. The default of
llm.provider is openai-chat if OPENAI_API_KEY is set, that of llm.baseUrl is OPENAI_BASE_URL,
ANTHROPIC_BASE_URL or OLLAMA_HOST, depending on llm.provider.")]
pub(super) enum ConfigCommand {
    /// List all settings and their values
    #[command(after_help = "Examples:\n  cleo config list --show-origin")]
    List {
        /// Also show where each value comes from: an option, a variable, or a line of a file
        #[arg(long)]
        show_origin: bool,
    },
    /// Show a setting
    #[command(after_help = "Examples:\n  cleo config get list.limit")]
    Get(Setting),
    /// Change a setting in the project's file, or in the user's; comments are kept
    #[command(after_help = "\
Examples:
  cleo config set list.limit 50
  cleo config set gates.timeLimit 20m
  cleo config set color never --user")]
    Set {
        /// Name of the setting
        key: String,

        /// New value; separate several folders by commas
        value: String,

        /// Change the user's file, for all projects
        #[arg(long)]
        user: bool,
    },
    /// Remove a setting from the project's file, or from the user's
    #[command(after_help = "Examples:\n  cleo config unset list.limit")]
    Unset {
        /// Name of the setting
        key: String,

        /// Change the user's file
        #[arg(long)]
        user: bool,
    },
}

pub(super) fn dispatch(face: &mut Face<'_>, command: ConfigCommand) -> Result<ExitCode> {
    let globals = face.globals;
    match command {
        ConfigCommand::List { show_origin } => {
            face.call(&api::SETTINGS, Nothing {}, |screen, listed| {
                table(screen, listed, show_origin)
            })
        }
        ConfigCommand::Get(setting) => face.call(&api::SETTING, setting, |screen, one| {
            screen.line(Tone::Plain, value(&one.setting));
        }),
        ConfigCommand::Set { key, value, user } => face.anywhere(
            "config.set",
            |surroundings, notes| {
                surroundings
                    .assignment
                    .refuse_agent("changes no settings")?;
                let files = environment::settings_files(globals);
                let changed = config::set(&files, &key, &value, user)?;
                match user {
                    true => {}
                    false => notes.warn(trust_setting(surroundings, &changed)?),
                }
                Ok(changed)
            },
            show_changed,
        ),
        ConfigCommand::Unset { key, user } => face.anywhere(
            "config.unset",
            |surroundings, _| {
                surroundings
                    .assignment
                    .refuse_agent("changes no settings")?;
                config::unset(&environment::settings_files(globals), &key, user)
            },
            show_changed,
        ),
    }
}

fn trust_setting(surroundings: &Surroundings, changed: &Changed) -> Result<Vec<String>> {
    let item = match &changed.value {
        Some(Value::Text(text)) if Item::is_of_settings(&changed.key) => {
            Item::setting(&changed.key, text)
        }
        _ => return Ok(Vec::new()),
    };
    let workspace = surroundings.workspace()?;
    Ok(trust_given(surroundings, &workspace, &[item]))
}

fn show_changed(screen: &mut Screen, changed: &Changed) {
    match changed.changed {
        true => screen.say(Tone::Good, "changed   "),
        false => screen.say(Tone::Good, "unchanged "),
    };
    screen.line(Tone::Plain, &changed.path);
}

fn table(screen: &mut Screen, listed: &Listed, with_origin: bool) {
    let rows = listed.settings.iter().map(|setting| {
        let origin = with_origin.then(|| accent(&setting.origin));
        let row = [strong(setting.key), plain(value(setting))].into_iter();
        let row = row.chain(origin).chain([dim(setting.meaning)]);
        row.collect::<Vec<Cell>>()
    });
    let head: &[&str] = match with_origin {
        true => &["SETTING", "VALUE", "ORIGIN", "MEANING"],
        false => &["SETTING", "VALUE", "MEANING"],
    };
    screen.rows(head, rows);
}

fn value(setting: &Shown) -> String {
    let key = KEYS.iter().find(|key| key.name == setting.key);
    let is_time = key.is_some_and(|key| matches!(key.kind, Kind::Duration(..)));
    match &setting.value {
        None => String::new(),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(seconds)) if is_time => format!("{seconds}s"),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Flag(flag)) => flag.to_string(),
        Some(Value::Folders(folders)) => folders.join(","),
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo doctor
  cleo doctor --jq '.result.findings[] | select(.status != \"ok\") | .fix'
  cleo doctor --remove-damaged
  cleo doctor --fix                           make indexes anew, or save what can be read

Checks settings, the configured model (without calling it), folders, database, skills, protocols,
manifest, agent files, the clock, expired claims, git for worktrees, and agent programs on the
PATH (which are only asked for version and help). Nothing is changed without --fix and
--remove-damaged. --jq also filters failed checks (exit 6).")]
pub(super) struct DoctorArguments {
    #[command(flatten)]
    examination: Checks,
}

pub(super) fn doctor(face: &mut Face<'_>, arguments: DoctorArguments) -> Result<ExitCode> {
    // Somebody who filters findings wants most of all those of a verdict that failed.
    face.output.filter_verdict();
    face.call(&api::DOCTOR, arguments.examination, render_report)
}

fn render_report(screen: &mut Screen, examined: &Report) {
    for finding in &examined.findings {
        let word = finding.status.word();
        screen
            .say(status(word).0, format!("{word:6}"))
            .say(Tone::Strong, format!("{:22}", finding.check))
            .line(Tone::Plain, format!("  {}", finding.message));
        if let Some(fix) = &finding.fix {
            screen
                .say(Tone::Dim, "        try: ")
                .line(Tone::Accent, fix);
        }
    }
    let checks = count(examined.total, "check", "checks");
    let warned = count(examined.warned, "warning", "warnings");
    screen.line(
        Tone::Dim,
        format!("{checks}, {warned}, {} failed", examined.failed),
    );
}
