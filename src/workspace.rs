//! The workspace on disk: where it is, what is in it, and which paths stay inside.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::{Code, Error, Result, quote};
use crate::file::{DRAFT, create_private_folder, name_birth, unwritable};
use crate::store::Database;
use crate::store::postgres::PostgresStore;
use crate::store::postgres::address::Address;
use crate::store::sqlite::{self, SqliteStore};
pub(crate) use crate::template::{MANIFEST, OUTPUT_DIR};
use crate::tree::main_checkout;

/// Folders that are created with those of a workspace and not reported.
const ABOVE: [&str; 2] = ["", "claudedocs"];

pub(crate) const RUNS: &str = ".cleo/runs";

/// Files and folders in `.cleo`, besides the database.
const OWN: [&str; 6] = [
    "config.yaml",
    ".gitignore",
    "agents",
    "protocols",
    "runs",
    "skills",
];

/// Keeps the database, runs and drafts of killed processes out of version control.
const IGNORE: &str = "cleo.db\ncleo.db-*\nruns/\n.cleo-new-*\n";

/// Marks a workspace whose database is on a server.
const ON_SERVER: &str = ".cleo/cleo.db-server";

/// A folder with `.cleo/` in it.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// The workspace that has the store, where this is a git worktree whose files are judged.
    pub(crate) main: Option<PathBuf>,
    /// The address of the database where it is on a server, or why it cannot be used.
    pub(crate) server: Option<Arc<Result<Address>>>,
    /// The only user whose rows its stores see, where the database can restrict them.
    pub(crate) user: Option<Arc<str>>,
}

impl PartialEq for Workspace {
    fn eq(&self, other: &Workspace) -> bool {
        (&self.root, &self.main) == (&other.root, &other.main)
    }
}

impl From<PathBuf> for Workspace {
    fn from(root: PathBuf) -> Workspace {
        Workspace {
            root,
            main: None,
            server: None,
            user: None,
        }
    }
}

impl Workspace {
    /// Finds the workspace of `directory`, upward. A linked worktree of git belongs to the workspace of its main
    /// checkout, also if git has checked out a `.cleo` without a database there.
    pub(crate) fn find(directory: &Path) -> Result<Workspace> {
        let has_database = |folder: &Path| {
            let mut places = [".cleo/cleo.db", ON_SERVER].into_iter();
            places.any(|place| folder.join(place).exists())
        };
        let is_checked_out = |folder: &Path| {
            folder.join(".git").is_file() && folder.ancestors().skip(1).any(has_database)
        };
        let in_main_checkout = |folder: &Path| {
            let is_of_run = folder.ancestors().any(|above| above.ends_with(RUNS));
            let main = main_checkout(folder).filter(|_| !is_of_run)?;
            let end = main.join(directory.strip_prefix(folder).ok()?);
            let mut places = end.ancestors().take_while(|place| place.starts_with(&main));
            places
                .find(|place| has_database(place))
                .map(|place| place.components().collect())
        };
        // If `.cleo` is in git, a linked worktree has the folder without the database.
        let is_linked = |folder: &Path| {
            let mut above = folder.ancestors().skip(1);
            above.any(|folder| in_main_checkout(folder).is_some())
        };
        let is_damaged = |folder: &Path| {
            let place = folder.join(".cleo");
            place.symlink_metadata().is_ok() && !place.is_dir()
        };
        let root = directory.ancestors().find_map(|folder| {
            let is_own = || !is_checked_out(folder) && !is_linked(folder);
            let own = || folder.join(".cleo").is_dir() && is_own() || is_damaged(folder);
            match has_database(folder) {
                true => Some(folder.to_path_buf()),
                false => in_main_checkout(folder).or_else(|| own().then(|| folder.to_path_buf())),
            }
        });
        match root {
            // The workspace of a folder above would be changed without the user's knowledge.
            Some(root) if is_damaged(&root) => {
                let place = root.join(".cleo");
                let message = format!("{} is not a folder", place.display());
                let look = format!("ls -ld {}", quote(&place.to_string_lossy()));
                Err(Error::new(Code::WorkspaceNotFound, message).fix(look))
            }
            Some(root) => Ok(root.into()),
            None => {
                let message = format!("there is no .cleo in {} or above", directory.display());
                Err(Error::new(Code::WorkspaceNotFound, message).fix("cleo init"))
            }
        }
    }

    pub(crate) fn at(root: &Path) -> Result<Workspace> {
        if root.join(".cleo").is_dir() {
            return Ok(root.to_path_buf().into());
        }
        let message = format!("there is no .cleo in {}", root.display());
        let fix = format!("cleo --root {} init", quote(&root.to_string_lossy()));
        Err(Error::new(Code::WorkspaceNotFound, message).fix(fix))
    }

