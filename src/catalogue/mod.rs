//! All available skills and protocols: named folders, the project, the user's home, then built-in ones. The
//! first of a name wins; shadowed ones are kept.

mod places;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rust_embed::RustEmbed;
use serde::Serialize;

use crate::dispatch::Matrix;
use crate::dispatch::matrix::{Listed, Manifest};
use crate::error::{Code, Error, Result, quote};
use crate::file::read;
use crate::protocol::ProtocolFile;
use crate::skill::{Skill, Source, is_called, is_file_name};
use crate::template::export_text;

pub(crate) use places::Places;

/// Maximum size of a SKILL.md or protocol file, in bytes.
const FILE_MAX: u64 = 1 << 20;
const BASE: &str = "_shared/subagent-protocol-base.md";

#[derive(Debug)]
pub(crate) struct Catalogue {
    /// Skills in catalogue order, one of each name.
    pub(crate) skills: Vec<Skill>,
    /// Skills that another of the same name takes precedence over.
    pub(crate) shadowed: Vec<Shadowed>,
    /// The skills of task types and keywords.
    pub(crate) matrix: Matrix,
    pub(crate) matrix_digest: String,
    pub(crate) base: ProtocolFile,
    /// The conditional protocols in their order.
    pub(crate) protocols: Vec<ProtocolFile>,
    /// The task section for skills that have none.
    pub(crate) task_context: String,
    pub(crate) task_context_digest: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    pub(crate) file: PathBuf,
    pub(crate) why: String,
}

/// A skill that another of the same name takes precedence over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shadowed {
    pub(crate) name: String,
    /// The file that is not used.
    pub(crate) path: String,
    pub(crate) source: Source,
    /// The file that is used instead.
    pub(crate) shadowed_by: String,
}

impl Catalogue {
    pub(crate) fn load(places: &Places) -> Result<Catalogue> {
        Catalogue::read(places, false)
    }

    /// Reads all available skills and protocols. An unreadable base protocol of the project is skipped with a
    /// warning, and the built-in one is used.
    pub(crate) fn load_past_base(places: &Places) -> Result<Catalogue> {
        Catalogue::read(places, true)
    }

    fn read(places: &Places, skips_base: bool) -> Result<Catalogue> {
        let mut found = Found {
            warnings: places.warn_of_missing_folders().collect(),
            ..Found::default()
        };
        for (folder, source) in places.skill_folders() {
            found.scan(&folder, source, places);
        }
        found.add_embedded();
        let chosen = places::read_manifest(places, &mut found.warnings)?;
        let skills = sort(found.skills, &chosen.manifest);
        chosen.warn_of_unknown_skills(&skills, &mut found.warnings);
        let base = match read_base(places) {
            Err(error) if skips_base => {
                let message = error.message;
                let warning = format!("{message}; the built-in base protocol is used");
                found.warnings.push(warning);
                load_known_base()?
            }
            base => base?,
        };
        let (task_context, _) = read_shared(places, "_shared/task-context.md")?;
        Ok(Catalogue {
            matrix: Matrix::new(&chosen.manifest, &skills),
            matrix_digest: crate::id::digest(&*chosen.text),
            skills,
            shadowed: found.shadowed,
            base,
            protocols: places::read_protocols(places, &mut found.warnings)?,
            task_context_digest: crate::id::digest(&*task_context),
            task_context: task_context.into_owned(),
            warnings: found.warnings,
            left_out: found.left_out,
        })
    }

    /// Reads the embedded skills in their own order, also those that others take precedence over.
    pub(crate) fn built_in() -> Result<Vec<Skill>> {
        let mut found = Found::default();
        found.add_embedded();
        Ok(sort(
            found.skills,
            &places::load_embedded_manifest()?.manifest,
        ))
    }

