//! The manifest file, which is read as a stream and only appended to. A missing file is an empty manifest; a faulty
//! line does not hide others.

mod append;
mod compact;
mod search;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque, hash_map};
use std::io::BufReader;
use std::path::Path;

use crate::error::{Code, Result};
use crate::file::{Lines, open_if_there, unreadable};
use crate::id::TaskId;
use crate::manifest::draft::Draft;
use crate::manifest::entry::{Entry, LINE_MAX};
use crate::manifest::line::{self, Faulty, Item};

pub(crate) use append::{append, refuse_duplicate};
pub(crate) use compact::compact;
pub(crate) use search::{Latest, Taken, collect_taken, contains_text, latest_for};

/// Size of the read buffer, in bytes.
const CHUNK: usize = 1 << 18;

/// Visits each line with its number, without its end; `None` is a line that is too long for an entry.
fn each_line(path: &Path, mut visit: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
    let Some(file) = open_if_there(path)? else {
        return Ok(());
    };
    // A carriage return at its end does not count.
    let fits = |bytes: &&[u8]| bytes.len() <= LINE_MAX || bytes.ends_with(b"\r");
    let mut lines = Lines::new(BufReader::with_capacity(CHUNK, file), LINE_MAX + 1);
    let unread = |cause| unreadable(path, cause);
    while let Some(line) = lines.next_line().map_err(unread)? {
        visit(line.number, line.bytes.filter(fits));
    }
    Ok(())
}

/// Ids and the numbers of their lines; hashing them is much of the work of a scan.
type Seen = HashMap<String, usize, foldhash::fast::RandomState>;

/// An item that [`scan`] visits.
pub(crate) enum Line<'a> {
    /// A valid entry, and the number of its line.
    Entry(usize, &'a Draft<'a>),
    /// A line, or a part of one, that is faulty or a duplicate.
    Faulty(Faulty),
}

/// Visits all items in order. Of entries with the same id, only the first is valid.
pub(crate) fn scan(path: &Path, visit: impl FnMut(Line<'_>)) -> Result<()> {
    scan_lines(path, |_| true, visit)
}

/// Visits the items of lines that pass, as [`scan`] does.
fn scan_lines(
    path: &Path,
    passes: impl Fn(&[u8]) -> bool,
    mut visit: impl FnMut(Line<'_>),
) -> Result<()> {
    let mut seen = Seen::default();
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else {
            return visit(Line::Faulty(line::too_long(number)));
        };
        if !passes(bytes) {
            return;
        }
        line::parse_items(number, bytes, &mut |item| {
            visit(match item {
                Item::Entry(draft) => report_duplicate(&mut seen, number, draft),
                Item::Faulty(faulty) => Line::Faulty(faulty),
            });
        });
    })
}

fn report_duplicate<'a>(seen: &mut Seen, number: usize, draft: &'a Draft<'a>) -> Line<'a> {
    let id = draft.id().unwrap_or_default();
    match seen.entry(id.to_string()) {
        hash_map::Entry::Occupied(first) => Line::Faulty(duplicate(number, id, *first.get())),
        hash_map::Entry::Vacant(free) => {
            free.insert(number);
            Line::Entry(number, draft)
        }
    }
}

/// Returns the fault of an entry whose id an earlier one has.
fn duplicate(line: usize, id: &str, first: usize) -> Faulty {
    let message = format!("the line repeats {id} of line {first}, which counts");
    Faulty::new(line, Code::LineDuplicate, message, Some(id.to_string()))
}

/// The lines that have an id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// The valid entry, and the number of its line.
    pub(crate) entry: Option<(usize, Entry)>,
    /// Other lines: torn, faulty or duplicate.
    pub(crate) faulty: Vec<Faulty>,
}

/// Finds the lines that have an id. Nothing found: no agent appended it (exit 62). Only faulty lines: an agent
/// did, but not as it should (exit 6).
pub(crate) fn find(path: &Path, id: &str) -> Result<Found> {
    let mut all = find_all(path, &HashSet::from([id]))?;
    Ok(all.remove(id).unwrap_or_default())
}

/// Finds the lines that have one of these ids.
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
        line::parse_items(number, bytes, &mut |item| {
            keep_wanted(&mut all, ids, number, item)
        });
    })?;
    Ok(all)
}

fn keep_wanted(
    all: &mut HashMap<String, Found>,
    ids: &HashSet<&str>,
    number: usize,
    item: Item<'_>,
) {
    let id = match &item {
        Item::Entry(draft) => draft.id(),
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
        (Item::Entry(draft), None) => found.entry = draft.entry().ok().map(|e| (number, e)),
    }
}

/// Finds the entries that are linked to one of these tasks, in the order of the file.
pub(crate) fn for_tasks(path: &Path, tasks: &[TaskId]) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    scan(path, |line| {
        if let Line::Entry(_, draft) = line
            && tasks.iter().any(|task| draft.is_linked_to(*task))
        {
            found.extend(draft.entry().ok());
        }
    })?;
    Ok(found)
}

/// The newest entries that pass.
pub(crate) struct Newest {
    /// The entries, the newest last.
    pub(crate) entries: Vec<Entry>,
    /// How many pass in all.
    pub(crate) total: usize,
    /// All faulty lines.
    pub(crate) faulty: Vec<Faulty>,
}

/// Finds the newest entries that pass, at most `limit`.
pub(crate) fn newest(
    path: &Path,
    limit: usize,
    mut passes: impl FnMut(&Draft<'_>) -> Result<bool>,
) -> Result<Newest> {
    let (mut ids, mut total, mut faulty) = (VecDeque::new(), 0, Vec::new());
    let mut failed = None;
    scan(path, |line| match line {
        Line::Faulty(fault) => faulty.push(fault),
        Line::Entry(_, draft) if failed.is_none() => match passes(draft) {
            Ok(false) => {}
            Ok(true) => {
                total += 1;
                ids.extend(draft.id().map(str::to_string));
                ids.drain(..ids.len().saturating_sub(limit));
            }
            Err(error) => failed = Some(error),
        },
        Line::Entry(..) => {}
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    // Only entries that are returned are copied.
    let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let mut found = find_all(path, &wanted)?;
    let entries = ids.iter().filter_map(|id| found.remove(id)?.entry);
    Ok(Newest {
        entries: entries.map(|(_, entry)| entry).collect(),
        total,
        faulty,
    })
}
