//! Judging skills by the Agent Skills standard.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::catalogue;
use crate::error::{Code, Error, Result};
use crate::file::{nearest_existing, read_within, unreadable};
use crate::ops::{Notes, Surroundings};
use crate::skill::front_matter::Fault;
use crate::skill::validate::validate_bytes;
use crate::skill::{Skill, Source};

/// Maximum size of a SKILL.md, in bytes; clients would not load a larger one.
const FILE_MAX: u64 = 8 << 20;

/// The verdict on one skill.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Validated {
    /// The file, or the folder when it has none.
    pub(crate) path: String,
    /// True if it complies with the standard.
    pub(crate) valid: bool,
    /// Every fault with its place.
    pub(crate) faults: Vec<Fault>,
    /// Why cleo does not load it although it is valid.
    #[serde(skip)]
    pub(crate) unloaded: Option<String>,
}

/// A skill to judge.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillSent {
    /// Name of its folder, which the standard wants to be its own.
    pub(crate) name: String,
    /// The text of its SKILL.md.
    pub(crate) text: String,
}

#[derive(Args)]
pub(crate) struct SkillPaths {
    /// Skill folder, SKILL.md file or folder of skills [default: all available skills]
    pub(crate) paths: Vec<PathBuf>,

    /// Has no effect: validation is always strict
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The verdicts on several skills.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Verdicts {
    pub(crate) verdict: &'static str,
    pub(crate) skills: Vec<Validated>,
    pub(crate) total: usize,
    pub(crate) invalid: usize,
}

impl Validated {
    fn new(path: String, faults: Vec<Fault>) -> Validated {
        Validated {
            path,
            valid: faults.is_empty(),
            faults,
            unloaded: None,
        }
    }
}

/// Judges skills, and notes what of them is invalid, and what cleo does not load although it is valid.
pub(crate) fn validate(
    surroundings: &Surroundings,
    notes: &mut Notes,
    wanted: SkillPaths,
) -> Result<Verdicts> {
    let skills = judge(surroundings, &wanted.paths)?;
    let broken: Vec<&Validated> = skills.iter().filter(|skill| !skill.valid).collect();
    notes.failure = refusal(&broken, surroundings);
    let unloaded = skills.iter().filter_map(|skill| {
        let (path, why) = (&skill.path, skill.unloaded.as_ref()?);
        Some(format!(
            "{path} keeps the standard, but cleo does not load it: {why}"
        ))
    });
    notes.warn(unloaded);
    Ok(Verdicts {
        verdict: if broken.is_empty() { "pass" } else { "fail" },
        total: skills.len(),
        invalid: broken.len(),
        skills,
    })
}

fn refusal(broken: &[&Validated], surroundings: &Surroundings) -> Option<Error> {
    let first = broken.first()?;
    let fault = first.faults.first()?;
    let place = format!("{}:{}:{}", first.path, fault.line, fault.column);
    let more = match broken.len() {
        1 => String::new(),
        n => format!(" (and {} more skills)", n - 1),
    };
    let message = format!("{place}: {}{more}", fault.message);
    let workspace = surroundings.workspace().ok();
    let path = surroundings.path_for_command(workspace.as_ref(), &first.path);
    let look = match fault.code {
        "SKILL_FILE_MISSING" => format!("ls -la {path}"),
        "FILE_TOO_LARGE" => format!("ls -l {path}"),
        _ => format!("sed -n '{}p' {path}", fault.line),
    };
    Some(Error::new(Code::SkillInvalid, message).fix(look))
}

/// Judges skills by the Agent Skills standard: each path is a folder with a SKILL.md, the file
/// itself, or a folder of such folders. Without paths, all skills in reach.
pub(crate) fn judge(surroundings: &Surroundings, paths: &[PathBuf]) -> Result<Vec<Validated>> {
    if paths.is_empty() {
        let catalogue = catalogue(surroundings)?;
        let left_out = catalogue.left_out.iter();
        let left_out = left_out.filter_map(|one| one.file.parent());
        let left_out = left_out.map(validate_folder);
        let loaded = catalogue.skills.iter().map(validate_loaded).map(Ok);
        return loaded.chain(left_out).collect();
    }
    let mut validated = Vec::new();
    for path in paths {
        let path = surroundings.directory.join(path);
        for folder in skill_folders(&path)? {
            validated.push(validate_folder(&folder)?);
        }
    }
    Ok(validated)
}

pub(crate) fn validate_text(
    _: &Surroundings,
    notes: &mut Notes,
    sent: SkillSent,
) -> Result<Validated> {
    let faults = validate_bytes(&sent.name, sent.text.as_bytes());
    notes.failure = faults.first().map(|fault| {
        let message = format!("{}:{}: {}", fault.line, fault.column, fault.message);
        Error::new(Code::SkillInvalid, message)
    });
    Ok(Validated::new(format!("{}/SKILL.md", sent.name), faults))
}

fn validate_loaded(skill: &Skill) -> Validated {
    let folder = Path::new(&skill.path).parent().and_then(Path::file_name);
    let folder = folder.map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let faults = validate_bytes(&folder, skill.text().as_bytes());
    Validated::new(skill.path.clone(), faults)
}

fn skill_folders(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.exists() {
        let error = error!(FileUnreadable, "there is no {}", path.display());
        return Err(error.fix(format!("ls -ld {}", nearest_existing(path))));
    }
    if path.is_file() {
        let folder = path.parent().unwrap_or(path);
        return Ok(vec![folder.to_path_buf()]);
    }
    if skill_file(path).is_some() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = fs::read_dir(path).map_err(|cause| unreadable(path, cause))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    folders.retain(|folder| skill_file(folder).is_some());
    folders.sort_unstable();
    if folders.is_empty() {
        folders.push(path.to_path_buf());
    }
    Ok(folders)
}

fn skill_file(folder: &Path) -> Option<PathBuf> {
    let files = ["SKILL.md", "skill.md"].map(|name| folder.join(name));
    files.into_iter().find(|file| file.is_file())
}

fn validate_folder(folder: &Path) -> Result<Validated> {
    let full = fs::canonicalize(folder).map_err(|cause| unreadable(folder, cause))?;
    let name = full
        .file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let Some(file) = skill_file(folder) else {
        let fault = Fault::new("SKILL_FILE_MISSING", (1, 1), "the folder has no SKILL.md");
        let path = folder.to_string_lossy().into_owned();
        return Ok(Validated::new(path, vec![fault]));
    };
    let path = file.to_string_lossy().into_owned();
    let Some(bytes) = read_within(&file, FILE_MAX)? else {
        let message = format!("The file is larger than {} MiB.", FILE_MAX >> 20);
        let fault = Fault::new("FILE_TOO_LARGE", (1, 1), message);
        return Ok(Validated::new(path, vec![fault]));
    };
    let validated = Validated::new(path, validate_bytes(&name, &bytes));
    let unloaded = validated
        .valid
        .then(|| explain_unloaded(&name, &bytes))
        .flatten();
    Ok(Validated {
        unloaded,
        ..validated
    })
}

/// Returns the reason why a valid skill is not loaded: the standard has no limits for its size.
fn explain_unloaded(folder: &str, bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let read = Skill::read(folder, text.into(), Source::Named, String::new());
    read.err().map(|fault| fault.message)
}
