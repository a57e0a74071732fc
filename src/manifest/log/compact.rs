//! Moving what does not count out of the manifest, into a file beside it. Nothing is lost: what is
//! moved is on disk over there before it goes here.
//!
//! Whoever opened the manifest with `>>` before it was replaced knows of no lock and writes on to the old
//! file, so that is followed for a while.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use serde::Serialize;

use super::append::{PATIENCE, PAUSE, is_torn, open_locked, put};
use super::{CHUNK, duplicate};
use crate::error::{Code, Result};
use crate::file::{unreadable, unwritable};
use crate::id::digest;
use crate::manifest::entry::LINE_MAX;
use crate::manifest::line::{self, Faulty, Item};

#[derive(Debug, Default)]
pub(crate) struct Compacted {
    pub(crate) kept: usize,
    /// What is moved, by line.
    pub(crate) rejected: Vec<Faulty>,
}

/// A line that was moved, as it stands in the other file.
#[derive(Serialize)]
struct Moved<'a> {
    at: &'a str,
    line: usize,
    code: &'static str,
    reason: &'a str,
    digest: String,
    /// The line; one that is no UTF-8 stands in `bytes` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a [u8]>,
}

/// Moves torn, foreign, overlong and repeated lines to `rejected`, under the lock that appending
/// takes; who appends with `>>` knows of no lock, so what comes late is waited for a while. Whole entries
/// in them stay, each on a line of its own; so do archived entries, and those with faults that their author
/// can mend. `None` for `rejected` only looks.
pub(crate) fn compact(path: &Path, rejected: Option<&Path>, now: &str) -> Result<Compacted> {
    compact_waiting(path, rejected, now, &mut waits())
}

fn compact_waiting(
    path: &Path,
    rejected: Option<&Path>,
    now: &str,
    waits: &mut dyn FnMut(bool) -> bool,
) -> Result<Compacted> {
    let real = match fs::canonicalize(path) {
        Err(_) if is_missing(path) => return Ok(Compacted::default()),
        real => real.map_err(|cause| unreadable(path, cause))?,
    };
    let mut file = open_locked(&real, PATIENCE)?;
    let mut work = || -> io::Result<Compacted> {
        // A line that somebody is about to finish is waited for.
        is_torn(&mut file)?;
        file.rewind()?;
        let folder = real.parent().unwrap_or(Path::new("."));
        let mut draft = tempfile::Builder::new()
            .prefix(".new-")
            .append(true)
            .tempfile_in(folder)?;
        let mut moved = Vec::new();
        let (compacted, length) = sort(&mut file, draft.as_file_mut(), &mut moved, now)?;
        let Some(rejected) = rejected.filter(|_| !compacted.rejected.is_empty()) else {
            return Ok(compacted);
        };
        append(rejected, &moved)?;
        draft
            .as_file()
            .set_permissions(file.metadata()?.permissions())?;
        // Nobody who waits for the lock may write to the new file before it is whole.
        draft.as_file().lock()?;
        draft.as_file().sync_all()?;
        let mut new = draft.persist(&real).map_err(|fault| fault.error)?;
        File::open(folder)?.sync_all()?;
        follow(&mut file, &mut new, length, &mut *waits)?;
        Ok(compacted)
    };
    work().map_err(|cause| unwritable(path, cause))
}

/// Says whether there is nothing at a place, not even a link that leads nowhere.
fn is_missing(path: &Path) -> bool {
    let there = fs::symlink_metadata(path);
    there.is_err_and(|cause| cause.kind() == ErrorKind::NotFound)
}

/// Appends whole lines to a file and makes them durable.
fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(lines)?;
    file.sync_all()
}

/// Copies the lines that stay to `kept`, and those that do not to `moved`. Returns how far it read.
fn sort(
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
        let verdict = judge(number, text, &mut seen);
        compacted.kept += verdict.kept.len();
        for line in verdict.kept {
            output.write_all(line.as_deref().unwrap_or(text))?;
            output.write_all(b"\n")?;
        }
        if let Some(faulty) = verdict.fault {
            serde_json::to_writer(&mut *moved, &moved_line(now, text, &faulty))?;
            moved.push(b'\n');
            compacted.rejected.push(faulty);
        }
    }
    output.flush()?;
    Ok((compacted, length))
}

fn moved_line<'a>(now: &'a str, text: &'a [u8], faulty: &'a Faulty) -> Moved<'a> {
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

/// What becomes of a line.
#[derive(Default)]
struct Verdict {
    /// What stays: the line as it is (none), or an entry that stood in it.
    kept: Vec<Option<Vec<u8>>>,
    /// Why the line itself goes.
    fault: Option<Faulty>,
}

