//! Taking evidence: running commands, looking at files, asking git for commits.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use serde::Deserialize;

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

    /// File whose digest is recorded as evidence (repeat for more)
    #[arg(long = "file", value_name = "PATH", requires = "subject")]
    pub(crate) files: Vec<String>,

    /// Existing commit, recorded as evidence (repeat for more)
    #[arg(long = "commit", value_name = "REVISION", requires = "subject")]
    pub(crate) commits: Vec<String>,

    /// URL, recorded as evidence and never opened (repeat for more)
    #[arg(long = "url", value_name = "URL", requires = "subject")]
    #[cfg_attr(feature = "schemas", schemars(inner(length(max = 2_000))))]
    pub(crate) urls: Vec<String>,

    /// Note, recorded as evidence (repeat for more)
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
    origin: Origin,
    place: Workspace,
    tree: Tree,
}

/// Evidence, and what is to be told of the files that it speaks for.
pub(super) struct Taken {
    pub(super) evidence: Vec<Evidence>,
    /// Whether files changed while commands ran, so that it is stale already.
    pub(super) is_stale: bool,
}

impl Scene {
    /// Looks at what is there before evidence is taken: that is what it speaks for.
    pub(super) fn look(
        context: &Context,
        place: &Workspace,
        patterns: &[String],
        directory: &str,
        epoch: Option<u32>,
    ) -> Result<Scene> {
        let tree = tree::digest(&place.root, patterns)?;
        Ok(Scene {
            origin: Origin {
                directory: directory.to_string(),
                worktree: place.worktree(),
                commit: tree::head(&place.root)?,
                tree: tree.digest.clone(),
                at: context.now(),
                by: context.surroundings.actor.clone(),
                epoch,
            },
            place: place.clone(),
            tree,
        })
    }

    /// Takes what is given. Everything is checked before the first command runs.
    pub(super) fn take(&self, context: &Context, given: &Given, bounds: &Bounds) -> Result<Taken> {
        let place = (&self.place, self.origin.directory.as_str());
        let mut proofs = Vec::new();
        for path in &given.files {
            proofs.push(file(place, path)?);
        }
        for revision in &given.commits {
            let id = tree::commit(&self.place.root, revision)?;
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
        let mut taken = Vec::new();
        for command in &given.commands {
            taken.push(run(context, place, command, bounds)?);
            if taken.last().and_then(Proof::outcome) != Some(true) {
                break;
            }
        }
        taken.extend(proofs);
        if taken.is_empty() {
            taken.push(Proof::Claim);
        }
        match given.commands.is_empty() {
            true => Ok(self.speak(taken, self.tree.digest.clone(), false)),
            false => {
                let after = tree::digest(&self.place.root, &self.tree.patterns)?.digest;
                let is_stale = after != self.tree.digest;
                // If files changed meanwhile it matches no state of them, because nobody can tell which of them the
                // commands saw.
                let tree = match (&self.tree.digest, after) {
                    (Some(before), Some(after)) if *before != after => {
                        Some(id::digest(format!("{before} {after}")))
                    }
                    (before, _) => before.clone(),
                };
                Ok(self.speak(taken, tree, is_stale))
            }
        }
    }

    /// Makes the evidence of a command that cannot be started, which proves nothing.
    pub(super) fn not_started(&self, command: Vec<String>, why: String) -> Taken {
        let proof = Proof::Command {
            command,
            exit_code: None,
            duration_ms: 0,
            output_digest: id::digest(""),
            last_lines: vec![why],
            timed_out: false,
        };
        self.speak(vec![proof], self.tree.digest.clone(), false)
    }

    fn speak(&self, proofs: Vec<Proof>, tree: Option<String>, is_stale: bool) -> Taken {
        let origin = Origin {
            tree,
            ..self.origin.clone()
        };
        let with_origin = |proof| Evidence {
            proof,
            origin: origin.clone(),
        };
        Taken {
            evidence: proofs.into_iter().map(with_origin).collect(),
            is_stale,
        }
    }

    /// Warns where nobody can tell when evidence of these files gets stale.
    pub(super) fn warning(&self, task: TaskId) -> Option<String> {
        if let Some(problem) = &self.tree.problem {
            return Some(format!(
                "the files of {task} cannot be read, so nobody can tell when this gets stale: {problem}"
            ));
        }
        let none = match self.tree.patterns.is_empty() {
            true => format!("{task} has no files yet"),
            false => format!("no file matches {}", self.tree.patterns.join(", ")),
        };
        let message = format!("{none}: nothing that is changed elsewhere makes this stale");
        (self.tree.files == 0).then_some(message)
    }
}

/// Returns the folder of a tree in which the caller stands, relative to its root.
pub(super) fn directory(context: &Context, tree: &Workspace) -> String {
    let real = |path: &Path| path.canonicalize().ok();
    let inside = real(&context.surroundings.directory)
        .zip(real(&tree.root))
        .and_then(|(here, root)| here.strip_prefix(root).map(Path::to_path_buf).ok());
    let inside = inside.and_then(|path| path.to_str().map(str::to_string));
    inside.filter(|path| !path.is_empty()).unwrap_or(".".into())
}

/// Runs a command in a folder of a tree. It gets what agents get, whose work it runs: of the user's variables
/// those that are chosen and those that settings name. It sees what the caller was given to do, and not what
/// another was who started this process.
fn run(
    context: &Context,
    (workspace, directory): (&Workspace, &str),
    command: &[String],
    bounds: &Bounds,
) -> Result<Proof> {
    // Without a dot at its end, because that is what the command gets as PWD.
    let folder: PathBuf = workspace.confine(directory)?.components().collect();
    if !folder.is_dir() {
        let message = format!("the folder {directory}, in which the command ran, is gone");
        return Err(Error::new(Code::FileUnreadable, message).fix("git status"));
    }
    let around = &context.surroundings;
    let mut environment = child::work_environment(around.gate_variables.names()?.iter());
    environment.extend(child::variables(&OWN_VARIABLES));
    environment.push((DEPTH.into(), deeper()?.to_string().into()));
    environment.extend(child::variables(around.assignment.variables()));
    if is_run(&around.actor) {
        // It runs what an agent wrote, which completes no task of the run.
        environment.push(("CLEO_JUDGE".into(), around.actor.as_str().into()));
    }
    let finished = process::run(command, &folder, bounds, environment).map_err(blame)?;
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
fn blame(error: Error) -> Error {
    let cause = error.source.as_ref();
    let cause = cause.and_then(|cause| cause.downcast_ref::<std::io::Error>());
    match cause.map(std::io::Error::kind) {
        Some(ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => error.in_field("run"),
        _ => error,
    }
}

fn file((workspace, directory): (&Workspace, &str), path: &str) -> Result<Proof> {
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
    let full = without_dots(&real.join(directory).join(path));
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

/// Returns the command of evidence, as it is typed.
pub(super) fn command_line(evidence: &Evidence) -> Option<String> {
    let Proof::Command { command, .. } = &evidence.proof else {
        return None;
    };
    Some(quote_all(command))
}
