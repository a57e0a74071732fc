//! Reads the environment, once, for everything below the command line.

use std::env;
use std::path::PathBuf;

use clap::ValueEnum;

use super::arguments::{Format, Globals};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::ops::Surroundings;

/// Gathers what surrounds the command.
pub(super) fn surroundings(globals: &Globals) -> Result<Surroundings> {
    let directory = env::current_dir().map_err(|cause| {
        Error::new(
            Code::FileUnreadable,
            format!("the working directory is gone: {cause}"),
        )
        .fix("cd ~")
    })?;
    let home = folder("HOME");
    let data_home = folder("XDG_DATA_HOME").or(home.as_ref().map(|home| home.join(".local/share")));
    Ok(Surroundings {
        directory,
        root: globals
            .root
            .clone()
            .or(setting("CLEO_ROOT").map(PathBuf::from)),
        clock: Clock::from_setting(setting("CLEO_NOW").as_deref())?,
        actor: actor(),
        skills_dirs: globals.skills_dir.clone(),
        home,
        data_home,
    })
}

/// Reads the form of the answer that `CLEO_FORMAT` asks for.
pub(super) fn format() -> Result<Option<Format>> {
    let Some(name) = setting("CLEO_FORMAT") else {
        return Ok(None);
    };
    Format::from_str(&name, true).map(Some).map_err(|_| {
        let message = format!("CLEO_FORMAT is `{name}`; it can be text, json or ndjson");
        Error::new(Code::ConfigInvalid, message).fix("unset CLEO_FORMAT")
    })
}

/// Finds this very program, and says whether it is on the PATH.
pub(super) fn program() -> Result<(PathBuf, bool)> {
    let program = env::current_exe().map_err(|cause| {
        let message = format!("cleo cannot find its own program: {cause}");
        Error::new(Code::Internal, message)
            .fix("command -v cleo")
            .because(cause)
    })?;
    let path = env::var_os("PATH").unwrap_or_default();
    let is_on_path = env::split_paths(&path).any(|folder| Some(&*folder) == program.parent());
    Ok((program, is_on_path))
}

/// Reads a variable; an empty one counts as unset.
pub(super) fn setting(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn folder(name: &str) -> Option<PathBuf> {
    setting(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// Names who calls: `CLEO_AGENT`, else user and host.
fn actor() -> String {
    setting("CLEO_AGENT").unwrap_or_else(|| {
        let user = setting("USER")
            .or_else(|| setting("LOGNAME"))
            .unwrap_or("unknown".to_string());
        let host = setting("HOSTNAME")
            .or_else(host)
            .unwrap_or("localhost".to_string());
        format!("{user}@{host}")
    })
}

fn host() -> Option<String> {
    let name = std::fs::read_to_string("/etc/hostname").ok()?;
    Some(name.trim().to_string()).filter(|name| !name.is_empty())
}
