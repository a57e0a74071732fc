//! Moves faulty lines from the manifest to a file beside it. They are on disk there before they are removed here.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;
use std::{fs, io, thread};

use serde::Serialize;

use super::append::{PATIENCE, is_torn, open_locked, put};
use super::{CHUNK, duplicate};
use crate::error::{Code, Result};
use crate::file::{DRAFT, unreadable, unwritable};
use crate::id::digest;
use crate::manifest::entry::LINE_MAX;
use crate::manifest::line::{self, Faulty, Item};

/// Time that writers without a lock have to finish a line.
const PAUSE: Duration = Duration::from_millis(16);

#[derive(Debug, Default)]
pub(crate) struct Compacted {
    pub(crate) kept: usize,
    /// The lines that are moved.
    pub(crate) rejected: Vec<Faulty>,
}

/// A moved line in the other file.
#[derive(Serialize)]
struct Moved<'a> {
    at: &'a str,
    line: usize,
    code: &'static str,
    reason: &'a str,
    digest: String,
    /// The line, if it is UTF-8; else `bytes` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a [u8]>,
}

/// Moves torn, foreign, overlong and duplicate lines to `rejected`, under the lock of appending. Complete entries in
/// them stay, each on a line of its own; so do archived and invalid entries, which their authors can fix. Without
/// `rejected` nothing is moved.
pub(crate) fn compact(path: &Path, rejected: Option<&Path>, now: &str) -> Result<Compacted> {
    let real = match fs::canonicalize(path) {
        Err(_) if is_missing(path) => return Ok(Compacted::default()),
        real => real.map_err(|cause| unreadable(path, cause))?,
    };
    let mut file = open_locked(&real, PATIENCE)?;
    let mut work = || -> io::Result<Compacted> {
        if is_torn(&mut file)? {
            // Another process may be about to finish the line.
            thread::sleep(PAUSE);
        }
        file.rewind()?;
        let folder = real.parent().unwrap_or(Path::new("."));
        let mut draft = tempfile::Builder::new()
            .prefix(DRAFT)
            .append(true)
            .tempfile_in(folder)?;
        let mut moved = Vec::new();
        let (compacted, length) = separate_lines(&mut file, draft.as_file_mut(), &mut moved, now)?;
        let Some(rejected) = rejected.filter(|_| !compacted.rejected.is_empty()) else {
            return Ok(compacted);
        };
        append(rejected, &moved)?;
        draft
            .as_file()
            .set_permissions(file.metadata()?.permissions())?;
        // No process that waits for the lock may write to the new file before it is complete.
        draft.as_file().lock()?;
        draft.as_file().sync_all()?;
        let mut new = draft.persist(&real).map_err(|fault| fault.error)?;
        File::open(folder)?.sync_all()?;
        // An agent that opened the old file with `>>` takes no lock.
        thread::sleep(PAUSE);
        take_over(&mut file, &mut new, length)?;
        Ok(compacted)
    };
    work().map_err(|cause| unwritable(path, cause))
}

/// Returns true if a path does not exist, not even as a dangling link.
fn is_missing(path: &Path) -> bool {
    let there = fs::symlink_metadata(path);
    there.is_err_and(|cause| cause.kind() == ErrorKind::NotFound)
}

/// Appends lines to a file and makes them durable.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(lines)?;
    file.sync_all()
}

/// Copies the lines that stay to `kept`, and the others to `moved`. Returns how many bytes it read.
fn separate_lines(
    file: &mut File,
    kept: &mut File,
    moved: &mut Vec<u8>,
    now: &str,
) -> io::Result<(Compacted, u64)> {
    let mut input = BufReader::with_capacity(CHUNK, file);
    let mut output = io::BufWriter::with_capacity(CHUNK, kept);
    let (mut compacted, mut seen) = (Compacted::default(), HashMap::new());
    let (mut bytes, mut length) = (Vec::new(), 0);
    for number in 1.. {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        length += read as u64;
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let verdict = check_line(number, text, &mut seen);
        compacted.kept += verdict.kept.len();
        for line in verdict.kept {
            output.write_all(line.as_deref().unwrap_or(text))?;
            output.write_all(b"\n")?;
        }
        if let Some(faulty) = verdict.fault {
            serde_json::to_writer(&mut *moved, &move_line(now, text, &faulty))?;
            moved.push(b'\n');
            compacted.rejected.push(faulty);
        }
    }
    output.flush()?;
    Ok((compacted, length))
}

fn move_line<'a>(now: &'a str, text: &'a [u8], faulty: &'a Faulty) -> Moved<'a> {
    let as_text = std::str::from_utf8(text).ok();
    Moved {
        at: now,
        line: faulty.line,
        code: faulty.code.name(),
        reason: &faulty.message,
        digest: digest(text),
        text: as_text,
        bytes: as_text.is_none().then_some(text),
    }
}

/// The decision about a line.
#[derive(Default)]
struct Verdict {
    /// Lines that stay: the line itself (none), or an entry in it.
    kept: Vec<Option<Vec<u8>>>,
    /// Reason to move the line.
    fault: Option<Faulty>,
}

fn check_line(number: usize, text: &[u8], seen: &mut HashMap<String, usize>) -> Verdict {
    let mut verdict = Verdict::default();
    if text.len() > LINE_MAX + 1 {
        verdict.fault = Some(line::too_long(number));
        return verdict;
    }
    line::parse_items(number, text, &mut |item| match item {
        Item::Faulty(faulty) if faulty.code == Code::EntryInvalid && verdict.fault.is_none() => {
            verdict.kept.push(None);
        }
        Item::Faulty(faulty) => {
            verdict.fault.get_or_insert(faulty);
        }
        Item::Entry(draft) => {
            let id = draft.id().unwrap_or_default();
            if let Some(first) = seen.get(id) {
                let again = duplicate(number, id, *first);
                verdict.fault.get_or_insert(again);
                return;
            }
            seen.insert(id.to_string(), number);
            // An entry after a torn one gets a line of its own.
            let alone = verdict
                .fault
                .is_some()
                .then(|| draft.entry().ok()?.line().ok());
            verdict.kept.push(alone.flatten().map(String::into_bytes));
        }
    });
    verdict
}

/// Appends to the new file all that was appended to the old one after `length`.
fn take_over(old: &mut File, new: &mut File, length: u64) -> io::Result<()> {
    let mut late = Vec::new();
    old.seek(SeekFrom::Start(length))?;
    old.read_to_end(&mut late)?;
    if late.is_empty() {
        return Ok(());
    }
    if !late.ends_with(b"\n") {
        late.push(b'\n');
    }
    let start: &[u8] = if is_torn(new)? { b"\n" } else { b"" };
    put(new, &[start, &late].concat())?;
    new.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_lines_are_imported_behind_torn_one() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "litter\n2\n3").unwrap();
        fs::write(&new, "torn").unwrap();
        let open = |path| {
            let mut options = OpenOptions::new();
            options.read(true).append(true).open(path).unwrap()
        };
        take_over(&mut open(&old), &mut open(&new), 7).unwrap();
        assert_eq!(fs::read_to_string(&new).unwrap(), "torn\n2\n3\n");
    }
}
