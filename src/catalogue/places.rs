//! Where skills and protocols are searched, and in which order. One bad file of the project never stops
//! unrelated work.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{Embedded, FILE_MAX, read_embedded_text, read_text, strip_root, with_look};
use crate::dispatch::matrix::Manifest;
use crate::error::{Code, Error, Result};
use crate::file::read_start;
use crate::protocol::ProtocolFile;
use crate::skill::{Skill, Source, find};

const DEPTH: usize = 5;
/// Maximum number of folders that are searched below one folder of skills.
const FOLDERS: usize = 2_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) named: Vec<PathBuf>,
    pub(crate) project: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// The user's data folder (XDG).
    pub(crate) data_home: Option<PathBuf>,
    /// A folder whose own skills do not count, written out in full.
    pub(crate) except: Option<PathBuf>,
}

impl Places {
    /// Returns the folders of skills in the order in which they count.
    pub(super) fn skill_folders(&self) -> Vec<(PathBuf, Source)> {
        let named = self.named.iter().cloned();
        let mut folders: Vec<_> = named.map(|folder| (folder, Source::Named)).collect();
        let project = ["skills", ".cleo/skills", ".agents/skills", ".claude/skills"];
        let home = [".agents/skills", ".claude/skills", ".codex/skills"];
        for (above, names, source) in [
            (&self.project, &project[..], Source::Project),
            (&self.home, &home[..], Source::User),
            (&self.data_home, &["cleo/skills"][..], Source::User),
        ] {
            if let Some(above) = above {
                folders.extend(names.iter().map(|name| (above.join(name), source)));
            }
        }
        folders.retain(|(folder, _)| folder.is_dir());
        folders
    }

    pub(super) fn is_skill_place(&self, file: &Path) -> bool {
        let folder = file.parent().and_then(Path::parent);
        let is_in = |except: &PathBuf| {
            let folder = folder.and_then(|folder| folder.canonicalize().ok());
            folder.as_ref() == Some(except)
        };
        !self.except.as_ref().is_some_and(is_in)
    }

    /// Returns warnings for named folders that do not exist.
    pub(super) fn warn_of_missing_folders(&self) -> impl Iterator<Item = String> {
        let missing = self.named.iter().filter(|folder| !folder.is_dir());
        missing.map(|folder| format!("{} is not a folder to find skills in", folder.display()))
    }

    pub(super) fn list_shared_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.named.clone();
        for name in ["skills", ".cleo/skills"] {
            folders.extend(self.project.iter().map(|root| root.join(name)));
        }
        folders
    }

    pub(super) fn protocol_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for name in ["protocols", ".cleo/protocols"] {
            if let Some(root) = &self.project {
                let walk = WalkDir::new(root.join(name))
                    .max_depth(1)
                    .sort_by_file_name();
                let entries = walk.into_iter().filter_map(std::result::Result::ok);
                let paths = entries.filter(|entry| entry.file_type().is_file());
                files.extend(paths.map(|entry| entry.into_path()));
            }
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        files
    }

    /// Returns how a file is shown: relative to the project or to the home, if it is in there.
    pub(super) fn display(&self, file: &Path) -> String {
        let in_project = self
            .project
            .as_ref()
            .and_then(|root| strip_root(file, root));
        let in_home = || {
            let home = self.home.as_ref()?;
            Some(Path::new("~").join(strip_root(file, home)?))
        };
        let path = in_project
            .or_else(in_home)
            .unwrap_or_else(|| file.to_path_buf());
        path.to_string_lossy().into_owned()
    }

    pub(crate) fn resolve(&self, shown: &str) -> PathBuf {
        match (shown.strip_prefix("~/"), &self.home, &self.project) {
            (Some(rest), Some(home), _) => home.join(rest),
            (_, _, Some(root)) => root.join(shown),
            _ => PathBuf::from(shown),
        }
    }
}

pub(super) struct SkillFiles {
    pub(super) paths: Vec<PathBuf>,
    pub(super) warning: Option<String>,
}

/// Finds the SKILL.md files below a folder, limited in depth and number. Links to folders are followed as
/// other clients do; cycles are skipped as errors of the walk.
pub(super) fn skill_files(folder: &Path) -> SkillFiles {
    let walk = WalkDir::new(folder)
        .max_depth(DEPTH)
        .follow_links(true)
        .sort_by_file_name();
    let skipped = |name: &str| matches!(name, ".git" | "node_modules" | "target" | "_shared");
    let mut entries = walk.into_iter().filter_entry(|entry| {
        entry.depth() == 0 || !entry.file_name().to_str().is_some_and(skipped)
    });
    let mut paths = Vec::new();
    let mut folders = 0;
    let mut warning = None;
    while let Some(entry) = entries.next() {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() {
            folders += 1;
            if folders > FOLDERS {
                let place = folder.display();
                warning = Some(format!(
                    "{place} has more than {FOLDERS} folders; the rest is left out"
                ));
                break;
            }
            let file = ["SKILL.md", "skill.md"].map(|name| entry.path().join(name));
            if let Some(file) = file.into_iter().find(|file| file.is_file()) {
                paths.push(file);
                entries.skip_current_dir();
            }
        }
    }
    SkillFiles { paths, warning }
}

