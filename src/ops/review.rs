//! Everything in a workspace that would run, be called or be sent to, for its user to look at and to trust.

use std::collections::BTreeSet;

use serde::Serialize;

use super::agents::load_in;
use super::runs::journal;
use super::transfer::each_task;
use super::trust::{Item, ItemKind, Registrant, Standing, Trust, list_client_items};
use super::{Context, Notes, Surroundings};
use crate::catalogue::Catalogue;
use crate::config::Settings;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::run::RunStatus;
use crate::store::Store;
use crate::store::records::RunFilter;
use crate::workspace::Workspace;

/// How many runs are read at a time.
const PAGE: u32 = 1_000;

/// Everything that would run in a workspace.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Review {
    /// Each command, address, run, setting, skill and protocol once.
    pub(crate) items: Vec<Reviewed>,
    pub(crate) total: usize,
    /// How many of them are not trusted.
    pub(crate) untrusted: usize,
}

/// Something that would run, and whether it may.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Reviewed {
    #[serde(flatten)]
    pub(crate) item: Item,
    pub(crate) standing: Standing,
}

/// Lists what would run in a workspace, and how each stands; `only` what has this name, or this text in it.
pub(crate) fn review(
    surroundings: &Surroundings,
    notes: &mut Notes,
    settings: &Settings,
    only: Option<&str>,
) -> Result<Review> {
    let trust = Trust::new(surroundings, &surroundings.workspace()?);
    let store = Item::store(settings);
    if trust.require(&store).is_err() {
        let then = "what would run is in the database: look again once you trust its address";
        notes.warn([then.to_string()]);
        return Ok(review_items(&trust, store));
    }
    let mut context = Context::open(surroundings.clone())?;
    let workspace = context.workspace.clone();
    let mut items = list_command_items(&mut context)?;
    items.extend(list_run_items(&workspace)?);
    let known = load_in(&workspace)?;
    let workers = known.agents.iter().filter(|agent| agent.is_worker());
    items.extend(workers.map(Item::worker));
    notes.warn(known.warnings);
    items.extend(store);
    items.extend(Item::model(settings));
    items.extend(Item::runners(settings));
    items.extend(list_client_items(&workspace.root, None));
    match Catalogue::load_past_base(&surroundings.places(Some(&workspace))) {
        Ok(catalogue) => items.extend(Item::list_replacing_items(&catalogue)?),
        Err(error) => notes.warn([error.message]),
    }
    if let Some(only) = only {
        let has = |text: &str| text.to_lowercase().contains(&only.to_lowercase());
        items.retain(|it| match only.parse::<TaskId>() {
            // T1 is not T10.
            Ok(id) => it.origin.split(' ').any(|word| word.parse() == Ok(id)),
            Err(_) => it.name == only || has(&it.what) || has(&it.origin),
        });
        if items.is_empty() {
            let message = format!("nothing that would run has {} in it", quote(only));
            return Err(Error::new(Code::InputInvalid, message).fix("cleo trust --list"));
        }
    }
    Ok(review_items(&trust, items))
}

pub(crate) fn accept(surroundings: &Surroundings, review: Review) -> Result<Review> {
    surroundings.assignment.refuse_agent("trusts nothing")?;
    let workspace = surroundings.workspace()?;
    let trust = Trust::new(surroundings, &workspace);
    let items: Vec<Item> = review.items.into_iter().map(|one| one.item).collect();
    // An item that was trusted over HTTP stays restricted until the user trusts it.
    let failed = trust.trust_all(&items, Registrant::User, &surroundings.clock);
    match failed.into_iter().next() {
        Some((_, error)) => Err(error),
        None => Ok(review_items(&trust, items)),
    }
}

/// Takes away all trust in a workspace, also in one that cannot be read, or in a part of it, and reviews it then.
pub(crate) fn revoke(
    surroundings: &Surroundings,
    notes: &mut Notes,
    settings: &Settings,
    only: Option<&str>,
) -> Result<Review> {
    surroundings
        .assignment
        .refuse_agent("takes no trust away")?;
    let trust = Trust::new(surroundings, &surroundings.workspace()?);
    match only {
        None => trust.take_all()?,
        Some(_) => {
            let part = review(surroundings, notes, settings, only)?.items;
            part.iter().try_for_each(|one| trust.untrust(&one.item))?;
        }
    }
    review(surroundings, notes, settings, only)
}

impl Review {
    /// The error of a review of `only` these, as long as something is not trusted.
    pub(crate) fn error(&self, surroundings: &Surroundings, only: Option<&str>) -> Option<Error> {
        let workspace = surroundings.workspace().ok()?;
        let items: Vec<Item> = self.items.iter().map(|one| one.item.clone()).collect();
        let refused = Trust::new(surroundings, &workspace).require(&items);
        let error = refused.err()?;
        let part = only.map(|only| quote(only) + " ").unwrap_or_default();
        let message = format!(
            "{}; `cleo trust {part}--yes` trusts all of it",
            error.message
        );
        Some(Error::new(error.code, message))
    }
}

fn review_items(trust: &Trust, items: Vec<Item>) -> Review {
    let mut seen: BTreeSet<(ItemKind, String)> = BTreeSet::new();
    let mut reviewed: Vec<Reviewed> = Vec::new();
    for item in items {
        if seen.insert((item.kind, item.name.clone())) {
            let standing = trust.standing(&item);
            reviewed.push(Reviewed { item, standing });
        }
    }
    let is_open = |one: &&Reviewed| one.standing != Standing::Trusted;
    Review {
        total: reviewed.len(),
        untrusted: reviewed.iter().filter(is_open).count(),
        items: reviewed,
    }
}

fn list_command_items(context: &mut Context) -> Result<Vec<Item>> {
    context.read(|transaction| {
        let mut items = Vec::new();
        each_task(transaction, |task| {
            items.extend(Item::criteria(task.id, &task.acceptance));
            if let Some(gates) = transaction.gates_of(&[task.id])?.get(&task.id) {
                items.extend(Item::gates(task.id, gates));
            }
            Ok(())
        })?;
        Ok(items)
    })
}

fn list_run_items(workspace: &Workspace) -> Result<Vec<Item>> {
    let Some(mut store) = workspace.store_if_there()? else {
        return Ok(Vec::new());
    };
    let transaction = store.read()?;
    let (mut items, mut offset) = (Vec::new(), 0);
    loop {
        let filter = RunFilter {
            limit: PAGE,
            offset,
            ..RunFilter::default()
        };
        let page = transaction.runs(None, &filter)?;
        // Of a page without its damaged runs less, or nothing, may be left.
        if page.runs.is_empty() && page.total <= u64::from(offset) {
            return Ok(items);
        }
        offset += PAGE;
        let resumable = page.runs.iter().filter(|run| run.kind.resumes());
        for run in resumable.filter(|run| run.status != RunStatus::Completed) {
            let events = journal::events(&*transaction, &run.id)?;
            items.push(Item::from_run(run, &events));
        }
    }
}
