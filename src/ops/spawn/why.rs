//! Replaying a receipt: does the same still come out, and if not, what has changed?

use serde::Serialize;

use super::gather::Place;
use super::{Assembly, Options, Receipt};
use crate::catalogue::Catalogue;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, require};

/// A receipt and what comes out of the same input today.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The task.
    pub task_id: TaskId,
    /// When the prompt was prepared.
    pub at: String,
    /// The receipt as it was kept.
    pub receipt: Receipt,
    /// True when the same prompt comes out today.
    pub reproduced: bool,
    /// Digest of the prompt that comes out today.
    pub prompt_digest_now: String,
    /// What went in then and differs now.
    pub changed: Vec<Change>,
}

/// An input that differs.
#[derive(Debug, Serialize)]
pub struct Change {
    /// Its name.
    pub input: String,
    /// Its digest then; none when it was not there.
    pub then: Option<String>,
    /// Its digest now; none when it is gone.
    pub now: Option<String>,
}

/// Replays the latest receipt of a task.
pub fn why(context: &mut Context, task: TaskId) -> Result<Why> {
    let catalogue = Catalogue::load(&context.surroundings.places(Some(&context.workspace)))?;
    let workspace = context.workspace.clone();
    context.read(|transaction| {
        let task = require(transaction, task)?;
        let Some(record) = transaction.latest_spawn(task.id)? else {
            let message = format!("{} has not been spawned", task.id);
            return Err(
                Error::new(Code::ReceiptNotFound, message).fix(format!("cleo spawn {}", task.id))
            );
        };
        let receipt: Receipt = serde_json::from_value(record.receipt).map_err(|cause| {
            let message = format!("the receipt of {} cannot be read", task.id);
            Error::new(Code::StoreCorrupt, message).because(cause)
        })?;
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
        let assembly = Assembly {
            transaction,
            workspace: &workspace,
            catalogue: &catalogue,
        };
        let again = assembly.spawned(&task, &place, &options)?;
        let reproduced = again.prompt_digest == receipt.prompt_digest;
        let changed = changes(&receipt, &again.receipt);
        let prompt_digest_now = again.prompt_digest;
        Ok(Why {
            task_id: task.id,
            at: record.at,
            receipt,
            reproduced,
            prompt_digest_now,
            changed,
        })
    })
}

fn changes(then: &Receipt, now: &Receipt) -> Vec<Change> {
    let mut names: Vec<&String> = then.inputs.keys().chain(now.inputs.keys()).collect();
    names.sort();
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
