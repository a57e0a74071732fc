//! The file or folder that tasks come from. It is read twice: first ids and references, then tasks.

mod exported;

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use exported::answered;

use super::ahead::{self, Take};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read_stdin, unreadable};
use crate::transfer::detect::{self, Verdict};
use crate::transfer::formats::backlog::{self, Area, Config};
use crate::transfer::formats::{beads, cleo, taskmaster, taskwarrior, todo};
use crate::transfer::{FILE_MAX, Fault, Format, Item, LINE_MAX, Place, Setting, Sink};

/// How many threads read the lines of a file.
const READERS: usize = 2;
/// How much of a file is looked at before all of it is read.
const START: u64 = LINE_MAX as u64;
/// Largest file of one task, in bytes.
const TASK_FILE_MAX: u64 = 4 << 20;
/// Most files in a folder.
const FILES_MAX: usize = 200_000;

/// Where tasks come from.
pub(super) struct Source {
    /// What kind of file it is.
    pub(super) format: Format,
    content: Content,
}

enum Content {
    /// Lines of a file, read from the disk each time.
    Lines(PathBuf),
    /// Documents with their names; the second one is an archive.
    Documents(Vec<(Option<String>, Vec<u8>)>),
    /// Files of tasks, read from the disk each time.
    Folder {
        root: PathBuf,
        files: Vec<(Area, String)>,
        config: Config,
        faults: Vec<Fault>,
    },
}

/// What beside the file itself is taken along.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// The archive beside a CLEO todo.json.
    pub(super) archive_beside: bool,
    /// The folder `archive` of Backlog.md.
    pub(super) archive_folder: bool,
}

impl Source {
    /// Opens what the user named, and finds out what it is.
    pub(super) fn open(path: &Path, from: Option<Format>, extent: Extent) -> Result<Source> {
        if path.as_os_str() == "-" {
            return Source::of_bytes(path, read_stdin(FILE_MAX)?, from, extent);
        }
        let kind = fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
        if kind.is_dir() {
            return Source::of_folder(path, from, extent);
        }
        let file = File::open(path).map_err(|cause| unreadable(path, cause))?;
        let is_lines = matches!(from, Some(Format::Cleo | Format::Beads));
        if kind.is_file() {
            let mut start = Vec::new();
            let read = first_line(&file, &mut start);
            read.map_err(|cause| unreadable(path, cause))?;
            let verdict = match from {
                Some(format) => Some(Verdict::One(format)),
                None => detect::of_lines(&start),
            };
            let is_line_format =
                matches!(verdict, Some(Verdict::One(Format::Cleo | Format::Beads)));
            if is_lines || is_line_format {
                let format = chosen(path, verdict.unwrap_or(Verdict::None))?;
                let content = Content::Lines(path.to_path_buf());
                return Ok(Source { format, content });
            }
            if let Some(several @ Verdict::Several(_)) = verdict {
                chosen(path, several)?;
            }
        }
        let bytes = crate::file::read_input(path, FILE_MAX)?;
        Source::of_bytes(path, bytes, from, extent)
    }

    /// Finds out what a text is; `path` names it.
    pub(super) fn of_bytes(
        path: &Path,
        bytes: Vec<u8>,
        from: Option<Format>,
        extent: Extent,
    ) -> Result<Source> {
        let bytes = answered(&bytes).unwrap_or(bytes);
        let verdict = match from {
            Some(format) => Verdict::One(format),
            None => detect::of_lines(&bytes).unwrap_or_else(|| detect::of_document(&bytes)),
        };
        if verdict == Verdict::None {
            refuse_torn(path, &bytes)?;
        }
        let format = chosen(path, verdict)?;
        if format == Format::Backlog {
            let named = named(path);
            let message = format!("{named} is a file; Backlog.md keeps tasks in a folder");
            return Err(Error::new(Code::InputInvalid, message).fix("cleo import --help"));
        }
        let mut documents = vec![(None, bytes)];
        if format == Format::Todo && extent.archive_beside {
            documents.extend(archive_of(path)?);
        }
        let content = Content::Documents(documents);
        Ok(Source { format, content })
    }

