//! What an agent writes, kept as it comes, up to a bound.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::file::{create_anew, create_private_folder, unwritable};
use crate::run::arrivals::KEPT_MAX;

pub(super) struct Raw {
    path: PathBuf,
    file: File,
    size: u64,
    left_out: u64,
}

impl Raw {
    /// Begins a file: the name of the attempt with an extension.
    pub(super) fn begin(attempt: &Path, extension: &str) -> Result<Raw> {
        let mut path = OsString::from(attempt);
        path.push(extension);
        let path = PathBuf::from(path);
        let file = match create_anew(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(&path);
                create_private_folder(folder).and_then(|()| create_anew(&path))
            }
            file => file,
        };
        let file = file.map_err(|cause| unwritable(&path, cause))?;
        Ok(Raw {
            path,
            file,
            size: 0,
            left_out: 0,
        })
    }

    /// Keeps bytes, as far as there is room for them.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        let room = KEPT_MAX.saturating_sub(self.size).min(bytes.len() as u64);
        let (now, beyond) = bytes.split_at(room as usize);
        self.left_out += beyond.len() as u64;
        self.write(now)
    }

    /// Says at the end of the file what was left out.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.left_out == 0 {
            return Ok(());
        }
        let note = format!("\n[cleo left out {} more bytes]\n", self.left_out);
        self.write(note.as_bytes())
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len() as u64;
        let written = self.file.write_all(bytes);
        written.map_err(|cause| unwritable(&self.path, cause))
    }
}
