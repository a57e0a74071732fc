//! Finding entries without reading all of the manifest: a cheap look at each line decides whether
//! it is taken apart.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::{each_line, scan};
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::entry::Entry;
use crate::manifest::line::{Faulty, Item};
use crate::manifest::{glance, line};

/// What the manifest holds under one id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The entry that counts and the number of its line.
    pub entry: Option<(usize, Entry)>,
    /// Lines that carry the id and do not count: torn, faulty or repeated.
    pub faulty: Vec<Faulty>,
}

/// Finds what stands under one id. No entry and no faulty line: nobody appended it (exit 62). No
/// entry but faulty lines: somebody did, and badly (exit 6).
pub fn find(path: &Path, id: &str) -> Result<Found> {
    let mut all = find_all(path, &HashSet::from([id]))?;
    Ok(all.remove(id).unwrap_or_default())
}

/// Finds what stands under each of these ids; an id without any line is left out.
pub fn find_all(path: &Path, ids: &HashSet<&str>) -> Result<HashMap<String, Found>> {
    let mut all: HashMap<String, Found> = HashMap::new();
    if ids.is_empty() {
        return Ok(all);
    }
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        if glance::plain_id(bytes).is_some_and(|id| !ids.contains(id)) {
            return;
        }
        line::items(number, bytes, &mut |item| keep(&mut all, ids, number, item));
    })?;
    Ok(all)
}

fn keep(all: &mut HashMap<String, Found>, ids: &HashSet<&str>, number: usize, item: Item<'_>) {
    let id = match &item {
        Item::Entry(fields) => fields.id(),
        Item::Faulty(faulty) => faulty.id.as_deref(),
    };
    let Some(id) = id.filter(|id| ids.contains(id)).map(str::to_string) else {
        return;
    };
    let found = all.entry(id.clone()).or_default();
    match (item, &found.entry) {
        (Item::Faulty(faulty), _) => found.faulty.push(faulty),
        (Item::Entry(_), Some((first, _))) => {
            found.faulty.push(scan::duplicate(number, &id, *first));
        }
        (Item::Entry(fields), None) => found.entry = fields.entry().ok().map(|e| (number, e)),
    }
}

/// Finds the entries that are linked to one of these tasks, in the order of the file.
pub fn for_tasks(path: &Path, tasks: &[TaskId]) -> Result<Vec<Entry>> {
    let tasks: HashSet<TaskId> = tasks.iter().copied().collect();
    let candidates = candidates(path, &tasks)?;
    // A candidate may repeat the id of an entry further up that is linked to something else.
    let ids = candidates.iter().map(String::as_str).collect();
    let mut found: Vec<(usize, Entry)> = find_all(path, &ids)?
        .into_values()
        .filter_map(|found| found.entry)
        .collect();
    found.retain(|(_, entry)| entry.linked_tasks.iter().any(|task| tasks.contains(task)));
    found.sort_by_key(|(line, _)| *line);
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

pub(super) fn candidates(path: &Path, tasks: &HashSet<TaskId>) -> Result<HashSet<String>> {
    let mut ids = HashSet::new();
    if tasks.is_empty() {
        return Ok(ids);
    }
    let search = glance::TaskSearch::new();
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        if !search.may_name(bytes, |task| tasks.contains(&task)) {
            return;
        }
        line::items(number, bytes, &mut |item| {
            if let Item::Entry(fields) = item {
                ids.extend(fields.id().map(str::to_string));
            }
        });
    })?;
    Ok(ids)
}

/// Collects the ids in the manifest that start with `prefix`, also those of faulty lines, so that
/// a new id can be chosen that meets none of them.
pub fn ids_in_use(path: &Path, prefix: &str) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    let mut keep = |id: &str| {
        if id.starts_with(prefix) {
            ids.insert(id.to_string());
        }
    };
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        if let Some(id) = glance::plain_id(bytes) {
            return keep(id);
        }
        line::items(number, bytes, &mut |item| {
            match item {
                Item::Entry(fields) => fields.id().map(&mut keep),
                Item::Faulty(faulty) => faulty.id.as_deref().map(&mut keep),
            };
        });
    })?;
    Ok(ids)
}
