//! Replaying a receipt: does the same still come out, and if not, what has changed?

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use super::assembly::Assembly;
use super::gather::{self, Place};
use super::{Options, Receipt};
use crate::catalogue::{Catalogue, known_protocols};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::log::Latest;
use crate::ops::tasks::One;
use crate::ops::{Context, Surroundings, require};
use crate::store::{SpawnRecord, Transaction};
use crate::task::Task;
use crate::workspace::Workspace;

/// A receipt and what comes out of the same input today.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Why {
    pub(crate) task_id: TaskId,
    /// When the prompt was prepared.
    pub(crate) at: String,
    /// The receipt as it was kept.
    pub(crate) receipt: Receipt,
    /// True when the same prompt comes out today.
    pub(crate) reproduced: bool,
    /// Digest of the prompt that comes out today; none when none does.
    pub(crate) prompt_digest_now: Option<String>,
    /// What went in then and differs now.
    pub(crate) changed: Vec<Change>,
    /// Why no prompt comes out today.
    pub(crate) fault: Option<String>,
    /// When the output was last found to hold.
    pub(crate) verified_at: Option<String>,
    /// Digest of the output file at that moment.
    pub(crate) output_digest: Option<String>,
    /// When and by whom the task was completed although it did not verify.
    pub(crate) forced: Option<String>,
}

/// An input that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Change {
    /// Its name.
    pub(crate) input: String,
    /// Its digest then; none when it was not there.
    pub(crate) then: Option<String>,
    /// Its digest now; none when it is gone.
    pub(crate) now: Option<String>,
}

pub(crate) fn why(context: &mut Context, which: One) -> Result<Why> {
    let ground = Ground::of(context)?;
    context.read(|transaction| {
        let task = require(transaction, which.task)?;
        let record = transaction.latest_spawn(task.id)?;
        let record = record.ok_or_else(|| {
            let message = format!("{} has not been spawned", task.id);
            let way = if task.is_closed() { "show" } else { "spawn" };
            Error::new(Code::ReceiptNotFound, message).fix(format!("cleo {way} {}", task.id))
        })?;
        let findings = gather::findings(transaction, &ground.workspace, &[task.id])?;
        ground.replayed(transaction, &findings, &task, record)
    })
}

/// Replays the latest receipts of many tasks; those that are gone or were never spawned have none.
pub(crate) fn whys(context: &mut Context, tasks: &[TaskId]) -> Result<HashMap<TaskId, Why>> {
    let ground = Ground::of(context)?;
    context.read(|transaction| {
        let findings = gather::findings(transaction, &ground.workspace, tasks)?;
        let mut whys = HashMap::new();
        for task in transaction.readable(tasks)? {
            if let Some(record) = transaction.latest_spawn(task.id)? {
                let why = ground.replayed(transaction, &findings, &task, record)?;
                whys.insert(task.id, why);
            }
        }
        Ok(whys)
    })
}

/// What receipts are replayed on.
struct Ground {
    surroundings: Surroundings,
    workspace: Workspace,
    catalogue: Catalogue,
}

impl Ground {
    fn of(context: &Context) -> Result<Ground> {
        let places = context.surroundings.places(Some(&context.workspace));
        Ok(Ground {
            surroundings: context.surroundings.clone(),
            workspace: context.workspace.clone(),
            catalogue: Catalogue::load_past_base(&places)?,
        })
    }

    fn replayed(
        &self,
        transaction: &dyn Transaction,
        findings: &Latest,
        task: &Task,
        record: SpawnRecord,
    ) -> Result<Why> {
        let receipt = read(record.receipt, task.id)?;
        let known = match receipt.force_inject {
            true => known_protocols()?,
            false => Vec::new(),
        };
        let assembly = Assembly {
            surroundings: &self.surroundings,
            workspace: &self.workspace,
            transaction,
            findings,
            catalogue: &self.catalogue,
            known: &known,
        };
        let again = again(&assembly, task, &receipt)?;
        let now = again.as_ref().ok();
        Ok(Why {
            task_id: task.id,
            at: record.at,
            reproduced: now.is_some_and(|now| now.prompt_digest == receipt.prompt_digest),
            changed: now.map_or(Vec::new(), |now| changes(&receipt, now)),
            prompt_digest_now: now.map(|now| now.prompt_digest.clone()),
            fault: again.err(),
            receipt,
            verified_at: record.verified_at,
            output_digest: record.output_digest,
            forced: record.forced,
        })
    }
}

fn read(receipt: Value, task: TaskId) -> Result<Receipt> {
    serde_json::from_value(receipt).map_err(|cause| {
        let message = format!("the receipt of {task} cannot be read");
        Error::new(Code::StoreCorrupt, message).because(cause)
    })
}

/// Spawns once more what a receipt tells of: the receipt of today, or why there is none.
fn again(
    assembly: &Assembly<'_>,
    task: &Task,
    receipt: &Receipt,
) -> Result<std::result::Result<Receipt, String>> {
    let place = Place {
        date: receipt.date.clone(),
        slug: receipt.slug.clone(),
        manifest_id: receipt.manifest_id.clone(),
    };
    let options = Options {
        template: receipt.template.clone(),
        force_inject: receipt.force_inject,
        ..Options::default()
    };
    match assembly.spawned(task, &place, &options) {
        Ok(again) => Ok(Ok(again.receipt)),
        Err(error) if is_of_input(error.code) => Ok(Err(error.message)),
        Err(error) => Err(error),
    }
}

fn is_of_input(code: Code) -> bool {
    matches!(
        code,
        Code::SkillNotFound
            | Code::SkillInvalid
            | Code::SkillInactive
            | Code::ProtocolMissing
            | Code::TokenInvalid
    )
}

fn changes(then: &Receipt, now: &Receipt) -> Vec<Change> {
    let mut names: Vec<&String> = then.inputs.keys().chain(now.inputs.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let changed = names
        .into_iter()
        .filter(|name| then.inputs.get(*name) != now.inputs.get(*name));
    changed
        .map(|name| Change {
            input: name.clone(),
            then: then.inputs.get(name).cloned(),
            now: now.inputs.get(name).cloned(),
        })
        .collect()
}
