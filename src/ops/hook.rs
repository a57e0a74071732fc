//! Keeps an agent from ending before its work is proven: finds its task, checks the outputs, and limits how often
//! it is blocked.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::proof::{OutputVerdict, check_output};
use super::spawn::topics;
use super::tasks::{Caller, check_epoch};
use super::{Context, Surroundings};
use crate::error::Result;
use crate::file::Lines;
use crate::hook::{Block, Ending, Event, Transcript};
use crate::id::TaskId;
use crate::store::log::Change;
use crate::store::{SpawnRecord, Transaction};
use crate::task::Task;
use crate::workspace::{MANIFEST, Workspace};

/// The change that is recorded each time that the agent of a task is kept from ending.
const BLOCKED: &str = "stopBlocked";
/// Most bytes of a transcript that are read: prompts are at its beginning.
const TRANSCRIPT_MAX: u64 = 32 << 20;
/// How long a transcript may take until it is on disk.
const TRANSCRIPT_WAIT: Duration = Duration::from_millis(400);
/// Longest line of a transcript that is looked at, in bytes.
const LINE_MAX: usize = 4 << 20;

/// Decides whether an agent may end; `None` lets it end. It is blocked at most `limit` times for one task.
pub(crate) fn stop(
    mut surroundings: Surroundings,
    ending: Ending,
    event: &Event,
    holder: Option<&str>,
    limit: u64,
) -> Result<Option<Block>> {
    let cwd = event.cwd.as_ref().map(PathBuf::from);
    if let Some(cwd) = cwd.filter(|cwd| cwd.is_absolute() && cwd.is_dir()) {
        surroundings.directory = cwd;
    }
    if surroundings.workspace().is_err() {
        return Ok(None);
    }
    let transcript = read(event.transcript(ending), ending);
    let mut context = Context::open(surroundings)?;
    let Some(task) = task(&mut context, ending, event, &transcript, holder)? else {
        return Ok(None);
    };
    let Some((task, record)) = due(&mut context, task, &transcript)? else {
        return Ok(None);
    };
    let required = context.load_sections()?.to_vec();
    let workspace = context.find_judged_workspace(task.id)?;
    let found =
        context.read(|transaction| check_output(&workspace, transaction, &record, &required))?;
    if found.report.has_passed() {
        return Ok(None);
    }
    let who = event.agent_name(ending);
    let is_blocked = record_block(&mut context, task.id, who, &found, limit)?;
    Ok(is_blocked.then(|| Block::because(reason(&workspace, &task, &record, &found))))
}

/// Returns whether a transcript is there. The client of a fast agent may still be writing it, which is waited for.
fn is_written(path: &Path) -> bool {
    let has_text = || {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.len() > 0)
    };
    let since = Instant::now();
    while !has_text() && since.elapsed() < TRANSCRIPT_WAIT {
        thread::sleep(TRANSCRIPT_WAIT / 20);
    }
    has_text()
}

/// Reads the transcript; an unreadable one is empty, because the task is known from elsewhere too.
fn read(path: Option<&str>, ending: Ending) -> Transcript {
    let mut transcript = Transcript::for_ending(ending);
    let Some(file) = path.map(Path::new).filter(|path| is_written(path)) else {
        return transcript;
    };
    let Ok(file) = File::open(file) else {
        return transcript;
    };
    let mut lines = Lines::new(BufReader::new(file.take(TRANSCRIPT_MAX)), LINE_MAX);
    while let Ok(Some(line)) = lines.next_line() {
        line.bytes
            .into_iter()
            .for_each(|bytes| transcript.read_line(bytes));
    }
    transcript
}

/// Finds the task of the agent that ends: by its environment, its prompt, or the only claim that it holds. The prompt
/// of a subagent takes precedence over the environment that it shares.
fn task(
    context: &mut Context,
    ending: Ending,
    event: &Event,
    transcript: &Transcript,
    holder: Option<&str>,
) -> Result<Option<TaskId>> {
    let assigned = context.surroundings.assignment.task;
    let assigned = assigned.filter(|_| event.has_own_environment(ending));
    let said = match ending {
        Ending::Agent => assigned.or(transcript.task()),
        Ending::Subagent => transcript.task().or(assigned),
    };
    let holder = holder.filter(|_| event.has_own_environment(ending));
    match (said, holder) {
        (Some(task), _) => Ok(Some(task)),
        (None, None) => Ok(None),
        (None, Some(holder)) => {
            let now = context.now();
            let held = context.read(|transaction| transaction.claims_of(holder))?;
            let mut live = held
                .iter()
                .filter(|claim| claim.live_holder(&now).is_some());
            let first = live.next().map(|claim| claim.task);
            Ok(first.filter(|_| live.next().is_none()))
        }
    }
}

