//! Replaying a receipt: does the same still come out, and if not, what has changed?

use serde::Serialize;

use super::gather::{self, Place};
use super::{Assembly, Options, Receipt};
use crate::catalogue::{Catalogue, known_protocols};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, require};

/// A receipt and what comes out of the same input today.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Digest of the prompt that comes out today; none when none does.
    pub prompt_digest_now: Option<String>,
    /// What went in then and differs now.
    pub changed: Vec<Change>,
    /// Why no prompt comes out today.
    pub fault: Option<String>,
    /// When the output was last found to hold.
    pub verified_at: Option<String>,
    /// Digest of the output file at that moment.
    pub output_digest: Option<String>,
    /// When and by whom the task was completed although it did not verify.
    pub forced: Option<String>,
}

/// An input that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    let catalogue =
        Catalogue::load_past_base(&context.surroundings.places(Some(&context.workspace)))?;
    let (surroundings, workspace) = (context.surroundings.clone(), context.workspace.clone());
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
        let known = if options.force_inject {
            known_protocols()?
        } else {
            Vec::new()
        };
        let assembly = Assembly {
            surroundings: &surroundings,
            workspace: &workspace,
            transaction,
            findings: &gather::findings(transaction, &workspace, &[task.id])?,
            catalogue: &catalogue,
            known: &known,
        };
        let again = match assembly.spawned(&task, &place, &options) {
            Ok(again) => Ok(again.receipt),
            Err(error) if is_of_input(error.code) => Err(error.message),
            Err(error) => return Err(error),
        };
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
    })
}

/// Says whether a failure is due to what goes into a prompt, which is what is asked about.
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
