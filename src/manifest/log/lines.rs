//! The lines of a file, one after the other. Memory is bounded by the longest entry.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::Path;

use super::no_file;
use crate::error::Result;
use crate::file::unreadable;
use crate::manifest::entry::LINE_MAX;

/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// Visits each line with its number, without its end; one that is too long for an entry comes as
/// `None`. A missing file has no lines.
pub(super) fn each_line(path: &Path, mut visit: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
    let Some(file) = open(path)? else {
        return Ok(());
    };
    let mut lines = Lines {
        input: BufReader::with_capacity(CHUNK, file),
        start: Vec::new(),
    };
    for number in 1.. {
        let read = lines.next(|line| {
            let fits = line.len() <= LINE_MAX || line.trim_ascii_end().len() <= LINE_MAX;
            visit(number, fits.then_some(line));
        });
        if !read.map_err(|cause| unreadable(path, cause))? {
            break;
        }
    }
    Ok(())
}

struct Lines {
    input: BufReader<File>,
    /// What of a line stood in the chunks before.
    start: Vec<u8>,
}

impl Lines {
    /// Visits the next line, without copying it where it stands whole in a chunk; says whether
    /// there was one.
    fn next(&mut self, visit: impl FnOnce(&[u8])) -> io::Result<bool> {
        self.start.clear();
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                let is_line = !self.start.is_empty();
                is_line.then(|| visit(&self.start));
                return Ok(is_line);
            }
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let read = part.len() + usize::from(end.is_some());
            if end.is_some() && self.start.is_empty() {
                visit(part);
                self.input.consume(read);
                return Ok(true);
            }
            keep(&mut self.start, part);
            self.input.consume(read);
            if end.is_some() {
                visit(&self.start);
                return Ok(true);
            }
        }
    }
}

/// Adds a part of a line, as far as it is needed to see that the line is too long.
fn keep(start: &mut Vec<u8>, part: &[u8]) {
    let room = (LINE_MAX + 2).saturating_sub(start.len());
    start.extend_from_slice(&part[..part.len().min(room)]);
}

/// Opens the file for reading; `None` when there is none.
fn open(path: &Path) -> Result<Option<File>> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(no_file(path)),
        Ok(_) => File::open(path)
            .map(Some)
            .map_err(|cause| unreadable(path, cause)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(unreadable(path, cause)),
    }
}
