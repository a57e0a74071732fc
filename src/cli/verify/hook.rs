//! `cleo hook`

use std::process::ExitCode;

use clap::Args;

use crate::agent_files::Client;
use crate::cli::Face;
use crate::config::{AGENT, HOOKS_BLOCKS};
use crate::error::Result;
use crate::file::read_stdin;
use crate::hook::{Block, Ending, Event};
use crate::ops::hook;

/// Maximum size of a hook event, in bytes.
const EVENT_MAX: u64 = 16 << 20;

commands! {
    pub(in crate::cli) (face, it)
    /// Keep an agent from ending until the output of its task verifies
    Stop(Arguments) => face.run("hook.stop", it, |face, it| run(face, Ending::Agent, &it));
    /// The same for an agent that was started by another agent
    SubagentStop(Arguments) => {
        face.run("hook.subagent-stop", it, |face, it| run(face, Ending::Subagent, &it))
    };
}

#[derive(Args)]
#[command(after_help = "\
`cleo init --agents claude,codex --hooks` sets up the hook. The task is that of CLEO_TASK_ID, of
the prompt in the transcript, or the only one that CLEO_AGENT holds. The hook lets an agent end
silently outside of a workspace, if its task is unknown, was not spawned or is closed, and after
`hooks.blocks` blocks. Blocks are recorded in `cleo log`.

Examples:
  cleo hook stop < event.json
  cleo hook subagent-stop --client codex < event.json")]
pub(in crate::cli) struct Arguments {
    /// Client that calls the hook
    #[arg(long, value_name = "CLIENT", default_value = "claude")]
    client: Client,
}

/// Replies to the client. An error of cleo itself blocks no agent.
fn run(face: &mut Face<'_>, ending: Ending, arguments: &Arguments) -> Result<ExitCode> {
    let block = decide(face, ending).unwrap_or_else(|error| {
        let message = error.display_message();
        face.output
            .note(&format!("cleo hook: {message}; the agent may end"));
        None
    });
    let answer = match (&block, arguments.client) {
        (Some(block), _) => crate::document::to_json(block).unwrap_or_default() + "\n",
        // Codex always expects an object.
        (None, Client::Codex) => "{}\n".to_string(),
        (None, Client::Claude) => return Ok(ExitCode::SUCCESS),
    };
    Ok(face.output.print(&answer))
}

fn decide(face: &Face<'_>, ending: Ending) -> Result<Option<Block>> {
    let surroundings = face.surroundings()?;
    let Some(event) = Event::read(&read_stdin(EVENT_MAX)?) else {
        if surroundings.workspace().is_ok() {
            face.output
                .note("cleo hook: standard input is not a hook event");
        }
        return Ok(None);
    };
    let limit = face.settings.number(HOOKS_BLOCKS).unwrap_or_default();
    let holder = face.settings.text(AGENT);
    hook::stop(surroundings, ending, &event, holder.as_deref(), limit)
}
