//! The command line: the list of all commands and their operations. Larger commands have their own
//! file.

/// Declares commands: name, arguments and action (`it` are the arguments). A doc comment is the
/// help.
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
mod output;
mod screen;
#[cfg(all(test, feature = "schemas"))]
mod tests;
mod tree;
mod usage;

mod agents;
mod ask;
mod chat;
mod completions;
mod conversations;
mod demo;
mod help;
mod live;
mod log;
mod manifest;
mod orchestrator;
mod phase;
mod plan;
mod plan_run;
mod research;
mod run;
mod serve;
mod session;
mod setup;
mod show;
mod skills;
mod store;
mod tasks;
mod transfer;
mod trust;
mod verify;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use crate::ops::tasks::{
    Cancel, Claiming, Delete, Heartbeat, One, Patch, Release, Selection, Start, Unarchive,
};
use crate::ops::{api, init, proof, undo, work};
use face::Face;
use output::Output;

#[cfg(test)]
pub(crate) use arguments::GLOBAL_OPTIONS;
#[cfg(test)]
pub(crate) use tree::whole;

commands! {
    (face, it)
    /// Create a workspace in this folder and, with --agents, instruction files for agents
    #[command(after_help = setup::INIT)]
    Init(init::Options) => face.anywhere(
        "init",
        |surroundings, notes| init::init(surroundings, notes, it),
        setup::render_init,
    );
    /// Add a task, or many tasks from a file
    #[command(visible_aliases = ["create", "new"])]
    Add(Box<tasks::AddArguments>) => face.run("add", *it, tasks::add);
    /// Change the fields of a task
    #[command(visible_alias = "edit")]
    Update(Box<Patch>) => face.run("update", *it, tasks::update);
    /// Show a task with its dependencies, children, claim and proof
    #[command(after_help = "Examples:\n  cleo show T1\n  cleo show T1 --json | jq -r .result.task.title")]
    Show(One) => face.inside("show", |context| work::show(context, it), show::render);
    /// List open tasks, or those that a filter finds
    #[command(visible_alias = "ls")]
    List(tasks::ListArguments) => tasks::list(face, it);
    /// Search open and closed tasks by words in title and description, or by imported id
    Find(tasks::FindArguments) => face.run("find", it, tasks::find);
    /// Claim a task for one agent, and start it
    Claim(Claiming) => face.call(&api::CLAIM, it, show::render_move("Claimed"));
    /// Extend the lease of a claim
    Heartbeat(Heartbeat) => face.call(&api::HEARTBEAT, it, show::render_move("Extended"));
    /// Release a claimed task; an active task becomes pending again
    Release(Release) => face.call(&api::RELEASE, it, show::render_move("Released"));
    /// Start a task: claim it and set it active
    Start(Start) => face.call(&api::START, it, show::render_move("Started"));
    /// Mark a task done; the work of a spawned task must verify first
    #[command(visible_aliases = ["done", "close"])]
    Complete(proof::Complete) => face.call(&api::COMPLETE, it, show::render_move("Completed"));
    /// Reopen a done or cancelled task
    #[command(after_help = "Examples:\n  cleo reopen T3")]
    Reopen(One) => face.call(&api::REOPEN, it, show::render_move("Reopened"));
    /// Cancel a task
    Cancel(Cancel) => face.call(&api::CANCEL, it, show::render_move("Cancelled"));
    /// Delete a task; its id is never used again
    #[command(visible_alias = "rm")]
    Delete(Delete) => face.call(&api::DELETE, it, show::render_delete);
    /// Archive closed tasks: hide them from lists, but keep them in counts
    Archive(Selection) => face.call(
        &api::ARCHIVE,
        it,
        show::render_archival(["Archived", "Would archive"]),
    );
    /// Restore archived tasks
    Unarchive(Unarchive) => face.call(
        &api::UNARCHIVE,
        it,
        show::render_archival(["Restored", "Would restore"]),
    );
    /// Show what a task depends on and what depends on it, as a list or a graph
    Deps(orchestrator::deps::Arguments) => face.run("deps", it, orchestrator::deps::run);
    /// Show which task to work on next, and why
    #[command(after_help = orchestrator::graph::NEXT)]
    Next(crate::ops::tasks::NextRequest) => face.call(&api::NEXT, it, orchestrator::graph::render_next);
    /// List the tasks that an agent can start now, most urgent first
    #[command(after_help = orchestrator::graph::READY)]
    Ready(crate::ops::tasks::Extract) => {
        face.call_as("ready", &api::READY, it, orchestrator::graph::render_ready)
    };
    /// Show progress, work in progress and recent changes
    Status(crate::ops::tasks::Below) => {
        face.call_as("status", &api::STATUS, it, orchestrator::render_overview)
    };
    /// Show the history of changes, newest first, one entry per command
    Log(log::Arguments) => face.run("log", it, log::run);
    /// Undo a change of tasks; an undo can be undone too
    Undo(undo::Request) => face.call(&api::UNDO, it, log::render_undo);
    /// Plan, watch and check the work of agents on a graph of tasks
    #[command(subcommand)]
    Orchestrator(orchestrator::Command) => orchestrator::dispatch(face, it);
    /// Prepare the prompt of a task: its skill, its data and the protocol
    Spawn(orchestrator::spawn::Arguments) => face.run("spawn", it, orchestrator::spawn::run);
    /// Manage sessions, which group work on a part of the graph (optional)
    #[command(subcommand)]
    Session(session::Command) => session::dispatch(face, it);
    /// Show or set the task that a session is about now; see `cleo session`
    Focus(session::FocusArguments) => face.run("focus", it, session::focus);
    /// Manage phases of the project
    Phase(phase::Arguments) => phase::run(face, it);
    /// Explain how a prompt was built and whether it is still the same, or why a run has its status
    Why(why::Arguments) => why::dispatch(face, it);
    /// Verify prompts, messages and outputs of agents, and the gates of a task
    Verify(verify::Arguments) => verify::run(face, it);
    /// Manage skills, the instructions that agents follow (SKILL.md)
    #[command(subcommand)]
    Skills(skills::Command) => skills::dispatch(face, it);
    /// Manage the manifest, where agents report their work, one line each
    #[command(subcommand)]
    Manifest(manifest::Command) => manifest::dispatch(face, it);
    /// Manage findings: manifest entries and the tasks that they are linked to
    #[command(subcommand)]
    Research(research::Command) => research::dispatch(face, it);
    /// Manage agents that answer messages and do work
    #[command(subcommand)]
    Agents(agents::Command) => agents::dispatch(face, it);
    /// Show conversations with agents
    #[command(subcommand)]
    Conversations(conversations::Command) => conversations::dispatch(face, it);
    /// Run tasks with agents in parallel; only verified work is marked done
    Run(Box<run::Arguments>) => match it.plan_request() {
        Some((file, jobs)) => {
            let it = plan_run::Arguments::for_file(file, jobs);
            face.run("plan.run", it, plan_run::run)
        }
        None => face.run("run", *it, run::run),
    };
    /// Show, resume and cancel runs
    #[command(subcommand)]
    Runs(run::list::Command) => run::list::dispatch(face, it);
    /// Choose the agent for a message, with reasons
    Route(agents::route::Arguments) => face.run("route", it, agents::route::run);
    /// Make, check, draw and run plans: steps for agents that depend on each other
    Plan(plan::Arguments) => plan::run(face, it);
    /// Answer a query with workers: plan, run in parallel, combine the results
    Ask(ask::Arguments) => face.run("ask", it, ask::run);
    /// Chat about designs and components; every change needs your confirmation
    Chat(chat::Arguments) => chat::dispatch(face, it);
    /// Import tasks from a file of cleo or another tool, all or none
    Import(transfer::ImportArguments) => face.run("import", it, transfer::import);
    /// Export all tasks as JSON lines, for version control
    Export(transfer::ExportArguments) => face.run("export", it, transfer::export);
    /// Copy the database into a file, from which it can be restored
    Backup(transfer::BackupArguments) => face.run("backup", it, transfer::backup);
    /// Manage the database of the workspace
    #[command(subcommand)]
    Store(store::Command) => store::dispatch(face, it);
    /// Review commands, workers and servers that came with this project, and trust them
    Trust(trust::Arguments) => face.run("trust", it, trust::run);
    /// Start the server: web application and HTTP API
    Serve(Box<serve::Arguments>) => serve::dispatch(face, *it);
    /// Stop hooks for agent clients: keep an agent from ending until its work verifies
    #[command(subcommand)]
    Hook(verify::hook::Command) => verify::hook::dispatch(face, it);
    /// Run an example project, with a script in place of AI agents
    Demo(demo::Arguments) => face.run("demo", it, demo::run);
    /// Explain an error code or exit code
    Explain(help::ExplainArguments) => face.run("explain", it, help::explain);
    /// Check workspace, settings and environment, and suggest fixes (exit 6 if something is wrong)
    Doctor(setup::DoctorArguments) => face.run("doctor", it, setup::doctor);
    /// Show and change settings
    #[command(subcommand)]
    Config(setup::ConfigCommand) => setup::dispatch(face, it);
    /// Print a shell completion script
    Completions(completions::Arguments) => face.run("completions", it, completions::run);
    /// Print or write manual pages
    Man(help::ManArguments) => face.run("man", it, help::man);
    /// Print the JSON Schema of a command's reply
    Schema(help::SchemaArguments) => face.run("schema", it, help::schema);
    /// Show help for a command, or the table of exit codes
    Help(help::HelpArguments) => face.run("help", it, help::help);
}

/// The name of answers before a command begins.
const NO_COMMAND: &str = "cleo";

/// Runs the command of this process and returns its exit code.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = output::jq::serve(&arguments) {
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
    // An error before the command began is reported under its name, too.
    let begun = Some(face.name).filter(|name| *name != NO_COMMAND);
    match done {
        Ok(code) => code,
        Err(error) => {
            let name = begun.map_or_else(|| usage::command_of(&arguments), String::from);
            output.error(&name, usage::complete(error, &cli.globals, &arguments))
        }
    }
}