/// Reads the protocols; one on disk replaces the embedded one of the same name.
pub(super) fn read_protocols(
    places: &Places,
    warnings: &mut Vec<String>,
) -> Result<Vec<ProtocolFile>> {
    let mut protocols: Vec<ProtocolFile> = Vec::new();
    let mut add = |file: ProtocolFile| {
        if !protocols.iter().any(|other| other.name == file.name) {
            protocols.push(file);
        }
    };
    for path in places.protocol_files() {
        match may_be_protocol(&path) {
            Ok(false) if path.ends_with("protocols/subagent-protocol-base.md") => {
                warnings.push(format!(
                    "{} is left out: the base of a project is skills/_shared/subagent-protocol-base.md",
                    places.display(&path)
                ));
            }
            Ok(false) => {}
            Ok(true) => {
                let text = read_text(&path)?.into();
                let read = ProtocolFile::read(text, places.display(&path));
                add(read.map_err(|error| with_look(error, &path))?);
            }
            Err(error) => warnings.push(format!("{}; it is left out", error.message)),
        }
    }
    read_embedded()?.into_iter().for_each(&mut add);
    protocols.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    Ok(protocols)
}

pub(super) fn read_embedded() -> Result<Vec<ProtocolFile>> {
    let names = Embedded::iter_under("protocols/").filter(|name| name.ends_with(".md"));
    names
        .map(|name| ProtocolFile::read(read_embedded_text(&name)?, format!("built-in:{name}")))
        .collect()
}

/// A folder `protocols/` may hold unrelated files of any size and encoding: a protocol has front matter with
/// `when`.
fn may_be_protocol(path: &Path) -> Result<bool> {
    let start = read_start(path, FILE_MAX)?;
    let text = String::from_utf8_lossy(&start);
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let is_fenced = lines.next().map(str::trim_end) == Some("---");
    let mut head = lines.take_while(|line| line.trim_end() != "---");
    Ok(is_fenced && head.any(|line| line.starts_with("when:")))
}

const OWN: &str = "skills/manifest.json";

pub(super) struct Chosen {
    pub(super) manifest: Manifest,
    pub(super) text: Cow<'static, str>,
    path: Option<String>,
}

/// Reads the first manifest of the places; one that cannot be used is named in `warnings`.
pub(super) fn read_manifest(places: &Places, warnings: &mut Vec<String>) -> Result<Chosen> {
    let mut files = places.list_shared_folders().into_iter();
    let file = files.find_map(|folder| Some(folder.join("manifest.json")).filter(|it| it.exists()));
    if let Some(file) = file {
        let shown = places.display(&file);
        let text = read_text(&file).map_err(|error| error.message);
        match text.and_then(|text| Ok((parse(&text, &shown)?, text))) {
            Ok((manifest, text)) => {
                let (text, path) = (text.into(), Some(shown));
                return Ok(Chosen {
                    manifest,
                    text,
                    path,
                });
            }
            Err(fault) => warnings.push(format!("{fault}; the built-in manifest counts instead")),
        }
    }
    load_embedded_manifest()
}

pub(super) fn load_embedded_manifest() -> Result<Chosen> {
    let text = read_embedded_text(OWN)?;
    let manifest = parse(&text, OWN).map_err(|fault| Error::new(Code::Internal, fault))?;
    let path = None;
    Ok(Chosen {
        manifest,
        text,
        path,
    })
}

fn parse(text: &str, path: &str) -> std::result::Result<Manifest, String> {
    let text = text.trim_start_matches('\u{feff}');
    let fault = |cause: serde_json::Error| {
        let what = cause.to_string();
        // The message already has the place.
        let what = what.split(" at line ").next().unwrap_or_default();
        format!("{path}:{}:{}: {what}", cause.line(), cause.column())
    };
    let manifest: Manifest = serde_json::from_str(text).map_err(fault)?;
    let rows = &manifest.dispatch_matrix;
    if manifest.skills.is_empty() && rows.by_task_type.is_empty() && rows.by_keyword.is_empty() {
        let what = "it has neither skills nor a dispatch_matrix";
        return Err(format!("{path}:1:1: {what}"));
    }
    Ok(manifest)
}

impl Chosen {
    pub(super) fn warn_of_unknown_skills(&self, skills: &[Skill], warnings: &mut Vec<String>) {
        let Some(path) = &self.path else { return };
        let rows = &self.manifest.dispatch_matrix;
        for (row, skill) in rows.by_task_type.iter().chain(&rows.by_keyword) {
            if find(skills, skill).is_none() {
                let what = format!("the row `{row}` leads to `{skill}`, which does not exist");
                warnings.push(format!("{path}: {what}"));
            }
        }
    }
}
