//! Reads the environment, once, for everything below the command line.

use std::env;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;

use super::arguments::{Format, Globals};
use crate::clock::Clock;
use crate::error::{Code, Error, Result, steers};
use crate::ops::{Assignment, Surroundings};

/// Longest name of who calls, in characters.
const AGENT_MAX: usize = 100;

/// Gathers what surrounds the command.
pub(super) fn surroundings(globals: &Globals, command: &'static str) -> Result<Surroundings> {
    let root = globals.root.clone().or(path("CLEO_ROOT"));
    let home = folder("HOME");
    let data_home = folder("XDG_DATA_HOME").or(home.as_ref().map(|home| home.join(".local/share")));
    Ok(Surroundings {
        command,
        directory: directory(root.as_deref())?,
        root,
        clock: Clock::from_setting(setting("CLEO_NOW")?.as_deref())?,
        actor: actor()?,
        assignment: assignment()?,
        skills_dirs: globals.skills_dir.clone(),
        home,
        data_home,
    })
}

/// Finds the working directory. Without one, a workspace that is named in full can still be used;
/// whatever else is looked for below `.` is then not found.
fn directory(root: Option<&Path>) -> Result<PathBuf> {
    match env::current_dir() {
        Err(_) if root.is_some_and(Path::is_absolute) => Ok(PathBuf::from(".")),
        found => found.map_err(|cause| {
            let message = format!("the working directory is gone: {cause}");
            Error::new(Code::FileUnreadable, message).fix("cd ~")
        }),
    }
}

/// Reads the form of the answer that `CLEO_FORMAT` asks for.
pub(super) fn format() -> Result<Option<Format>> {
    let Some(name) = setting("CLEO_FORMAT")? else {
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
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Reads a setting, which must be text: one that cannot be read must not count as unset.
fn setting(name: &str) -> Result<Option<String>> {
    let text = variable(name).map(OsString::into_string).transpose();
    text.map_err(|value| {
        let message = format!("{name} is `{}`, which is no UTF-8", value.to_string_lossy());
        Error::new(Code::ConfigInvalid, message).fix(format!("unset {name}"))
    })
}

fn path(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from)
}

fn folder(name: &str) -> Option<PathBuf> {
    path(name).filter(|path| path.is_absolute())
}

/// Reads what the caller was given to do.
fn assignment() -> Result<Assignment> {
    Ok(Assignment {
        task: parsed("CLEO_TASK_ID", "a task id such as T12")?,
        epoch: parsed::<NonZeroU32>("CLEO_EPOCH", "a number from 1")?.map(NonZeroU32::get),
        session: parsed("CLEO_SESSION", "a session id such as S1")?,
    })
}

/// Reads a setting that has a form.
fn parsed<T: FromStr>(name: &str, form: &str) -> Result<Option<T>> {
    let Some(text) = setting(name)? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        let message = format!("{name} is `{text}`; it can be {form}");
        Error::new(Code::ConfigInvalid, message).fix(format!("unset {name}"))
    })
}

/// Names who calls: `CLEO_AGENT`, else user and host.
fn actor() -> Result<String> {
    if let Some(agent) = setting("CLEO_AGENT")? {
        let refuse = |message| Error::new(Code::ConfigInvalid, message).fix("unset CLEO_AGENT");
        return one_line("CLEO_AGENT", agent).map_err(refuse);
    }
    let text = |name| variable(name).and_then(|value| value.into_string().ok());
    let user = text("USER").or_else(|| text("LOGNAME"));
    let host = text("HOSTNAME").or_else(host);
    let (user, host) = (user.as_deref(), host.as_deref());
    let actor = [user.unwrap_or("unknown"), host.unwrap_or("localhost")].join("@");
    // Nothing is wrong with a CLEO_AGENT that is not set: it is what would help.
    let refuse = |message| Error::new(Code::ConfigInvalid, message).fix("export CLEO_AGENT=agent");
    one_line("the name made of user and host", actor).map_err(refuse)
}

/// Checks a name that is kept with what its bearer does; the error is the message.
fn one_line(what: &str, name: String) -> std::result::Result<String, String> {
    let is_long = name.chars().count() > AGENT_MAX;
    if is_long || name.trim().is_empty() || name.contains(steers) {
        return Err(format!(
            "{what} is `{name}`; it can be one line of at most {AGENT_MAX} visible characters"
        ));
    }
    Ok(name.trim().to_string())
}

fn host() -> Option<String> {
    let name = std::fs::read_to_string("/etc/hostname").ok()?;
    Some(name.trim().to_string()).filter(|name| !name.is_empty())
}
