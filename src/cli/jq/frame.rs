//! Frames between cleo and the process that filters: a letter, the length of what follows as four bytes,
//! the highest first, and so many bytes.
//!
//! cleo sends documents. The answer to the filter is `READY` or `FAULTY`, with the place; to a document, a
//! `VALUE` for each and then `END`, or `FAILED` with the reason.

use std::io::{self, Read, Write};

pub(super) const DOCUMENT: u8 = b'd';
pub(super) const READY: u8 = b'r';
pub(super) const FAULTY: u8 = b'x';
pub(super) const VALUE: u8 = b'o';
pub(super) const END: u8 = b'e';
pub(super) const FAILED: u8 = b'f';

pub(super) fn write(out: &mut impl Write, letter: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&[letter])?;
    out.write_all(&length.to_be_bytes())?;
    out.write_all(bytes)
}

pub(super) fn send(out: &mut impl Write, letter: u8, bytes: &[u8]) -> io::Result<()> {
    write(out, letter, bytes)?;
    out.flush()
}

/// Reads a frame: its letter and its bytes; `None` when the other process has ended.
pub(super) fn receive(input: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 5];
    match input.read_exact(&mut head) {
        Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let [letter, length @ ..] = head;
    let length = u32::from_be_bytes(length);
    let mut bytes = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut bytes)?;
    Ok((read == length as usize).then_some((letter, bytes)))
}