fn judge(number: usize, text: &[u8], seen: &mut HashMap<String, usize>) -> Verdict {
    let mut verdict = Verdict::default();
    if text.len() > LINE_MAX + 1 {
        verdict.fault = Some(line::too_long(number));
        return verdict;
    }
    line::items(number, text, &mut |item| match item {
        Item::Faulty(faulty) if faulty.code == Code::EntryInvalid && verdict.fault.is_none() => {
            verdict.kept.push(None);
        }
        Item::Faulty(faulty) => {
            verdict.fault.get_or_insert(faulty);
        }
        Item::Entry(fields) => {
            let id = fields.id().unwrap_or_default();
            if let Some(first) = seen.get(id) {
                let again = duplicate(number, id, *first);
                verdict.fault.get_or_insert(again);
                return;
            }
            seen.insert(id.to_string(), number);
            // An entry behind a torn one gets a line of its own.
            let alone = verdict
                .fault
                .is_some()
                .then(|| fields.entry().ok()?.line().ok());
            verdict.kept.push(alone.flatten().map(String::into_bytes));
        }
    });
    verdict
}

/// After how long without anything new no more is waited for.
const QUIET: Duration = Duration::from_millis(250);
/// How long is waited at most, however much comes.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Waits for what comes late. It is told after each look whether something came, and says whether to look
/// again.
pub(super) fn waits() -> impl FnMut(bool) -> bool {
    let mut times = None;
    move |came| {
        let now = Instant::now();
        let (begun, last) = times.get_or_insert((now, now));
        if came {
            *last = now;
        }
        let goes_on = now - *last < QUIET && now - *begun < WAIT_MAX;
        if goes_on && !came {
            thread::sleep(PAUSE);
        }
        goes_on
    }
}

/// Takes over to the new file what is appended to the old one behind `length`, as long as it is waited for:
/// whole lines at once, and in the end a line without end, which gets one. What is there when this returns is
/// on disk.
pub(super) fn follow(
    old: &mut File,
    new: &mut File,
    length: u64,
    waits: &mut dyn FnMut(bool) -> bool,
) -> io::Result<()> {
    old.seek(SeekFrom::Start(length))?;
    let mut late = Vec::new();
    loop {
        let read = Read::by_ref(old)
            .take(CHUNK as u64)
            .read_to_end(&mut late)?;
        let whole = memchr::memrchr(b'\n', &late).map_or(0, |end| end + 1);
        take_over(new, &late[..whole])?;
        late.drain(..whole);
        if !waits(read > 0) {
            break;
        }
    }
    if !late.is_empty() {
        late.push(b'\n');
    }
    take_over(new, &late)
}

/// Appends lines behind whatever others have appended to the new file meanwhile.
fn take_over(new: &mut File, lines: &[u8]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let start: &[u8] = if is_torn(new)? { b"\n" } else { b"" };
    put(new, &[start, lines].concat())?;
    new.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    use super::*;

    #[test]
    fn who_has_the_file_open_while_another_takes_its_place_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [path, rejected] = ["manifest", "rejected"].map(|name| folder.path().join(name));
        fs::write(&path, "litter\n").unwrap();
        let mut agent = OpenOptions::new().append(true).open(&path).unwrap();
        let mut lines = ["1\n", "2\n", "3"].into_iter();
        let mut waits = |_: bool| {
            let line = lines.next();
            line.is_some_and(|line| agent.write_all(line.as_bytes()).is_ok())
        };
        let found = compact_waiting(&path, Some(&rejected), "now", &mut waits).unwrap();
        assert_eq!((found.kept, found.rejected.len()), (0, 1));
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n3\n");
    }

    fn open(path: &Path) -> File {
        let mut options = OpenOptions::new();
        options.read(true).append(true).open(path).unwrap()
    }

    #[test]
    fn lines_are_taken_over_as_soon_as_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "litter\n2\n").unwrap();
        fs::write(&new, "2\n").unwrap();
        let mut agent = open(&old);
        let mut writes = ["3\n4", "", "4\n5", "\n6"].into_iter();
        let mut seen = Vec::new();
        let mut waits = |came: bool| {
            seen.push((came, fs::read_to_string(&new).unwrap()));
            let text = writes.next();
            text.is_some_and(|text| agent.write_all(text.as_bytes()).is_ok())
        };
        follow(&mut open(&old), &mut open(&new), 9, &mut waits).unwrap();
        let expected = [
            (false, "2\n"),
            (true, "2\n3\n"),
            (false, "2\n3\n"),
            (true, "2\n3\n44\n"),
            (true, "2\n3\n44\n5\n"),
        ];
        let seen: Vec<(bool, &str)> = seen.iter().map(|(came, text)| (*came, &**text)).collect();
        assert_eq!(seen, expected);
        assert_eq!(fs::read_to_string(&new).unwrap(), "2\n3\n44\n5\n6\n");
    }

    #[test]
    fn a_line_that_somebody_left_without_end_in_the_new_file_stays_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "late\n").unwrap();
        fs::write(&new, "torn").unwrap();
        follow(&mut open(&old), &mut open(&new), 0, &mut |_| false).unwrap();
        assert_eq!(fs::read_to_string(&new).unwrap(), "torn\nlate\n");
    }
}
