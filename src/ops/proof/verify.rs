//! Verifying gates and criteria: once, and again what is stale.

use super::evidence::{Scene, find_directory};
use super::request::GateRequest;
use super::standing::{CriterionStanding, TaskGates, gates_with};
use std::time::Duration;

use crate::error::{Code, Error, Result, quote_all};
use crate::gate::{Evidence, Gate, Gates, Proof, Record, check_agent};
use crate::ops::tasks::{Caller, check_epoch};
use crate::ops::trust::{Item, Place, Trust};
use crate::ops::{Context, require};
use crate::store::Transaction;
use crate::task::Task;
use crate::tree::Tree;
use crate::workspace::Workspace;

pub(super) enum Requirement {
    Gate(Gate),
    Criterion(Box<CriterionStanding>),
}

impl Requirement {
    /// Returns its place in the marks of evidence.
    fn place(&self) -> Place<'_> {
        match self {
            Requirement::Gate(gate) => Place::Gate(*gate),
            Requirement::Criterion(one) => Place::Criterion(&one.line),
        }
    }
}

/// How a gate or criterion is verified, and for whom.
pub(super) struct Verification {
    pub(super) of: Requirement,
    pub(super) request: GateRequest,
    pub(super) limit: Duration,
}

/// A tree, and a folder relative to its root.
type Folder<'a> = (&'a Workspace, &'a str);

impl Verification {
    /// Verifies in the folder of the caller.
    pub(super) fn run(&self, context: &mut Context) -> Result<TaskGates> {
        let tree = context.find_judged_workspace(self.request.task)?;
        let directory = find_directory(context, &tree);
        let (_, files) = self.run_in(context, (&tree, &directory), None)?;
        gates_with(context, self.request.task, Some(files))
    }

    /// Takes evidence and records the result, which it returns with the files after it; `files` are those before it,
    /// if known. The rules are checked before a command runs and again before its result is recorded; a failure is
    /// always recorded.
    pub(super) fn run_in(
        &self,
        context: &mut Context,
        place: Folder<'_>,
        files: Option<Tree>,
    ) -> Result<(bool, Tree)> {
        let GateRequest { commands, role, .. } = &self.request;
        let id = self.request.task;
        check_agent(role.as_deref())?;
        let caller = Caller::for_task(context, id, self.request.epoch);
        let trust = Trust::new(&context.surroundings, &context.workspace);
        let said = self.request.passed.unwrap_or(true);
        let can_pass = said || !commands.is_empty();
        let task =
            context.read(|it| self.check_may_verify(it, (&caller, &trust), place, can_pass))?;
        let key = can_pass.then(|| trust.prepare_key()).transpose()?;
        let scene = Scene::digest_files(context, place, (&task.files, files), caller.epoch)?;
        let (evidence, files) = self.collect_evidence(context, &scene)?;
        let is_stale = scene.is_changed(&files);
        let outcomes = evidence.iter().filter_map(Evidence::outcome);
        let passed = outcomes.reduce(|one, other| one && other).unwrap_or(said);
        let mut record = Record {
            passed,
            at: context.now(),
            by: caller.name.clone(),
            agent: role.clone(),
            forced: false,
            evidence,
            mark: None,
        };
        let claimed = context.surroundings.assignment.criteria.get(&id).cloned();
        let claimed = claimed.unwrap_or_default();
        context.write(|transaction| {
            // Somebody may have taken over, or changed the criteria, while commands ran.
            let task = self.check_may_verify(transaction, (&caller, &trust), place, passed)?;
            let mut gates = transaction.gates(id)?;
            if let Requirement::Gate(gate) = self.of {
                record.forced = passed && !gates.open_before(gate).is_empty();
            }
            // Of a failure, too, it is judged whether the files are still those.
            if let Some(key) = key {
                record.mark = Some(key.mark(id, self.of.place(), &record));
            }
            match &self.of {
                Requirement::Gate(gate) => gates.set(*gate, record),
                Requirement::Criterion(one) => {
                    let is_known =
                        |it: &String| task.acceptance.contains(it) || claimed.contains(it);
                    gates.criteria.retain(|line, _| is_known(line));
                    gates.criteria.insert(one.line.clone(), record);
                }
            }
            transaction.put_gates(id, &gates)
        })?;
        if passed && is_stale {
            let name = self.name();
            context.notes.warn([format!(
                "files of {id} changed meanwhile, so what passed is stale already: {name}; a command that changes them \
                 at each run can prove nothing"
            )]);
        } else if self.command().is_none() && !is_stale {
            context.notes.warn(scene.warn_of_unknown_files(id));
        }
        Ok((passed, files))
    }

