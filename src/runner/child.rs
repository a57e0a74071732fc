//! The environment and folder of every command that cleo starts. Nothing is inherited by default: a command
//! gets the variables chosen for its kind, and `PWD`, which names its folder. Variables of a hook, `git
//! rebase --exec` or `git bisect run` about the caller's repository are never passed on, because commands
//! would work on that repository instead.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use regex::Regex;

use crate::store::postgres::address::has_password;

pub(crate) type Variable = (OsString, OsString);

/// The variables that tie git to one repository, as `git rev-parse --local-env-vars` lists them, those of
/// older versions included. No command gets them, also where a setting names them.
pub(crate) const GIT_LOCAL: &str = "\
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_CONFIG_COUNT \
    GIT_CONFIG_PARAMETERS GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE \
    GIT_INTERNAL_SUPER_PREFIX GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX \
    GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE";
/// How the variables begin that GIT_CONFIG_COUNT counts.
const GIT_SETTINGS: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
/// The variables that tell a shell which folder it is in.
const FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];

/// Variables of agents, gates and criteria: those that every program needs, locations of tools, and certificates. Each name is listed: `LC_*` and `XDG_*` hold whatever a login or a
/// desktop passes on (`LC_TOKEN`, the sockets below `XDG_RUNTIME_DIR`).
const WORK: &str = "\
    CI CLEO_SAFE_DIRECTORY CLEO_STORE_URL CURL_CA_BUNDLE DOTNET_ROOT GIT_SSL_CAINFO GOPATH GOROOT HOME \
    JAVA_HOME LANG LANGUAGE LC_ADDRESS LC_ALL LC_COLLATE LC_CTYPE LC_IDENTIFICATION \
    LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME \
    LOGNAME NODE_EXTRA_CA_CERTS NO_PROXY NVM_DIR PATH PGPASSFILE PIP_CERT PYENV_ROOT RBENV_ROOT \
    REQUESTS_CA_BUNDLE RUSTUP_HOME RUSTUP_TOOLCHAIN SHELL SSL_CERT_DIR SSL_CERT_FILE TERM TMPDIR \
    TZ USER VIRTUAL_ENV XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS \
    XDG_DATA_HOME XDG_STATE_HOME no_proxy";
/// Ways through proxies, which agents, gates and criteria get without the name and password in them.
const PROXIES: &str = "ALL_PROXY HTTPS_PROXY HTTP_PROXY all_proxy http_proxy https_proxy";
const ANSWER: &str = "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH TMPDIR TZ USER";
/// Variables of cleo's own git: its programs and the user's settings.
pub(super) const GIT: &str = "HOME PATH TMPDIR XDG_CONFIG_HOME";

/// Returns the variables of agents, gates and criteria, and those in `names`, which may end with `*`. Only where
/// they are named, a proxy keeps its credentials, and the address of a database may have a password.
pub(crate) fn work_environment<'a>(names: impl Iterator<Item = &'a String>) -> Vec<Variable> {
    choose_for_work(env::vars_os(), &names.collect::<Vec<_>>())
}

fn choose_for_work(user: impl Iterator<Item = Variable>, names: &[&String]) -> Vec<Variable> {
    let mut chosen = select_variables(user, &[WORK, PROXIES], names);
    chosen.retain_mut(|(name, value)| {
        let name = name.to_str().unwrap_or_default();
        if name == "CLEO_STORE_URL" && !is_named(name, names) {
            return !has_password(&value.to_string_lossy());
        }
        if !has_word(PROXIES, name) || is_named(name, names) {
            return true;
        }
        let without = without_credentials(value);
        let is_known = without.is_some();
        *value = without.unwrap_or_default();
        is_known
    });
    chosen
}

/// Chooses the variables of programs that answer questions, and those that `names` names.
pub(crate) fn answer_environment(names: &[String]) -> Vec<Variable> {
    select_variables(env::vars_os(), &[ANSWER], &names.iter().collect::<Vec<_>>())
}

pub(crate) fn variables(names: &[&str]) -> Vec<Variable> {
    select_variables(env::vars_os(), names, &[])
}

fn select_variables(
    user: impl Iterator<Item = Variable>,
    lists: &[&str],
    names: &[&String],
) -> Vec<Variable> {
    let is_chosen = |name: &str| {
        let is_listed = lists.iter().any(|list| has_word(list, name));
        is_allowed(name) && (is_listed || is_named(name, names))
    };
    user.filter(|(name, _)| name.to_str().is_some_and(is_chosen))
        .collect()
}

fn has_word(list: &str, name: &str) -> bool {
    list.split(' ').any(|word| word == name)
}

fn is_allowed(name: &str) -> bool {
    let is_local = has_word(GIT_LOCAL, name) || GIT_SETTINGS.iter().any(|it| name.starts_with(it));
    !is_local && !FOLDERS.contains(&name)
}

fn is_named(variable: &str, names: &[&String]) -> bool {
    names.iter().any(|name| match name.strip_suffix('*') {
        Some(start) => variable.starts_with(start),
        None => variable == *name,
    })
}

/// The scheme of an address, and its name and password; a password may hold an unquoted `@`.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?s)^([A-Za-z][A-Za-z0-9+.-]*://)?.*@";
    Regex::new(pattern).expect("the pattern is compiled by a test")
});

/// Returns the address of a proxy without name and password; `None` where it is not UTF-8.
fn without_credentials(address: &OsStr) -> Option<OsString> {
    Some(LOGIN.replace(address.to_str()?, "$1").into_owned().into())
}

