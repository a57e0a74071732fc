//! Taking evidence: running commands, looking at files, asking git for commits.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use super::{TaskGates, folder};
use crate::error::{Code, Error, Result, quote_all};
use crate::file::nearest;
use crate::gate::{Evidence, Origin, Proof, check_url};
use crate::id::{self, TaskId};
use crate::ops::Context;
use crate::ops::runs::is_run;
use crate::runner::child;
use crate::runner::process::{self, Bounds};
use crate::task::rules::check_note;
use crate::tree::{self, Tree};
use crate::workspace::Workspace;

/// How many patterns of files a warning names.
const PATTERNS_SHOWN: usize = 5;
/// How many commands there are above this cleo that cleo runs to verify.
const DEPTH: &str = "CLEO_VERIFY_DEPTH";
/// Most commands within commands that cleo runs.
const DEPTH_MAX: u32 = 8;
/// Variables of cleo that a command gets, as agents do.
const OWN_VARIABLES: [&str; 5] = [
    "CLEO_AGENT",
    "CLEO_DEPTH",
    "CLEO_NOW",
    "CLEO_ROOT",
    "TRACEPARENT",
];

// What is given for a gate or criterion. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default)]
pub(crate) struct Given {
    /// Commands to run, in words, one after the other until one fails.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) commands: Vec<Vec<String>>,

    /// File of the workspace whose digest is kept as evidence; may be repeated
    #[arg(long = "file", value_name = "PATH", requires = "subject")]
    pub(crate) files: Vec<String>,

    /// Commit that git must have; its full id is kept; may be repeated
    #[arg(long = "commit", value_name = "REVISION", requires = "subject")]
    pub(crate) commits: Vec<String>,

    /// Address of a web page that is kept and never looked at; may be repeated
    #[arg(long = "url", value_name = "URL", requires = "subject")]
    pub(crate) urls: Vec<String>,

    /// Remark that is kept; may be repeated
    #[arg(long = "note", value_name = "TEXT", requires = "subject")]
    pub(crate) notes: Vec<String>,
}

impl Given {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Given::default()
    }

    /// Collects what can be taken again by a program.
    pub(super) fn again(evidence: &[Evidence]) -> Given {
        let mut given = Given::default();
        for each in evidence {
            match &each.proof {
                Proof::Command { command, .. } => given.commands.push(command.clone()),
                Proof::File { path, .. } => given.files.push(path.clone()),
                Proof::Commit { revision, .. } => given.commits.push(revision.clone()),
                Proof::Url { url } => given.urls.push(url.clone()),
                Proof::Note { text } => given.notes.push(text.clone()),
                Proof::Claim => {}
            }
        }
        given
    }
}

/// Where and on what evidence is taken.
pub(super) struct Scene {
    pub(super) origin: Origin,
    /// Where the files are.
    pub(super) place: Workspace,
    tree: Tree,
    patterns: Vec<String>,
}

impl Scene {
    /// Looks at what is there before evidence is taken: that is what it speaks for.
    pub(super) fn of(
        context: &Context,
        place: &Workspace,
        patterns: &[String],
        directory: &str,
        epoch: Option<u32>,
    ) -> Result<Scene> {
        let root = &place.root;
        let tree = tree::digest(root, patterns)?;
        Ok(Scene {
            origin: Origin {
                directory: directory.to_string(),
                worktree: place.worktree(),
                commit: tree::head(root)?,
                tree: tree.digest.clone(),
                at: context.now(),
                by: context.surroundings.actor.clone(),
                epoch,
            },
            place: place.clone(),
            tree,
            patterns: patterns.to_vec(),
        })
    }

    /// Returns the digest of the files that commands which have run speak for. If files changed meanwhile it
    /// matches no state of them, because nobody can tell which files the commands saw.
    pub(super) fn tree_after(&self) -> Result<Option<String>> {
        let after = tree::digest(&self.place.root, &self.patterns)?.digest;
        Ok(match (&self.tree.digest, after) {
            (Some(before), Some(after)) if *before != after => {
                Some(id::digest(format!("{before} {after}")))
            }
            (before, _) => before.clone(),
        })
    }

    pub(super) fn warnings(&self, now: &TaskGates) -> Vec<String> {
        let id = now.task_id;
        let after = now.tree.as_ref().and_then(|tree| tree.digest.as_ref());
        let mut warnings = Vec::new();
        if let Some(problem) = &self.tree.problem {
            warnings.push(format!(
                "the files of {id} cannot be read, so nobody can tell when this gets stale: {problem}"
            ));
        } else if after != self.tree.digest.as_ref() {
            warnings.push(format!(
                "files of {id} changed meanwhile, so this is stale already; if the command itself \
                 changes them, run it once more"
            ));
        } else if self.tree.files == 0 {
            let none = self.without_files(id);
            warnings.push(format!(
                "{none}: nothing that is changed elsewhere makes this stale"
            ));
        }
        warnings
    }

    fn without_files(&self, id: TaskId) -> String {
        let named = &self.patterns[..self.patterns.len().min(PATTERNS_SHOWN)];
        match self.patterns.len() - named.len() {
            0 if named.is_empty() => format!("{id} has no files yet"),
            0 => format!("no file matches {}", named.join(", ")),
            more => format!("no file matches {} and {more} more", named.join(", ")),
        }
    }
}

pub(in crate::ops) fn directory(context: &Context, tree: &Workspace) -> String {
    let real = |path: &Path| path.canonicalize().ok();
    let inside = real(&context.surroundings.directory)
        .zip(real(&tree.root))
        .and_then(|(here, root)| here.strip_prefix(root).map(Path::to_path_buf).ok());
    let inside = inside.and_then(|path| path.to_str().map(str::to_string));
    inside.filter(|path| !path.is_empty()).unwrap_or(".".into())
}

