//! Reads the output of a command on threads that nobody waits for, so that a process holding a pipe open
//! cannot block cleo.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::process::Child;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::id;

pub(super) const LAST_LINES: usize = 20;
/// Where a line is broken into two, in bytes.
const LINE_MAX: usize = 2_000;
const CHUNK: usize = 16 * 1024;

pub(super) struct Pipes {
    read: [Arc<Mutex<Heard>>; 2],
    closed: Receiver<()>,
}

impl Pipes {
    /// Starts to read the output of a command, keeping the first `keep` bytes of its standard output.
    pub(super) fn follow(child: &mut Child, keep: usize) -> Pipes {
        let read = [keep, 0].map(|keep| {
            Arc::new(Mutex::new(Heard {
                keep,
                ..Heard::default()
            }))
        });
        let (closing, closed) = mpsc::channel();
        if let Some(pipe) = child.stdout.take() {
            follow(pipe, &read[0], closing.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            follow(pipe, &read[1], closing);
        }
        Pipes { read, closed }
    }

    pub(super) fn wait(&self, limit: Duration) {
        let start = Instant::now();
        let left = || limit.saturating_sub(start.elapsed());
        let _ = (0..2).all(|_| self.closed.recv_timeout(left()).is_ok());
    }

    pub(super) fn heard(&self) -> (String, Vec<String>) {
        let [(out, mut lines), (err, more)] = [0, 1].map(|which| {
            let heard = &self.read[which];
            heard
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .summary()
        });
        lines.extend(more);
        lines.drain(..lines.len().saturating_sub(LAST_LINES));
        (id::digest(format!("{out}{err}")), lines)
    }

    pub(super) fn complaints(&self) -> Vec<String> {
        let heard = self.read[1].lock();
        heard.unwrap_or_else(PoisonError::into_inner).summary().1
    }

    pub(super) fn is_cut(&self) -> bool {
        let heard = self.read[0].lock().unwrap_or_else(PoisonError::into_inner);
        (heard.kept.len() as u64) < heard.length
    }

    pub(super) fn kept(&self) -> Kept {
        let mut heard = self.read[0].lock().unwrap_or_else(PoisonError::into_inner);
        let is_cut = (heard.kept.len() as u64) < heard.length;
        Kept {
            bytes: std::mem::take(&mut heard.kept),
            is_whole: heard.ended && !is_cut,
            is_cut,
        }
    }
}

pub(super) struct Kept {
    pub(super) bytes: Vec<u8>,
    /// True when that is all of it, and nothing can come any more.
    pub(super) is_whole: bool,
    pub(super) is_cut: bool,
}

fn follow(mut pipe: impl Read + Send + 'static, heard: &Arc<Mutex<Heard>>, closing: Sender<()>) {
    let heard = Arc::clone(heard);
    thread::spawn(move || {
        let mut chunk = vec![0; CHUNK];
        loop {
            match pipe.read(&mut chunk) {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(read) => heard
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take(&chunk[..read]),
            }
        }
        heard.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        // The receiver is gone when nobody waits any more.
        let _ = closing.send(());
    });
}

#[derive(Default)]
struct Heard {
    hash: Sha256,
    lines: VecDeque<String>,
    /// The line that has not ended yet. It counts, because the command may be ended within it.
    line: Vec<u8>,
    /// The first bytes, `keep` at most.
    kept: Vec<u8>,
    keep: usize,
    /// How many bytes came.
    length: u64,
    /// True when nothing more comes.
    ended: bool,
}

impl Heard {
    fn take(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
        let room = bytes.len().min(self.keep - self.kept.len());
        self.kept.extend_from_slice(&bytes[..room]);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.append(part);
        }
    }

    fn append(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            let room = part.len().min(LINE_MAX - self.line.len());
            let (now, later) = part.split_at(room);
            self.line.extend_from_slice(now);
            if self.line.len() == LINE_MAX || now.ends_with(b"\n") {
                self.lines.push_back(shown(&self.line));
                self.lines
                    .drain(..self.lines.len().saturating_sub(LAST_LINES));
                self.line.clear();
            }
            part = later;
        }
    }

    fn summary(&self) -> (String, Vec<String>) {
        let digest = id::hex(&self.hash.clone().finalize());
        let open = (!self.line.is_empty()).then(|| shown(&self.line));
        (digest, self.lines.iter().cloned().chain(open).collect())
    }
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str, size: usize) -> (String, Vec<String>) {
        let mut heard = Heard::default();
        text.as_bytes()
            .chunks(size)
            .for_each(|piece| heard.take(piece));
        heard.summary()
    }

    #[test]
    fn how_a_text_arrives_makes_no_difference() {
        let text = format!("one\n\n{}\nlast, without an end", "x".repeat(4_500));
        let whole = taken(&text, text.len());
        assert_eq!(whole.0, id::hex(&Sha256::digest(&text)));
        let lengths: Vec<usize> = whole.1.iter().map(String::len).collect();
        assert_eq!(lengths, [3, 0, 2_000, 2_000, 500, 20]);
        for size in [1, 7, 2_000, 2_001] {
            assert_eq!(taken(&text, size), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn of_many_lines_the_last_are_kept() {
        let (_, lines) = taken(&"line\n".repeat(1_000), 11);
        assert_eq!(lines.len(), LAST_LINES);
    }
}
