//! Taking evidence: running commands, reading files, asking git for commits.

use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::request::GateRequest;
use crate::error::{Code, Error, Result};
use crate::file::nearest_existing;
use crate::gate::{Evidence, Origin, Proof, check_url};
use crate::id::{self, TaskId};
use crate::ops::Context;
use crate::ops::runs::is_run;
use crate::runner::agent::read_gate_variables;
use crate::runner::{child, orphans, process};
use crate::task::rules::check_note;
use crate::tree::{self, Tree};
use crate::workspace::Workspace;

/// Counts the commands above this process that cleo runs to verify.
const DEPTH: &str = "CLEO_VERIFY_DEPTH";
const DEPTH_MAX: u32 = 8;
/// Variables of cleo that a command gets, as agents do.
const OWN_VARIABLES: [&str; 5] = [
    "CLEO_AGENT",
    "CLEO_DEPTH",
    "CLEO_NOW",
    "CLEO_ROOT",
    "TRACEPARENT",
];

impl GateRequest {
    /// Sets the evidence to what a record has, to take it again.
    pub(super) fn repeat_evidence(&mut self, evidence: &[Evidence]) {
        for each in evidence {
            match &each.proof {
                Proof::Command { command, .. } => self.commands.push(command.clone()),
                Proof::File { path, .. } => self.files.push(path.clone()),
                Proof::Commit { revision, .. } => self.commits.push(revision.clone()),
                Proof::Url { url } => self.urls.push(url.clone()),
                Proof::Note { text } => self.notes.push(text.clone()),
                Proof::Claim => {}
            }
        }
    }
}

/// A folder in which evidence is taken, and the files that the evidence is about.
pub(super) struct Scene {
    origin: Origin,
    place: Workspace,
    tree: Tree,
}

