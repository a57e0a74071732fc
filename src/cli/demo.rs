//! `cleo demo`: an example workspace, and `cleo run` with a script for the agents.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::run::{self, Progress};
use super::screen::Tone;
use crate::agent::draft::Draft;
use crate::config::Settings;
use crate::coordinator::request::RunRequest;
use crate::coordinator::{self, Options, Report, RunEnvironment};
use crate::error::{Code, Error, Result, quote};
use crate::file::{unwritable, write_whole};
use crate::id::TaskId;
use crate::ops::{Context, Notes, Surroundings, agents, init, tasks};
use crate::runner::find_own_program;

const TASKS: &str = include_str!("../../examples/demo/tasks.jsonl");
const AGENT: &str = include_str!("../../examples/demo/agent.sh");
const WORKER: &str = include_str!("../../examples/demo/worker.sh");
const WORKERS: &str = include_str!("../../examples/demo/workers.json");

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo demo
  cleo demo --dir /tmp/try-cleo
  cleo demo --json | jq '.result.tasks[] | [.taskId, .skill, .state, .attempts]'

Needs no AI and no network: a shell script plays the agents, and another one three workers, for
`cleo ask` and `cleo plan`. To clean up, remove the folder of the demo.")]
pub(super) struct Arguments {
    /// New or empty folder
    #[arg(long, value_name = "DIR", default_value = "cleo-demo")]
    dir: PathBuf,
}

/// The run of the demo.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Demo {
    /// The folder, relative to the working directory.
    folder: String,
    /// Kind of agents: a script.
    agents: &'static str,
    #[serde(flatten)]
    report: Report,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let around = face.surroundings()?;
    let folder = around.directory.join(&arguments.dir);
    make_folder(&folder, &arguments.dir)?;
    // Without a home, skills of the user are ignored, so that the demo is the same everywhere.
    let surroundings = Surroundings {
        assignment: Default::default(),
        root: Some(folder.clone()),
        directory: folder.clone(),
        skills_dirs: Vec::new(),
        home: None,
        rights: Default::default(),
        defaults: Default::default(),
        // Its tasks do not belong into a database on a server.
        settings: Arc::new(Ok(Settings::default())),
        ..around
    };
    let (mut notes, options) = (Notes::default(), init::Options::default());
    init::init(&surroundings, &mut notes, options)?;
    write_whole(&folder.join("tasks.jsonl"), TASKS)?;
    write_whole(&folder.join("agent.sh"), AGENT)?;
    write_whole(&folder.join("worker.sh"), WORKER)?;
    let workers: Vec<Draft> =
        serde_json::from_str(WORKERS).map_err(|cause| error!(Internal, "{cause}"))?;
    for worker in workers {
        agents::register(&surroundings, &mut notes, worker)?;
    }
    let mut context = Context::open(surroundings.clone())?;
    tasks::add_batch(&mut context, tasks::read_batch(TASKS.as_bytes(), None)?)?;
    drop(context);

    let program = find_own_program();
    let program = quote(&program.to_string_lossy());
    let command = format!("env -u CLEO_STORE_URL CLEO_PROGRAM={program} sh agent.sh --lie-once T6");
    let request = RunRequest {
        epic: Some(TaskId(1)),
        jobs: Some(1),
        repair: Some(1),
        command: Some(command),
        ..RunRequest::default()
    };
    let options = Options::new(request, &Settings::default())?;

    face.output.notes().line(
        Tone::Warn,
        "A shell script, agent.sh, plays the agents; no AI is used. For T6 it reports success once without any work.",
    );
    let mut progress = Progress::new(face);
    let ambience = RunEnvironment::default();
    let mut report = coordinator::run(surroundings, options, ambience, &mut progress)?;
    let error = report.error.take();
    let shown = arguments.dir.to_string_lossy().into_owned();
    let demo = Demo {
        folder: shown,
        agents: "script",
        report,
    };
    let live = progress.live;
    live.end(&demo, error, &[], |screen| {
        run::render(screen, &demo.report);
        let enter = format!("cd {}", quote(&demo.folder));
        let look = "then `cleo list --tree --all`, `cleo why T6`, `cleo runs show`, `cleo ask 'Summarize the notes'`";
        screen.pair(Tone::Accent, "next: ", format!("{enter}, {look}"));
    })
}

/// Makes the folder, which must be new or empty.
fn make_folder(path: &Path, named: &Path) -> Result<()> {
    match fs::create_dir_all(path) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
            return Err(unwritable(path, cause));
        }
        _ => {}
    }
    if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
        return Ok(());
    }
    let message = format!("{} exists and is not an empty folder", path.display());
    let other = quote(&format!("{}-2", named.display()));
    Err(Error::new(Code::Exists, message).fix(format!("cleo demo --dir {other}")))
}
