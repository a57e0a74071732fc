//! Preparing the prompt for a task, with a receipt that can be replayed.

mod gather;
mod receipt;
mod why;

use serde::Serialize;

use super::{Context, require};
use crate::catalogue::{Catalogue, known_protocols};
use crate::dispatch::{Decision, Strategy, Subject, dispatch};
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::protocol::Situation;
use crate::protocol::message::kind_of;
use crate::spawn::{Input, Prepared, TokenEstimate, TokenResolution, prepare};
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status, Task};
use crate::template::Bindings;
use gather::Place;
pub use receipt::Receipt;
pub use why::{Change, Why, why};

/// How to prepare a prompt.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Use this skill instead of the one that dispatch finds.
    pub template: Option<String>,
    /// Refuse unresolved tokens and protocols that are no known version.
    pub strict: bool,
    /// Add the protocol block when the prompt lacks it.
    pub force_inject: bool,
    /// Use this date instead of today.
    pub date: Option<String>,
    /// Record nothing.
    pub dry_run: bool,
}

/// A prepared prompt.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spawned {
    /// The task.
    pub task_id: TaskId,
    /// The skill.
    pub skill: String,
    /// What chose it.
    pub strategy: Strategy,
    /// Names of the protocols in the block, base first.
    pub protocols: Vec<String>,
    /// Where the agent is to write, relative to the workspace root.
    pub output_file: String,
    /// Id of the manifest entry that the agent is to append.
    pub manifest_id: String,
    /// The prompt.
    pub prompt: String,
    /// Digest of the prompt.
    pub prompt_digest: String,
    /// Estimated cost.
    pub token_estimate: TokenEstimate,
    /// Whether all tokens were resolved.
    pub token_resolution: TokenResolution,
    /// Everything that went in.
    pub receipt: Receipt,
    /// What the caller should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Prepares the prompt for a task and records its receipt.
pub fn spawn(context: &mut Context, task: TaskId, options: &Options) -> Result<Spawned> {
    let catalogue = Catalogue::load(&context.surroundings.places(Some(&context.workspace)))?;
    let Context {
        workspace,
        surroundings,
        ..
    } = &*context;
    let (workspace, clock) = (workspace.clone(), surroundings.clock);
    let date = options.date.clone().unwrap_or_else(|| clock.date());
    let work = |transaction: &dyn Transaction| -> Result<(Spawned, SpawnRecord)> {
        let task = require(transaction, task)?;
        let place = gather::place(transaction, &workspace, &task, &date)?;
        let assembly = Assembly {
            transaction,
            workspace: &workspace,
            catalogue: &catalogue,
        };
        let spawned = assembly.spawned(&task, &place, options)?;
        let record = record(&spawned, &clock.timestamp())?;
        Ok((spawned, record))
    };
    if options.dry_run {
        return context.read(|transaction| Ok(work(transaction)?.0));
    }
    context.write(|transaction| {
        let (spawned, record) = work(transaction)?;
        let known = transaction.spawns(task)?;
        let same = known
            .iter()
            .find(|other| other.manifest_id == record.manifest_id);
        // The first moment counts: asking for the same prompt again must not make what the agent
        // has written meanwhile look old.
        let at = same.map_or(record.at.clone(), |known| known.at.clone());
        let forced = same.and_then(|known| known.forced.clone());
        let record = SpawnRecord {
            at,
            forced,
            ..record
        };
        // What is handed out is the latest, also when it was handed out before.
        if known.last() != Some(&record) {
            transaction.put_spawn(&record)?;
        }
        Ok(spawned)
    })
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

/// What a prompt is assembled from.
struct Assembly<'a> {
    transaction: &'a dyn Transaction,
    workspace: &'a crate::workspace::Workspace,
    catalogue: &'a Catalogue,
}

