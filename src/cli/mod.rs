//! The command line. Each command has its file; this one has the list and the one `match`.

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
mod util;
mod verify;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Result;
use crate::ops::tasks::{self, Patch};
use crate::ops::{api, claims, complete, undo};
use face::Face;
use face::Later;
use output::Output;
use screen::Tone;

// What can be called. A doc comment here would become the help of the program.
#[derive(Subcommand)]
enum Command {
    /// Make a workspace in this folder, and the files that tell agents about it
    Init(Later<init::Arguments>),
    /// Add a task, or many from a file
    Add(Later<Box<add::Arguments>>),
    /// Change the fields of a task
    Update(Later<Box<Patch>>),
    /// Show a task with what stands around it
    Show(Later<show::Arguments>),
    /// List tasks
    List(Later<list::Arguments>),
    /// Find tasks by words in title and description, or by the id that they were imported with
    Find(Later<list::FindArguments>),
    /// Claim a task, so that exactly one works on it, and start it
    Claim(Later<claims::Claiming>),
    /// Extend the lease of a claim
    Heartbeat(Later<claims::Heartbeat>),
    /// Give a claimed task back: it is free, and pending again if it was active
    Release(Later<claims::Release>),
    /// Start the work on a task: it is claimed, and active
    Start(Later<tasks::Start>),
    /// Mark a task done; a task that was spawned must verify first
    Complete(Later<complete::Complete>),
    /// Take a closed task up again
    #[command(after_help = "Examples:\n  cleo reopen T3")]
    Reopen(Later<tasks::One>),
    /// Give a task up
    Cancel(Later<tasks::Cancel>),
    /// Delete a task; its id is never used again
    Delete(Later<tasks::Delete>),
    /// Put closed tasks away: out of lists, and still counted as what they are
    Archive(Later<tasks::Selection>),
    /// Take tasks out of the archive
    Unarchive(Later<tasks::Unarchive>),
    /// Show what a task depends on and what depends on it, as a list, a tree or a picture
    Deps(Later<deps::Arguments>),
    /// Show the task to take next, and why this one
    #[command(after_help = orchestrator::graph::NEXT)]
    Next(Later<tasks::Below>),
    /// Show what was done, newest first: one operation for each command that changed something
    Log(Later<log::Arguments>),
    /// Undo an operation on tasks; an undo can be undone too
    Undo(Later<undo::Request>),
    /// Manage the work of agents on a graph of tasks
    #[command(subcommand)]
    Orchestrator(Later<orchestrator::Command>),
    /// Prepare the prompt for a task, or for many: the right skill, every token, the protocol
    Spawn(Later<spawn::Arguments>),
    /// Manage sessions: stretches of work on a part of the graph. No command needs one
    #[command(subcommand)]
    Session(Later<session::Command>),
    /// Show or set the task that a session works on now
    Focus(Later<session::FocusArguments>),
    /// Manage phases: their order, and which one the project is in
    Phase(Later<phase::Arguments>),
    /// Show why a spawn came out as it did and whether it still would, or why a run stands as it does
    Why(Later<why::Arguments>),
    /// Check prompts, what agents said and left behind, and the gates of a task
    Verify(Later<verify::Arguments>),
    /// Manage skills: what agents work by
    #[command(subcommand)]
    Skills(Later<skills::Command>),
    /// Manage the manifest: one line for each piece of work that an agent reports
    #[command(subcommand)]
    Manifest(Later<manifest::Command>),
    /// Manage findings: entries of the manifest and the tasks that they belong to
    #[command(subcommand)]
    Research(Later<research::Command>),
    /// Manage agents: whom messages and work can reach
    #[command(subcommand)]
    Agents(Later<agents::Command>),
    /// Manage conversations with agents
    #[command(subcommand)]
    Conversations(Later<conversations::Command>),
    /// Carry out tasks: agents work on them side by side, and only what verifies is done
    Run(Later<Box<run::Arguments>>),
    /// Look at what agents carried out
    #[command(subcommand)]
    Runs(Later<runs::Command>),
    /// Choose the agent for a message, or for many, with every reason
    Route(Later<route::Arguments>),
    /// Make a plan of a goal: steps for agents that wait for one another; check and draw plans
    Plan(Later<plan::Arguments>),
    /// Have a query answered by workers: planned, carried out side by side, put together
    Ask(Later<ask::Arguments>),
    /// Talk about designs and components, message by message; nothing is written before a yes
    Chat(Later<chat::Arguments>),
    /// Take over tasks from a file of another tool, all or none
    Import(Later<import::Arguments>),
    /// Write all tasks as JSON lines for version control, or as Markdown
    Export(Later<export::Arguments>),
    /// Show what would run or be called here, and trust it
    Trust(Later<trust::Arguments>),
    /// Serve the web application and the API, on this machine or for others
    Serve(Later<Box<serve::Arguments>>),
    /// Answer clients of agents: may an agent end, or is its work not proven yet
    #[command(subcommand)]
    Hook(Later<hook::Command>),
    /// Run an epic of examples in a folder of its own, with a script for the agents
    Demo(Later<demo::Arguments>),
    /// Explain an error code
    Explain(Later<explain::Arguments>),
    /// Look at everything that cleo stands on, and say what is wrong and how to mend it (exit 6)
    Doctor(Later<doctor::Arguments>),
    /// Show and change settings: options, then variables, then .cleo/config.yaml, then the user's file
    #[command(subcommand)]
    Config(Later<config::Command>),
    /// Print the script that completes commands, options, task ids and labels
    Completions(Later<completions::Arguments>),
    /// Print a page for man, or write all of them
    Man(Later<man::Arguments>),
    /// Print the JSON Schema of what a command answers
    Schema(Later<schema::Arguments>),
    /// Show help for a command, or the table of exit codes
    Help(Later<explain::HelpArguments>),
    /// Print what the project makes from its own code
    #[command(subcommand, hide = true)]
    Util(Later<util::Command>),
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
    let settings = environment::settings(&cli.globals);
    let (settings, unset) = match settings {
        Ok(settings) => (settings, None),
        // The way out of faulty settings must not lead through them.
        Err(error) => {
            let (above, _) = environment::variables(&cli.globals);
            (above, {
                let helps = matches!(
                    cli.command,
                    Command::Config(_)
                        | Command::Doctor(_)
                        | Command::Explain(_)
                        | Command::Help(_)
                );
                Some(error).filter(|_| !helps)
            })
        }
    };
    let mut output = Output::new(&cli.globals, &settings);
    let mut face = Face {
        output: &mut output,
        globals: &cli.globals,
        settings: &settings,
        arguments: &arguments,
        name: NO_COMMAND,
    };
    let selected = face.output.select(&cli.globals);
    let ready = selected.and_then(|()| unset.map_or(Ok(()), Err));
    let done = ready.and_then(|()| dispatch(&mut face, cli.command));
    // What is refused before a command begins is refused to that command all the same.
    let begun = Some(face.name).filter(|name| *name != NO_COMMAND);
    match done {
        Ok(code) => code,
        Err(error) => {
            let name = begun.map_or_else(|| usage::command_of(&arguments), String::from);
            output.error(&name, usage::complete(error, &cli.globals, &arguments))
        }
    }
}

fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Init(Later(arguments)) => face.run("init", arguments, init::run),
        Command::Add(Later(arguments)) => face.run("add", *arguments, add::run),
        Command::Update(Later(patch)) => face.call(&api::UPDATE, *patch, |screen, updated| {
            screen.say(Tone::Good, "Updated ");
            show::task_line(screen, &updated.task);
        }),
        Command::Show(Later(arguments)) => face.run("show", arguments, show::run),
        Command::List(Later(arguments)) => face.run("list", arguments, list::run),
        Command::Find(Later(arguments)) => face.run("find", arguments, list::find),
        Command::Claim(Later(arguments)) => {
            face.call(&api::CLAIM, arguments, claim::render_claim("Claimed"))
        }
        Command::Heartbeat(Later(arguments)) => {
            face.call(&api::HEARTBEAT, arguments, claim::render_claim("Extended"))
        }
        Command::Release(Later(arguments)) => {
            face.call(&api::RELEASE, arguments, claim::render_claim("Released"))
        }
        Command::Start(Later(arguments)) => {
            face.call(&api::START, arguments, claim::render_move("Started"))
        }
        Command::Complete(Later(arguments)) => {
            face.call(&api::COMPLETE, arguments, claim::render_move("Completed"))
        }
        Command::Reopen(Later(arguments)) => {
            face.call(&api::REOPEN, arguments, claim::render_move("Reopened"))
        }
        Command::Cancel(Later(arguments)) => {
            face.call(&api::CANCEL, arguments, claim::render_move("Cancelled"))
        }
        Command::Delete(Later(arguments)) => {
            face.call(&api::DELETE, arguments, archive::render_delete)
        }
        Command::Archive(Later(arguments)) => face.call(
            &api::ARCHIVE,
            arguments,
            archive::render(["Archived", "Would archive"]),
        ),
        Command::Unarchive(Later(arguments)) => face.call(
            &api::UNARCHIVE,
            arguments,
            archive::render(["Took out", "Would take out"]),
        ),
        Command::Deps(Later(arguments)) => face.run("deps", arguments, deps::run),
        Command::Next(Later(arguments)) => {
            face.call(&api::NEXT, arguments, orchestrator::graph::render_next)
        }
        Command::Log(Later(arguments)) => face.run("log", arguments, log::run),
        Command::Undo(Later(arguments)) => face.call(&api::UNDO, arguments, log::render_undo),
        Command::Orchestrator(Later(command)) => orchestrator::dispatch(face, command),
        Command::Spawn(Later(arguments)) => face.run("spawn", arguments, spawn::run),
        Command::Session(Later(command)) => session::dispatch(face, command),
        Command::Focus(Later(arguments)) => face.run("focus", arguments, session::focus),
        Command::Phase(Later(arguments)) => phase::dispatch(face, arguments),
        Command::Why(Later(arguments)) => match arguments.is_of_run() {
            true => face.run("why", arguments, why::of_run),
            false => face.run("why", arguments, why::run),
        },
        Command::Verify(Later(arguments)) => verify::dispatch(face, arguments),
        Command::Skills(Later(command)) => skills::dispatch(face, command),
        Command::Manifest(Later(command)) => manifest::dispatch(face, command),
        Command::Research(Later(command)) => research::dispatch(face, command),
        Command::Agents(Later(command)) => agents::dispatch(face, command),
        Command::Conversations(Later(command)) => conversations::dispatch(face, command),
        Command::Run(Later(arguments)) => match arguments.of_plan() {
            Some((file, jobs)) => {
                let arguments = plan::run::Arguments::of(file, jobs);
                face.run("plan.run", arguments, plan::run::run)
            }
            None => face.run("run", *arguments, run::run),
        },
        Command::Runs(Later(command)) => runs::dispatch(face, command),
        Command::Route(Later(arguments)) => face.run("route", arguments, route::run),
        Command::Plan(Later(arguments)) => plan::dispatch(face, arguments),
        Command::Ask(Later(arguments)) => face.run("ask", arguments, ask::run),
        Command::Chat(Later(arguments)) => chat::dispatch(face, arguments),
        Command::Import(Later(arguments)) => face.run("import", arguments, import::run),
        Command::Export(Later(arguments)) => face.run("export", arguments, export::run),
        Command::Trust(Later(arguments)) => face.run("trust", arguments, trust::run),
        Command::Hook(Later(command)) => hook::dispatch(face, command),
        Command::Man(Later(arguments)) => face.run("man", arguments, man::run),
        Command::Schema(Later(arguments)) => face.run("schema", arguments, schema::run),
        Command::Util(Later(command)) => util::dispatch(face, command),
        Command::Serve(Later(arguments)) => serve::dispatch(face, *arguments),
        Command::Demo(Later(arguments)) => face.run("demo", arguments, demo::run),
        Command::Explain(Later(arguments)) => face.run("explain", arguments, explain::run),
        Command::Doctor(Later(arguments)) => face.run("doctor", arguments, doctor::run),
        Command::Config(Later(command)) => config::dispatch(face, command),
        Command::Completions(Later(arguments)) => {
            face.run("completions", arguments, completions::run)
        }
        Command::Help(Later(arguments)) => face.run("help", arguments, explain::help),
    }
}
