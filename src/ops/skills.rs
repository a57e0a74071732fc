//! Skills: list, show, validate, dispatch, export.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Context, Surroundings, require};
use crate::catalogue::{Catalogue, Shadowed};
use crate::dispatch::{Decision, Subject, dispatch, explain};
use crate::error::{Code, Error, Result, quote};
use crate::file::{unreadable, unwritable};
use crate::id::TaskId;
use crate::skill::front_matter::Fault;
use crate::skill::validate::validate_bytes;
use crate::skill::{Skill, Source};

/// A skill as it is listed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of Skill")]
pub struct SkillInfo {
    pub name: String,
    pub tier: Option<u8>,
    pub tags: Vec<String>,
    pub types: Vec<String>,
    pub keywords: Vec<String>,
    pub chains: Vec<String>,
    pub result_kind: String,
    pub active: bool,
    pub source: Source,
    pub path: String,
    pub description: String,
    pub digest: String,
    /// Files of the same name that do not count.
    pub shadows: Vec<String>,
}

/// All skills in reach.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// The skills that count, in catalogue order.
    pub skills: Vec<SkillInfo>,
    /// How many.
    pub total: usize,
    /// Skills that another of the same name stands before.
    pub shadowed: Vec<Shadowed>,
    /// Files that could not be used.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// A skill with its text.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// What dispatch knows of it.
    pub skill: SkillInfo,
    /// The text below the front matter.
    pub body: String,
}

/// Finds all skills in reach.
pub fn catalogue(surroundings: &Surroundings) -> Result<Catalogue> {
    let workspace = surroundings.workspace();
    if surroundings.root.is_some() {
        return Catalogue::load(&surroundings.places(Some(&workspace?)));
    }
    Catalogue::load(&surroundings.places(workspace.ok().as_ref()))
}

/// Lists the skills in reach, of all tiers or of one.
pub fn list(surroundings: &Surroundings, tier: Option<u8>) -> Result<Listed> {
    let catalogue = catalogue(surroundings)?;
    let wanted = |skill: &&Skill| tier.is_none() || skill.tier == tier;
    let skills: Vec<_> = catalogue
        .skills
        .iter()
        .filter(wanted)
        .map(|skill| info(skill, &catalogue))
        .collect();
    let Catalogue {
        shadowed, warnings, ..
    } = catalogue;
    Ok(Listed {
        total: skills.len(),
        skills,
        shadowed,
        warnings,
    })
}

/// Shows one skill.
pub fn show(surroundings: &Surroundings, name: &str) -> Result<Shown> {
    let catalogue = catalogue(surroundings)?;
    let skill = catalogue.skill(name)?;
    Ok(Shown {
        skill: info(skill, &catalogue),
        body: skill.body().to_string(),
    })
}

fn info(skill: &Skill, catalogue: &Catalogue) -> SkillInfo {
    let shadows = catalogue
        .shadowed
        .iter()
        .filter(|other| other.name == skill.name);
    SkillInfo {
        name: skill.name.clone(),
        tier: skill.tier,
        tags: skill.tags.clone(),
        types: skill.types.clone(),
        keywords: skill.keywords.clone(),
        chains: skill.chains.clone(),
        result_kind: skill.result_kind.clone(),
        active: skill.active,
        source: skill.source,
        path: skill.path.clone(),
        description: skill.description.clone(),
        digest: skill.digest(),
        shadows: shadows.map(|other| other.path.clone()).collect(),
    }
}

/// What the validator says of one skill.
#[derive(Debug, Serialize)]
pub struct Validated {
    /// The file, or the folder when it has none.
    pub path: String,
    /// True when the standard is kept.
    pub valid: bool,
    /// Every fault with its place.
    pub faults: Vec<Fault>,
}

