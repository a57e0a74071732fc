//! The prompt for a task, with a receipt that can be replayed.

mod batch;
mod gather;
mod preparation;
mod receipt;
mod why;

use std::path::{Path, PathBuf};

use clap::Args;
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::operation::Nothing;
use super::tasks::{Caller, One, claim};
use super::{Context, Notes, Surroundings, require};
use crate::catalogue::{Catalogue, list_known_protocols};
use crate::dispatch::Strategy;
use crate::error::{Code, Error, Result, quote};
use crate::file::read_start;
use crate::id::TaskId;
use crate::protocol::block;
use crate::spawn::Prepared;
use crate::store::{SpawnRecord, Transaction};
pub(crate) use batch::{Batch, Selection, select, spawn_many};
pub(in crate::ops) use gather::topics;
pub(crate) use preparation::Preparation;
pub(crate) use receipt::Receipt;
pub(crate) use why::{Why, why, whys};

/// How much of a file of the project is read to find out how its tests run, in bytes.
const PROJECT_FILE_MAX: u64 = 1 << 20;

#[derive(Clone, Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Options {
    /// The task
    #[arg(skip)]
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Use this skill, with or without ct-, ignoring case
    #[arg(long, short, value_name = "SKILL")]
    pub(crate) template: Option<String>,

    /// Fail if tokens are unresolved or a protocol has an unknown version
    #[arg(long)]
    pub(crate) strict: bool,

    /// Add the protocol block if the prompt has none
    #[arg(long)]
    pub(crate) force_inject: bool,

    /// Start over although the work for the last prompt verifies
    #[arg(long)]
    pub(crate) again: bool,

    /// Date for the prompt and file names [default: today]
    #[arg(long, value_name = "DATE")]
    #[serde(skip)]
    pub(crate) date: Option<String>,

    /// The worktree of the task, whose manifest has entries of earlier attempts
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) worktree: Option<PathBuf>,

    /// Record nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

/// The protocol block of a prompt.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Injected {
    pub(crate) block: String,
}

