//! Writing skills for other clients.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{catalogue, places};
use crate::catalogue::{Catalogue, Places};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read_within, unwritable, write_whole};
use crate::ops::{Notes, Surroundings};
use crate::skill::{Skill, is_file_name};
use crate::template::export_text;

#[derive(Args)]
pub(crate) struct Export {
    /// Skills to write [default: the built-in ones]
    skills: Vec<String>,

    /// Folder to write to
    #[arg(long, value_name = "DIR")]
    to: PathBuf,

    /// Overwrite files with different content
    #[arg(long)]
    force: bool,

    /// Show what would be written
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exported {
    pub(crate) files: Vec<String>,
    /// Files that are up to date.
    pub(crate) unchanged: Vec<String>,
    /// True if nothing was written.
    pub(crate) dry_run: bool,
}

struct Planned {
    file: PathBuf,
    text: String,
    there: There,
}

/// The file that exists at a target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    Same,
    Other,
}

/// Writes skills for other clients into a folder, without the task section, whose tokens nothing
/// else would resolve. A file that differs is only overwritten with `force`. The folder itself is not a source of
/// skills.
pub(crate) fn export(
    surroundings: &Surroundings,
    _: &mut Notes,
    wanted: Export,
) -> Result<Exported> {
    let Export { dry_run, force, .. } = wanted;
    let target = surroundings.directory.join(&wanted.to);
    let skills = choose(surroundings, &target, &wanted.skills)?;
    let planned = skills.iter().map(|skill| Planned::new(&target, skill));
    let planned: Vec<Planned> = planned.collect::<Result<_>>()?;
    let changed = files(&planned, |there| there == There::Other);
    if !force && !changed.is_empty() {
        let message = format!(
            "files with other content would be overwritten: {}; nothing was written; --force overwrites them",
            changed.join(", ")
        );
        let look = format!("cat {}", quote(&changed[0]));
        return Err(Error::new(Code::FileChanged, message).fix(look));
    }
    for one in planned.iter().filter(|_| !dry_run) {
        one.write()?;
    }
    Ok(Exported {
        files: files(&planned, |there| there != There::Same),
        unchanged: files(&planned, |there| there == There::Same),
        dry_run,
    })
}

fn files(planned: &[Planned], wanted: impl Fn(There) -> bool) -> Vec<String> {
    let files = planned.iter().filter(|one| wanted(one.there));
    files
        .map(|one| one.file.to_string_lossy().into_owned())
        .collect()
}

fn choose(surroundings: &Surroundings, target: &Path, names: &[String]) -> Result<Vec<Skill>> {
    let places = Places {
        except: fs::canonicalize(target).ok(),
        ..places(surroundings)?
    };
    if names.is_empty() {
        return Catalogue::built_in();
    }
    let elsewhere = Catalogue::load(&places)?;
    let find = |name: &String| match is_file_name(name) {
        true => elsewhere.skill(name).cloned().map_err(|error| {
            let everywhere = catalogue(surroundings).ok();
            let there = everywhere.as_ref().and_then(|all| all.skill(name).ok());
            there.map_or(error, |Skill { name, path, .. }| {
                let why = "and no skill is exported onto itself";
                let error = error!(InputInvalid, "{path} is the only `{name}`, {why}");
                error.fix(format!("cleo skills show {}", quote(name)))
            })
        }),
        false => Err(no_file_name(name)),
    };
    names.iter().map(find).collect()
}

fn no_file_name(name: &str) -> Error {
    let message = format!("the skill name `{name}` is not one plain name of a folder");
    Error::new(Code::SkillInvalid, message).fix("cleo skills list")
}

impl Planned {
    /// Plans to write a skill into a folder. Anything there that is not a regular file is an error.
    fn new(folder: &Path, skill: &Skill) -> Result<Planned> {
        // The name comes from the skill's file, and becomes a path here.
        if !is_file_name(&skill.name) {
            return Err(no_file_name(&skill.name));
        }
        let (file, text) = (
            folder.join(&skill.name).join("SKILL.md"),
            export_text(skill)?,
        );
        let there = match file.exists() {
            false => There::Nothing,
            true => match read_within(&file, text.len() as u64)? {
                Some(there) if there == text.as_bytes() => There::Same,
                _ => There::Other,
            },
        };
        Ok(Planned { file, text, there })
    }

    fn write(&self) -> Result<()> {
        if self.there == There::Same {
            return Ok(());
        }
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(|cause| unwritable(folder, cause))?;
        }
        write_whole(&self.file, &self.text)
    }
}