    fn of_folder(path: &Path, from: Option<Format>, extent: Extent) -> Result<Source> {
        let mut found = Vec::new();
        let backlog = ["", "backlog", ".backlog"]
            .map(|name| path.join(name))
            .into_iter()
            .find(|folder| folder.join("tasks").is_dir());
        if let Some(folder) = &backlog {
            found.push((Format::Backlog, folder.clone()));
        }
        for (format, name) in [
            (Format::Beads, ".beads/issues.jsonl"),
            (Format::Taskmaster, ".taskmaster/tasks/tasks.json"),
            (Format::Todo, ".cleo/todo.json"),
        ] {
            if path.join(name).is_file() {
                found.push((format, path.join(name)));
            }
        }
        found.retain(|(format, _)| from.is_none_or(|from| from == *format));
        let format = chosen(
            path,
            Verdict::of(found.iter().map(|(format, _)| *format).collect()),
        )?;
        match found.into_iter().next() {
            Some((Format::Backlog, folder)) => Source::backlog(path, folder, extent),
            Some((_, file)) => Source::open(&file, Some(format), extent),
            None => chosen(path, Verdict::None).and_then(|_| Source::of_folder(path, None, extent)),
        }
    }

    /// Lists the files of tasks in byte order of their names, folder after folder.
    fn backlog(named: &Path, root: PathBuf, extent: Extent) -> Result<Source> {
        let configs = [root.join("config.yml"), named.join("backlog.config.yml")];
        let config = configs.iter().find(|path| path.is_file());
        let config = config
            .map(|path| crate::file::read(path, TASK_FILE_MAX))
            .transpose()?;
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for (area, folder) in Area::ALL {
            if area != Area::Archive || extent.archive_folder {
                list(&root, folder, area, &mut files, &mut faults)?;
            }
        }
        let content = Content::Folder {
            root,
            files,
            config: config.map(|bytes| Config::read(&bytes)).unwrap_or_default(),
            faults,
        };
        Ok(Source {
            format: Format::Backlog,
            content,
        })
    }

    /// Reads everything once. Threads of their own read ahead, so that what comes after is understood
    /// while what came before is written.
    pub(super) fn read(&self, now: &str, take: &mut Take<'_>) -> Result<()> {
        let readers = match self.content {
            Content::Lines(_) => READERS,
            Content::Documents(_) | Content::Folder { .. } => 1,
        };
        ahead::read(readers, take, |share, sink| {
            self.read_here(
                &Setting {
                    share,
                    ..Setting::at(now)
                },
                sink,
            )
        })
    }

    fn read_here(&self, setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
        match &self.content {
            Content::Lines(path) => {
                let file = File::open(path).map_err(|cause| unreadable(path, cause))?;
                let input = BufReader::with_capacity(1 << 18, file);
                match self.format {
                    Format::Beads => beads::read(input, setting, sink),
                    _ => cleo::read(input, setting, sink),
                }
            }
            Content::Documents(documents) => {
                for (at, (file, bytes)) in documents.iter().enumerate() {
                    let setting = Setting {
                        file: file.as_deref(),
                        archived: at > 0,
                        ..*setting
                    };
                    self.document(bytes, &setting, sink)?;
                }
                Ok(())
            }
            Content::Folder {
                root,
                files,
                config,
                faults,
            } => {
                for fault in faults {
                    sink(Item::Fault(fault.clone()))?;
                }
                for (area, name) in files {
                    let setting = Setting {
                        file: Some(name),
                        ..*setting
                    };
                    let bytes = crate::file::read(&root.join(name), TASK_FILE_MAX);
                    match bytes {
                        Ok(bytes) => backlog::read(&bytes, *area, config, &setting, sink)?,
                        Err(error) => sink(Item::Fault(fault(name, error.message)))?,
                    }
                }
                Ok(())
            }
        }
    }

    fn document(&self, bytes: &[u8], setting: &Setting<'_>, sink: &mut Sink<'_>) -> Result<()> {
        match self.format {
            Format::Cleo => cleo::read(Cursor::new(bytes), setting, sink),
            Format::Beads => beads::read(Cursor::new(bytes), setting, sink),
            Format::Todo => todo::read(bytes, setting, sink),
            Format::Taskmaster => taskmaster::read(bytes, setting, sink),
            Format::Taskwarrior => taskwarrior::read(bytes, setting, sink),
            Format::Backlog => Ok(()),
        }
    }
}

