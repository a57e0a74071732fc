//! The file of the manifest, read as a stream and only ever appended to. A file that is not there
//! is an empty manifest; a faulty line never hides the lines around it.
//! Memory is bounded by the longest entry.

mod append;
mod compact;
mod search;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
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
pub(crate) use search::{Latest, Taken, any_text, collect_taken, latest_for};

/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// Visits each line with its number, without its end; one that is too long for an entry comes as
/// `None`. A missing file has no lines.
fn each_line(path: &Path, mut visit: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
    let Some(file) = open_if_there(path)? else {
        return Ok(());
    };
    // The line may end as on Windows; that byte is no part of the entry.
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

/// What [`scan`] found at one place.
pub(crate) enum Line<'a> {
    /// An entry that counts, in the line of this number.
    Entry(usize, &'a Draft<'a>),
    /// A line, or a part of one, that is no entry or repeats one.
    Faulty(Faulty),
}

/// Visits everything in the manifest in order. When an id stands twice, the first entry counts.
pub(crate) fn scan(path: &Path, visit: impl FnMut(Line<'_>)) -> Result<()> {
    scan_lines(path, |_| true, visit)
}

/// Visits lines that pass, as [`scan`] does; of an id the first of them counts.
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
        line::items(number, bytes, &mut |item| {
            visit(match item {
                Item::Entry(draft) => first(&mut seen, number, draft),
                Item::Faulty(faulty) => Line::Faulty(faulty),
            });
        });
    })
}

fn first<'a>(seen: &mut Seen, number: usize, draft: &'a Draft<'a>) -> Line<'a> {
    let id = draft.id().unwrap_or_default();
    if let Some(first) = seen.get(id) {
        return Line::Faulty(duplicate(number, id, *first));
    }
    seen.insert(id.to_string(), number);
    Line::Entry(number, draft)
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
    /// Everything in the manifest that is no entry.
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
    // Only what is kept is copied out of the file.
    let wanted: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let mut found = find_all(path, &wanted)?;
    let entries = ids.iter().filter_map(|id| found.remove(id)?.entry);
    Ok(Newest {
        entries: entries.map(|(_, entry)| entry).collect(),
        total,
        faulty,
    })
}