impl Options {
    /// Writes the options of a command that does the same.
    fn write_options(&self) -> String {
        let template = self.template.as_ref();
        let template = template.map(|name| format!(" --template={}", quote(name)));
        let strict = if self.strict { " --strict" } else { "" };
        let again = if self.again { " --again" } else { "" };
        let dry_run = if self.dry_run { " --dry-run" } else { "" };
        template.unwrap_or_default() + strict + again + dry_run
    }
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spawned {
    pub(crate) task_id: TaskId,
    pub(crate) skill: String,
    pub(crate) strategy: Strategy,
    /// Names of the protocols in the block, base first.
    pub(crate) protocols: Vec<String>,
    /// The output file of the agent, relative to the workspace root.
    pub(crate) output_file: String,
    /// Id of the manifest entry of the agent.
    pub(crate) manifest_id: String,
    #[serde(flatten)]
    pub(crate) prepared: Prepared,
    pub(crate) receipt: Receipt,
    #[serde(skip)]
    warnings: Vec<String>,
}

/// Shows the prompt that a task would get, and records nothing.
pub(crate) fn rehearse(context: &mut Context, options: Options) -> Result<Spawned> {
    let dry_run = true;
    spawn(context, Options { dry_run, ..options })
}

/// Prepares the prompt of a task and records its receipt.
pub(crate) fn spawn(context: &mut Context, options: Options) -> Result<Spawned> {
    let task = options.task;
    let catalogue = catalogue(context, &options, &task.to_string())?;
    let needs_known = options.strict || options.force_inject;
    let mut preparation = Preparation::new(context, catalogue, needs_known)?;
    context.read(|transaction| {
        require(transaction, task)?;
        preparation.read_manifest_for(transaction, &options, &[task])
    })?;
    let caller = Caller::without_task(context);
    let mut spawned = match options.dry_run {
        true => context.read(|transaction| preparation.prepare(transaction, task, &options)),
        false => context.write(|transaction| {
            let mut spawned = preparation.prepare(transaction, task, &options)?;
            record(transaction, &mut spawned, &caller)?;
            Ok(spawned)
        }),
    }?;
    context.notes.warn(std::mem::take(&mut spawned.warnings));
    Ok(spawned)
}

/// Prepares a prompt again, for the same output file and entry, with what was said since.
pub(crate) fn prepare_again(context: &mut Context, spawned: &Spawned) -> Result<Spawned> {
    let mut preparation = Preparation::load(context)?;
    context.read(|transaction| {
        let task = require(transaction, spawned.task_id)?;
        preparation.find_again(transaction, &[task.id])?;
        preparation.compose_again(transaction, &task, &spawned.receipt)
    })
}

/// Reads the catalogue for prompts. With --force-inject an unreadable base protocol is ignored. `tasks` are the
/// words of the fix.
fn catalogue(context: &Context, options: &Options, tasks: &str) -> Result<Catalogue> {
    let places = context.surroundings.places(Some(&context.workspace));
    if options.force_inject {
        return Catalogue::load_past_base(&places);
    }
    // Force helps only if nothing but the base protocol is invalid.
    Catalogue::load(&places).map_err(|error| match Catalogue::load_past_base(&places) {
        Ok(_) if error.code == Code::CatalogueInvalid => error.or(
            "use the base protocol that cleo carries",
            format!(
                "cleo orchestrator spawn {tasks}{} --force-inject",
                options.write_options()
            ),
        ),
        _ => error,
    })
}

/// Stores the receipt of a prompt. Another prompt than the last is for another agent.
/// Records a prompt, and warns where an earlier one gives its agent the same name.
fn record(transaction: &mut dyn Transaction, spawned: &mut Spawned, caller: &Caller) -> Result<()> {
    let task = spawned.task_id;
    caller.refuse_replaced(transaction, task)?;
    caller.refuse_answer(transaction, task)?;
    let receipt = serde_json::to_value(&spawned.receipt).map_err(|cause| {
        Error::new(Code::Internal, "a receipt cannot be written").because(cause)
    })?;
    let known = transaction.spawns(task)?;
    let same = known
        .iter()
        .find(|other| other.manifest_id == spawned.manifest_id);
    if let Some(SpawnRecord {
        at, manifest_id, ..
    }) = same
    {
        spawned.warnings.push(format!(
            "{task} has a prompt since {at} already, and both give their agent the name {manifest_id}: give one of them \
             to one agent only, or make that of another agent with --again"
        ));
    }
    // A repeated spawn keeps the first time, so that outputs since then stay valid. A different prompt gets a new
    // time, because older outputs do not answer it.
    let begun = same.filter(|known| receipt::has_same_request(&known.receipt, &receipt));
    let record = SpawnRecord {
        task,
        manifest_id: spawned.manifest_id.clone(),
        output_file: spawned.output_file.clone(),
        at: begun.map_or(caller.now.clone(), |known| known.at.clone()),
        receipt,
        verified_at: None,
        output_digest: None,
        forced: same.and_then(|known| known.forced.clone()),
        mark: None,
    };
    // The record becomes the latest one, also if it existed before.
    if known.last() == Some(&record) {
        return Ok(());
    }
    if same.is_none() {
        claim::replace_agent(transaction, task, caller)?;
    }
    transaction.put_spawn(&record)
}

/// Finds the command that runs the tests of a project, by a file in its root and a text in it.
fn find_test_command(root: &Path) -> Option<&'static str> {
    const COMMANDS: [(&str, &str, &str); 6] = [
        ("Cargo.toml", "", "cargo test"),
        ("go.mod", "", "go test ./..."),
        ("package.json", "\"test\"", "npm test"),
        ("pytest.ini", "", "pytest"),
        ("pyproject.toml", "pytest", "pytest"),
        ("Makefile", "\ntest:", "make test"),
    ];
    let is_there = |(file, text, _): &&(&str, &str, &str)| {
        let path = root.join(file);
        let found = path.is_file().then(|| read_start(&path, PROJECT_FILE_MAX));
        found.is_some_and(|read| {
            read.is_ok_and(|found| memmem::find(&found, text.as_bytes()).is_some())
        })
    };
    COMMANDS.iter().find(is_there).map(|(.., command)| *command)
}

/// Writes the protocol block with its tokens as they are.
pub(crate) fn block(_: &Surroundings, _: &mut Notes, _: Nothing) -> Result<Injected> {
    let known = list_known_protocols()?;
    let mut always: Vec<_> = known
        .iter()
        .filter(|file| file.is_unconditional())
        .collect();
    // As in a spawn: the base, then the others in their order.
    always[1..].sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    Ok(Injected {
        block: block::compose(&always),
    })
}

/// Writes the protocol block for a task.
pub(crate) fn block_for(context: &mut Context, which: One) -> Result<Injected> {
    let options = Options::default();
    let mut preparation = Preparation::load(context)?;
    context.read(|transaction| {
        let task = require(transaction, which.task)?;
        preparation.read_manifest_for(transaction, &options, &[task.id])?;
        preparation.block(transaction, &task)
    })
}
