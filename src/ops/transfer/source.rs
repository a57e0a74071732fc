//! Detects the format of a file or folder, and reads it.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::import::Request;
use crate::error::{Code, Error, Result, quote};
use crate::file::unreadable;
use crate::transfer::detect::detect;
use crate::transfer::formats::backlog::{self, Area, Config};
use crate::transfer::{FILE_MAX, Format, Reading};

/// Maximum size of the file of one task, in bytes.
const TASK_FILE_MAX: u64 = 4 << 20;
/// Maximum number of files in a folder.
const FILES_MAX: usize = 200_000;

pub(super) fn read(path: &Path, request: &Request, now: &str) -> Result<Reading> {
    if path.as_os_str() != "-" && path.is_dir() {
        return read_folder(path, request, now);
    }
    let bytes = crate::file::read_input(path, FILE_MAX)?;
    read_text(path, bytes, request, now)
}

/// Reads a text; `path` is its name in messages.
pub(super) fn read_text(
    path: &Path,
    bytes: Vec<u8>,
    request: &Request,
    now: &str,
) -> Result<Reading> {
    let bytes = find_exported_text(&bytes).unwrap_or(bytes);
    let formats = match request.from {
        Some(format) => vec![format],
        None => detect(&bytes),
    };
    let format = choose(path, &formats)?;
    if format == Format::Backlog {
        let named = display_name(path);
        let message = format!("{named} is a file; Backlog.md keeps tasks in a folder");
        return Err(Error::new(Code::InputInvalid, message).fix("cleo import --help"));
    }
    let mut reading = Reading::new(format, now);
    reading.read(&bytes);
    if format == Format::Todo
        && let Some((name, bytes)) = read_archive(path)?
    {
        (reading.file, reading.is_archive) = (Some(name), true);
        reading.read(&bytes);
    }
    Ok(reading)
}

/// Returns the lines within the answer of `cleo export > FILE`, if the text is one.
fn find_exported_text(bytes: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Answer {
        command: String,
        result: Text,
    }
    #[derive(Deserialize)]
    struct Text {
        text: String,
    }
    let answer: Answer = serde_json::from_slice(bytes).ok()?;
    (answer.command == "export").then(|| answer.result.text.into_bytes())
}

fn read_folder(path: &Path, request: &Request, now: &str) -> Result<Reading> {
    let folders = ["", "backlog", ".backlog"].map(|name| path.join(name));
    let Some(root) = folders.into_iter().find(|it| it.join("tasks").is_dir()) else {
        let named = display_name(path);
        let message =
            format!("{named} is not a folder of Backlog.md; other tools keep tasks in a file");
        return Err(Error::new(Code::InputInvalid, message).fix("cleo import --help"));
    };
    read_backlog(path, &root, request.archive, now)
}

/// Reads the files of tasks in byte order of their names, folder after folder.
fn read_backlog(named: &Path, root: &Path, with_archive: bool, now: &str) -> Result<Reading> {
    let configs = [root.join("config.yml"), named.join("backlog.config.yml")];
    let config = configs.iter().find(|path| path.is_file());
    let config = config.map(|path| crate::file::read(path, TASK_FILE_MAX));
    let config = config
        .transpose()?
        .map(|bytes| Config::read(&bytes))
        .unwrap_or_default();
    let mut reading = Reading::new(Format::Backlog, now);
    let mut files = Vec::new();
    for (area, folder) in Area::ALL {
        if area != Area::Archive || with_archive {
            let paths = list(root, folder, &mut reading)?;
            files.extend(paths.into_iter().map(|(name, path)| (area, name, path)));
        }
        if files.len() > FILES_MAX {
            let message = format!("{} holds more than {FILES_MAX} files", root.display());
            return Err(Error::new(Code::InputInvalid, message));
        }
    }
    for (area, name, path) in files {
        reading.file = Some(name);
        match crate::file::read(&path, TASK_FILE_MAX) {
            Ok(bytes) => backlog::read(&bytes, area, &config, &mut reading),
            Err(error) => reading.add_fault(0, None, error.message),
        }
    }
    Ok(reading)
}

/// Lists the files of tasks in a folder, by name; those that lie elsewhere are faults.
fn list(root: &Path, folder: &str, reading: &mut Reading) -> Result<Vec<(String, PathBuf)>> {
    let path = root.join(folder);
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let real_root = fs::canonicalize(root).map_err(|cause| unreadable(root, cause))?;
    let entries = fs::read_dir(&path).map_err(|cause| unreadable(&path, cause))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|cause| unreadable(&path, cause))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") && !name.eq_ignore_ascii_case("readme.md") {
            names.push(format!("{folder}/{name}"));
        }
    }
    names.sort_unstable();
    let mut files = Vec::new();
    for name in names {
        let path = root.join(&name);
        reading.file = Some(name.clone());
        match fs::canonicalize(&path) {
            Ok(real) if real.starts_with(&real_root) => files.push((name, path)),
            Ok(_) => reading.add_fault(0, None, "it is a link that leads out of the folder"),
            Err(cause) => reading.add_fault(0, None, format!("it cannot be read: {cause}")),
        }
    }
    Ok(files)
}

/// Returns the one format that a file fits.
fn choose(path: &Path, formats: &[Format]) -> Result<Format> {
    let named = display_name(path);
    let list = |formats: &[Format], and: &str| {
        let words: Vec<&str> = formats.iter().map(|format| format.word()).collect();
        words.join(and)
    };
    match formats {
        [one] => Ok(*one),
        [] => {
            let all = list(Format::ALL, ", ");
            let message = format!("{named} fits no format that can be read: {all}");
            Err(Error::new(Code::InputInvalid, message).fix("cleo import --help"))
        }
        [first, ..] => {
            let both = list(formats, " and as ");
            let message = format!("{named} can be read as {both}");
            let (path, format) = (quote(&path.to_string_lossy()), first.word());
            let fix = format!("cleo import {path} --from {format}");
            Err(Error::new(Code::InputInvalid, message).fix(fix))
        }
    }
}

/// Returns the name of the input in messages. Standard input and a text that was sent have no path.
fn display_name(path: &Path) -> Cow<'_, str> {
    match path.as_os_str() == "-" {
        true => Cow::Borrowed("the text"),
        false => path.to_string_lossy(),
    }
}

/// Reads the archive that lies beside a CLEO todo.json.
fn read_archive(path: &Path) -> Result<Option<(String, Vec<u8>)>> {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(stem) = name.and_then(|name| name.strip_suffix(".json")) else {
        return Ok(None);
    };
    let name = format!("{stem}-archive.json");
    let archive = path.with_file_name(&name);
    if !archive.is_file() {
        return Ok(None);
    }
    let bytes = crate::file::read(&archive, FILE_MAX)?;
    Ok(Some((name, bytes)))
}
