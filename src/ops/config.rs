//! Settings: reading the layers, and changing the files.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::operation::Nothing;
use super::surroundings::refuse_password;
use super::{Notes, Surroundings};
use crate::config::file::{self as settings_file, FILE_MAX};
use crate::config::{KEYS, Key, Origin, SKILLS_DIRS, STORE_URL, Settings, Value};
use crate::error::{Code, Error, Result, quote};
use crate::file;
use crate::store::postgres::address::hide_password;
use crate::workspace::Workspace;

/// Time limit for another process that changes the same file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The folders that settings files are in, if they are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// The workspace, for `.cleo/config.yaml`.
    pub(crate) workspace: Option<PathBuf>,
    /// The user's folder of settings (XDG).
    pub(crate) config_home: Option<PathBuf>,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Setting {
    /// Name of the setting
    key: String,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    pub(crate) key: &'static str,
    /// Its value; null if it is not set and has no default.
    pub(crate) value: Option<Value>,
    /// Where it is set: an option, a variable, a file with its line, or `default`.
    pub(crate) origin: String,
    pub(crate) meaning: &'static str,
    pub(crate) allowed: String,
    /// The variable that sets it.
    pub(crate) variable: &'static str,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    pub(crate) settings: Vec<Shown>,
    pub(crate) total: usize,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct One {
    pub(crate) setting: Shown,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Changed {
    pub(crate) key: String,
    /// Its value in the file now; null if it is not set there.
    pub(crate) value: Option<Value>,
    pub(crate) path: String,
    /// False if the file had this value already.
    pub(crate) changed: bool,
}

impl Files {
    fn project(&self) -> Option<PathBuf> {
        self.workspace
            .as_ref()
            .map(|root| root.join(".cleo/config.yaml"))
    }

    fn user(&self) -> Option<PathBuf> {
        self.config_home
            .as_ref()
            .map(|home| home.join("cleo/config.yaml"))
    }

    /// Adds the settings of the files: the project's first, which take precedence over the user's.
    pub(crate) fn add_to(&self, settings: &mut Settings) -> Result<()> {
        for (path, is_project) in [(self.project(), true), (self.user(), false)] {
            let Some(path) = path else { continue };
            let Some(read_settings_file) = read_settings_file(&path)? else {
                continue;
            };
            let path = path.to_string_lossy().into_owned();
            for entry in settings_file::read(&path, &read_settings_file)? {
                let origin = Origin::File {
                    path: path.clone(),
                    line: entry.line,
                };
                let key = Key::require(entry.key)?;
                let value = self.resolve_folders(entry.value, is_project, key, &origin)?;
                settings.add(key, value, origin);
            }
        }
        Ok(())
    }

    /// Folders that a file names are below the workspace or, for the user's file, below its own
    /// folder. A project is untrusted and cannot name other folders.
    fn resolve_folders(
        &self,
        value: Value,
        is_project: bool,
        key: &Key,
        origin: &Origin,
    ) -> Result<Value> {
        let Value::Folders(folders) = value else {
            return Ok(value);
        };
        let base = if is_project {
            &self.workspace
        } else {
            &self.config_home
        };
        let base = base.clone().unwrap_or_default();
        let placed = folders.into_iter().map(|folder| {
            if !is_project {
                return Ok(base.join(folder).to_string_lossy().into_owned());
            }
            let workspace = Workspace::from(base.clone());
            let placed = workspace.confine(&folder).map_err(|_| {
                let message = format!("{origin}: `{folder}` leads out of the workspace");
                Error::new(Code::ConfigInvalid, message).or(
                    "remove the setting",
                    format!("cleo config unset {}", key.name),
                )
            })?;
            Ok(placed.to_string_lossy().into_owned())
        });
        Ok(Value::Folders(placed.collect::<Result<_>>()?))
    }

    fn find_file_to_write(&self, user: bool) -> Result<PathBuf> {
        if user {
            let what = "no folder is known for settings of the user: HOME is not set; set it to your home \
                        folder, in full";
            let error = || Error::new(Code::ConfigInvalid, what);
            return self.user().ok_or_else(error);
        }
        let Some(root) = self.workspace.clone() else {
            let what = "there is no workspace here for settings of the project";
            return Err(Error::new(Code::WorkspaceNotFound, what).fix("cleo init"));
        };
        Workspace::from(root).confine(".cleo/config.yaml")
    }
}

/// Reads a settings file; none if it does not exist.
fn read_settings_file(path: &Path) -> Result<Option<String>> {
    let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    if std::fs::symlink_metadata(path).is_err_and(|cause| absent.contains(&cause.kind())) {
        return Ok(None);
    }
    let bytes = file::read(path, FILE_MAX).map_err(|error| {
        let message = format!("the settings cannot be read: {}", error.message);
        Error {
            message,
            code: Code::ConfigInvalid,
            ..error
        }
    })?;
    String::from_utf8(bytes).map(Some).map_err(|cause| {
        let message = format!("{} is not valid UTF-8", path.display());
        Error::new(Code::ConfigInvalid, message).because(cause)
    })
}

pub(crate) fn list(surroundings: &Surroundings, _: &mut Notes, _: Nothing) -> Result<Listed> {
    let settings = surroundings.settings()?;
    let settings: Vec<Shown> = KEYS.iter().map(|key| show(settings, key)).collect();
    Ok(Listed {
        total: settings.len(),
        settings,
    })
}

pub(crate) fn get(surroundings: &Surroundings, _: &mut Notes, wanted: Setting) -> Result<One> {
    let key = Key::require(&wanted.key).map_err(|error| error.in_field("key"))?;
    let setting = show(surroundings.settings()?, key);
    Ok(One { setting })
}

fn show(settings: &Settings, key: &'static Key) -> Shown {
    let found = settings.find(key);
    let origin = found
        .as_ref()
        .map_or(Origin::Default, |(_, origin)| origin.clone());
    Shown {
        key: key.name,
        value: found.map(|(value, _)| match value {
            Value::Text(url) if key.name == STORE_URL => Value::Text(hide_password(url)),
            value => value,
        }),
        origin: origin.to_string(),
        meaning: key.meaning,
        allowed: key.kind.to_string(),
        variable: key.variable,
    }
}

pub(crate) fn set(files: &Files, name: &str, text: &str, user: bool) -> Result<Changed> {
    let key = Key::require(name)?;
    let value = key.read(text).map_err(|can_be| {
        let is = key.quote(text);
        let message = format!("`{name}` cannot be {is}; it can be {can_be}");
        Error::new(Code::ConfigInvalid, message).fix(format!("cleo config get {}", key.name))
    })?;
    if !user && key.is_users_own() {
        let message = format!(
            "`{}` is read from your own file only: a project is untrusted",
            key.name
        );
        let fix = format!("cleo config set {} {} --user", key.name, quote(text));
        return Err(Error::new(Code::ConfigInvalid, message).fix(fix));
    }
    let path = files.find_file_to_write(user)?;
    let shown = path.to_string_lossy().into_owned();
    if !user && key.name == STORE_URL {
        refuse_password(text)?;
    }
    if !user {
        let origin = Origin::Option("VALUE");
        files.resolve_folders(value.clone(), true, key, &origin)?;
    }
    // Refuses a file with an invalid line, because none of its settings would be used.
    let changed = edit(&path, |there| {
        let text = settings_file::set(&shown, there, key, &value)?;
        settings_file::read(&shown, &text).map(|_| text)
    })?;
    Ok(Changed {
        key: key.name.to_string(),
        value: Some(value),
        path: shown,
        changed,
    })
}

/// Removes a setting from the project's file or the user's; also an unknown one.
pub(crate) fn unset(files: &Files, name: &str, user: bool) -> Result<Changed> {
    let path = files.find_file_to_write(user)?;
    let shown = path.to_string_lossy().into_owned();
    let changed = edit(&path, |there| settings_file::unset(&shown, there, name))?;
    if !changed {
        Key::require(name)?;
    }
    Ok(Changed {
        key: name.to_string(),
        value: None,
        path: shown,
        changed,
    })
}

/// Locks the folder of a file, which is created, in turn with other processes that change the file.
pub(super) fn lock_folder_of(path: &Path, look: &str) -> Result<File> {
    let folder = path.parent().unwrap_or(path);
    let turn = std::fs::create_dir_all(folder)
        .and_then(|()| File::open(folder))
        .and_then(|folder| file::lock_in_turn(folder, LOCK_TIMEOUT));
    let turn = turn.map_err(|cause| file::unwritable(path, cause))?;
    turn.ok_or_else(|| {
        let place = path.display();
        let message = format!("timed out waiting for another process that changes {place}");
        let error = Error::new(Code::LockTimeout, message).fix(look);
        error.passing(true)
    })
}

/// Changes a settings file under a lock on its folder, and returns whether it differs now.
fn edit(path: &Path, change: impl FnOnce(&str) -> Result<String>) -> Result<bool> {
    let _turn = lock_folder_of(path, "cleo config list")?;
    let there = read_settings_file(path)?.unwrap_or_default();
    let changed = change(&there)?;
    if changed != there {
        file::write_whole(path, &changed)?;
    }
    Ok(changed != there)
}

pub(crate) fn skills_dirs(settings: &Settings) -> Vec<PathBuf> {
    settings
        .folders(SKILLS_DIRS)
        .into_iter()
        .map(PathBuf::from)
        .collect()
}
