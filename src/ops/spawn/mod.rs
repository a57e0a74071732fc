//! Preparing the prompt for a task, with a receipt that can be replayed.

mod assembly;
mod batch;
mod gather;
mod receipt;
mod why;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::operation::Nothing;
use super::tasks::One;
use super::{Context, Notes, Surroundings, require};
use crate::catalogue::{Catalogue, known_protocols};
use crate::dispatch::Strategy;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::manifest::log::Latest;
use crate::protocol::{ProtocolFile, block};
use crate::spawn::Prepared;
use crate::store::{SpawnRecord, Transaction};
use crate::task::Task;
use crate::workspace::Workspace;
use assembly::Assembly;
pub(crate) use batch::{Batch, Selection, select, spawn_from, spawn_many};
use gather::Names;
pub(in crate::ops) use gather::topics;
pub(crate) use receipt::Receipt;
pub(crate) use why::{Why, why, whys};

// How to prepare a prompt. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Options {
    /// The task, where only one is named
    #[arg(skip)]
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Use this skill, in any letter case, with or without ct-
    #[arg(long, short, value_name = "SKILL")]
    pub(crate) template: Option<String>,

    /// Refuse unresolved tokens and protocols that are no known version
    #[arg(long)]
    pub(crate) strict: bool,

    /// Add the protocol block when the prompt lacks it
    #[arg(long)]
    pub(crate) force_inject: bool,

    /// Date in the prompt and in the names, instead of today
    #[arg(long, value_name = "DATE")]
    #[serde(skip)]
    pub(crate) date: Option<String>,

    /// Record nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

/// The rules for agents, as a prompt holds them.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(crate) struct Injected {
    pub(crate) block: String,
}

impl Options {
    /// Writes what a command that does the same must not leave out.
    fn written(&self) -> String {
        let template = self.template.as_ref();
        let template = template.map(|name| format!(" --template={}", quote(name)));
        let strict = if self.strict { " --strict" } else { "" };
        let dry_run = if self.dry_run { " --dry-run" } else { "" };
        template.unwrap_or_default() + strict + dry_run
    }
}

/// A prepared prompt.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spawned {
    pub(crate) task_id: TaskId,
    pub(crate) skill: String,
    /// What chose it.
    pub(crate) strategy: Strategy,
    /// Names of the protocols in the block, base first.
    pub(crate) protocols: Vec<String>,
    /// Where the agent is to write, relative to the workspace root.
    pub(crate) output_file: String,
    /// Id of the manifest entry that the agent is to append.
    pub(crate) manifest_id: String,
    #[serde(flatten)]
    pub(crate) prepared: Prepared,
    /// Everything that went in.
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
    let mut preparation = Preparation::new(context, &catalogue, &options)?;
    let mut work = |transaction: &dyn Transaction| {
        require(transaction, task)?;
        preparation.survey(transaction, &[task])?;
        preparation.one(transaction, task)
    };
    let mut spawned = match options.dry_run {
        true => context.read(|transaction| Ok(work(transaction)?.0)),
        false => context.write(|transaction| {
            let (spawned, record) = work(transaction)?;
            keep(transaction, record)?;
            Ok(spawned)
        }),
    }?;
    context.notes.warn(std::mem::take(&mut spawned.warnings));
    Ok(spawned)
}

/// Reads the catalogue for prompts of `tasks`, as they stand on a command line. A base protocol that
/// cannot be read is passed by when a block is to be added by force.
fn catalogue(context: &Context, options: &Options, tasks: &str) -> Result<Catalogue> {
    let places = context.surroundings.places(Some(&context.workspace));
    if options.force_inject {
        return Catalogue::load_past_base(&places);
    }
    // Force only helps where nothing but the base is at fault.
    Catalogue::load(&places).map_err(|error| match Catalogue::load_past_base(&places) {
        Ok(_) if error.code == Code::CatalogueInvalid => error.or(
            "use the base protocol that cleo carries",
            format!(
                "cleo orchestrator spawn {tasks}{} --force-inject",
                options.written()
            ),
        ),
        _ => error,
    })
}

/// What all prompts of a command are prepared with; the manifest is read once for all of them.
struct Preparation<'a> {
    surroundings: Surroundings,
    workspace: Workspace,
    catalogue: &'a Catalogue,
    known: Vec<ProtocolFile>,
    options: &'a Options,
    date: String,
    now: String,
    surveyed: Option<(Names, Latest)>,
    /// The names as an earlier command of this process knew them.
    names: Option<Names>,
}

/// What the prompts of one process are prepared with, as long as it lasts: skills and protocols are read
/// once, of the manifest only what is new.
pub(crate) struct Stock {
    catalogue: Catalogue,
    names: Option<Names>,
}

impl Stock {
    pub(crate) fn load(context: &Context) -> Result<Stock> {
        let places = context.surroundings.places(Some(&context.workspace));
        Ok(Stock {
            catalogue: Catalogue::load(&places)?,
            names: None,
        })
    }
}