impl Scene {
    /// Digests the files before evidence is taken, unless `known` has them: the evidence is about these.
    pub(super) fn digest_files(
        context: &Context,
        (place, directory): (&Workspace, &str),
        (patterns, known): (&[String], Option<Tree>),
        epoch: Option<u32>,
    ) -> Result<Scene> {
        let known = known.filter(|known| known.patterns == patterns);
        let tree = known.map_or_else(|| tree::digest(&place.root, patterns), Ok)?;
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

    /// Takes evidence, and returns the files after it: if they changed while commands ran, it is stale already.
    /// Everything is checked before the first command runs.
    pub(super) fn collect(
        &self,
        context: &Context,
        request: &GateRequest,
        limit: Duration,
    ) -> Result<(Vec<Evidence>, Tree)> {
        let mut others = Vec::new();
        for path in &request.files {
            others.push(self.read_file(path)?);
        }
        for revision in &request.commits {
            let id = tree::commit(&self.place.root, revision)?;
            let revision = revision.clone();
            others.push(Proof::Commit { revision, id });
        }
        for url in &request.urls {
            check_url(url)?;
            others.push(Proof::Url { url: url.clone() });
        }
        for text in &request.notes {
            check_note(text)?;
            others.push(Proof::Note { text: text.clone() });
        }
        let mut proofs = Vec::new();
        for command in &request.commands {
            proofs.push(self.run(context, command, limit)?);
            if proofs.last().and_then(Proof::outcome) != Some(true) {
                break;
            }
        }
        proofs.extend(others);
        if proofs.is_empty() {
            proofs.push(Proof::Claim);
        }
        let after = match request.commands.is_empty() {
            true => self.tree.clone(),
            false => tree::digest(&self.place.root, &self.tree.patterns)?,
        };
        // Evidence of files that changed meanwhile matches no state of them: it is unknown which one the commands saw.
        let tree = match (&self.tree.digest, &after.digest) {
            (Some(before), Some(after)) if before != after => {
                Some(id::digest(format!("{before} {after}")))
            }
            (before, _) => before.clone(),
        };
        Ok((self.add_origin(proofs, tree), after))
    }

    /// Returns whether files differ from those that the evidence is about.
    pub(super) fn is_changed(&self, after: &Tree) -> bool {
        self.tree.digest != after.digest
    }

    /// Makes the evidence of a command that cannot be started, which proves nothing.
    pub(super) fn record_not_started(
        &self,
        command: Vec<String>,
        why: String,
    ) -> (Vec<Evidence>, Tree) {
        let proof = Proof::Command {
            command,
            exit_code: None,
            duration_ms: 0,
            output_digest: id::digest(""),
            last_lines: vec![why],
            timed_out: false,
        };
        let evidence = self.add_origin(vec![proof], self.tree.digest.clone());
        (evidence, self.tree.clone())
    }

    fn add_origin(&self, proofs: Vec<Proof>, tree: Option<String>) -> Vec<Evidence> {
        let origin = Origin {
            tree,
            ..self.origin.clone()
        };
        let proofs = proofs.into_iter().map(|proof| Evidence {
            proof,
            origin: origin.clone(),
        });
        proofs.collect()
    }

    /// Warns that it cannot be known when evidence of these files gets stale.
    pub(super) fn warn_of_unknown_files(&self, task: TaskId) -> Option<String> {
        if let Some(problem) = &self.tree.problem {
            return Some(format!(
                "the files of {task} cannot be read, so it is unknown when this gets stale: {problem}"
            ));
        }
        let none = match self.tree.patterns.is_empty() {
            true => format!("{task} has no files yet"),
            false => format!("no file matches {}", self.tree.patterns.join(", ")),
        };
        let message = format!("{none}: nothing that is changed elsewhere makes this stale");
        (self.tree.files == 0).then_some(message)
    }

    /// Runs a command. It gets what agents get, whose work it runs: variables of the user that are chosen or that
    /// settings name, and the assignment of the caller, not that of the parent process.
    fn run(&self, context: &Context, command: &[String], limit: Duration) -> Result<Proof> {
        let directory = &self.origin.directory;
        // Without a dot at its end, because that is what the command gets as PWD.
        let folder: PathBuf = self.place.confine(directory)?.components().collect();
        if !folder.is_dir() {
            let message = format!("the folder {directory}, in which the command ran, is gone");
            return Err(Error::new(Code::FileUnreadable, message).fix("git status"));
        }
        let around = &context.surroundings;
        let names = read_gate_variables(around.settings()?)?;
        let mut environment = child::work_environment(names.iter());
        environment.extend(child::variables(&OWN_VARIABLES));
        environment.push((DEPTH.into(), count_depth()?.to_string().into()));
        environment.extend(child::variables(around.assignment.variables()));
        // It runs what an agent wrote, which completes no task.
        let judge = match is_run(&around.actor) {
            true => around.actor.clone().into(),
            false => context.workspace.root.clone().into_os_string(),
        };
        environment.push((orphans::JUDGE.into(), judge));
        let finished = process::run(command, &folder, limit, environment).map_err(|error| {
            let cause = error
                .source
                .as_ref()
                .and_then(|it| it.downcast_ref::<io::Error>());
            match cause.map(io::Error::kind) {
                // The command is not allowed.
                Some(ErrorKind::PermissionDenied | ErrorKind::InvalidInput) => {
                    error.in_field("run")
                }
                _ => error,
            }
        })?;
        Ok(Proof::Command {
            command: command.to_vec(),
            exit_code: finished.exit_code,
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            output_digest: finished.output_digest,
            last_lines: finished.last_lines,
            timed_out: finished.timed_out,
        })
    }

    fn read_file(&self, path: &str) -> Result<Proof> {
        let path = relative_to_root(&self.place.root, &self.origin.directory, path);
        let full = self.place.confine(&path)?;
        let digest = tree::file_digest(&full).ok_or_else(|| {
            let message = format!("{path} is not a regular file that can be read");
            let look = if full.exists() { "ls -ld" } else { "ls -l" };
            Error::new(Code::FileUnreadable, message)
                .fix(format!("{look} {}", nearest_existing(&full)))
                .in_field("files")
        })?;
        Ok(Proof::File { path, digest })
    }
}

/// Returns the folder of a tree in which the caller is, relative to its root.
pub(super) fn find_directory(context: &Context, tree: &Workspace) -> String {
    let here = context.surroundings.directory.canonicalize().ok();
    let inside = here.zip(tree.root.canonicalize().ok());
    let inside =
        inside.and_then(|(here, root)| here.strip_prefix(root).map(Path::to_path_buf).ok());
    let inside = inside.and_then(|path| path.to_str().map(str::to_string));
    inside.filter(|path| !path.is_empty()).unwrap_or(".".into())
}

/// Counts this process among the commands that run each other: a command that verifies its own task would never end.
fn count_depth() -> Result<u32> {
    let depth = std::env::var(DEPTH).unwrap_or("0".to_string());
    let depth = depth.parse().unwrap_or(DEPTH_MAX);
    if depth < DEPTH_MAX {
        return Ok(depth + 1);
    }
    let message = format!(
        "this command would run {depth} cleos deep; no more than {DEPTH_MAX} may be nested"
    );
    Err(Error::new(Code::RunNested, message))
}

/// Returns a path relative to the root, also for a path that leaves the workspace and comes back. A path outside stays
/// as it was typed, and is refused later.
fn relative_to_root(root: &Path, directory: &str, path: &str) -> String {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let mut full = PathBuf::new();
    for part in real.join(directory).join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = full.pop(),
            part => full.push(part),
        }
    }
    let inside = full
        .strip_prefix(&real)
        .or_else(|_| full.strip_prefix(root));
    inside.map_or(path.to_string(), |inside| {
        inside.to_string_lossy().into_owned()
    })
}
