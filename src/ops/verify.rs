//! Checking what an agent was given and what it left behind. Its words and its exit code prove
//! nothing: only the entry and the file count.

mod file;
mod merged;
mod output;
mod prompt;

use clap::Args;
use serde::{Deserialize, Serialize};

pub(super) use self::merged::Unmerged;
pub(crate) use self::output::OutputVerdict;
pub(super) use self::output::check_found;
pub(super) use self::output::check_named;
pub(super) use self::output::check_output;
pub(crate) use self::output::found;
pub(crate) use self::output::output;
pub(super) use self::output::required_sections;
pub(crate) use self::prompt::prompt;
use super::operation::Nothing;
use super::{Context, Notes, Surroundings, manifest};
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::manifest::log::{self, Found};
use crate::manifest::{Entry, Faulty};
use crate::protocol::message::{self, Status};
use crate::store::Transaction;

/// What a check found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Verdict {
    /// `pass` or `fail`.
    pub(crate) verdict: &'static str,
    /// Everything that is wrong; the first decides the exit code.
    pub(crate) violations: Vec<Violation>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Violation {
    /// The kind of failure.
    #[serde(serialize_with = "code_name")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub(crate) code: Code,
    /// The rule that is broken: `OUT-001`, `MARKER`, …
    pub(crate) rule: String,
    /// What is wrong.
    pub(crate) message: String,
}

fn code_name<S: serde::Serializer>(
    code: &Code,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

impl Violation {
    /// Makes the violation that an error tells of.
    pub(super) fn of(error: &Error, rule: &str) -> Violation {
        Violation::new(error.code, rule, error.message.clone())
    }

    pub(super) fn new(code: Code, rule: &str, message: impl Into<String>) -> Violation {
        Violation {
            code,
            rule: rule.to_string(),
            message: message.into(),
        }
    }
}

impl Verdict {
    pub(crate) fn of(violations: Vec<Violation>) -> Verdict {
        let verdict = if violations.is_empty() {
            "pass"
        } else {
            "fail"
        };
        Verdict {
            verdict,
            violations,
        }
    }

    /// Returns the error that a failed verdict ends with; `what` is what was checked.
    pub(crate) fn error(&self, what: &str) -> Option<Error> {
        let first = self.violations.first()?;
        let faults: Vec<&str> = self
            .violations
            .iter()
            .map(|found| found.message.as_str())
            .collect();
        Some(Error::new(
            first.code,
            format!("{what} does not verify: {}", faults.join("; ")),
        ))
    }
}

fn violation(code: Code, rule: &str, message: impl Into<String>) -> Violation {
    Violation::new(code, rule, message)
}

/// What a check of a message found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct MessageVerdict {
    /// Verdict and violations.
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    /// What the message says of the work.
    pub(crate) status: Option<Status>,
    /// The allowed sentence that is most like a message that is refused.
    pub(crate) nearest: Option<String>,
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptSent {
    /// The prompt
    #[arg(skip)]
    pub(crate) text: String,

    /// Task that the prompt is for: its id must stand in the block; else the one that the prompt names
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<TaskId>,

    /// Also demand that the protocol is word for word a known version
    #[arg(long)]
    #[serde(default)]
    pub(crate) strict: bool,
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageSent {
    /// The message
    #[arg(allow_hyphen_values = true)]
    pub(crate) message: String,
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WhichEntry {
    /// Id of the entry; all lines are checked without one
    #[arg(value_name = "ID")]
    pub(crate) entry: Option<String>,
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Epoch of the claim under which this is done (or CLEO_EPOCH); refused when that is lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

pub(crate) fn message(text: &str) -> MessageVerdict {
    let (status, refused) = match message::check(text) {
        Ok(status) => (Some(status), None),
        Err(refused) => (None, Some(refused)),
    };
    let told = refused.as_ref().map(|refused| {
        let message = format!("it {}; allowed are {}", refused.reason, message::allowed());
        violation(Code::ReturnMessage, "OUT-003", message)
    });
    MessageVerdict {
        verdict: Verdict::of(told.into_iter().collect()),
        status,
        nearest: refused.map(|refused| refused.nearest),
    }
}

pub(crate) fn check_message(
    _: &Surroundings,
    notes: &mut Notes,
    sent: MessageSent,
) -> Result<MessageVerdict> {
    let found = message(&sent.message);
    let error = found.verdict.error("the message");
    notes.failure = error.map(|error| error.did_you_mean(found.nearest.as_deref().unwrap_or("")));
    Ok(found)
}

/// What a check of the manifest found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ManifestVerdict {
    /// Verdict and violations.
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    /// The entry that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<Entry>,
    /// Lines that do not count.
    pub(crate) faults: Vec<Faulty>,
}

/// Checks the manifest, or one entry of it.
pub(crate) fn manifest(context: &mut Context, which: WhichEntry) -> Result<ManifestVerdict> {
    if let Some(id) = &which.entry {
        return entry(context, id);
    }
    let found = manifest::validate(context, Nothing::default())?;
    let told = found.faults.iter();
    let told = told.map(|fault| violation(fault.code, "OUT-002", fault.to_string()));
    Ok(ManifestVerdict {
        verdict: Verdict::of(told.collect()),
        entry: None,
        faults: found.faults,
    })
}

/// Checks one entry: it is there (else exit 62), it is valid, and its tasks exist (else exit 6).
fn entry(context: &mut Context, id: &str) -> Result<ManifestVerdict> {
    let path = context.workspace.manifest()?;
    let Found { entry, faulty } = log::find(&path, id)?;
    let entry = entry.map(|(_, entry)| entry);
    let verdict = match (&entry, faulty.is_empty()) {
        (Some(entry), _) => {
            let unknown = context.read(|transaction| unknown_tasks(transaction, entry))?;
            let told = unknown.map(|it| violation(Code::EntryInvalid, "OUT-002", it));
            Verdict::of(Vec::from_iter(told))
        }
        (None, true) => {
            let message = format!("the manifest has no entry {id}");
            Verdict::of(vec![violation(Code::EntryMissing, "OUT-002", message)])
        }
        (None, false) => {
            let told = faulty.iter();
            let told = told.map(|one| violation(Code::EntryInvalid, "OUT-002", one.to_string()));
            Verdict::of(told.collect())
        }
    };
    let error = verdict.error(&format!("entry {id}"));
    let look = faulty
        .first()
        .map(|first| crate::file::look(&path, &[first.line]));
    let fix = look.unwrap_or("cleo manifest list".to_string());
    context.notes.failure = error.map(|error| error.fix(fix));
    Ok(ManifestVerdict {
        verdict,
        entry,
        faults: faulty,
    })
}

fn unknown_tasks(transaction: &dyn Transaction, entry: &Entry) -> Result<Option<String>> {
    let unknown = Vec::from_iter(transaction.missing(&entry.tasks().collect())?);
    let named = || {
        let list = id::list(&unknown);
        format!("{} names tasks that do not exist: {list}", entry.id)
    };
    Ok((!unknown.is_empty()).then(named))
}