/// Makes a command that runs in a folder with these variables, `PWD`, and no others.
pub(crate) fn command(
    program: impl AsRef<OsStr>,
    folder: &Path,
    environment: impl IntoIterator<Item = Variable>,
) -> Command {
    let program = program.as_ref();
    let environment: Vec<Variable> = environment.into_iter().collect();
    let path = environment.iter().rfind(|(name, _)| name == "PATH");
    let found = path.and_then(|(_, path)| find_program(program, path));
    let mut command = Command::new(found.as_deref().map_or(program, Path::as_os_str));
    command.arg0(program).env_clear().envs(environment);
    set_folder(&mut command, folder);
    command
}

/// Finds the file that the system would start. A program with its whole path is started without a copy of cleo's
/// memory. None where only the system knows: folders that depend on where a command runs, and scripts that do not name
/// their interpreter.
fn find_program(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return None;
    }
    let folders = env::split_paths(path).take_while(|folder| folder.is_absolute());
    let mut places = folders.map(|folder| folder.join(program));
    let found = places.find(|place| is_program(place))?;
    let mut start = [0; 2];
    let mut file = fs::File::open(&found).ok()?;
    file.read_exact(&mut start).ok()?;
    (start == *b"#!" || start == *b"\x7fE").then_some(found)
}

/// Finds a program on a PATH, or by its whole path.
pub(crate) fn find_on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    let named = PathBuf::from(name);
    match name.contains('/') {
        true => Some(named).filter(|it| it.is_absolute() && is_program(it)),
        false => {
            let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
            let mut places = folders.map(|folder| folder.join(&named));
            places.find(|place| is_program(place))
        }
    }
}

/// Returns whether somebody may start a file.
pub(crate) fn is_program(file: &Path) -> bool {
    let there = file.metadata();
    there.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Makes a command for cleo itself, which gets the whole environment and chooses for its own children.
pub(crate) fn build_command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    set_folder(&mut command, folder);
    command
}

/// Sets the folder of a command and `PWD`, because programs such as make must not see the caller's folder
/// there.
fn set_folder(command: &mut Command, folder: &Path) {
    for name in GIT_LOCAL.split(' ') {
        command.env_remove(name);
    }
    command.current_dir(folder).env_remove("OLDPWD");
    match name_folder(folder) {
        Some(name) => command.env("PWD", name),
        None => command.env_remove("PWD"),
    };
}

/// Returns a folder under a name that a shell accepts in `PWD`: in full, without dots.
fn name_folder(folder: &Path) -> Option<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::RootDir);
    match folder.is_absolute() && folder.components().all(is_plain) {
        true => Some(folder.components().collect()),
        false => fs::canonicalize(folder).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(chosen: &[Variable]) -> Vec<&str> {
        let names = chosen.iter().filter_map(|(name, _)| name.to_str());
        names.collect()
    }

    #[test]
    fn only_chosen_and_named_vars_are_passed() {
        let user = [
            "PATH",
            "LC_ALL",
            "LC_TOKEN",
            "HOME",
            "XDG_RUNTIME_DIR",
            "AWS_SECRET_ACCESS_KEY",
            "CODEX_HOME",
            "CODEX",
            "X",
            "GIT_DIR",
            "OLDPWD",
        ];
        let user = user.map(|name| (OsString::from(name), OsString::from("value")));
        let wanted = ["CODEX_*", "X", "GIT_*", "OLDPWD"].map(String::from);
        let wanted: Vec<&String> = wanted.iter().collect();
        let chosen = choose_for_work(user.into_iter(), &wanted);
        assert_eq!(
            names(&chosen),
            ["PATH", "LC_ALL", "HOME", "CODEX_HOME", "X"]
        );
    }

    #[test]
    fn proxies_lose_their_credentials() {
        for (address, expected) in [
            ("http://proxy:8080", "http://proxy:8080"),
            ("http://me:secret@proxy:8080", "http://proxy:8080"),
            ("http://me:se@cret@proxy:8080/", "http://proxy:8080/"),
            ("socks5h://me@proxy", "socks5h://proxy"),
            ("me:a://b@proxy:1", "proxy:1"),
            ("me:secret@proxy:1", "proxy:1"),
            ("http://me:a/b@proxy:1", "http://proxy:1"),
        ] {
            let user = [("HTTPS_PROXY".into(), address.into())];
            let chosen = choose_for_work(user.clone().into_iter(), &[]);
            assert_eq!(chosen[0].1, expected, "{address}");
            let named = "HTTPS_PROXY".to_string();
            let chosen = choose_for_work(user.into_iter(), &[&named]);
            assert_eq!(chosen[0].1, address);
        }
    }

    #[test]
    fn every_local_variable_of_installed_git_is_known() {
        let Ok(listed) = Command::new("git")
            .args(["rev-parse", "--local-env-vars"])
            .output()
        else {
            return;
        };
        let listed = String::from_utf8(listed.stdout).unwrap();
        for name in listed.lines() {
            assert!(has_word(GIT_LOCAL, name), "{name} is missing");
        }
    }

    #[test]
    fn folder_is_named_as_shell_accepts_it() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("sub")).unwrap();
        std::os::unix::fs::symlink("sub", real.join("link")).unwrap();
        for (given, expected) in [
            ("sub", "sub"),
            ("link", "link"),
            ("sub/../sub/", "sub"),
            ("./sub//", "sub"),
        ] {
            let command = command("sh", &real.join(given), []);
            let set = command.get_envs().find(|(name, _)| *name == "PWD");
            let set = set.and_then(|(_, value)| value).map(Path::new);
            assert_eq!(set, Some(real.join(expected).as_path()), "{given}");
        }
    }
}
