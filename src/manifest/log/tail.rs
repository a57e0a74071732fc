//! The end of the manifest, where the newest entries stand.

use std::collections::{HashSet, VecDeque};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::find_all;
use crate::error::Result;
use crate::file::{open_if_there, unreadable};
use crate::manifest::entry::Entry;
use crate::manifest::fields::Fields;
use crate::manifest::line::{self, Item};

/// How much of the end is looked at, in bytes.
const TAIL: u64 = 1 << 18;

/// Finds the newest entries that pass, the newest first. Only the end of a long manifest is looked
/// at, so fewer may come than there are.
pub fn last(
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
