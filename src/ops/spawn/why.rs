//! Replays a receipt, and compares its prompt and inputs with those of today.

use std::collections::HashMap;

use serde::Serialize;

use super::{Preparation, Receipt};
use crate::catalogue::Catalogue;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::One;
use crate::ops::trust::{Trust, is_verified};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::task::Task;

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Why {
    pub(crate) task_id: TaskId,
    pub(crate) at: String,
    pub(crate) receipt: Receipt,
    /// True if the same request gives the same prompt today.
    pub(crate) reproduced: bool,
    /// Digest of the prompt of today; none if there is a fault.
    pub(crate) prompt_digest_now: Option<String>,
    /// Inputs that differ now.
    pub(crate) changed: Vec<Change>,
    /// Why there is no prompt today.
    pub(crate) fault: Option<String>,
    /// When the output was last verified for this user.
    pub(crate) verified_at: Option<String>,
    /// Digest of the output file at that time.
    pub(crate) output_digest: Option<String>,
    /// When and by whom the task was completed by force.
    pub(crate) forced: Option<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Change {
    pub(crate) input: String,
    /// Its digest then; none if it did not exist.
    pub(crate) then: Option<String>,
    /// Its digest now; none if it does not exist.
    pub(crate) now: Option<String>,
}

pub(crate) fn why(context: &mut Context, which: One) -> Result<Why> {
    let mut preparation = preparation(context)?;
    context.read(|transaction| {
        let task = require(transaction, which.task)?;
        let record = transaction.latest_spawn(task.id)?;
        let record = record.ok_or_else(|| {
            let message = format!("{} has not been spawned", task.id);
            let way = if task.is_closed() { "show" } else { "spawn" };
            Error::new(Code::ReceiptNotFound, message).fix(format!("cleo {way} {}", task.id))
        })?;
        preparation.find_again(transaction, &[task.id])?;
        replay(&preparation, transaction, &task, record)
    })
}

/// Replays the latest receipts of many tasks; leaves out unknown tasks and those without receipt.
pub(crate) fn whys(context: &mut Context, tasks: &[TaskId]) -> Result<HashMap<TaskId, Why>> {
    let mut preparation = preparation(context)?;
    context.read(|transaction| {
        preparation.find_again(transaction, tasks)?;
        let mut whys = HashMap::new();
        for task in transaction.readable(tasks)? {
            if let Some(record) = transaction.latest_spawn(task.id)? {
                let why = replay(&preparation, transaction, &task, record)?;
                whys.insert(task.id, why);
            }
        }
        Ok(whys)
    })
}

fn preparation(context: &Context) -> Result<Preparation> {
    let places = context.surroundings.places(Some(&context.workspace));
    Preparation::new(context, Catalogue::load_past_base(&places)?, true)
}

/// Repeats the request of a receipt, and compares the receipts.
fn replay(
    preparation: &Preparation,
    transaction: &dyn Transaction,
    task: &Task,
    record: SpawnRecord,
) -> Result<Why> {
    let key = Trust::new(&preparation.surroundings, &preparation.workspace).read_key();
    let is_own = is_verified(key.as_ref(), &record);
    let receipt: Receipt = serde_json::from_value(record.receipt).map_err(|cause| {
        error!(StoreCorrupt, "the receipt of {} cannot be read", task.id).because(cause)
    })?;
    let (now, fault) = match preparation.compose_again(transaction, task, &receipt) {
        Ok(again) => (Some(again.receipt), None),
        Err(error) if is_of_input(error.code) => (None, Some(error.message)),
        Err(error) => return Err(error),
    };
    let prompt_digest_now = now.as_ref().map(|now| now.prompt_digest.clone());
    Ok(Why {
        task_id: task.id,
        at: record.at,
        reproduced: prompt_digest_now.as_ref() == Some(&receipt.prompt_digest),
        changed: now.map_or(Vec::new(), |now| changes(&receipt, &now)),
        prompt_digest_now,
        fault,
        receipt,
        verified_at: record.verified_at.filter(|_| is_own),
        output_digest: record.output_digest.filter(|_| is_own),
        forced: record.forced,
    })
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
