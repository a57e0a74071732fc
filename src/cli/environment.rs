//! Reads environment variables, once, for all layers below the command line.

use std::env;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::ValueEnum;

use super::arguments::{Color, Format, Globals};
use crate::clock::Clock;
use crate::config::{
    AGENT, COLOR, FORMAT, KEYS, Key, LLM_API_KEY_ENV, LLM_BASE_URL, LLM_PROVIDER, Origin, Settings,
    Value,
};
use crate::error::{Code, Error, Result, is_control_character, is_visible_line, quote};
use crate::id::TaskId;
use crate::llm::Provider;
use crate::llm::settings::OPENAI_KEY;
use crate::ops::config::{Files, skills_dirs};
use crate::ops::runs::{is_known, is_run};
use crate::ops::{Assignment, Defaults, Rights, Surroundings};
use crate::runner::orphans::find_given;
use crate::workspace::{RUNS, Workspace};

/// Maximum length of an invalid URL in a message, in characters.
const ADDRESS_SHOWN: usize = 100;
/// Maximum length of the caller's name, in characters.
const AGENT_MAX: usize = 100;

pub(super) fn settings(globals: &Globals) -> Result<Settings> {
    let (mut settings, fault) = variables(globals);
    fault.map_or(Ok(()), Err)?;
    settings_files(globals).add_to(&mut settings)?;
    add_provider(&mut settings)?;
    add_server(&mut settings)?;
    Ok(settings)
}

/// Adds OpenAI, with the lowest precedence, if its key is set and no setting names another key.
fn add_provider(settings: &mut Settings) -> Result<()> {
    let is_said = |name| settings.origin(name).is_some();
    if variable(OPENAI_KEY).is_some() && !is_said(LLM_PROVIDER) && !is_said(LLM_API_KEY_ENV) {
        let value = Value::Text(Provider::OpenAiChat.word().to_string());
        settings.add(
            Key::require(LLM_PROVIDER)?,
            value,
            Origin::Variable(OPENAI_KEY),
        );
    }
    Ok(())
}

/// Adds the model server from the variable of the provider, with the lowest precedence.
fn add_server(settings: &mut Settings) -> Result<()> {
    let provider = Provider::from_settings(settings);
    let provider = provider.filter(|_| settings.origin(LLM_BASE_URL).is_none());
    let named = provider.and_then(|provider| Some((provider, provider.address_variable()?)));
    let Some((provider, name)) = named else {
        return Ok(());
    };
    let key = Key::require(LLM_BASE_URL)?;
    if let Some(text) = variable(name) {
        let address = provider.address(&text.to_string_lossy());
        let value = key.read_variable(&address);
        // An invalid URL is refused only when a model is created, because the variable belongs to
        // other programs.
        let value = value.unwrap_or_else(|_| {
            let start = address
                .chars()
                .take(ADDRESS_SHOWN)
                .filter(|c| !is_control_character(*c));
            Value::Text(start.chain(['…']).collect())
        });
        settings.add(key, value, Origin::Variable(name));
    }
    Ok(())
}

pub(super) fn settings_files(globals: &Globals) -> Files {
    let root = globals.root.clone().or(path("CLEO_ROOT"));
    let here = env::current_dir().unwrap_or_default();
    let workspace = match root {
        Some(root) => Workspace::at(&here.join(root)),
        None => Workspace::find(&here),
    };
    let home = folder("HOME");
    Files {
        workspace: workspace.ok().map(|workspace| workspace.root),
        config_home: folder("XDG_CONFIG_HOME").or(home.map(|home| home.join(".config"))),
    }
}

