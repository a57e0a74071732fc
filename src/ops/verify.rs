//! Checking what an agent was given and what it left behind. Its words and its exit code prove
//! nothing: only the entry and the file count.

mod manifest;
mod message;

pub use manifest::{ManifestVerdict, entry, manifest};
pub use message::{MessageVerdict, message};

use std::fs;
use std::time::SystemTime;

use chrono::DateTime;
use serde::Serialize;

use super::{Context, Surroundings, require};
use crate::catalogue::{Catalogue, known_protocols};
use crate::error::{Code, Error, Result};
use crate::file::unreadable;
use crate::id::{TaskId, digest};
use crate::manifest::entry::{Entry, Status};
use crate::manifest::log;
use crate::protocol::block;
use crate::protocol::headings::sections;
use crate::store::{SpawnRecord, Transaction};
use crate::task::Task;
use crate::workspace::{OUTPUT_DIR, Workspace};

/// Largest output file or prompt that is read, in bytes.
const FILE_MAX: u64 = 16 << 20;

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// `pass` or `fail`.
    pub verdict: &'static str,
    /// Everything that is wrong; the first decides the exit code.
    pub violations: Vec<Violation>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The kind of failure.
    #[serde(serialize_with = "code_name")]
    pub code: Code,
    /// The rule that is broken: `OUT-001`, `MARKER`, …
    pub rule: String,
    /// What is wrong.
    pub message: String,
}

