//! Reading a batch: a file with one task a line. Every faulty line is named.

use std::io::BufRead;

use crate::error::{Code, Error, Result};
use crate::file::Lines;
use crate::task::draft::{Draft, TEXT_MAX};

/// Most faulty lines that one message names.
const FAULTS_SHOWN: usize = 10;
/// Longest line, in bytes: every long text of a task with room for escapes.
const LINE_MAX: usize = 4 * TEXT_MAX;

/// Reads drafts from JSON lines. Every faulty line is named; one is enough to refuse all.
pub fn read_batch(input: impl BufRead) -> Result<Vec<Draft>> {
    let mut lines = Lines::new(input, LINE_MAX);
    let (mut drafts, mut faults) = (Vec::new(), Vec::new());
    let unreadable = |cause: std::io::Error| {
        Error::new(
            Code::FileUnreadable,
            format!("the batch cannot be read: {cause}"),
        )
        .because(cause)
    };
    while let Some(line) = lines.next_line().map_err(unreadable)? {
        match read_line(line.bytes) {
            Ok(draft) => drafts.extend(draft.map(|draft| (line.number, draft))),
            Err(error) => faults.push((line.number, error)),
        }
    }
    refuse(faults)?;
    if drafts.is_empty() {
        return Err(
            Error::new(Code::BatchInvalid, "the batch holds no tasks").fix("cleo add --help")
        );
    }
    let (drafts, faults) = check_all(drafts);
    refuse(faults)?;
    Ok(drafts)
}

fn read_line(line: Option<&[u8]>) -> Result<Option<Draft>> {
    let Some(line) = line else {
        let message = format!("the line has more than {LINE_MAX} bytes");
        return Err(Error::new(Code::BatchInvalid, message));
    };
    let line = line
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(line)
        .trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let value = serde_json::from_slice(line).map_err(|cause| {
        let message = format!("no JSON at column {}: {cause}", cause.column());
        Error::new(Code::BatchInvalid, message)
    })?;
    Draft::from_json(value).map(Some)
}

type Faults = Vec<(usize, Error)>;

fn check_all(drafts: Vec<(usize, Draft)>) -> (Vec<Draft>, Faults) {
    let (mut good, mut faults) = (Vec::new(), Vec::new());
    for (number, draft) in drafts {
        match draft.checked() {
            Ok(draft) => good.push(draft),
            Err(error) => faults.push((number, error)),
        }
    }
    (good, faults)
}

/// Makes one error of all faults; its code is that of the first.
fn refuse(faults: Faults) -> Result<()> {
    let Some((_, first)) = faults.first() else {
        return Ok(());
    };
    let code = first.code;
    let mut lines: Vec<String> = faults
        .iter()
        .map(|(number, error)| format!("line {number}: {}", error.message))
        .collect();
    if lines.len() > FAULTS_SHOWN {
        let more = lines.len() - FAULTS_SHOWN;
        lines.truncate(FAULTS_SHOWN);
        lines.push(format!("and {more} more"));
    }
    Err(Error::new(code, lines.join("; ")))
}