    /// Finds a skill by name, in any case, with or without `ct-`. The error of a skill whose file is invalid
    /// says why.
    pub(crate) fn skill(&self, name: &str) -> Result<&Skill> {
        crate::skill::require(&self.skills, name)
            .map_err(|error| self.explain_left_out(name).unwrap_or(error))
    }

    fn explain_left_out(&self, name: &str) -> Option<Error> {
        let mut left_out = self.left_out.iter();
        let LeftOut { file, why } =
            left_out.find(|one| is_called(&folder_name(&one.file), name))?;
        let message = format!("the skill `{name}` cannot be used: {why}");
        let fix = format!("cleo skills validate {}", quote(&file.to_string_lossy()));
        Some(Error::new(Code::SkillInvalid, message).fix(fix))
    }
}

/// Reads the embedded protocols, the base first: the known versions.
pub(crate) fn list_known_protocols() -> Result<Vec<ProtocolFile>> {
    let base = "skills/_shared/subagent-protocol-base.md";
    let mut known = vec![ProtocolFile::read(
        read_embedded_text(base)?,
        base.to_string(),
    )?];
    known.extend(places::read_embedded()?);
    Ok(known)
}

/// Reads the base protocol. A file without front matter counts as empty, which every spawn refuses, so that
/// forced injection of the known one remains possible.
fn read_base(places: &Places) -> Result<ProtocolFile> {
    let (text, path) = read_shared(places, BASE)?;
    if text.trim_start_matches('\u{feff}').starts_with("---") {
        let look = |error| match find_shared(places, BASE) {
            Some(file) => with_look(error, &file),
            None => error,
        };
        return ProtocolFile::read(text, path).map_err(look);
    }
    let mut base = load_known_base()?;
    (base.text, base.path) = (String::new(), path);
    Ok(base)
}

fn load_known_base() -> Result<ProtocolFile> {
    let known = list_known_protocols()?.into_iter().next();
    known.ok_or_else(|| Error::new(Code::Internal, "there is no base protocol"))
}

fn read_embedded_text(name: &str) -> Result<Cow<'static, str>> {
    Embedded::text(name)
        .ok_or_else(|| Error::new(Code::Internal, format!("{name} is not embedded")))
}

#[derive(Default)]
struct Found {
    skills: Vec<Skill>,
    shadowed: Vec<Shadowed>,
    warnings: Vec<String>,
    left_out: Vec<LeftOut>,
}

impl Found {
    fn scan(&mut self, folder: &Path, source: Source, places: &Places) {
        let files = places::skill_files(folder);
        self.warnings.extend(files.warning);
        for file in files
            .paths
            .into_iter()
            .filter(|file| places.is_skill_place(file))
        {
            let shown = places.display(&file);
            let added = read_text(&file)
                .map_err(|error| error.message)
                .and_then(|text| self.add(&folder_name(&file), text.into(), source, shown));
            if let Err(why) = added {
                self.warnings.push(why.clone());
                self.left_out.push(LeftOut { file, why });
            }
        }
    }

    fn add_embedded(&mut self) {
        for name in Embedded::iter_under("skills/").filter(|name| name.ends_with("/SKILL.md")) {
            let folder = name.split('/').nth(1).unwrap_or_default().to_string();
            let path = format!("built-in:{name}");
            let text = Embedded::text(&name);
            let added = text.map_or(Ok(()), |text| {
                self.add(&folder, text, Source::BuiltIn, path)
            });
            self.warnings.extend(added.err());
        }
    }

