//! The pages of the reference, `docs/cli.md` and `docs/exit-codes.md`, are those of the code.

use std::fmt::Write;

use super::generated;
use crate::cli::{GLOBAL_OPTIONS, whole};
use crate::error::Code;

#[test]
fn the_reference_in_docs_is_that_of_the_code() {
    generated::check("docs/cli.md", &commands());
    generated::check("docs/exit-codes.md", &exit_codes());
}

const MADE: &str = "<!-- Made by scripts/generate from the code. Do not edit. -->";

fn commands() -> String {
    let mut root = whole().term_width(100);
    root.build();
    let mut page = format!("{MADE}\n\n# Commands\n");
    section(&mut page, &root, "cleo");
    for command in root.get_subcommands() {
        sections_below(&mut page, command, "cleo");
    }
    page
}

/// Adds a command and those below it, in the order in which help lists them. The global options
/// stand once, at the top.
fn sections_below(page: &mut String, command: &clap::Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let is_global = |argument: &clap::Arg| argument.get_help_heading() == Some(GLOBAL_OPTIONS);
    let own = command.clone().mut_args(|argument| {
        let hidden = is_global(&argument) || argument.is_hide_set();
        argument.hide(hidden)
    });
    section(page, &own, &name);
    for below in command.get_subcommands() {
        sections_below(page, below, &name);
    }
}

fn section(page: &mut String, command: &clap::Command, name: &str) {
    let help = command.clone().render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let _ = writeln!(page, "\n## {name}\n\n```text\n{}\n```", text.trim_end());
}

fn exit_codes() -> String {
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.exit_code());
    let mut page = format!(
        "{MADE}\n\n# Exit codes\n\n\
         0 is success. Every failure has an exit code, for shells, and a finer code, for programs.\n\n\
         | Exit | Code | Meaning | What to do |\n| --- | --- | --- | --- |\n"
    );
    for code in codes {
        let (meaning, advice) = (code.meaning(), code.advice().replace('|', "\\|"));
        let _ = writeln!(
            page,
            "| {} | `{}` | {meaning} | {advice} |",
            code.exit_code(),
            code.name()
        );
    }
    page
}
