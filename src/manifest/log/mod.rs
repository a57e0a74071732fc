//! The file of the manifest, read as a stream and only ever appended to. A file that is not there
//! is an empty manifest; a faulty line never hides the lines around it.
//! Memory is bounded by the longest entry.

mod append;
mod compact;
mod search;
mod survey;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Code, Result};
use crate::file::{Lines, open_if_there, unreadable};
use crate::id::TaskId;
use crate::manifest::entry::{Entry, LINE_MAX};
use crate::manifest::fields::Fields;
use crate::manifest::line::{self, Faulty, Item};

pub(crate) use append::{append, refuse_duplicate};
pub(crate) use compact::compact;
pub(crate) use search::{Latest, Taken, any_text, latest_for, taken, with_followups};
pub(crate) use survey::{Survey, survey};

/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// Visits each line with its number, without its end; one that is too long for an entry comes as
/// `None`. A missing file has no lines.
fn each_line(path: &Path, visit: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
    let Some(file) = open_if_there(path)? else {
        return Ok(());
    };
    let input = BufReader::with_capacity(CHUNK, file);
    visit_lines(input, visit).map_err(|cause| unreadable(path, cause))
}

/// Visits each line of a file from a place on, which a line begins at. Returns where the last one that
/// has an end ends; where that cannot be told, the beginning.
fn each_line_from(
    mut file: File,
    from: u64,
    mut visit: impl FnMut(usize, Option<&[u8]>),
) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut input = BufReader::with_capacity(CHUNK, file);
    let (mut end, mut last) = (Some(from), 0);
    visit_lines(&mut input, |number, bytes| {
        last = bytes.map_or(0, |bytes| bytes.len() as u64 + 1);
        end = end.filter(|_| bytes.is_some()).map(|end| end + last);
        visit(number, bytes);
    })?;
    let read = input.stream_position()?;
    // Only the last line can have no end.
    let end = end.map(|end| if end > read { end - last } else { end });
    Ok(end.unwrap_or(0))
}

/// Visits each line of an input as [`each_line`] does.
fn visit_lines(input: impl BufRead, mut visit: impl FnMut(usize, Option<&[u8]>)) -> io::Result<()> {
    // The line may end as on Windows; that byte is no part of the entry.
    let fits = |bytes: &&[u8]| bytes.len() <= LINE_MAX || bytes.ends_with(b"\r");
    let mut lines = Lines::new(input, LINE_MAX + 1);
    while let Some(line) = lines.next_line()? {
        visit(line.number, line.bytes.filter(fits));
    }
    Ok(())
}

/// What [`scan`] found at one place.
pub(crate) enum Line<'a> {
    /// An entry that counts, in the line of this number.
    Entry(usize, &'a Fields<'a>),
    /// A line, or a part of one, that is no entry or repeats one.
    Faulty(Faulty),
}

/// Visits everything in the manifest in order. When an id stands twice, the first entry counts.
pub(crate) fn scan(path: &Path, mut visit: impl FnMut(Line<'_>)) -> Result<()> {
    let mut seen = HashMap::new();
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else {
            return visit(Line::Faulty(line::too_long(number)));
        };
        line::items(number, bytes, &mut |item| {
            visit(match item {
                Item::Entry(fields) => first(&mut seen, number, fields),
                Item::Faulty(faulty) => Line::Faulty(faulty),
            });
        });
    })
}

fn first<'a>(seen: &mut HashMap<String, usize>, number: usize, fields: &'a Fields<'a>) -> Line<'a> {
    let id = fields.id().unwrap_or_default();
    match seen.insert(id.to_string(), number) {
        None => Line::Entry(number, fields),
        Some(first) => {
            seen.insert(id.to_string(), first);
            Line::Faulty(duplicate(number, id, first))
        }
    }
}

/// The fault of an entry whose id stands further up.
fn duplicate(line: usize, id: &str, first: usize) -> Faulty {
    let message = format!("the line repeats {id} of line {first}, which counts");
    Faulty::new(line, Code::LineDuplicate, message, Some(id.to_string()))
}

/// What the manifest holds under one id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// The entry that counts and the number of its line.
    pub(crate) entry: Option<(usize, Entry)>,
    /// Lines that carry the id and do not count: torn, faulty or repeated.
    pub(crate) faulty: Vec<Faulty>,
}

/// Finds what stands under one id. No entry and no faulty line: nobody appended it (exit 62). No
/// entry but faulty lines: somebody did, and badly (exit 6).
pub(crate) fn find(path: &Path, id: &str) -> Result<Found> {
    let mut all = find_all(path, &HashSet::from([id]))?;
    Ok(all.remove(id).unwrap_or_default())
}

/// Finds what stands under each of these ids; an id without any line is left out.
pub(crate) fn find_all(path: &Path, ids: &HashSet<&str>) -> Result<HashMap<String, Found>> {
    let mut all: HashMap<String, Found> = HashMap::new();
    if ids.is_empty() {
        return Ok(all);
    }
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        if line::plain_id(bytes).is_some_and(|id| !ids.contains(id)) {
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
            found.faulty.push(duplicate(number, &id, *first));
        }
        (Item::Entry(fields), None) => found.entry = fields.entry().ok().map(|e| (number, e)),
    }
}

/// Finds the entries that are linked to one of these tasks, in the order of the file.
pub(crate) fn for_tasks(path: &Path, tasks: &[TaskId]) -> Result<Vec<Entry>> {
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

fn candidates(path: &Path, tasks: &HashSet<TaskId>) -> Result<HashSet<String>> {
    let mut ids = HashSet::new();
    if tasks.is_empty() {
        return Ok(ids);
    }
    let search = line::TaskSearch::new();
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
pub(crate) fn ids_in_use(path: &Path, prefix: &str) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    let mut keep = |id: &str| {
        if id.starts_with(prefix) {
            ids.insert(id.to_string());
        }
    };
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        if let Some(id) = line::plain_id(bytes) {
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

/// How much of the end is looked at, in bytes.
const TAIL: u64 = 1 << 18;

/// Finds the newest entries that pass, the newest first. Only the end of a long manifest is looked
/// at, so fewer may come than there are.
pub(crate) fn last(
    path: &Path,
    limit: usize,
    mut passes: impl FnMut(&Fields<'_>) -> bool,
) -> Result<Vec<Entry>> {
    let mut ids: VecDeque<String> = VecDeque::new();
    for bytes in tail(path)?.split(|byte| *byte == b'\n') {
        line::items(0, bytes, &mut |item| {
            if let Item::Entry(fields) = item
                && passes(fields)
            {
                ids.extend(fields.id().map(str::to_string));
            }
        });
        ids.drain(..ids.len().saturating_sub(limit));
    }
    // An id may stand further up as well, and the first entry of an id is the one that counts.
    let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let mut found = find_all(path, &wanted)?;
    let entries = ids.iter().rev().filter_map(|id| found.remove(id)?.entry);
    Ok(entries.map(|(_, entry)| entry).collect())
}

/// Reads the whole lines at the end of the file; nothing when there is none.
fn tail(path: &Path) -> Result<Vec<u8>> {
    let Some(mut file) = open_if_there(path)? else {
        return Ok(Vec::new());
    };
    let read = || -> std::io::Result<Vec<u8>> {
        let start = file.metadata()?.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        if start > 0 {
            let first_end = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
            bytes.drain(..first_end);
        }
        Ok(bytes)
    };
    read().map_err(|cause| unreadable(path, cause))
}