/// Reads as far as the first line that is not empty, or as a line may be long.
fn first_line(file: &File, start: &mut Vec<u8>) -> std::io::Result<()> {
    loop {
        let read = file.take(1 << 16).read_to_end(start)?;
        let has_line = start.trim_ascii_start().contains(&b'\n');
        if has_line || read == 0 || start.len() as u64 > START {
            return Ok(());
        }
    }
}

/// Returns the one kind that it is.
fn chosen(path: &Path, verdict: Verdict) -> Result<Format> {
    let named = named(path);
    let import = |format: &Format| {
        let path = quote(&path.to_string_lossy());
        format!("cleo import {path} --from {}", format.word())
    };
    match verdict {
        Verdict::One(format) => Ok(format),
        Verdict::Several(formats) => {
            let words: Vec<&str> = formats.iter().map(|format| format.word()).collect();
            let message = format!("{named} can be read as {}", words.join(" and as "));
            let mut error = Error::new(Code::InputInvalid, message);
            error.fix = formats.first().map(import);
            let others = formats.iter().skip(1);
            Err(others.fold(error, |error, format| {
                error.or(format!("read it as {}", format.word()), import(format))
            }))
        }
        Verdict::None => {
            let words: Vec<&str> = Format::ALL.iter().map(|format| format.word()).collect();
            let message = format!(
                "{named} is none of the files that can be read: {}",
                words.join(", ")
            );
            Err(Error::new(Code::InputInvalid, message).fix("cleo import --help"))
        }
    }
}

/// Returns how messages name what is read. What was sent, or written to the standard input, has no path.
fn named(path: &Path) -> Cow<'_, str> {
    match path.as_os_str() == "-" {
        true => Cow::Borrowed("the text"),
        false => path.to_string_lossy(),
    }
}

/// Refuses a document that ends in the middle, of which nobody can say what it was to be.
fn refuse_torn(path: &Path, bytes: &[u8]) -> Result<()> {
    let Err(cause) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes) else {
        return Ok(());
    };
    if !cause.is_eof() || bytes.trim_ascii().is_empty() {
        return Ok(());
    }
    let (named, line) = (named(path), cause.line());
    let message = format!("{named} ends in the middle of a JSON document, in line {line}");
    let look = match path.as_os_str() == "-" {
        true => "cleo import --help".to_string(),
        false => format!("tail -n 3 {}", quote(&path.to_string_lossy())),
    };
    Err(Error::new(Code::ImportInvalid, message).fix(look))
}

/// Reads the archive that lies beside a CLEO todo.json.
fn archive_of(path: &Path) -> Result<Option<(Option<String>, Vec<u8>)>> {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    let Some(stem) = stem.filter(|_| is_json) else {
        return Ok(None);
    };
    let name = format!("{stem}-archive.json");
    let archive = path.with_file_name(&name);
    if !archive.is_file() {
        return Ok(None);
    }
    let bytes = crate::file::read(&archive, FILE_MAX)?;
    Ok(Some((Some(name), bytes)))
}

fn fault(file: &str, message: String) -> Fault {
    Fault {
        place: Place {
            file: Some(file.to_string()),
            line: 0,
        },
        id: None,
        message,
    }
}

fn list(
    root: &Path,
    folder: &str,
    area: Area,
    files: &mut Vec<(Area, String)>,
    faults: &mut Vec<Fault>,
) -> Result<()> {
    let path = root.join(folder);
    if !path.is_dir() {
        return Ok(());
    }
    let real_root = fs::canonicalize(root).map_err(|cause| unreadable(root, cause))?;
    let entries = fs::read_dir(&path).map_err(|cause| unreadable(&path, cause))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|cause| unreadable(&path, cause))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_task = name.ends_with(".md") && !name.eq_ignore_ascii_case("readme.md");
        if is_task {
            names.push(name);
        }
    }
    names.sort_unstable();
    if names.len() + files.len() > FILES_MAX {
        let message = format!("{} holds more than {FILES_MAX} files", root.display());
        return Err(Error::new(Code::InputInvalid, message));
    }
    for name in names {
        let name = format!("{folder}/{name}");
        match fs::canonicalize(root.join(&name)) {
            Ok(real) if real.starts_with(&real_root) => files.push((area, name)),
            Ok(_) => faults.push(fault(
                &name,
                "it is a link that leads out of the folder".into(),
            )),
            Err(cause) => faults.push(fault(&name, format!("it cannot be read: {cause}"))),
        }
    }
    Ok(())
}