/// Judges skills by the Agent Skills standard: each path is a folder with a SKILL.md, the file
/// itself, or a folder of such folders. Without paths, all skills in reach.
pub fn validate(surroundings: &Surroundings, paths: &[PathBuf]) -> Result<Vec<Validated>> {
    if paths.is_empty() {
        let catalogue = catalogue(surroundings)?;
        let left_out = catalogue.left_out.iter().filter_map(|file| file.parent());
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

fn validate_loaded(skill: &Skill) -> Validated {
    let folder = Path::new(&skill.path).parent().and_then(Path::file_name);
    let folder = folder.map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let faults = validate_bytes(&folder, skill.text().as_bytes());
    Validated {
        path: skill.path.clone(),
        valid: faults.is_empty(),
        faults,
    }
}

fn skill_folders(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.exists() {
        let cause = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(unreadable(path, cause));
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
    folders.sort();
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
        return Ok(Validated {
            path,
            valid: false,
            faults: vec![fault],
        });
    };
    let bytes = fs::read(&file).map_err(|cause| unreadable(&file, cause))?;
    let faults = validate_bytes(&name, &bytes);
    let path = file.to_string_lossy().into_owned();
    Ok(Validated {
        path,
        valid: faults.is_empty(),
        faults,
    })
}

/// Chooses the skill for a task of the workspace.
pub fn dispatch_task(
    context: &mut Context,
    task: TaskId,
    template: Option<&str>,
    with_rejected: bool,
) -> Result<Decision> {
    let places = context.surroundings.places(Some(&context.workspace));
    let catalogue = Catalogue::load(&places)?;
    let task = context.read(|transaction| require(transaction, task))?;
    dispatch_subject(&catalogue, &Subject::from(&task), template, with_rejected)
}

/// Chooses the skill for anything that looks like a task.
pub fn dispatch_subject(
    catalogue: &Catalogue,
    subject: &Subject,
    template: Option<&str>,
    with_rejected: bool,
) -> Result<Decision> {
    let mut decision = dispatch(subject, &catalogue.skills, &catalogue.matrix, template)?;
    if with_rejected {
        explain(&mut decision, &catalogue.skills);
    }
    Ok(decision)
}

/// What an export wrote, or would write.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// The files.
    pub files: Vec<String>,
    /// True when nothing was written.
    pub dry_run: bool,
}

/// Writes skills for other clients into a folder, without the task section, whose tokens nobody
/// else would resolve. A file that differs is only written over with `force`.
pub fn export(
    surroundings: &Surroundings,
    folder: &Path,
    names: &[String],
    force: bool,
    dry_run: bool,
) -> Result<Exported> {
    let catalogue = catalogue(surroundings)?;
    let mut planned = Vec::new();
    for skill in chosen(&catalogue, names)? {
        let file = surroundings
            .directory
            .join(folder)
            .join(&skill.name)
            .join("SKILL.md");
        let text = without_task(skill);
        refuse_changed(&file, &text, force)?;
        planned.push((file, text));
    }
    for (file, text) in planned.iter().filter(|_| !dry_run) {
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|cause| unwritable(parent, cause))?;
        crate::file::write_whole(file, text)?;
    }
    let files = planned
        .iter()
        .map(|(file, _)| file.to_string_lossy().into_owned())
        .collect();
    Ok(Exported { files, dry_run })
}

fn chosen<'a>(catalogue: &'a Catalogue, names: &[String]) -> Result<Vec<&'a Skill>> {
    if names.is_empty() {
        return Ok(catalogue
            .skills
            .iter()
            .filter(|skill| skill.source == Source::BuiltIn)
            .collect());
    }
    names.iter().map(|name| catalogue.skill(name)).collect()
}

fn without_task(skill: &Skill) -> String {
    let text = skill.text();
    let end = text.rfind("\n## Task\n").map_or(text.len(), |at| at + 1);
    let text = text[..end].trim_end();
    let bindings = crate::template::Bindings::new();
    format!("{}\n", crate::template::inject(text, &bindings).text)
}

/// Refuses to write over a file that holds something else.
pub(super) fn refuse_changed(file: &Path, text: &str, force: bool) -> Result<()> {
    match fs::read(file) {
        Ok(there) if !force && there != text.as_bytes() => {
            let shown = file.to_string_lossy();
            let message = format!("{shown} is there and holds something else");
            Err(Error::new(Code::FileChanged, message)
                .or("look at what is there", format!("cat {}", quote(&shown))))
        }
        _ => Ok(()),
    }
}