/// Takes what is given. Everything is checked before the first command runs.
pub(super) fn evidence(
    context: &Context,
    scene: &Scene,
    given: &Given,
    bounds: &Bounds,
) -> Result<Vec<Evidence>> {
    let workspace = &scene.place;
    let mut proofs = Vec::new();
    for path in &given.files {
        proofs.push(file(workspace, &scene.origin.directory, path)?);
    }
    for revision in &given.commits {
        let id = tree::commit(&workspace.root, revision)?;
        let revision = revision.clone();
        proofs.push(Proof::Commit { revision, id });
    }
    for url in &given.urls {
        check_url(url)?;
        proofs.push(Proof::Url { url: url.clone() });
    }
    for text in &given.notes {
        check_note(text)?;
        proofs.push(Proof::Note { text: text.clone() });
    }
    let mut taken = commands(context, scene, &given.commands, bounds)?;
    taken.extend(proofs);
    if taken.is_empty() {
        taken.push(Proof::Claim);
    }
    let mut origin = scene.origin.clone();
    if !given.commands.is_empty() {
        origin.tree = scene.tree_after()?;
    }
    let origin = Some(origin);
    let with_origin = |proof| Evidence {
        proof,
        origin: origin.clone(),
    };
    Ok(taken.into_iter().map(with_origin).collect())
}

fn commands(
    context: &Context,
    scene: &Scene,
    commands: &[Vec<String>],
    bounds: &Bounds,
) -> Result<Vec<Proof>> {
    let mut taken = Vec::new();
    for command in commands {
        taken.push(run(
            context,
            (&scene.place, &scene.origin.directory),
            command,
            bounds,
        )?);
        if !matches!(
            taken.last(),
            Some(Proof::Command {
                exit_code: Some(0),
                ..
            })
        ) {
            break;
        }
    }
    Ok(taken)
}

/// Runs a command in a folder of a tree. It gets what agents get, whose work it runs: of the user's variables
/// those that are chosen and those that settings name. It sees what the caller was given to do, and not what
/// another was who started this process.
pub(super) fn run(
    context: &Context,
    (workspace, directory): (&Workspace, &str),
    command: &[String],
    bounds: &Bounds,
) -> Result<Proof> {
    let inside = workspace.confine(directory)?;
    if !inside.is_dir() {
        let message = format!("the folder {directory}, in which the command ran, is gone");
        return Err(Error::new(Code::FileUnreadable, message).fix("git status"));
    }
    let folder = folder(&workspace.root, directory);
    let around = &context.surroundings;
    let mut environment = child::work_environment(around.gate_variables.names()?.iter());
    environment.extend(child::variables(&OWN_VARIABLES));
    environment.push((DEPTH.into(), deeper()?.to_string().into()));
    environment.extend(child::variables(around.assignment.told()));
    if is_run(&around.actor) {
        // It runs what an agent wrote, which completes no task of the run.
        environment.push(("CLEO_JUDGE".into(), around.actor.as_str().into()));
    }
    let finished = process::run(command, &folder, bounds, environment).map_err(blamed)?;
    Ok(Proof::Command {
        command: command.to_vec(),
        exit_code: finished.exit_code,
        duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        output_digest: finished.output_digest,
        last_lines: finished.last_lines,
        timed_out: finished.timed_out,
    })
}

/// Returns the depth of a command below this one. A command that verifies its own task would begin itself without end.
fn deeper() -> Result<u32> {
    let depth = std::env::var(DEPTH).unwrap_or("0".to_string());
    let depth = depth.parse().unwrap_or(DEPTH_MAX);
    match depth < DEPTH_MAX {
        true => Ok(depth + 1),
        false => Err(Error::new(
            Code::RunNested,
            format!(
                "this command would run {depth} cleos deep; no more than {DEPTH_MAX} may be nested"
            ),
        )),
    }
}

/// Blames the command where it names what nobody may start, and not where the machine had no room for it.
fn blamed(error: Error) -> Error {
    let cause = error.source.as_ref();
    let cause = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>());
    match cause.map(std::io::Error::kind) {
        Some(ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => error.in_field("run"),
        _ => error,
    }
}

fn file(workspace: &Workspace, directory: &str, path: &str) -> Result<Proof> {
    let relative = relative(&workspace.root, directory, path);
    let full = workspace.confine(&relative)?;
    let digest = tree::file_digest(&full).ok_or_else(|| {
        let message = format!("{relative} is no regular file that can be read");
        let look = if full.exists() { "ls -ld" } else { "ls -l" };
        let fix = format!("{look} {}", nearest(&full));
        Error::new(Code::FileUnreadable, message)
            .fix(fix)
            .in_field("files")
    })?;
    Ok(Proof::File {
        path: relative,
        digest,
    })
}

/// Returns a path relative to the root, also one that leaves the workspace and comes back. One that
/// does not stays as it was typed, and is refused later.
fn relative(root: &Path, directory: &str, path: &str) -> String {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let full = without_dots(&folder(&real, directory).join(path));
    let mut roots = [real.as_path(), root].into_iter();
    let inside = roots.find_map(|root| full.strip_prefix(root).ok());
    let inside = inside.map(|inside| inside.to_string_lossy().into_owned());
    inside.unwrap_or_else(|| path.to_string())
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

pub(super) fn command(evidence: &Evidence) -> Option<String> {
    let Proof::Command { command, .. } = &evidence.proof else {
        return None;
    };
    Some(quote_all(command))
}