/// Reads the task and its spawn, if the agent is still responsible: the task is open, and neither its claim nor its
/// prompt was given to another.
fn due(
    context: &mut Context,
    id: TaskId,
    transcript: &Transcript,
) -> Result<Option<(Task, SpawnRecord)>> {
    let caller = Caller::for_task(context, id, None);
    context.read(|transaction| {
        let task = transaction.task(id)?.filter(|task| !task.is_closed());
        let Some(task) = task else { return Ok(None) };
        if check_epoch(transaction, &task, &caller).is_err() {
            return Ok(None);
        }
        let claim = transaction.claim(id)?;
        let holder = claim.as_ref().and_then(|it| it.live_holder(&caller.now));
        let record = transaction.latest_spawn(id)?.filter(|record| {
            // Of the agents of one session, only the holder has to deliver.
            let own = format!("{}/{}", caller.name, record.manifest_id);
            let is_held = holder.is_none_or(|holder| {
                caller.epoch.is_some() || holder == caller.name || holder == own
            });
            is_held && transcript.is_of(&record.manifest_id)
        });
        Ok(record.map(|record| (task, record)))
    })
}

/// Records that the agent is blocked, unless the limit is reached.
fn record_block(
    context: &mut Context,
    task: TaskId,
    who: &str,
    found: &OutputVerdict,
    limit: u64,
) -> Result<bool> {
    let violations = found.report.violations.iter();
    let rules: Vec<&str> = violations.map(|one| one.rule.as_str()).collect();
    let who: String = who.chars().take(200).collect();
    context.write_if(|transaction| {
        let blocks = count_blocks(transaction, task, &who, found.manifest_id.as_deref())?;
        if blocks >= limit {
            return Ok((false, false));
        }
        transaction.record(&Change {
            kind: BLOCKED.to_string(),
            task: Some(task),
            detail: json!({"by": who, "manifestId": found.manifest_id, "rules": rules}),
        })?;
        Ok((true, true))
    })
}

fn count_blocks(
    transaction: &dyn Transaction,
    task: TaskId,
    who: &str,
    manifest_id: Option<&str>,
) -> Result<u64> {
    let changes = transaction.changes(0, Some(task), u32::MAX)?;
    let is_it = |change: &Change| {
        change.kind == BLOCKED
            && change.detail["by"] == who
            && change.detail["manifestId"].as_str() == manifest_id
    };
    Ok(changes.iter().filter(|one| is_it(&one.change)).count() as u64)
}

/// Writes the message to an agent with missing outputs: the violations, and the steps to fix them.
fn reason(
    workspace: &Workspace,
    task: &Task,
    record: &SpawnRecord,
    found: &OutputVerdict,
) -> String {
    let (id, file, entry) = (task.id, &record.output_file, &record.manifest_id);
    let violations = &found.report.violations;
    let breaks = |rule: &str| violations.iter().any(|one| one.rule == rule);
    let mut steps = Vec::new();
    if breaks("OUT-001") {
        steps.push(format!(
            "Write what you did or found to `{file}`, with a `# <title>` and a `## Summary` section."
        ));
    }
    if breaks("OUT-002") && found.entry_status.is_some() {
        steps.push(format!(
            "Correct the line of the entry {entry} in `{MANIFEST}` until the violations above are \
             gone; `cleo manifest show {entry}` shows it."
        ));
    } else if breaks("OUT-002") {
        steps.push(format!(
            "Append the entry; replace each `<…>` (status `partial` or `blocked` where that is the \
             truth):\n{}",
            append(task, record)
        ));
    }
    steps.push(format!(
        "See that `cleo verify output {id}` passes, then end with the one line that your prompt \
         asks for."
    ));
    let mut text = format!("{id} is not finished, so you cannot end yet:\n");
    for violation in violations {
        text += &format!("- {}: {}\n", violation.rule, violation.message);
    }
    text += &format!(
        "\nDo this now, below {}:\n",
        workspace.root.to_string_lossy()
    );
    for (number, step) in (1..).zip(steps) {
        text += &format!("{number}. {step}\n");
    }
    text
}

/// Writes the command that appends an entry with placeholders.
fn append(task: &Task, record: &SpawnRecord) -> String {
    let file = record.output_file.rsplit('/').next().unwrap_or_default();
    let (id, topics) = (&record.manifest_id, topics(task).join(","));
    format!(
        "cleo manifest append --id {id} --file {file} --task {} --topic {topics} \\\n  \
         --status complete --title '<title>' --finding '<fact>' --finding '<fact>' --finding '<fact>'",
        task.id
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcript_that_is_still_written_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| is_written(&path));
            std::fs::write(&path, "").unwrap();
            std::fs::write(&path, "{}\n").unwrap();
            assert!(waiting.join().unwrap());
        });
        assert!(!is_written(folder.path()));
    }
}