impl<'a> Preparation<'a> {
    fn new(
        context: &Context,
        catalogue: &'a Catalogue,
        options: &'a Options,
    ) -> Result<Preparation<'a>> {
        let clock = context.surroundings.clock;
        // Only needed to compare with and to add from, and not free to read.
        let needs_known = options.strict || options.force_inject;
        Ok(Preparation {
            surroundings: context.surroundings.clone(),
            workspace: context.workspace.clone(),
            catalogue,
            known: needs_known
                .then(known_protocols)
                .transpose()?
                .unwrap_or_default(),
            options,
            date: options.date.clone().unwrap_or_else(|| clock.date()),
            now: clock.timestamp(),
            surveyed: None,
            names: None,
        })
    }

    fn survey(&mut self, transaction: &dyn Transaction, tasks: &[TaskId]) -> Result<()> {
        if self.surveyed.is_none() {
            let names = match self.names.take() {
                Some(names) => names.read_again(&self.workspace, &self.date)?,
                None => Names::read(&self.workspace, &self.date)?,
            };
            let findings = gather::findings(transaction, &self.workspace, tasks)?;
            self.surveyed = Some((names, findings));
        }
        Ok(())
    }

    fn one(&mut self, transaction: &dyn Transaction, id: TaskId) -> Result<(Spawned, SpawnRecord)> {
        let task = require(transaction, id)?;
        self.refuse_closed(&task)?;
        let (names, findings) = self.surveyed.as_mut().ok_or_else(|| {
            Error::new(
                Code::Internal,
                "a prompt was to be placed before the manifest was read",
            )
        })?;
        let place = gather::place(transaction, &self.workspace, &task, names)?;
        let assembly = Assembly {
            surroundings: &self.surroundings,
            workspace: &self.workspace,
            transaction,
            findings,
            catalogue: self.catalogue,
            known: &self.known,
        };
        let spawned = assembly.spawned(&task, &place, self.options)?;
        let record = record(&spawned, &self.now)?;
        Ok((spawned, record))
    }

    /// A prompt that is handed out is what its task is judged by from then on. A task that is done would
    /// lose its proof.
    fn refuse_closed(&self, task: &Task) -> Result<()> {
        if !task.is_closed() || self.options.dry_run {
            return Ok(());
        }
        let (id, options) = (task.id, self.options.written());
        let message = format!("{id} is {} and cannot be spawned", task.status);
        let look = format!("cleo orchestrator spawn {id}{options} --dry-run");
        Err(Error::new(Code::StatusRefused, message)
            .fix(format!("cleo reopen {id}"))
            .or("look at its prompt, which records nothing", look))
    }
}

fn keep(transaction: &mut dyn Transaction, record: SpawnRecord) -> Result<()> {
    let known = transaction.spawns(record.task)?;
    let same = known
        .iter()
        .find(|other| other.manifest_id == record.manifest_id);
    // The first moment counts: asking for the same work again must not make what the agent has written
    // meanwhile look old. What was written for another prompt is no answer to this one.
    let begun = same.filter(|known| receipt::ask_the_same(&known.receipt, &record.receipt));
    let at = begun.map_or(record.at.clone(), |known| known.at.clone());
    let forced = same.and_then(|known| known.forced.clone());
    let record = SpawnRecord {
        at,
        forced,
        ..record
    };
    // What is handed out is the latest, also when it was handed out before.
    if known.last() == Some(&record) {
        return Ok(());
    }
    transaction.put_spawn(&record)
}

fn record(spawned: &Spawned, at: &str) -> Result<SpawnRecord> {
    let receipt = serde_json::to_value(&spawned.receipt).map_err(|cause| {
        Error::new(Code::Internal, "a receipt cannot be written").because(cause)
    })?;
    Ok(SpawnRecord {
        task: spawned.task_id,
        manifest_id: spawned.manifest_id.clone(),
        output_file: spawned.output_file.clone(),
        at: at.to_string(),
        receipt,
        verified_at: None,
        output_digest: None,
        forced: None,
    })
}

/// Writes the protocol block with its tokens as they are.
pub(crate) fn block(_: &Surroundings, _: &mut Notes, _: Nothing) -> Result<Injected> {
    let known = known_protocols()?;
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
    let catalogue = Catalogue::load(&context.surroundings.places(Some(&context.workspace)))?;
    let known = known_protocols()?;
    let (surroundings, workspace) = (context.surroundings.clone(), context.workspace.clone());
    let date = surroundings.clock.date();
    context.read(|transaction| {
        let task = require(transaction, which.task)?;
        let mut names = Names::read(&workspace, &date)?;
        let place = gather::place(transaction, &workspace, &task, &mut names)?;
        let findings = gather::findings(transaction, &workspace, &[task.id])?;
        let assembly = Assembly {
            surroundings: &surroundings,
            workspace: &workspace,
            transaction,
            findings: &findings,
            catalogue: &catalogue,
            known: &known,
        };
        let (_, bindings, situation) = assembly.choose(&task, &place, None)?;
        let stack = crate::spawn::stack(&known[0], &known[1..], &situation);
        let block = crate::template::inject(&block::compose(&stack), &bindings).text;
        Ok(Injected { block })
    })
}
