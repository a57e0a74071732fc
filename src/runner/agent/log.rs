//! Keeps the log of an attempt.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Code, Error, Result};
use crate::file::{create_anew, unwritable};
use crate::run::log::{Entry, KEPT_MAX, Stream};

pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Lines that are not written yet.
    unwritten: Vec<u8>,
    /// How many bytes of each output were kept, and how many were left out.
    kept: [u64; 2],
    left_out: [u64; 2],
    /// The time of the last line, in milliseconds since 1970.
    ms: i64,
}

impl Log {
    /// Begins the log of an attempt in place of an earlier one.
    pub(super) fn begin(attempt: &Path) -> Result<Log> {
        let path = attempt.with_extension("log");
        let file = create_anew(&path).map_err(|cause| unwritable(&path, cause))?;
        Ok(Log {
            path,
            file,
            unwritten: Vec::new(),
            kept: [0; 2],
            left_out: [0; 2],
            ms: 0,
        })
    }

    /// Adds a line; once an output has filled its room, it is only counted.
    pub(super) fn add(&mut self, stream: Stream, text: &str, beyond: usize) -> Result<()> {
        let before = self.unwritten.len();
        self.write_line(stream, text, beyond)?;
        let size = (self.unwritten.len() - before) as u64;
        let kept = &mut self.kept[stream as usize];
        if *kept + size <= KEPT_MAX {
            *kept += size;
        } else {
            *kept = KEPT_MAX;
            self.unwritten.truncate(before);
            self.left_out[stream as usize] += (text.len() + beyond + 1) as u64;
        }
        Ok(())
    }

    fn write_line(&mut self, stream: Stream, text: &str, beyond: usize) -> Result<()> {
        // The wall clock includes the time in which the machine sleeps, but may be set back.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.map_or(0, |since| since.as_millis());
        self.ms = self.ms.max(i64::try_from(now).unwrap_or(i64::MAX));
        let entry = Entry {
            ms: self.ms,
            stream,
            text: Cow::Borrowed(text),
            beyond,
        };
        serde_json::to_writer(&mut self.unwritten, &entry).map_err(|cause| {
            Error::new(Code::Internal, "a line of a log cannot be written").because(cause)
        })?;
        self.unwritten.push(b'\n');
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        let written = self.file.write_all(&self.unwritten);
        self.unwritten.clear();
        written.map_err(|cause| unwritable(&self.path, cause))
    }

    /// Notes how much was left out.
    pub(super) fn end(mut self) -> Result<()> {
        for stream in [Stream::Out, Stream::Err] {
            let left_out = self.left_out[stream as usize];
            if left_out > 0 {
                let note = format!("[cleo left out {left_out} more bytes]");
                self.write_line(stream, &note, 0)?;
            }
        }
        self.flush()
    }
}