    fn check_may_verify(
        &self,
        transaction: &dyn Transaction,
        (caller, trust): (&Caller, &Trust),
        (tree, directory): Folder<'_>,
        passed: bool,
    ) -> Result<Task> {
        let task = require(transaction, self.request.task)?;
        check_epoch(transaction, &task, caller)?;
        caller.refuse_evidence(transaction, task.id, tree)?;
        if let Requirement::Gate(gate) = self.of {
            let gates = transaction.gates(task.id)?;
            if passed && caller.run.is_some() {
                self.refuse_other_proof(&gates, gate, directory, trust)?;
            }
            gates.check(&task.id.to_string(), gate, passed, self.request.force)?;
        }
        Ok(task)
    }

    /// Refuses to pass a gate without the commands that proved it, or that the user trusts and that failed last, or
    /// with them in another folder: the user may have chosen them. For agents of a run.
    fn refuse_other_proof(
        &self,
        gates: &Gates,
        gate: Gate,
        directory: &str,
        trust: &Trust,
    ) -> Result<()> {
        let task = self.request.task;
        let is_trusted = |record: &&Record| {
            let commands = Item::gate(task, gate, record);
            commands.iter().any(|item| trust.is_trusted(item))
        };
        let failures = gates.failures.iter().rev().filter(|one| one.gate == gate);
        let mut failed = failures.map(|one| &one.record).filter(is_trusted);
        let Some(proof) = gates.proof(gate).or_else(|| failed.next()) else {
            return Ok(());
        };
        let before: Vec<&Vec<String>> = proof
            .evidence
            .iter()
            .filter_map(|one| match &one.proof {
                Proof::Command { command, .. } => Some(command),
                _ => None,
            })
            .collect();
        let folder = proof.evidence.first();
        let folder = folder.map_or(".", |one| &one.origin.directory);
        let is_repeated = |command: &&Vec<String>| self.request.commands.contains(command);
        if folder == directory && before.iter().all(is_repeated) {
            return Ok(());
        }
        let commands: Vec<String> = before.iter().map(|words| quote_all(words)).collect();
        let message = format!(
            "{gate} of {task} is shown by `{}`, which an agent of a run does not replace; run the same again, in \
             the folder {folder}",
            commands.join("`, `")
        );
        Err(Error::new(Code::NotVerified, message).fix(format!("cleo verify {task}")))
    }

    /// Takes the evidence. A command of a criterion that cannot be started proves nothing, and holds up no other
    /// criterion.
    fn collect_evidence(&self, context: &Context, scene: &Scene) -> Result<(Vec<Evidence>, Tree)> {
        let taken = match &self.of {
            Requirement::Criterion(one) if let Some(why) = one.find_shell_syntax() => {
                Err(Error::new(Code::ProgramMissing, why))
            }
            _ => scene.collect(context, &self.request, self.limit),
        };
        match (taken, self.command()) {
            (Err(error), Some(words)) if error.code == Code::ProgramMissing => {
                Ok(scene.record_not_started(words.clone(), error.message))
            }
            (taken, _) => taken,
        }
    }

    fn command(&self) -> Option<&Vec<String>> {
        match &self.of {
            Requirement::Criterion(one) => one.command.as_ref(),
            Requirement::Gate(_) => None,
        }
    }

    fn name(&self) -> String {
        match &self.of {
            Requirement::Gate(gate) => gate.to_string(),
            Requirement::Criterion(one) => format!("criterion {}", one.number),
        }
    }

    pub(super) fn commands(&self) -> Vec<String> {
        let commands = self.request.commands.iter();
        commands.map(|words| quote_all(words)).collect()
    }

    /// Says what is about to run.
    pub(super) fn describe(&self) -> String {
        if let Requirement::Criterion(one) = &self.of {
            return format!("running {}: {}", self.name(), one.line);
        }
        let GateRequest { files, commits, .. } = &self.request;
        let mut parts = self.commands();
        let verb = match parts.is_empty() {
            true => "looking again at",
            false => "running",
        };
        parts.extend(files.iter().map(|path| format!("file {path}")));
        parts.extend(commits.iter().map(|revision| format!("commit {revision}")));
        format!("{verb} {}: {}", self.name(), parts.join(", "))
    }
}
