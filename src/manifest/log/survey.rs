//! Judging all of a long manifest: its parts are read side by side, then put together in order.

use std::collections::hash_map::Entry as Place;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

use foldhash::fast::RandomState;

use super::duplicate;
use super::{CHUNK, visit_lines};
use crate::error::Result;
use crate::file::{open_if_there, open_now, unreadable};
use crate::id::TaskId;
use crate::manifest::line::{self, Faulty, Item};

/// Bytes from which on a part is worth a thread of its own.
const PART_MIN: u64 = 4 << 20;
const PARTS_MAX: u64 = 8;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// How many entries count.
    pub(crate) entries: usize,
    pub(crate) faults: Vec<Faulty>,
    /// The tasks that entries name, also entries that repeat an id.
    pub(crate) named: BTreeSet<TaskId>,
}

/// Judges every line, as [`super::scan()`] does. A missing file holds nothing.
pub(crate) fn survey(path: &Path) -> Result<Survey> {
    let Some(file) = open_if_there(path)? else {
        return Ok(Survey::default());
    };
    let size = file
        .metadata()
        .map_err(|cause| unreadable(path, cause))?
        .len();
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let parts = (size / PART_MIN).clamp(1, PARTS_MAX.min(cores));
    survey_in(path, file, size, parts).map_err(|cause| unreadable(path, cause))
}

pub(super) fn survey_in(path: &Path, mut file: File, size: u64, parts: u64) -> io::Result<Survey> {
    let mut starts = vec![0];
    for part in 1..parts {
        let last = starts.last().copied().unwrap_or(0);
        let start = line_start(&mut file, last.max(size * part / parts))?;
        starts.push(start);
    }
    let ends: Vec<u64> = starts.iter().skip(1).copied().chain([u64::MAX]).collect();
    let judged: Vec<io::Result<Part>> = thread::scope(|scope| {
        let parts = starts.iter().zip(&ends);
        let running: Vec<_> = parts
            .map(|(start, end)| scope.spawn(move || Part::read(path, *start, *end)))
            .collect();
        let ended = running.into_iter().map(|part| part.join());
        let panicked = |_| Err(io::Error::other("a reader ended early"));
        ended.map(|part| part.unwrap_or_else(panicked)).collect()
    });
    let judged: Vec<Part> = judged.into_iter().collect::<io::Result<_>>()?;
    Ok(put_together(&judged))
}

/// Finds where the next line behind a place starts; the end of the file when there is none.
fn line_start(file: &mut File, place: u64) -> io::Result<u64> {
    if place == 0 {
        return Ok(0);
    }
    let mut at = place - 1;
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; 1 << 16];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(at),
            n => match memchr::memchr(b'\n', &bytes[..n]) {
                Some(end) => return Ok(at + end as u64 + 1),
                None => at += n as u64,
            },
        }
    }
}

/// What stands in a part of the file; lines are counted from its start.
#[derive(Default)]
struct Part {
    lines: usize,
    /// All ids, one behind the other: to keep each for itself takes time when there are many.
    ids: String,
    /// Of each id where it ends, and its line.
    ends: Vec<(usize, usize)>,
    faults: Vec<Faulty>,
    named: Vec<TaskId>,
}

impl Part {
    fn read(path: &Path, start: u64, end: u64) -> io::Result<Part> {
        let mut file = open_now(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut part = Part::default();
        let input = BufReader::with_capacity(CHUNK, file.take(end.saturating_sub(start)));
        visit_lines(input, |number, bytes| part.judge(number, bytes))?;
        Ok(part)
    }

    fn judge(&mut self, number: usize, bytes: Option<&[u8]>) {
        self.lines = number;
        let Some(bytes) = bytes else {
            return self.faults.push(line::too_long(number));
        };
        line::items(number, bytes, &mut |item| match item {
            Item::Faulty(faulty) => self.faults.push(faulty),
            Item::Entry(fields) => {
                let id = fields.id().unwrap_or_default();
                self.ids.push_str(id);
                self.ends.push((self.ids.len(), number));
                for (_, task) in fields.tasks() {
                    self.name(task);
                }
            }
        });
    }

    fn ids(&self) -> impl Iterator<Item = (&str, usize)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, line)| {
            let id = &self.ids[start..*end];
            start = *end;
            (id, *line)
        })
    }

    /// Keeps each task once whenever there is no more room, so that the list stays as short as the
    /// tasks are few. Then there is room for as many again: sorting must not become frequent.
    fn name(&mut self, task: TaskId) {
        if self.named.len() == self.named.capacity() {
            self.named.sort_unstable();
            self.named.dedup();
            self.named.reserve(self.named.len().max(64));
        }
        self.named.push(task);
    }
}

fn put_together(parts: &[Part]) -> Survey {
    let mut survey = Survey::default();
    let n_ids = parts.iter().map(|part| part.ends.len()).sum();
    let mut seen: HashMap<&str, usize, RandomState> =
        HashMap::with_capacity_and_hasher(n_ids, RandomState::default());
    let mut above = 0;
    for part in parts {
        let faults = part.faults.iter().cloned();
        survey.faults.extend(faults.map(|fault| Faulty {
            line: above + fault.line,
            ..fault
        }));
        for (id, number) in part.ids() {
            let line = above + number;
            match seen.entry(id) {
                Place::Vacant(free) => {
                    free.insert(line);
                    survey.entries += 1;
                }
                Place::Occupied(first) => {
                    let fault = duplicate(line, first.key(), *first.get());
                    survey.faults.push(fault);
                }
            }
        }
        above += part.lines;
    }
    survey.faults.sort_by_key(|fault| fault.line);
    // A set is made of many at once faster than one by one.
    survey.named = parts.iter().flat_map(|part| &part.named).copied().collect();
    survey
}
