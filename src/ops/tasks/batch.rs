//! Batches: files with one task a line.

use std::io::BufRead;
use std::path::Path;

use super::add::Plan;
use crate::error::{Code, Error, Result, quote};
use crate::file::{Lines, show_lines_command};
use crate::task::fields::Draft;
use crate::task::rules::TEXT_MAX;

/// Maximum number of faulty lines that a message names.
const FAULTS_SHOWN: usize = 10;
const BATCH_MAX: u64 = 256 << 20;
/// Longest line, in bytes: every long text of a task with room for escapes.
const LINE_MAX: usize = 4 * TEXT_MAX;

/// Reads tasks from JSON lines. The error names every faulty line; one is enough to refuse all.
pub(crate) fn read_batch(input: impl BufRead, file: Option<&Path>) -> Result<Vec<Plan>> {
    let mut lines = Lines::new(input.take(BATCH_MAX + 1), LINE_MAX);
    let (mut plans, mut faults, mut bytes) = (Vec::new(), Vec::new(), 0);
    let unreadable = |cause| error!(FileUnreadable, "the batch cannot be read: {cause}");
    while let Some(line) = lines.next_line().map_err(unreadable)? {
        bytes += line.bytes.map_or(LINE_MAX, <[u8]>::len) as u64 + 1;
        match read_line(line.bytes, line.number) {
            Ok(plan) => plans.extend(plan),
            Err(error) => faults.push((line.number, error)),
        }
    }
    if bytes > BATCH_MAX {
        return Err(error!(
            BatchInvalid,
            "the batch has more than {BATCH_MAX} bytes"
        ));
    }
    refuse(&faults, file)?;
    if plans.is_empty() {
        return Err(error!(BatchInvalid, "the batch holds no tasks"));
    }
    Ok(plans)
}

fn read_line(line: Option<&[u8]>, number: usize) -> Result<Option<Plan>> {
    let Some(line) = line else {
        return Err(error!(
            BatchInvalid,
            "the line has more than {LINE_MAX} bytes"
        ));
    };
    let line = line
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(line)
        .trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if std::str::from_utf8(line).is_err() {
        return Err(Error::new(Code::BatchInvalid, "the line is not UTF-8 text"));
    }
    Plan::new(Draft::from_json(line)?, Some(number)).map(Some)
}

/// A faulty line: its number, and what is wrong with it.
type Fault = (usize, Error);

/// Makes one error of all faults; its code is that of the first.
fn refuse(faults: &[Fault], file: Option<&Path>) -> Result<()> {
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
    let numbers = faults.iter().map(|(number, _)| *number).collect();
    let error = Error::new(code, lines.join("; ")).at_lines(numbers);
    Err(match file {
        Some(file) => with_look(error, file),
        None => error,
    })
}

pub(crate) fn with_look(error: Error, file: &Path) -> Error {
    if error.lines.is_empty() {
        return error;
    }
    let lines = &error.lines[..error.lines.len().min(FAULTS_SHOWN)];
    let look = show_lines_command(file, lines);
    let again = format!("cleo add --batch {}", quote(&file.to_string_lossy()));
    error
        .fix(look)
        .or("add all of it, once it is corrected", again)
}
