//! Reads entries: many, or one.

use std::collections::HashSet;
use std::path::Path;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result, nearest};
use crate::file;
use crate::id::TaskId;
use crate::manifest::log::{self, Found, Line};
use crate::manifest::{Draft, Entry, Faulty, Status};
use crate::ops::Context;
use crate::score::normalize;
use crate::workspace::OUTPUT_DIR;

/// Maximum number of faulty lines in warnings.
const FAULTS_SHOWN: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Filter {
    /// Only entries linked to this task
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<TaskId>,

    /// Only entries of this status: complete, partial, blocked or archived
    #[arg(long, short, value_name = "STATUS")]
    pub(crate) status: Option<Status>,

    /// Only entries with this topic, ignoring case
    #[arg(long, value_name = "TOPIC")]
    pub(crate) topic: Option<String>,

    /// Maximum number of entries, the newest ones
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryId {
    /// Id of the entry
    pub(crate) id: String,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Compact {
    /// Show what would be moved
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

/// Entries and how many there are in all.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    /// The entries, newest last.
    pub(crate) entries: Vec<Entry>,
    /// How many fit, without limit.
    pub(crate) total: usize,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    pub(crate) entry: Entry,
    /// Number of its line in the manifest.
    pub(crate) line: usize,
}

/// Lists the entries that pass the filter, newest last.
pub(crate) fn list(context: &mut Context, filter: Filter) -> Result<Listed> {
    let linked: HashSet<String> = match filter.task {
        Some(task) => {
            let links = context.read(|transaction| transaction.links(task))?;
            links.into_iter().map(|link| link.entry).collect()
        }
        None => HashSet::new(),
    };
    let path = context.workspace.manifest()?;
    let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
    let newest = log::newest(&path, limit, |draft| Ok(filter.fits(draft, &linked)))?;
    context.notes.warn(warnings_of(&newest.faulty));
    Ok(Listed {
        entries: newest.entries,
        total: newest.total,
    })
}

impl Filter {
    fn fits(&self, draft: &Draft<'_>, linked: &HashSet<String>) -> bool {
        let topic = |wanted: &String| {
            let wanted = normalize(wanted.trim());
            let mut topics = draft.texts("topics");
            topics.any(|topic| normalize(topic.trim()) == wanted)
        };
        let is_linked_later = || draft.id().is_some_and(|id| linked.contains(id));
        let is_linked = |task| draft.is_linked_to(task) || is_linked_later();
        self.task.is_none_or(is_linked)
            && (self.status).is_none_or(|status| draft.has_status(status))
            && self.topic.as_ref().is_none_or(topic)
    }
}

pub(crate) fn show(context: &mut Context, which: EntryId) -> Result<Shown> {
    let (line, entry) = require_entry(context, &which.id)?;
    Ok(Shown { entry, line })
}

/// Reads an entry that must be there, and warns of lines of its id that do not count.
pub(in crate::ops) fn require_entry(context: &mut Context, id: &str) -> Result<(usize, Entry)> {
    let path = context.workspace.manifest()?;
    let Found { entry, faulty } = log::find(&path, id)?;
    match (entry, faulty.first()) {
        (Some(entry), _) => {
            context.notes.warn(warnings_of(&faulty));
            Ok(entry)
        }
        (None, Some(first)) => {
            let message = format!("the manifest holds {id} only in a faulty line; {first}");
            Err(Error::new(Code::EntryNotFound, message)
                .fix(file::show_lines_command(&path, &[first.line])))
        }
        (None, None) => Err(no_entry(&path, id)?),
    }
}

fn no_entry(path: &Path, id: &str) -> Result<Error> {
    let mut known = Vec::new();
    log::scan(path, |line| {
        known.extend(match line {
            Line::Entry(_, draft) => draft.id().map(str::to_string),
            Line::Faulty(faulty) => faulty.id,
        });
    })?;
    let message = format!("the manifest has no entry `{id}`");
    let error = Error::new(Code::EntryNotFound, message).fix("cleo manifest list");
    Ok(match nearest(id, known.iter().map(String::as_str)) {
        Some(near) => error.did_you_mean(near),
        None => error,
    })
}

fn warnings_of(faulty: &[Faulty]) -> Vec<String> {
    let shown = faulty.iter().take(FAULTS_SHOWN);
    let mut warnings: Vec<String> = shown.map(|fault| format!("manifest {fault}")).collect();
    if faulty.len() > FAULTS_SHOWN {
        let more = faulty.len() - FAULTS_SHOWN;
        warnings.push(format!(
            "and {more} more faulty lines: see `cleo manifest validate`"
        ));
    }
    warnings
}

/// Name of the file for moved lines, beside the manifest.
const REJECTED: &str = "MANIFEST.rejected.jsonl";

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compaction {
    pub(crate) kept: usize,
    /// The moved lines, by their numbers before.
    pub(crate) rejected: Vec<Faulty>,
    /// How many lines were moved.
    pub(crate) total: usize,
    /// Where they are now, relative to the workspace root.
    pub(crate) file: String,
    /// True when nothing was moved.
    pub(crate) dry_run: bool,
}

/// Moves torn, foreign, overlong and repeated lines out of the manifest.
pub(crate) fn compact(context: &mut Context, wanted: Compact) -> Result<Compaction> {
    let dry_run = wanted.dry_run;
    let file = format!("{OUTPUT_DIR}/{REJECTED}");
    let path = context.workspace.manifest()?;
    let rejected = context.workspace.confine(&file)?;
    let target = (!dry_run).then_some(rejected.as_path());
    let found = log::compact(&path, target, &context.now())?;
    Ok(Compaction {
        kept: found.kept,
        total: found.rejected.len(),
        rejected: found.rejected,
        file,
        dry_run,
    })
}
