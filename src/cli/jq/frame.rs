//! Frames between cleo and the filter process: a letter, the length as four bytes (big-endian), and
//! the content.
//!
//! cleo sends documents. The reply to the filter is `READY` or `FAULTY` with the position; to a
//! document, `VALUE` frames and then `END`, or `FAILED` with the reason.

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

/// Reads the letter and content of a frame; `None` if the other process has ended.
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
