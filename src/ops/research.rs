//! Research: entries of the manifest and the tasks that they are linked to. Links are in the entries and, if added
//! later, in the store.

use std::collections::HashSet;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::manifest::{EntryId, require_entry};
use super::{Context, require};
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::{Entry, Status, log};
use crate::ops::tasks::One;
use crate::store::{Link, Transaction};
use crate::task;

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    pub(crate) entry: Entry,
    pub(crate) tasks: Vec<LinkedTask>,
}

/// A task that an entry is linked to.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct LinkedTask {
    pub(crate) id: TaskId,
    #[serde(flatten)]
    pub(crate) link: LinkTarget<task::Status>,
}

/// An entry that a task is linked to.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct LinkedEntry {
    pub(crate) entry: String,
    #[serde(flatten)]
    pub(crate) link: LinkTarget<Status>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct LinkTarget<S> {
    /// Its title; none if the task or the entry is gone.
    pub(crate) title: Option<String>,
    pub(crate) status: Option<S>,
    pub(crate) sources: Vec<Source>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Source {
    /// In the entry's `linked_tasks`.
    Entry,
    /// In the store, by `cleo research link`.
    Store,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Linked {
    pub(crate) task: TaskId,
    pub(crate) entry: String,
    /// False if `link` had linked them before.
    pub(crate) created: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Links {
    pub(crate) task: TaskId,
    /// Its entries: first those that name it, in the order of the manifest, then those linked later.
    pub(crate) links: Vec<LinkedEntry>,
    pub(crate) total: usize,
}

pub(crate) fn show(context: &mut Context, which: EntryId) -> Result<Shown> {
    let (_, entry) = require_entry(context, &which.id)?;
    let tasks = context.read(|transaction| tasks_of(transaction, &entry))?;
    Ok(Shown { entry, tasks })
}

fn tasks_of(transaction: &dyn Transaction, entry: &Entry) -> Result<Vec<LinkedTask>> {
    let stored = transaction.list_links_to(&entry.id)?;
    let later = stored.iter().map(|link| link.task);
    let mut ids: Vec<TaskId> = Vec::new();
    for id in entry.linked_tasks.iter().copied().chain(later) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let linked = |id: TaskId| -> Result<LinkedTask> {
        let task = transaction.task(id)?;
        let in_store = stored.iter().any(|link| link.task == id);
        Ok(LinkedTask {
            id,
            link: LinkTarget {
                status: task.as_ref().map(|task| task.status),
                title: task.map(|task| task.title),
                sources: sources(entry.linked_tasks.contains(&id), in_store),
            },
        })
    };
    ids.into_iter().map(linked).collect()
}

fn sources(in_entry: bool, in_store: bool) -> Vec<Source> {
    let places = [(in_entry, Source::Entry), (in_store, Source::Store)];
    let places = places.into_iter().filter(|(is_there, _)| *is_there);
    places.map(|(_, source)| source).collect()
}

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Id of the entry
    #[arg(value_name = "ID")]
    pub(crate) entry: String,
}

/// Links a task and an entry, which must both exist. Linking them again changes nothing.
pub(crate) fn link(context: &mut Context, pair: Pair) -> Result<Linked> {
    let Pair { task, entry } = pair;
    context.read(|tasks| require(tasks, task))?;
    require_entry(context, &entry)?;
    let link = Link {
        task,
        entry,
        at: context.now(),
    };
    let created = context.write(|transaction| {
        require(transaction, task)?;
        transaction.link(&link)
    })?;
    Ok(Linked {
        task,
        entry: link.entry,
        created,
    })
}

pub(crate) fn links(context: &mut Context, which: One) -> Result<Links> {
    let task = which.task;
    let stored = context.read(|transaction| {
        require(transaction, task)?;
        transaction.links(task)
    })?;
    let path = context.workspace.manifest()?;
    let stored_ids: Vec<&str> = stored.iter().map(|link| link.entry.as_str()).collect();
    let naming = log::for_tasks(&path, &[task])?;
    let mut links: Vec<LinkedEntry> = naming
        .iter()
        .map(|entry| describe_link(entry, true, stored_ids.contains(&entry.id.as_str())))
        .collect();
    let is_later = |id: &&str| !naming.iter().any(|entry| entry.id == *id);
    let later: Vec<&str> = stored_ids.into_iter().filter(is_later).collect();
    let mut found = log::find_all(&path, &later.iter().copied().collect::<HashSet<_>>())?;
    for id in later {
        let entry = found.remove(id).and_then(|found| found.entry);
        links.push(match entry {
            Some((_, entry)) => describe_link(&entry, false, true),
            None => LinkedEntry {
                entry: id.to_string(),
                link: LinkTarget {
                    title: None,
                    status: None,
                    sources: vec![Source::Store],
                },
            },
        });
    }
    let total = links.len();
    Ok(Links { task, links, total })
}

fn describe_link(entry: &Entry, in_entry: bool, in_store: bool) -> LinkedEntry {
    LinkedEntry {
        entry: entry.id.clone(),
        link: LinkTarget {
            title: Some(entry.title.clone()),
            status: Some(entry.status),
            sources: sources(in_entry, in_store),
        },
    }
}
