//! The lines of a file, one after the other. Memory is bounded by the longest entry.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use crate::error::Result;
use crate::file::{Lines, open_if_there, unreadable};
use crate::manifest::entry::LINE_MAX;

/// How much is read at once.
pub(super) const CHUNK: usize = 1 << 18;

/// Visits each line with its number, without its end; one that is too long for an entry comes as
/// `None`. A missing file has no lines.
pub(super) fn each_line(path: &Path, visit: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
    let Some(file) = open_if_there(path)? else {
        return Ok(());
    };
    let input = BufReader::with_capacity(CHUNK, file);
    visit_lines(input, visit).map_err(|cause| unreadable(path, cause))
}

/// Visits each line of a file from a place on, which a line begins at. Returns where the last one that
/// has an end ends; where that cannot be told, the beginning.
pub(super) fn each_line_from(
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
pub(super) fn visit_lines(
    input: impl BufRead,
    mut visit: impl FnMut(usize, Option<&[u8]>),
) -> io::Result<()> {
    // The line may end as on Windows; that byte is no part of the entry.
    let fits = |bytes: &&[u8]| bytes.len() <= LINE_MAX || bytes.ends_with(b"\r");
    let mut lines = Lines::new(input, LINE_MAX + 1);
    while let Some(line) = lines.next_line()? {
        visit(line.number, line.bytes.filter(fits));
    }
    Ok(())
}