pub(super) fn variables(globals: &Globals) -> (Settings, Option<Error>) {
    let mut settings = Settings::default();
    let mut fault = apply_options(globals, &mut settings).err();
    for key in KEYS {
        let read = |text: String| read(key, key.variable, &text);
        match setting(key.variable).and_then(|text| text.map(read).transpose()) {
            Ok(None) => {}
            Ok(Some(value)) => settings.add(key, value, Origin::Variable(key.variable)),
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    (settings, fault)
}

fn read(key: &Key, variable: &str, text: &str) -> Result<Value> {
    key.read_variable(text).map_err(|can_be| {
        let is = key.quote(text);
        let message = format!("{variable} is {is}; it can be {can_be}");
        Error::new(Code::ConfigInvalid, message).fix(format!("unset {variable}"))
    })
}

fn apply_options(globals: &Globals, settings: &mut Settings) -> Result<()> {
    let word = |value: &dyn Fn() -> Option<clap::builder::PossibleValue>| {
        value().map(|value| Value::Text(value.get_name().to_string()))
    };
    let format = globals.json.then_some(Format::Json).or(globals.format);
    let format = format.and_then(|format| word(&|| format.to_possible_value()));
    let color = globals
        .color
        .and_then(|color| word(&|| color.to_possible_value()));
    for (name, value, option) in [(FORMAT, format, "--format"), (COLOR, color, "--color")] {
        if let Some(value) = value {
            settings.add(Key::require(name)?, value, Origin::Option(option));
        }
    }
    Ok(())
}

pub(super) fn color(settings: &Settings) -> Color {
    let color = settings.text(COLOR);
    color
        .and_then(|name| Color::from_str(&name, true).ok())
        .unwrap_or_default()
}

pub(super) fn surroundings(
    globals: &Globals,
    settings: &Settings,
    read: Arc<Result<Settings>>,
    command: &'static str,
) -> Result<Surroundings> {
    let root = globals.root.clone().or(path("CLEO_ROOT"));
    let home = folder("HOME");
    let data_home = folder("XDG_DATA_HOME").or(home.as_ref().map(|home| home.join(".local/share")));
    let assignment = assignment()?;
    // Agents of a run act under its name, whatever they call themselves.
    let actor = match assignment.run.clone().filter(|run| is_run(run)) {
        Some(run) => run,
        None => name_agent(actor(settings)?, globals.agent.as_deref())?,
    };
    let mut surroundings = Surroundings {
        command,
        directory: directory(root.as_deref())?,
        root,
        clock: Clock::from_setting(setting("CLEO_NOW")?.as_deref())?,
        actor,
        assignment,
        judges_workspace: false,
        skills_dirs: [globals.skills_dir.clone(), skills_dirs(settings)].concat(),
        home,
        data_home,
        rights: Rights::default(),
        defaults: Defaults::from(settings),
        settings: read,
    };
    // A caller in a worktree of a run, or with one in its environment, works for that run, and so
    // do its verification commands. In another workspace, such as one made by a criterion, it does
    // not.
    let given = surroundings.assignment.worktree.as_deref();
    let given = given.and_then(containing_run);
    let judge = setting("CLEO_JUDGE")?;
    if let Some(root) = judge.as_ref().filter(|judge| judge.starts_with('/')) {
        let here = surroundings.workspace().ok();
        let real = |path: &Path| path.canonicalize().ok();
        surroundings.assignment.is_verifier =
            here.is_some_and(|here| real(&here.root) == real(Path::new(root)));
    }
    let found = judge
        .filter(|run| is_run(run))
        .or_else(|| containing_run(&surroundings.directory))
        .or(given);
    if let Some(run) = found
        && let Ok(workspace) = surroundings.workspace()
        && is_known(&workspace, &run)?
    {
        surroundings.assignment.run.get_or_insert(run);
    }
    Ok(surroundings)
}

/// Returns the run that a worktree directory belongs to.
fn containing_run(directory: &Path) -> Option<String> {
    let mut folders = directory.ancestors();
    let is_of_run = |folder: &&Path| folder.parent().is_some_and(|above| above.ends_with(RUNS));
    let name = folders.find(is_of_run)?.file_name()?.to_str()?;
    is_run(name).then(|| name.to_string())
}

/// Finds the working directory. Without one, a workspace with an absolute path can still be used;
/// files below `.` are then not found.
fn directory(root: Option<&Path>) -> Result<PathBuf> {
    match env::current_dir() {
        Err(_) if root.is_some_and(Path::is_absolute) => Ok(PathBuf::from(".")),
        found => found.map_err(|cause| {
            error!(FileUnreadable, "the working directory is gone: {cause}").fix("cd ~")
        }),
    }
}

pub(super) fn format(settings: &Settings) -> Option<Format> {
    Format::from_str(&settings.text(FORMAT)?, true).ok()
}

/// Reads a variable; an empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Reads a setting, which must be UTF-8: an invalid one must not count as unset.
fn setting(name: &str) -> Result<Option<String>> {
    let text = variable(name).map(OsString::into_string).transpose();
    text.map_err(|value| {
        let message = format!(
            "{name} is `{}`, which is not UTF-8",
            value.to_string_lossy()
        );
        Error::new(Code::ConfigInvalid, message).fix(format!("unset {name}"))
    })
}

fn path(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from)
}

fn folder(name: &str) -> Option<PathBuf> {
    path(name).filter(|path| path.is_absolute())
}

fn assignment() -> Result<Assignment> {
    // Agents of a run act under its name. Any other name belongs to no run.
    let actor = setting("CLEO_AGENT")?.filter(|actor| is_run(actor));
    let named = setting("CLEO_RUN_ID")?.and_then(|run| one_line("CLEO_RUN_ID", run).ok());
    let run = actor.or(named);
    let task: Option<TaskId> = parse("CLEO_TASK_ID", "a task id such as T12")?;
    for name in ["CLEO_TASK_ID", "CLEO_EPOCH"] {
        let given = run.as_ref().and_then(|run| find_given(run, name));
        if let (Some(given), Some(now)) = (given, setting(name)?)
            && given != now
        {
            let message =
                format!("{name} is `{now}`, and the run started this agent with `{given}`");
            return Err(Error::new(Code::ConfigInvalid, message)
                .fix(format!("export {name}={}", quote(&given))));
        }
    }
    Ok(Assignment {
        run,
        task,
        epoch: parse::<NonZeroU32>("CLEO_EPOCH", "a number from 1")?.map(NonZeroU32::get),
        session: parse("CLEO_SESSION", "a session id such as S1")?,
        worktree: folder("CLEO_WORKTREE"),
        criteria: Arc::default(),
        is_foreign: false,
        is_verifier: false,
    })
}

fn parse<T: FromStr>(name: &str, form: &str) -> Result<Option<T>> {
    let Some(text) = setting(name)? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        let message = format!("{name} is `{text}`; it can be {form}");
        Error::new(Code::ConfigInvalid, message).fix(format!("unset {name}"))
    })
}

