//! The command line. Each command has its file; this one has the list of all, with what each calls.

/// Declares commands: the name of each with its arguments, and what it does with them (`it`). A doc comment is its help.
macro_rules! commands {
    ($seen:vis ($face:ident, $it:ident) $($(#[$about:meta])* $name:ident($request:ty) => $run:expr;)+) => {
        #[derive(clap::Subcommand)]
        $seen enum Command {
            $($(#[$about])* $name(crate::cli::face::Later<$request>),)+
        }

        $seen fn dispatch(
            $face: &mut crate::cli::Face<'_>,
            command: Command,
        ) -> crate::error::Result<std::process::ExitCode> {
            match command {
                $(Command::$name(crate::cli::face::Later($it)) => $run,)+
            }
        }
    };
}

mod arguments;
mod environment;
mod face;
mod fields;
mod jq;
mod output;
mod screen;
mod tree;
mod usage;

mod add;
mod agents;
mod archive;
mod ask;
mod chat;
mod claim;
mod completions;
mod config;
mod conversations;
mod demo;
mod deps;
mod doctor;
mod explain;
mod export;
mod hook;
mod import;
mod init;
mod list;
mod live;
mod log;
mod man;
mod manifest;
mod orchestrator;
mod phase;
mod plan;
mod research;
mod route;
mod run;
mod runs;
mod schema;
mod serve;
mod session;
mod show;
mod skills;
mod spawn;
mod trust;
mod verify;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use crate::ops::tasks::{self, Patch};
use crate::ops::{api, init as ops_init, proof, undo, work};
use face::Face;
use output::Output;
use screen::Tone;

#[cfg(test)]
pub(crate) use arguments::GLOBAL_OPTIONS;
#[cfg(test)]
pub(crate) use tree::whole;

commands! {
    (face, it)
    /// Make a workspace in this folder, and the files that tell agents about it
    #[command(after_help = init::HELP)]
    Init(ops_init::Options) => face.anywhere(
        "init",
        |surroundings, notes| ops_init::init(surroundings, notes, it),
        init::render,
    );
    /// Add a task, or many from a file
    Add(Box<add::Arguments>) => face.run("add", *it, add::run);
    /// Change the fields of a task
    Update(Box<Patch>) => face.call(&api::UPDATE, *it, |screen, updated| {
        screen.say(Tone::Good, "Updated ");
        show::task_line(screen, &updated.task);
    });
    /// Show a task with its parent, parts, claim and proof
    #[command(after_help = "Examples:\n  cleo show T1\n  cleo show T1 --json | jq -r .result.task.title")]
    Show(tasks::One) => face.inside("show", |context| work::show(context, it), show::render);
    /// List tasks
    List(list::Arguments) => list::run(face, it);
    /// Find tasks by words in title and description, or by the id that they were imported with
    Find(list::FindArguments) => face.run("find", it, list::find);
    /// Claim a task, so that exactly one works on it, and start it
    Claim(tasks::Claiming) => face.call(&api::CLAIM, it, claim::render_move("Claimed"));
    /// Extend the lease of a claim
    Heartbeat(tasks::Heartbeat) => face.call(&api::HEARTBEAT, it, claim::render_move("Extended"));
    /// Give a claimed task back: it is free, and pending again if it was active
    Release(tasks::Release) => face.call(&api::RELEASE, it, claim::render_move("Released"));
    /// Start the work on a task: it is claimed, and active
    Start(tasks::Start) => face.call(&api::START, it, claim::render_move("Started"));
    /// Mark a task done; a task that was spawned must verify first
    Complete(proof::Complete) => face.call(&api::COMPLETE, it, claim::render_move("Completed"));
    /// Take a closed task up again
    #[command(after_help = "Examples:\n  cleo reopen T3")]
    Reopen(tasks::One) => face.call(&api::REOPEN, it, claim::render_move("Reopened"));
    /// Cancel a task
    Cancel(tasks::Cancel) => face.call(&api::CANCEL, it, claim::render_move("Cancelled"));
    /// Delete a task; its id is never used again
    Delete(tasks::Delete) => face.call(&api::DELETE, it, archive::render_delete);
    /// Put closed tasks away: out of lists, and still counted as what they are
    Archive(tasks::Selection) => face.call(
        &api::ARCHIVE,
        it,
        archive::render(["Archived", "Would archive"]),
    );
    /// Take tasks out of the archive
    Unarchive(tasks::Unarchive) => face.call(
        &api::UNARCHIVE,
        it,
        archive::render(["Took out", "Would take out"]),
    );
    /// Show what a task depends on and what depends on it, as a list, a tree or a picture
    Deps(deps::Arguments) => face.run("deps", it, deps::run);
    /// Show the task to take next, and why this one
    #[command(after_help = orchestrator::graph::NEXT)]
    Next(tasks::Below) => face.call(&api::NEXT, it, orchestrator::graph::render_next);
    /// Show what was done, newest first: one operation for each command that changed something
    Log(log::Arguments) => face.run("log", it, log::run);
    /// Undo an operation on tasks; an undo can be undone too
    Undo(undo::Request) => face.call(&api::UNDO, it, log::render_undo);
    /// Manage the work of agents on a graph of tasks
    #[command(subcommand)]
    Orchestrator(orchestrator::Command) => orchestrator::dispatch(face, it);
    /// Prepare the prompt for a task, or for many: the right skill, every token, the protocol
    Spawn(spawn::Arguments) => face.run("spawn", it, spawn::run);
    /// Manage sessions: stretches of work on a part of the graph. No command needs one
    #[command(subcommand)]
    Session(session::Command) => session::dispatch(face, it);
    /// Show or set the task that a session works on now
    Focus(session::FocusArguments) => face.run("focus", it, session::focus);
    /// Manage phases: their order, and which one the project is in
    Phase(phase::Arguments) => phase::run(face, it);
    /// Show why a spawn came out as it did and whether it still would, or why a run is in its state
    Why(why::Arguments) => why::dispatch(face, it);
    /// Check prompts, what agents said and left behind, and the gates of a task
    Verify(verify::Arguments) => verify::run(face, it);
    /// Manage skills: what agents work by
    #[command(subcommand)]
    Skills(skills::Command) => skills::dispatch(face, it);
    /// Manage the manifest: one line for each piece of work that an agent reports
    #[command(subcommand)]
    Manifest(manifest::Command) => manifest::dispatch(face, it);
    /// Manage findings: entries of the manifest and the tasks that they belong to
    #[command(subcommand)]
    Research(research::Command) => research::dispatch(face, it);
    /// Manage agents: whom messages and work can reach
    #[command(subcommand)]
    Agents(agents::Command) => agents::dispatch(face, it);
    /// Manage conversations with agents
    #[command(subcommand)]
    Conversations(conversations::Command) => conversations::dispatch(face, it);
    /// Carry out tasks: agents work on them side by side, and only what verifies is done
    Run(Box<run::Arguments>) => match it.of_plan() {
        Some((file, jobs)) => {
            let it = plan::run::Arguments::for_file(file, jobs);
            face.run("plan.run", it, plan::run::run)
        }
        None => face.run("run", *it, run::run),
    };
    /// Look at what agents carried out
    #[command(subcommand)]
    Runs(runs::Command) => runs::dispatch(face, it);
    /// Choose the agent for a message, or for many, with every reason
    Route(route::Arguments) => face.run("route", it, route::run);
    /// Make a plan of a goal: steps for agents that wait for one another; check and draw plans
    Plan(plan::Arguments) => plan::run(face, it);
    /// Have a query answered by workers: planned, carried out side by side, put together
    Ask(ask::Arguments) => face.run("ask", it, ask::run);
    /// Talk about designs and components, message by message; nothing is written before a yes
    Chat(chat::Arguments) => chat::dispatch(face, it);
    /// Take over tasks from a file of another tool, all or none
    Import(import::Arguments) => face.run("import", it, import::run);
    /// Write all tasks as JSON lines for version control
    Export(export::Arguments) => export::run(face, it);
    /// Show what would run or be called here, and trust it
    Trust(trust::Arguments) => face.run("trust", it, trust::run);
    /// Serve the web application and the API, on this machine or for others
    Serve(Box<serve::Arguments>) => serve::dispatch(face, *it);
    /// Answer clients of agents: may an agent end, or is its work not proven yet
    #[command(subcommand)]
    Hook(hook::Command) => hook::dispatch(face, it);
    /// Run an epic of examples in a folder of its own, with a script for the agents
    Demo(demo::Arguments) => face.run("demo", it, demo::run);
    /// Explain an error code
    Explain(explain::Arguments) => face.run("explain", it, explain::run);
    /// Check everything that cleo depends on: what is wrong, and how to fix it (exit 6)
    Doctor(doctor::Arguments) => face.run("doctor", it, doctor::run);
    /// Show and change settings: options, then variables, then .cleo/config.yaml, then the user's file
    #[command(subcommand)]
    Config(config::Command) => config::dispatch(face, it);
    /// Print the script that completes commands, options, task ids and labels
    Completions(completions::Arguments) => face.run("completions", it, completions::run);
    /// Print a page for man, or write all of them
    Man(man::Arguments) => face.run("man", it, man::run);
    /// Print the JSON Schema of what a command answers
    Schema(schema::Arguments) => face.run("schema", it, schema::run);
    /// Show help for a command, or the table of exit codes
    Help(explain::HelpArguments) => face.run("help", it, explain::help);
}

/// The name of answers before a command begins.
const NO_COMMAND: &str = "cleo";

/// Runs the command of this process and returns its exit code.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = jq::serve(&arguments) {
        return code;
    }
    crate::runner::signals::outlive_size_limit();
    if let Some(code) = completions::answer(&arguments) {
        return code;
    }
    let cli = match tree::parse(&arguments) {
        Ok(cli) => cli,
        Err(fault) => return usage::report(&fault, &arguments),
    };
    let read = Arc::new(environment::settings(&cli.globals));
    // The way out of faulty settings must not lead through them.
    let helps = matches!(
        cli.command,
        Command::Config(_) | Command::Doctor(_) | Command::Explain(_) | Command::Help(_)
    );
    let mut above = read
        .is_err()
        .then(|| environment::variables(&cli.globals).0);
    let settings = read
        .as_ref()
        .as_ref()
        .unwrap_or_else(|_| above.get_or_insert_default());
    let unset = read.as_ref().as_ref().err().filter(|_| !helps);
    let mut output = Output::new(&cli.globals, settings);
    let mut face = Face {
        output: &mut output,
        globals: &cli.globals,
        settings,
        read: &read,
        arguments: &arguments,
        name: NO_COMMAND,
    };
    let selected = face.output.select(&cli.globals);
    let ready = selected.and_then(|()| unset.map_or(Ok(()), |error| Err(error.clone())));
    let done = ready.and_then(|()| dispatch(&mut face, cli.command));
    // What is refused before a command begins is refused to that command anyway.
    let begun = Some(face.name).filter(|name| *name != NO_COMMAND);
    match done {
        Ok(code) => code,
        Err(error) => {
            let name = begun.map_or_else(|| usage::command_of(&arguments), String::from);
            output.error(&name, usage::complete(error, &cli.globals, &arguments))
        }
    }
}