impl Assembly<'_> {
    fn spawned(&self, task: &Task, place: &Place, options: &Options) -> Result<Spawned> {
        let Catalogue { skills, matrix, .. } = self.catalogue;
        let template = options.template.as_deref();
        let decision = dispatch(&Subject::from(task), skills, matrix, template)?;
        let skill = self.catalogue.skill(&decision.skill)?;
        let mut bindings = gather::bindings(self.transaction, self.workspace, task, place)?;
        bindings.set("RESULT_KIND", kind_of(skill));
        let situation = Situation {
            task,
            skill,
            session_open: false,
            required_gates: requires_gates(self.transaction, task.id)?,
        };
        // Only needed to compare with and to add from, and not free to read.
        let needs_known = options.strict || options.force_inject;
        let known = if needs_known {
            known_protocols()?
        } else {
            Vec::new()
        };
        let prepared = prepare(&Input {
            situation,
            base: &self.catalogue.base,
            protocols: &self.catalogue.protocols,
            known: &known,
            task_context: &self.catalogue.task_context,
            bindings: &bindings,
            force_inject: options.force_inject,
            strict: options.strict,
        })?;
        let parts = receipt::Parts {
            task,
            skill,
            place,
            options,
            decision: &decision,
            bindings: &bindings,
            prepared: &prepared,
        };
        let receipt = Receipt::new(&parts, self.catalogue);
        let warnings = self.warnings(task, &prepared, &decision)?;
        Ok(finish(
            decision, prepared, place, receipt, warnings, task.id,
        ))
    }

    fn warnings(
        &self,
        task: &Task,
        prepared: &Prepared,
        decision: &Decision,
    ) -> Result<Vec<String>> {
        let mut warnings = self.catalogue.warnings.clone();
        let resolution = &prepared.token_resolution;
        if !resolution.fully_resolved {
            let names = resolution.unresolved_tokens.join(", ");
            warnings.push(format!(
                "{} leaves tokens unresolved: {names}",
                decision.skill
            ));
        }
        if prepared.injected_by_force {
            warnings.push("the protocol block was missing and was added by force".to_string());
        }
        if task.is_closed() {
            warnings.push(format!("{} is {}", task.id, task.status));
        }
        let mut open = Vec::new();
        for need in &task.depends {
            if self.transaction.status(*need)? != Some(Status::Done) {
                open.push(*need);
            }
        }
        if !open.is_empty() {
            warnings.push(format!(
                "{} depends on {}, not done yet",
                task.id,
                id::list(&open)
            ));
        }
        Ok(warnings)
    }
}

/// Says whether a task names gates that it needs.
fn requires_gates(transaction: &dyn Transaction, task: TaskId) -> Result<bool> {
    Ok(!transaction.gates(task)?.required.is_empty())
}

fn finish(
    decision: Decision,
    prepared: Prepared,
    place: &Place,
    receipt: Receipt,
    warnings: Vec<String>,
    task_id: TaskId,
) -> Spawned {
    Spawned {
        task_id,
        skill: decision.skill,
        strategy: decision.strategy,
        protocols: prepared
            .protocols
            .iter()
            .map(|used| used.name.clone())
            .collect(),
        output_file: place.output_file(),
        manifest_id: place.manifest_id.clone(),
        prompt: prepared.prompt,
        prompt_digest: prepared.prompt_digest,
        token_estimate: prepared.token_estimate,
        token_resolution: prepared.token_resolution,
        receipt,
        warnings,
    }
}

/// Returns the protocol block that every task gets, with its tokens.
pub fn block() -> Result<String> {
    let known = known_protocols()?;
    let mut always: Vec<_> = known
        .iter()
        .filter(|file| file.is_unconditional())
        .collect();
    // As in a spawn: the base, then the others in their order.
    always[1..].sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    Ok(crate::protocol::block::compose(&always))
}

/// Returns the protocol block for a task, with its tokens resolved.
pub fn block_for(context: &mut Context, task: TaskId) -> Result<String> {
    let catalogue = Catalogue::load(&context.surroundings.places(Some(&context.workspace)))?;
    let known = known_protocols()?;
    let workspace = context.workspace.clone();
    let date = context.surroundings.clock.date();
    context.read(|transaction| {
        let task = require(transaction, task)?;
        let place = gather::place(transaction, &workspace, &task, &date)?;
        let Catalogue { skills, matrix, .. } = &catalogue;
        let decision = dispatch(&Subject::from(&task), skills, matrix, None)?;
        let skill = catalogue.skill(&decision.skill)?;
        let mut bindings: Bindings = gather::bindings(transaction, &workspace, &task, &place)?;
        bindings.set("RESULT_KIND", kind_of(skill));
        let situation = Situation {
            task: &task,
            skill,
            session_open: false,
            required_gates: requires_gates(transaction, task.id)?,
        };
        let stack = crate::spawn::stack(&known[0], &known[1..], &situation);
        let block = crate::protocol::block::compose(&stack);
        Ok(crate::template::inject(&block, &bindings).text)
    })
}
