//! The names of one date that the manifest holds, read in one go however many prompts are placed.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use memchr::memmem;

use super::lines::each_line_from;
use super::search::may_be_escaped;
use crate::error::Result;
use crate::file::{open_if_there, unreadable};
use crate::manifest::line::{self, Item};
use crate::manifest::{glance, rules};

/// Names that a new entry of one date must not meet, also those of faulty lines.
#[derive(Debug, Default)]
pub struct Taken {
    date: String,
    ids: HashSet<String>,
    files: HashSet<String>,
    /// The file that was read, by the numbers of its device and its node, and how far.
    read: ((u64, u64), u64),
}

impl Taken {
    /// Says whether the manifest has an entry with this id.
    pub fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Says whether a line of the manifest names this output file, in any letter case: some disks
    /// make no difference.
    pub fn has_file(&self, name: &str) -> bool {
        self.files.contains(&name.to_lowercase())
    }

    /// Takes the names in what was appended since this was last asked. A file that was put in the place
    /// of the other, or cut, is read from its beginning.
    pub fn read_on(&mut self, path: &Path) -> Result<()> {
        let Some(file) = open_if_there(path)? else {
            *self = Taken::none(&self.date);
            return Ok(());
        };
        let there = file.metadata().map_err(|cause| unreadable(path, cause))?;
        let which = (there.dev(), there.ino());
        if self.read.0 != which || there.len() < self.read.1 {
            *self = Taken::none(&self.date);
        }
        let (mark, start) = (format!("-{}", self.date), format!("{}_", self.date));
        let mark = memmem::Finder::new(mark.as_bytes());
        let start = memmem::Finder::new(start.as_bytes());
        let from = self.read.1;
        let take = |number: usize, bytes: Option<&[u8]>| self.take(number, bytes, &mark, &start);
        let read = each_line_from(file, from, take);
        self.read = (which, read.map_err(|cause| unreadable(path, cause))?);
        Ok(())
    }

    fn none(date: &str) -> Taken {
        Taken {
            date: date.to_string(),
            ..Taken::default()
        }
    }

    fn take(
        &mut self,
        number: usize,
        bytes: Option<&[u8]>,
        mark: &memmem::Finder<'_>,
        start: &memmem::Finder<'_>,
    ) {
        let Some(bytes) = bytes else { return };
        self.take_files(bytes, start);
        let is_escaped = may_be_escaped(bytes);
        if let Some(id) = glance::plain_id(bytes).filter(|_| !is_escaped) {
            return self.take_id(id, mark);
        }
        line::items(number, bytes, &mut |item| match item {
            Item::Entry(fields) => {
                fields
                    .id()
                    .into_iter()
                    .for_each(|id| self.take_id(id, mark));
                let file = fields.slot("file").text();
                let file = file.and_then(|file| file.rsplit('/').next());
                file.into_iter().for_each(|name| self.take_file(name));
            }
            Item::Faulty(faulty) => faulty.id.iter().for_each(|id| self.take_id(id, mark)),
        });
    }

    fn take_id(&mut self, id: &str, mark: &memmem::Finder<'_>) {
        if mark.find(id.as_bytes()).is_some() && !self.ids.contains(id) {
            self.ids.insert(id.to_string());
        }
    }

    /// Takes the names in a line that stand as a whole text, or last in a path, and begin so.
    fn take_files(&mut self, bytes: &[u8], start: &memmem::Finder<'_>) {
        for at in start.find_iter(bytes) {
            let is_start = at > 0 && matches!(bytes[at - 1], b'"' | b'/');
            let name = memchr::memchr(b'"', &bytes[at..]).map(|end| &bytes[at..at + end]);
            let name = name.and_then(|name| std::str::from_utf8(name).ok());
            if let Some(name) = name.filter(|name| is_start && rules::is_id(name)) {
                self.take_file(name);
            }
        }
    }

    fn take_file(&mut self, name: &str) {
        let name = name.to_lowercase();
        if !self.files.contains(&name) {
            self.files.insert(name);
        }
    }
}

/// Collects the ids that hold `-<date>` and the names of output files that begin with `<date>_`.
pub fn taken(path: &Path, date: &str) -> Result<Taken> {
    let mut taken = Taken::none(date);
    taken.read_on(path)?;
    Ok(taken)
}