    /// Adds a skill, or returns why not. Files of `skills export` lack what prompts need, so their originals
    /// are used instead.
    fn add(
        &mut self,
        folder: &str,
        text: Cow<'static, str>,
        source: Source,
        path: String,
    ) -> std::result::Result<(), String> {
        let skill = Skill::read(folder, text, source, path.clone()).map_err(|fault| {
            let place = format!("{path}:{}:{}", fault.line, fault.column);
            format!("{place}: {}; the skill is left out", fault.message)
        })?;
        if !is_file_name(&skill.name) {
            let what = "is not one plain name of a folder; the skill is left out";
            return Err(format!("{path}: the name `{}` {what}", skill.name));
        }
        if source != Source::BuiltIn && is_export(&skill) {
            return Ok(());
        }
        if skill.name != folder {
            let message = format!(
                "{path}: the name `{}` is not that of its folder",
                skill.name
            );
            self.warnings.push(message);
        }
        match self.skills.iter().find(|other| other.name == skill.name) {
            None => self.skills.push(skill),
            Some(winner) => self.shadowed.push(Shadowed {
                name: skill.name,
                path,
                source,
                shadowed_by: winner.path.clone(),
            }),
        }
        Ok(())
    }
}

fn is_export(skill: &Skill) -> bool {
    let name = &skill.name;
    let text = Embedded::text(&format!("skills/{name}/SKILL.md"));
    let own = text.and_then(|text| Skill::read(name, text, Source::BuiltIn, String::new()).ok());
    let own = own.and_then(|own| export_text(&own).ok());
    own.is_some_and(|own| own == skill.text())
}

pub(crate) fn replaces_built_in(skill: &Skill) -> bool {
    let own = Embedded::text(&format!("skills/{}/SKILL.md", skill.name));
    own.is_some_and(|own| own != skill.text())
}

fn folder_name(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name);
    folder
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn read_text(file: &Path) -> Result<String> {
    String::from_utf8(read(file, FILE_MAX)?).map_err(|cause| {
        let message = format!("{} is not valid UTF-8", file.display());
        Error::new(Code::CatalogueInvalid, message).because(cause)
    })
}

/// Reads a file that belongs to the skills: the first of the places that has it, else the
/// program's own.
fn read_shared(places: &Places, name: &str) -> Result<(Cow<'static, str>, String)> {
    if let Some(file) = find_shared(places, name) {
        return Ok((read_text(&file)?.into(), places.display(&file)));
    }
    let own = format!("skills/{name}");
    Ok((read_embedded_text(&own)?, format!("built-in:{own}")))
}

fn find_shared(places: &Places, name: &str) -> Option<PathBuf> {
    let mut files = places.list_shared_folders().into_iter();
    files.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
}

fn with_look(error: Error, file: &Path) -> Error {
    error.fix(format!("cat -n {}", quote(&file.to_string_lossy())))
}

/// Sorts skills in the order of the manifest, others after them by name, and disables those that it disables.
fn sort(mut skills: Vec<Skill>, manifest: &Manifest) -> Vec<Skill> {
    let place = |name: &str| {
        manifest
            .skills
            .iter()
            .position(|listed| listed.name == name)
    };
    for skill in &mut skills {
        let listed = place(&skill.name).map(|at| &manifest.skills[at]);
        skill.active &= !listed.is_some_and(Listed::is_off);
    }
    skills.sort_by(|a, b| {
        let order = |skill: &Skill| place(&skill.name).unwrap_or(usize::MAX);
        order(a).cmp(&order(b)).then_with(|| a.name.cmp(&b.name))
    });
    skills
}

/// Returns the root-relative path of `file` below `root`, or the whole path.
fn strip_root(file: &Path, root: &Path) -> Option<PathBuf> {
    file.strip_prefix(root).ok().map(Path::to_path_buf)
}

#[derive(RustEmbed)]
#[folder = "skills"]
#[prefix = "skills/"]
struct Skills;

#[derive(RustEmbed)]
#[folder = "protocols"]
#[prefix = "protocols/"]
struct Protocols;

struct Embedded;

impl Embedded {
    fn iter_under(prefix: &str) -> impl Iterator<Item = Cow<'static, str>> {
        let all = Skills::iter().chain(Protocols::iter());
        all.filter(move |name| name.starts_with(prefix))
    }

    fn text(path: &str) -> Option<Cow<'static, str>> {
        let file = Skills::get(path).or_else(|| Protocols::get(path))?;
        match file.data {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
    }
}