    pub(crate) fn missing(&self) -> Vec<String> {
        let database = self.server.as_ref().map_or(".cleo/cleo.db", |_| ON_SERVER);
        let parts = [".cleo", OUTPUT_DIR, ".cleo/.gitignore", database];
        let missing = parts.iter().filter(|part| !self.root.join(part).exists());
        missing.map(|part| part.to_string()).collect()
    }

    /// Creates what is missing of a workspace and returns the new parts, relative to it.
    pub(crate) fn create_missing(&self) -> Result<Vec<String>> {
        let mut made = Vec::new();
        match self.create_parts(&mut made) {
            Ok(()) => {
                made.retain(|part| !ABOVE.contains(&part.as_str()));
                Ok(made)
            }
            Err(error) => {
                self.remove_parts(&made);
                Err(error)
            }
        }
    }

    fn create_parts(&self, made: &mut Vec<String>) -> Result<()> {
        let root = &self.root;
        sqlite::check_place(&self.database())?;
        for folder in ABOVE.into_iter().chain([".cleo", OUTPUT_DIR]) {
            if !root.join(folder).is_dir() {
                let path = match root.is_dir() {
                    true => self.confine(folder)?,
                    false => root.join(folder),
                };
                let create = match folder {
                    ".cleo" => create_private_folder(&path),
                    _ => fs::create_dir_all(&path),
                };
                create.map_err(|cause| unwritable(&path, cause))?;
                made.push(folder.to_string());
            }
        }
        let ignore = root.join(".cleo/.gitignore");
        // A link that leads nowhere would be written through.
        if ignore.symlink_metadata().is_err() {
            made.push(".cleo/.gitignore".to_string());
            fs::write(&ignore, IGNORE).map_err(|cause| unwritable(&ignore, cause))?;
        }
        match self.address()? {
            Some(address) => {
                PostgresStore::create(address)?;
                let mark = root.join(ON_SERVER);
                if !mark.exists() {
                    made.push(ON_SERVER.to_string());
                    fs::write(&mark, "").map_err(|cause| unwritable(&mark, cause))?;
                }
            }
            None => {
                let is_new = self.create_database()?;
                made.extend(is_new.then(|| ".cleo/cleo.db".to_string()));
            }
        }
        Ok(())
    }

    /// Removes the parts of a workspace that could not be completed; a folder only if it is empty.
    fn remove_parts(&self, made: &[String]) {
        for part in made.iter().rev() {
            let path = self.root.join(part);
            // The next attempt uses parts that cannot be removed.
            let _ = if path.is_dir() {
                fs::remove_dir(&path)
            } else {
                fs::remove_file(&path)
            };
        }
    }

