//! The file of the manifest, read as a stream and only ever appended to. A file that is not there
//! is an empty manifest; a faulty line never hides the lines around it.

mod append;
mod lookup;
mod scan;

pub use append::append;
pub use lookup::{Found, find, find_all, for_tasks, ids_in_use};
pub use scan::{Line, scan};

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use super::entry::LINE_MAX;
use crate::error::{Error, Result};
use crate::file::unreadable;

/// How much is read at once.
const CHUNK: usize = 1 << 18;

/// Reads the lines of a file one after the other, without their ends; one that is too long for an
/// entry comes as `None`. Memory is bounded by the longest entry.
fn each_line(path: &Path, mut visit: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
    let Some(file) = open(path)? else {
        return Ok(());
    };
    let mut input = BufReader::with_capacity(CHUNK, file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = LINE_MAX as u64 + 2;
        let read = (&mut input).take(limit).read_until(b'\n', &mut line);
        if read.map_err(|cause| unreadable(path, cause))? == 0 {
            break;
        }
        if line.pop_if(|last| *last == b'\n').is_none() && line.len() > LINE_MAX {
            input
                .skip_until(b'\n')
                .map_err(|cause| unreadable(path, cause))?;
        }
        visit(
            number,
            (line.trim_ascii_end().len() <= LINE_MAX).then_some(&line),
        );
    }
    Ok(())
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

/// The error for a folder, a pipe or a device in the manifest's place, which would block a reader.
fn no_file(path: &Path) -> Error {
    unreadable(path, std::io::Error::other("it is no regular file"))
}

#[cfg(test)]
mod tests;
