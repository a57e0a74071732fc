//! Writing several files, all or none.

use std::fs;
use std::path::{Path, PathBuf};

use super::Planned;
use crate::error::Result;
use crate::file::{unwritable, write_whole};

/// Writes the files; when one cannot be written, those before it become what they were.
pub(super) fn write_all(planned: &[Planned]) -> Result<()> {
    let mut done: Vec<(&Planned, Vec<PathBuf>)> = Vec::new();
    for file in planned.iter().filter(|file| file.changes()) {
        let folders = missing_folders(&file.target);
        let written = write_whole(&file.target, &file.text);
        done.push((file, folders));
        if let Err(error) = written {
            done.iter()
                .rev()
                .for_each(|(file, folders)| undo(file, folders));
            return Err(error);
        }
    }
    Ok(())
}

/// Lists the folders that a file needs and that are not there, the innermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    above
        .take_while(|folder| !folder.exists())
        .map(Path::to_path_buf)
        .collect()
}

/// Undoes as much as can be; the error that led here is the one to report.
fn undo(file: &Planned, folders: &[PathBuf]) {
    let _ = match &file.there {
        Some(text) => write_whole(&file.target, text),
        None => fs::remove_file(&file.target).map_err(|cause| unwritable(&file.target, cause)),
    };
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}