    /// Creates the database under another name and moves it to its place, so that no process opens a
    /// partial one. Returns whether this process created it.
    fn create_database(&self) -> Result<bool> {
        let path = self.database();
        if self.store_if_there()?.is_some() {
            return Ok(false);
        }
        let folder = self.root.join(".cleo");
        let draft = tempfile::Builder::new()
            .prefix(DRAFT)
            .tempdir_in(&folder)
            .map_err(|cause| unwritable(&folder, cause))?;
        let draft_file = draft.path().join("cleo.db");
        let made = SqliteStore::create(&draft_file).and_then(SqliteStore::checkpoint);
        // The message cannot name the draft, which no longer exists.
        made.map_err(|error| {
            let message = format!("no database can be made in {}", folder.display());
            let place = folder.parent().unwrap_or(&folder).to_string_lossy();
            let fix = format!("ls -ld {} && df {}", quote(&place), quote(&place));
            Error::new(error.code, message).fix(fix).because(error)
        })?;
        let draft_file = tempfile::TempPath::try_from_path(draft_file);
        let moved =
            draft_file.and_then(|file| file.persist_noclobber(&path).map_err(|error| error.error));
        match moved {
            Ok(()) => Ok(true),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(cause) => Err(unwritable(&path, cause)),
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join(".cleo/cleo.db")
    }

    /// Returns where the manifest is; a link that leads out of the workspace is refused.
    pub(crate) fn manifest(&self) -> Result<PathBuf> {
        self.confine(MANIFEST)
    }

    /// Returns the workspace that has the store, where this one is a git worktree: of a run, or one that
    /// its caller works in.
    pub(crate) fn home(&self) -> Option<Workspace> {
        let main = self.main.clone().map(Workspace::from);
        main.or_else(|| self.home_of_run())
    }

    /// Returns the workspace of whose run this one is a git worktree, if it is one.
    pub(crate) fn home_of_run(&self) -> Option<Workspace> {
        let mut above = self.root.ancestors();
        let runs = above.find(|folder| folder.ends_with(RUNS))?;
        Some(runs.parent()?.parent()?.to_path_buf().into())
    }

    pub(crate) fn worktree(&self) -> Option<String> {
        let is_worktree = self.home().is_some();
        is_worktree.then(|| self.root.to_string_lossy().into_owned())
    }

    /// Returns the workspace that has a file: the main one of this worktree if only that has it.
    pub(crate) fn holding(&self, file: &str) -> Workspace {
        let is_there = |workspace: &Workspace| workspace.root.join(file).exists();
        let home = self.home().filter(|home| is_there(home) && !is_there(self));
        home.unwrap_or_else(|| self.clone())
    }

    pub(crate) fn refuse_own(&self, path: &Path) -> Result<()> {
        // A write follows the link, so its target is the place that counts.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let folder = real.parent().and_then(|folder| folder.canonicalize().ok());
        let is_in =
            |own: &str| folder.is_some() && folder == self.root.join(own).canonicalize().ok();
        if (is_in(".cleo") && (OWN.contains(&&*name) || name.starts_with("cleo.db")))
            || (is_in(OUTPUT_DIR) && name.starts_with("MANIFEST"))
        {
            return Err(error!(
                InputInvalid,
                "{} is a file of cleo itself",
                path.display()
            ));
        }
        Ok(())
    }

    pub(crate) fn open_store(&self) -> Result<Database> {
        self.store_if_there()?.ok_or_else(|| {
            let message = match self.address() {
                Ok(Some(address)) => format!("{} has no tables of cleo", address.place()),
                _ => format!("{} is missing", self.database().display()),
            };
            let root = quote(&self.root.to_string_lossy()).to_string();
            Error::new(Code::WorkspaceNotFound, message).fix(format!("cleo --root {root} init"))
        })
    }

    pub(crate) fn store_if_there(&self) -> Result<Option<Database>> {
        let Some(address) = self.address()? else {
            if self.is_on_server() {
                let message = format!(
                    "the database of {} is on a server, and no setting says where",
                    self.root.display()
                );
                let fix = "cleo config set store.url postgres://USER@HOST/DATABASE";
                return Err(Error::new(Code::ConfigInvalid, message).fix(fix));
            }
            let store = SqliteStore::open_if_there(&self.database())?;
            return Ok(store.map(Database::Sqlite));
        };
        let store = PostgresStore::open_if_there(address)?;
        let store = store.map(|store| store.for_user(self.user.clone()));
        Ok(store.map(|store| Database::Postgres(Box::new(store))))
    }

    /// Returns true if this workspace was created with a database on a server.
    pub(crate) fn is_on_server(&self) -> bool {
        self.root.join(ON_SERVER).exists()
    }

    pub(crate) fn address(&self) -> Result<Option<&Address>> {
        match self.server.as_deref() {
            None => Ok(None),
            Some(Ok(address)) => Ok(Some(address)),
            Some(Err(error)) => Err(error.clone()),
        }
    }

    /// Returns the full path of the workspace; of a worktree, that of the workspace of its repository.
    pub(crate) fn real_root(&self) -> PathBuf {
        let home = self.home();
        let root = home.map_or_else(|| self.root.clone(), |home| home.root);
        root.canonicalize().unwrap_or(root)
    }

    /// Names the workspace by its path and the birth of its folder, so that another one at this path has another name.
    pub(crate) fn identity(&self) -> String {
        let root = self.real_root();
        let folder = root.join(".cleo");
        let born = folder.symlink_metadata().map_or_else(
            |_| String::new(),
            |found| {
                format!(
                    "{}-{}",
                    found.ino(),
                    name_birth(&folder, found.created().ok())
                )
            },
        );
        format!("{} {born}", root.display())
    }

    /// Returns the absolute path of `relative`, which must stay inside the workspace: neither `..`
    /// nor a link may lead out. The file need not exist.
    pub(crate) fn confine(&self, relative: &str) -> Result<PathBuf> {
        let outside = || {
            let error = error!(PathOutside, "`{relative}` leads out of the workspace");
            match self.link_to(relative) {
                Some(link) => error.fix(format!("ls -ld {}", quote(&link.to_string_lossy()))),
                None => error,
            }
        };
        let path = Path::new(relative);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if relative.is_empty() || relative.contains('\0') || !path.components().all(plain) {
            return Err(outside());
        }
        let full = self.root.join(path);
        // A path without links stays inside.
        if self.link_to(relative).is_none() {
            return Ok(full);
        }
        let real_root = fs::canonicalize(&self.root).map_err(|_| outside())?;
        let existing = full
            .ancestors()
            .find(|path| path.symlink_metadata().is_ok());
        let real = fs::canonicalize(existing.unwrap_or(&self.root)).map_err(|_| outside())?;
        if real.starts_with(&real_root) {
            Ok(full)
        } else {
            Err(outside())
        }
    }

    fn link_to(&self, relative: &str) -> Option<PathBuf> {
        let way = Path::new(relative).components();
        let steps = way.scan(self.root.clone(), |step, part| {
            step.push(part);
            Some(step.clone())
        });
        steps.into_iter().find(|step| step.is_symlink())
    }
}

#[cfg(test)]
mod tests;
