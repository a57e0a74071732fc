//! `cleo-jq`: the filter behind `--jq`, a program of its own that lies beside cleo, so that cleo
//! itself stays small. `cleo-jq SECONDS BYTES FILTER` reads JSON documents from standard input and
//! writes what the filter makes of each, a value a line; text as it is, without quotes.
//!
//! Both ways go in frames: a letter, the length of what follows as four bytes, the highest first, and
//! so many bytes. cleo sends documents (`d`). The answer to the filter is `r` (ready) or `x` (faulty,
//! with the place); to a document, a frame `o` for each value and then `e` (end) or `f` (failed, with
//! the reason). SECONDS of the processor are what a document may take, BYTES of address space what
//! there is for all of them; who takes more is ended by the system.

mod bounds;
mod filter;

use std::io::{self, BufWriter, Read, Write};
use std::process::ExitCode;

use bounds::Bounds;

/// Exit code for a filter that cannot be read, or a caller that does not speak in frames.
const FAULTY: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, memory, code] = words.as_slice() else {
        return ExitCode::from(FAULTY);
    };
    let (Ok(seconds), Ok(memory)) = (seconds.parse(), memory.parse()) else {
        return ExitCode::from(FAULTY);
    };
    let bounds = Bounds::begin(seconds, memory);
    match serve(&bounds, code) {
        Ok(true) => ExitCode::SUCCESS,
        // Who started this program and left has no use for an answer.
        Ok(false) | Err(_) => ExitCode::from(FAULTY),
    }
}

/// Answers documents until no more come; false when the filter is faulty.
fn serve(bounds: &Bounds, code: &str) -> io::Result<bool> {
    let (mut input, mut out) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    bounds.next();
    let filter = match filter::compile(code) {
        Ok(filter) => filter,
        Err(fault) => return send(&mut out, b'x', fault.as_bytes()).map(|()| false),
    };
    send(&mut out, b'r', &[])?;
    while let Some(document) = receive(&mut input)? {
        bounds.next();
        let done = filter::run(&filter, &document, |text| frame(&mut out, b'o', text));
        match done {
            Ok(()) => send(&mut out, b'e', &[])?,
            Err(message) => send(&mut out, b'f', message.as_bytes())?,
        }
    }
    Ok(true)
}

/// Reads the next document; none at the end.
fn receive(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 5];
    match input.read_exact(&mut head) {
        Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let mut document = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut document)?;
    Ok((read == length as usize).then_some(document))
}

fn frame(out: &mut impl Write, letter: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&[letter])?;
    out.write_all(&length.to_be_bytes())?;
    out.write_all(bytes)
}

fn send(out: &mut impl Write, letter: u8, bytes: &[u8]) -> io::Result<()> {
    frame(out, letter, bytes)?;
    out.flush()
}
