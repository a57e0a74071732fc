//! Where skills and protocols are looked for, and in what order.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::below;
use crate::skill::Source;

/// How deep below a folder of skills a SKILL.md may stand.
const DEPTH: usize = 5;
/// Most folders that are looked into below one folder of skills.
const FOLDERS: usize = 2_000;

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Folders that the user named.
    pub named: Vec<PathBuf>,
    /// Root of the project, if there is one.
    pub project: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's data folder (XDG).
    pub data_home: Option<PathBuf>,
    /// A folder whose own skills do not count, written out in full.
    pub except: Option<PathBuf>,
}

impl Places {
    /// Returns the folders of skills in the order in which they count.
    pub(super) fn skill_folders(&self) -> Vec<(PathBuf, Source)> {
        let mut folders: Vec<_> = self
            .named
            .iter()
            .map(|path| (path.clone(), Source::Named))
            .collect();
        for name in ["skills", ".cleo/skills", ".agents/skills", ".claude/skills"] {
            folders.extend(
                self.project
                    .iter()
                    .map(|root| (root.join(name), Source::Project)),
            );
        }
        for name in [".agents/skills", ".claude/skills", ".codex/skills"] {
            folders.extend(self.home.iter().map(|home| (home.join(name), Source::User)));
        }
        folders.extend(
            self.data_home
                .iter()
                .map(|data| (data.join("cleo/skills"), Source::User)),
        );
        folders.retain(|(folder, _)| folder.is_dir());
        folders
    }

    /// Says whether a SKILL.md counts.
    pub(super) fn counts(&self, file: &Path) -> bool {
        let folder = file.parent().and_then(Path::parent);
        let is_in = |except: &PathBuf| {
            let folder = folder.and_then(|folder| folder.canonicalize().ok());
            folder.as_ref() == Some(except)
        };
        !self.except.as_ref().is_some_and(is_in)
    }

    /// Tells of the folders that the user named and that are not there.
    pub(super) fn missing(&self) -> impl Iterator<Item = String> {
        let missing = self.named.iter().filter(|folder| !folder.is_dir());
        missing.map(|folder| format!("{} is no folder to find skills in", folder.display()))
    }

    /// Returns the folders that may hold the manifest, the base protocol and the task section.
    pub(super) fn shared_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.named.clone();
        for name in ["skills", ".cleo/skills"] {
            folders.extend(self.project.iter().map(|root| root.join(name)));
        }
        folders
    }

    /// Returns the Markdown files of the project that may be protocols, by name.
    pub(super) fn protocol_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for name in ["protocols", ".cleo/protocols"] {
            if let Some(root) = &self.project {
                let walk = WalkDir::new(root.join(name))
                    .max_depth(1)
                    .sort_by_file_name();
                let entries = walk.into_iter().filter_map(Result::ok);
                let paths = entries.filter(|entry| entry.file_type().is_file());
                files.extend(paths.map(|entry| entry.into_path()));
            }
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        files
    }

    /// Returns how a file is shown: relative to the project or to the home, if it is in there.
    pub(super) fn shown(&self, file: &Path) -> String {
        let in_project = self.project.as_ref().and_then(|root| below(file, root));
        let in_home = || {
            let home = self.home.as_ref()?;
            Some(Path::new("~").join(below(file, home)?))
        };
        let path = in_project
            .or_else(in_home)
            .unwrap_or_else(|| file.to_path_buf());
        path.to_string_lossy().into_owned()
    }

    /// Returns the file that is shown in this way.
    pub fn file(&self, shown: &str) -> PathBuf {
        match (shown.strip_prefix("~/"), &self.home, &self.project) {
            (Some(rest), Some(home), _) => home.join(rest),
            (_, _, Some(root)) => root.join(shown),
            _ => PathBuf::from(shown),
        }
    }
}

/// The SKILL.md files below a folder.
pub(super) struct SkillFiles {
    /// The files by path.
    pub(super) paths: Vec<PathBuf>,
    /// What was not looked at.
    pub(super) warning: Option<String>,
}

/// Finds the SKILL.md files below a folder, within bounds of depth and number. Links to folders
/// are followed, as other clients do; one that leads back up is an error of the walk and skipped.
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