fn code_name<S: serde::Serializer>(
    code: &Code,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

impl Verdict {
    /// Makes the verdict of what was found.
    pub fn of(violations: Vec<Violation>) -> Verdict {
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
    pub fn error(&self, what: &str) -> Option<Error> {
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
    Violation {
        code,
        rule: rule.to_string(),
        message: message.into(),
    }
}

/// Checks that a prompt carries the protocol. In a workspace, a block that stands in a task's own
/// text does not count.
pub fn prompt(surroundings: &Surroundings, text: &str, strict: bool) -> Result<Verdict> {
    if text.trim().is_empty() {
        let message = "the prompt is empty";
        return Err(Error::new(Code::InputInvalid, message).fix("cleo verify prompt --help"));
    }
    let mut found = if strict {
        block::check_strictly(text, &known_protocols()?)
    } else {
        block::check(text)
    };
    if found.is_empty() && is_task_text(surroundings, text)? {
        found.push(block::Violation {
            rule: "MARKER".to_string(),
            message: "the block stands in the text of a task".to_string(),
        });
    }
    let missing =
        |found: block::Violation| violation(Code::ProtocolMissing, &found.rule, found.message);
    Ok(Verdict::of(found.into_iter().map(missing).collect()))
}

/// Says whether the block of a prompt is part of what somebody wrote into a task.
fn is_task_text(surroundings: &Surroundings, text: &str) -> Result<bool> {
    let Some(block) = block::text(text) else {
        return Ok(false);
    };
    let Ok(mut context) = Context::open(surroundings.clone()) else {
        return Ok(false);
    };
    context.read(|transaction| {
        let mut tasks = transaction.find("BEGIN SUBAGENT PROTOCOL", 1_000)?.tasks;
        tasks.extend(named_task(transaction, text)?);
        Ok(tasks
            .iter()
            .any(|task| free_text(task).any(|own| own.contains(block))))
    })
}

/// Finds the task that a prompt names in its task section.
fn named_task(transaction: &dyn Transaction, text: &str) -> Result<Option<Task>> {
    let id = text.lines().find_map(|line| {
        let rest = line.strip_prefix("Id: ")?;
        rest.split_whitespace().next()?.parse::<TaskId>().ok()
    });
    id.map_or(Ok(None), |id| transaction.task(id))
}

fn free_text(task: &Task) -> impl Iterator<Item = &String> {
    let lists = task
        .acceptance
        .iter()
        .chain(&task.deliverables)
        .chain(&task.files);
    [&task.title, &task.description].into_iter().chain(lists)
}

/// What a check of an agent's output found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputVerdict {
    /// The task.
    pub task_id: TaskId,
    /// Verdict and violations.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Id of the entry that is due.
    pub manifest_id: Option<String>,
    /// The file that is due, relative to the workspace root.
    pub output_file: Option<String>,
    /// What the entry says of the work: complete, partial, blocked or archived.
    pub entry_status: Option<Status>,
    /// Digest of the output file.
    pub output_digest: Option<String>,
    /// When the prompt was prepared.
    pub spawned_at: Option<String>,
}

/// Checks what the agent of a task left behind, and records the digest when all of it holds.
pub fn output(context: &mut Context, task: TaskId) -> Result<OutputVerdict> {
    let required = required_sections(context)?;
    let (workspace, now) = (context.workspace.clone(), context.now());
    let (verdict, record) = context.read(|transaction| {
        require(transaction, task)?;
        let record = transaction.latest_spawn(task)?;
        Ok((
            check_output(&workspace, task, record.as_ref(), &required)?,
            record,
        ))
    })?;
    if let Some(record) = record.filter(|_| verdict.verdict.violations.is_empty()) {
        remember(context, record, &verdict, &now)?;
    }
    Ok(verdict)
}

/// Returns the sections that the base protocol in force asks for.
pub(super) fn required_sections(context: &Context) -> Result<Vec<String>> {
    let places = context.surroundings.places(Some(&context.workspace));
    Ok(Catalogue::load(&places)?.base.sections)
}

fn remember(
    context: &mut Context,
    record: SpawnRecord,
    verdict: &OutputVerdict,
    now: &str,
) -> Result<()> {
    if record.output_digest == verdict.output_digest && record.verified_at.is_some() {
        return Ok(());
    }
    let output_digest = verdict.output_digest.clone();
    let record = SpawnRecord {
        verified_at: Some(now.to_string()),
        output_digest,
        ..record
    };
    context.write(|transaction| transaction.put_spawn(&record))
}

/// Checks entry and file of a task: of its latest spawn, else of the latest entry linked to it.
pub(super) fn check_output(
    workspace: &Workspace,
    task: TaskId,
    record: Option<&SpawnRecord>,
    required: &[String],
) -> Result<OutputVerdict> {
    let mut violations = Vec::new();
    let entry = match record {
        Some(record) => spawned_entry(workspace, task, record, &mut violations)?,
        None => linked_entry(workspace, task, &mut violations)?,
    };
    let named = entry
        .as_ref()
        .map(|entry| format!("{OUTPUT_DIR}/{}", entry.file));
    let output_file = record.map(|record| record.output_file.clone()).or(named);
    let output_digest = match &output_file {
        Some(file) => check_file(workspace, file, record, required, &mut violations)?,
        None => None,
    };
    Ok(OutputVerdict {
        task_id: task,
        verdict: Verdict::of(violations),
        manifest_id: record
            .map(|r| r.manifest_id.clone())
            .or(entry.as_ref().map(|e| e.id.clone())),
        output_file,
        entry_status: entry.map(|entry| entry.status),
        output_digest,
        spawned_at: record.map(|record| record.at.clone()),
    })
}

fn spawned_entry(
    workspace: &Workspace,
    task: TaskId,
    record: &SpawnRecord,
    violations: &mut Vec<Violation>,
) -> Result<Option<Entry>> {
    let id = &record.manifest_id;
    let found = log::find(&workspace.manifest()?, id)?;
    let mut missing =
        |message: String| violations.push(violation(Code::EntryMissing, "OUT-002", message));
    let Some((_, entry)) = found.entry else {
        if found.faulty.is_empty() {
            missing(format!("the manifest has no entry {id}"));
        }
        for fault in &found.faulty {
            missing(format!("the entry {id} is faulty: {fault}"));
        }
        return Ok(None);
    };
    if !entry.linked_tasks.contains(&task) {
        missing(format!("the entry {id} is not linked to {task}"));
    }
    let due = record.output_file.rsplit('/').next().unwrap_or_default();
    if entry.file != due {
        let message = format!("the entry {id} names the file {}, not {due}", entry.file);
        violations.push(violation(Code::OutputMissing, "OUT-001", message));
    }
    Ok(Some(entry))
}

fn linked_entry(
    workspace: &Workspace,
    task: TaskId,
    violations: &mut Vec<Violation>,
) -> Result<Option<Entry>> {
    let entry = log::for_tasks(&workspace.manifest()?, &[task])?.pop();
    if entry.is_none() {
        let message = format!("{task} was not spawned, and no entry is linked to it");
        violations.push(violation(Code::EntryMissing, "OUT-002", message));
    }
    Ok(entry)
}

/// Checks the output file and returns its digest when it can be read.
fn check_file(
    workspace: &Workspace,
    file: &str,
    record: Option<&SpawnRecord>,
    required: &[String],
    violations: &mut Vec<Violation>,
) -> Result<Option<String>> {
    let path = match workspace.confine(file) {
        Ok(path) => path,
        Err(error) => {
            violations.push(violation(error.code, "OUT-001", error.message));
            return Ok(None);
        }
    };
    let mut fail =
        |message: String| violations.push(violation(Code::OutputMissing, "OUT-001", message));
    let Ok(metadata) = fs::metadata(&path) else {
        fail(format!("{file} is not there"));
        return Ok(None);
    };
    if !metadata.is_file() || metadata.len() > FILE_MAX {
        fail(format!(
            "{file} is no regular file of at most {FILE_MAX} bytes"
        ));
        return Ok(None);
    }
    if let Some(record) = record.filter(|record| is_older(metadata.modified().ok(), &record.at)) {
        fail(format!("{file} is older than the spawn of {}", record.at));
    }
    let bytes = fs::read(&path).map_err(|cause| unreadable(&path, cause))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() {
        fail(format!("{file} is empty"));
        return Ok(Some(digest(&bytes)));
    }
    let found = sections(&text);
    if !found.iter().any(|section| section.level == 1) {
        fail(format!("{file} has no `# <title>`"));
    }
    for name in required {
        match found
            .iter()
            .find(|section| section.title.eq_ignore_ascii_case(name))
        {
            None => fail(format!("{file} has no section `## {name}`")),
            Some(section) if section.is_empty => {
                fail(format!("{file}: the section {name} is empty"))
            }
            Some(_) => {}
        }
    }
    Ok(Some(digest(&bytes)))
}

/// Compares in whole milliseconds, which is how a spawn is recorded.
fn is_older(modified: Option<SystemTime>, spawned_at: &str) -> bool {
    let (Some(modified), Ok(spawned)) = (modified, DateTime::parse_from_rfc3339(spawned_at)) else {
        return false;
    };
    DateTime::<chrono::Utc>::from(modified).timestamp_millis() < spawned.timestamp_millis()
}