/// Names who calls: `CLEO_AGENT`, else user and host.
fn actor(settings: &Settings) -> Result<String> {
    if let Some(agent) = settings.text(AGENT) {
        let refuse = |message| Error::new(Code::ConfigInvalid, message).fix("unset CLEO_AGENT");
        return one_line("CLEO_AGENT", agent).map_err(refuse);
    }
    let text = |name| variable(name).and_then(|value| value.into_string().ok());
    let user = text("USER").or_else(|| text("LOGNAME"));
    let host = text("HOSTNAME").or_else(host);
    let (user, host) = (user.as_deref(), host.as_deref());
    let actor = [user.unwrap_or("unknown"), host.unwrap_or("localhost")].join("@");
    let refuse =
        |message: String| error!(ConfigInvalid, "{message}; set CLEO_AGENT to another name");
    one_line("the name from user and host", actor).map_err(refuse)
}

/// Adds the name of an agent to that of its caller, who acts for all of its agents.
fn name_agent(actor: String, agent: Option<&str>) -> Result<String> {
    let Some(agent) = agent else { return Ok(actor) };
    let refuse = |message| Error::new(Code::InputInvalid, message).in_field("as");
    let agent = one_line("--as", agent.to_string()).map_err(refuse)?;
    Ok(format!("{actor}/{agent}"))
}

/// Checks a name for the log; the error is the message.
fn one_line(what: &str, name: String) -> std::result::Result<String, String> {
    if !is_visible_line(&name, AGENT_MAX) {
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
