//! Assembles a prompt, its receipt and its warnings.

use std::collections::HashMap;

use super::gather::{self, Names, Place};
use super::receipt::{self, Receipt};
use super::{Injected, Options, Spawned, find_test_command};
use crate::catalogue::{Catalogue, list_known_protocols};
use crate::dispatch::{Candidate, Decision, Subject, dispatch};
use crate::error::{Code, Error, Result};
use crate::estimate::one_line;
use crate::id::{self, TaskId};
use crate::manifest::Status;
use crate::manifest::log::{Found, Latest, find_all};
use crate::ops::proof::check_output;
use crate::ops::tasks::delivered::{Trees, find_requests, has_failed_check, is_delivered};
use crate::ops::tasks::{refuse_at_work, waiting_for};
use crate::ops::trust::{Item, ItemKind, Trust};
use crate::ops::{Context, Surroundings, require};
use crate::protocol::message::kind_of;
use crate::protocol::{ProtocolFile, Situation, block};
use crate::skill::Skill;
use crate::spawn::{Input, Prepared, prepare, select_protocols};
use crate::store::Transaction;
use crate::task::Task;
use crate::template::{Bindings, NONE, inject};
use crate::workspace::Workspace;

/// Inputs that prompts share. Skills and protocols are read once, and the manifest once for many tasks.
pub(crate) struct Preparation {
    pub(super) surroundings: Surroundings,
    pub(super) workspace: Workspace,
    catalogue: Catalogue,
    /// The embedded protocols, if they are needed.
    known: Vec<ProtocolFile>,
    /// The names in use on the date of the prompts.
    names: Option<Names>,
    /// The command that runs the tests of the project.
    tests: Option<&'static str>,
    findings: Latest,
    /// The entries for earlier prompts of the tasks.
    earlier: HashMap<String, Found>,
}

impl Preparation {
    pub(crate) fn load(context: &Context) -> Result<Preparation> {
        let places = context.surroundings.places(Some(&context.workspace));
        Preparation::new(context, Catalogue::load(&places)?, false)
    }

    pub(super) fn new(
        context: &Context,
        catalogue: Catalogue,
        needs_known: bool,
    ) -> Result<Preparation> {
        let known = needs_known.then(list_known_protocols).transpose()?;
        Ok(Preparation {
            surroundings: context.surroundings.clone(),
            workspace: context.workspace.clone(),
            catalogue,
            known: known.unwrap_or_default(),
            names: None,
            tests: find_test_command(&context.workspace.root),
            findings: Latest::default(),
            earlier: HashMap::new(),
        })
    }

    /// Reads the manifest for the prompts of some tasks. Keeps the names of earlier prompts of the same date.
    pub(super) fn read_manifest_for(
        &mut self,
        transaction: &dyn Transaction,
        options: &Options,
        tasks: &[TaskId],
    ) -> Result<()> {
        let today = || self.surroundings.clock.date();
        let date = options.date.clone().unwrap_or_else(today);
        let mut names = Names::read_taken(&self.workspace, &date, options.worktree.as_deref())?;
        if let Some(before) = self.names.take().filter(|before| before.date == date) {
            names.placed = before.placed;
        }
        self.names = Some(names);
        self.find_again(transaction, tasks)
    }

    /// Reads the findings of the dependencies of some tasks, and the entries for their earlier prompts.
    pub(super) fn find_again(
        &mut self,
        transaction: &dyn Transaction,
        tasks: &[TaskId],
    ) -> Result<()> {
        self.findings = gather::read_findings(transaction, &self.workspace, tasks)?;
        let mut earlier = Vec::new();
        for task in tasks {
            earlier.extend(transaction.spawns(*task)?);
        }
        let ids = earlier.iter().map(|record| record.manifest_id.as_str());
        self.earlier = find_all(&self.workspace.manifest()?, &ids.collect())?;
        Ok(())
    }

    /// Describes the entry for the last prompt before one, and the commands that failed on its work.
    fn describe_earlier_work(
        &self,
        transaction: &dyn Transaction,
        task: TaskId,
        place: &Place,
    ) -> Result<Option<String>> {
        let records = transaction.spawns(task)?.into_iter();
        let before = records.take_while(|record| record.manifest_id != place.manifest_id);
        let found = before.filter_map(|record| {
            let (_, entry) = self.earlier.get(&record.manifest_id)?.entry.as_ref()?;
            Some((record.output_file, entry))
        });
        let Some((file, entry)) = found.last() else {
            return Ok(None);
        };
        let left = entry.needs_followup.iter().map(|it| format!("Open: {it}"));
        let records = transaction.gates(task)?.criteria.into_iter();
        let failed = records.filter(|(_, record)| !record.passed);
        let failed = failed.map(|(line, record)| format!("Failed at {}: {line}", record.at));
        let lines = entry.key_findings.iter().cloned().chain(left).chain(failed);
        let lines = lines.map(|line| format!("- {}\n", one_line(&line, gather::FINDING_MAX)));
        Ok(Some(format!(
            "## Earlier work\n\nAn earlier agent left this task {} and wrote `{file}`. Read that first, and keep what \
             holds.\n\n{}",
            entry.status,
            lines.collect::<String>()
        )))
    }

    fn choose_names(
        &mut self,
        transaction: &dyn Transaction,
        task: &Task,
        again: bool,
    ) -> Result<Place> {
        let names = self
            .names
            .as_mut()
            .ok_or_else(|| error!(Internal, "the manifest was not read before a prompt"))?;
        let claim = transaction.claim(task.id)?;
        let now = self.surroundings.clock.timestamp();
        let is_held = claim
            .as_ref()
            .is_some_and(|it| it.live_holder(&now).is_some());
        let agents = gather::Agents {
            is_new: again || claim.is_some() && !is_held,
            // A run that holds the task gives its agent the same name again.
            starts_over: again && !is_held,
        };
        gather::choose_names(transaction, &self.workspace, task, names, agents)
    }

    /// Prepares the prompt of a task with a free output file.
    pub(super) fn prepare(
        &mut self,
        transaction: &dyn Transaction,
        id: TaskId,
        options: &Options,
    ) -> Result<Spawned> {
        let task = require(transaction, id)?;
        // A new prompt would invalidate the proof of a task that is done.
        if task.is_closed() && !options.dry_run {
            let message = format!("{id} is {} and cannot be spawned", task.status);
            let written = options.write_options();
            let look = format!("cleo orchestrator spawn {id}{written} --dry-run");
            return Err(Error::new(Code::StatusRefused, message)
                .fix(format!("cleo reopen {id}"))
                .or("look at its prompt, which records nothing", look));
        }
        if !options.dry_run && !options.again {
            refuse_at_work(transaction, id, &self.surroundings.clock.timestamp())?;
            self.refuse_to_discard(transaction, id)?;
        }
        let place = self.choose_names(transaction, &task, options.again)?;
        self.compose_prompt(transaction, &task, &place, options)
    }

    /// Refuses a prompt for other work while the work for the last prompt verifies: it would count no more.
    fn refuse_to_discard(&self, transaction: &dyn Transaction, id: TaskId) -> Result<()> {
        let latest = transaction.latest_spawn_to_show(id)?;
        let Some(record) = latest.filter(|record| is_delivered(&self.workspace, record)) else {
            return Ok(());
        };
        let (task, gates) = (require(transaction, id)?, transaction.gates(id)?);
        let trust = Trust::new(&self.surroundings, &self.workspace);
        let trees = &mut Trees::new();
        let has_failed = has_failed_check(&trust, (&task, &gates), &record.at, trees)?;
        if has_failed || find_requests(transaction, id)?.has_changes {
            return Ok(());
        }
        let required = &self.catalogue.base.sections;
        let left = check_output(&self.workspace, transaction, &record, required)?;
        if !left.report.has_passed() || left.entry_status != Some(Status::Complete) {
            return Ok(());
        }
        let message = format!(
            "{id} has output that verifies, {}, and another prompt would discard it",
            record.output_file
        );
        Err(Error::new(Code::Exists, message)
            .fix(format!("cleo verify output {id}"))
            .or("complete the task", format!("cleo complete {id}"))
            .or("start over", format!("cleo spawn {id} --again")))
    }

    /// Writes the protocol block that the prompt of a task would have of the protocols that the program carries.
    pub(super) fn block(&mut self, transaction: &dyn Transaction, task: &Task) -> Result<Injected> {
        let known = list_known_protocols()?;
        let place = self.choose_names(transaction, task, false)?;
        let (_, bindings, situation) = self.choose_skill(transaction, task, &place, None)?;
        let stack = select_protocols(&known[0], &known[1..], &situation);
        let block = inject(&block::compose(&stack), &bindings).text;
        Ok(Injected { block })
    }

    /// Chooses the skill of a task and reads what its prompt is filled with.
    fn choose_skill<'t>(
        &'t self,
        transaction: &dyn Transaction,
        task: &'t Task,
        place: &Place,
        template: Option<&str>,
    ) -> Result<(Decision, Bindings, Situation<'t>)> {
        let Catalogue { skills, matrix, .. } = &self.catalogue;
        if let Some(name) = template {
            self.catalogue.skill(name)?;
        }
        let decision = dispatch(&Subject::from(task), skills, matrix, template)?;
        let skill = self.catalogue.skill(&decision.chosen.skill)?;
        let mut bindings =
            gather::make_bindings(transaction, &self.findings, task, place, self.tests)?;
        if let Some(text) = self.describe_earlier_work(transaction, task.id, place)? {
            bindings.set("EARLIER_WORK", text);
        }
        bindings.set("RESULT_KIND", kind_of(skill));
        let situation = Situation {
            task,
            skill,
            session_open: bindings.get("SESSION_ID") != Some(NONE),
            required_gates: !transaction.gates(task.id)?.required.is_empty(),
        };
        Ok((decision, bindings, situation))
    }

    /// Assembles the prompt of a receipt again, for the same output file and entry.
    pub(super) fn compose_again(
        &self,
        transaction: &dyn Transaction,
        task: &Task,
        receipt: &Receipt,
    ) -> Result<Spawned> {
        let place = Place {
            date: receipt.date.clone(),
            slug: receipt.slug.clone(),
            manifest_id: receipt.manifest_id.clone(),
        };
        let options = Options {
            template: receipt.template.clone(),
            force_inject: receipt.force_inject,
            ..Options::default()
        };
        self.compose_prompt(transaction, task, &place, &options)
    }

    /// Assembles the prompt of a task for an output file.
    fn compose_prompt(
        &self,
        transaction: &dyn Transaction,
        task: &Task,
        place: &Place,
        options: &Options,
    ) -> Result<Spawned> {
        let (decision, bindings, situation) =
            self.choose_skill(transaction, task, place, options.template.as_deref())?;
        let skill = situation.skill;
        let input = Input {
            situation,
            base: &self.catalogue.base,
            protocols: &self.catalogue.protocols,
            known: &self.known,
            task_context: &self.catalogue.task_context,
            bindings: &bindings,
            force_inject: options.force_inject,
            strict: options.strict,
        };
        let prepared = prepare(&input).map_err(|mut error| {
            if options.dry_run {
                error
                    .fix
                    .iter_mut()
                    .for_each(|fix| fix.push_str(" --dry-run"));
            }
            error
        })?;
        let mut warnings = self.warnings(transaction, task, &prepared, &decision)?;
        warnings.extend(self.list_replaced(skill, &prepared)?);
        warnings.extend(describe_edit(skill, &prepared)?);
        let second = |candidate: &Candidate| (candidate.skill.clone(), candidate.reason.clone());
        let receipt = Receipt {
            version: 1,
            cleo: env!("CARGO_PKG_VERSION").to_string(),
            task_id: task.id,
            date: place.date.clone(),
            slug: place.slug.clone(),
            manifest_id: place.manifest_id.clone(),
            template: options.template.clone(),
            force_inject: options.force_inject,
            chosen: decision.chosen.clone(),
            skill_path: skill.path.clone(),
            runner_up: decision.runner_up.as_ref().map(second),
            protocols: prepared.protocols.clone(),
            inputs: receipt::inputs(skill, &bindings, &prepared, &self.catalogue),
            prompt_digest: prepared.prompt_digest.clone(),
        };
        let protocols = prepared.protocols.iter();
        Ok(Spawned {
            task_id: task.id,
            skill: decision.chosen.skill,
            strategy: decision.chosen.strategy,
            protocols: protocols.map(|used| used.name.clone()).collect(),
            output_file: place.output_file(),
            manifest_id: place.manifest_id.clone(),
            prepared,
            receipt,
            warnings,
        })
    }

    /// Warns of untrusted skills and protocols of the project that replace embedded ones in the prompt.
    fn list_replaced(&self, skill: &Skill, prepared: &Prepared) -> Result<Vec<String>> {
        let trust = Trust::new(&self.surroundings, &self.workspace);
        let is_used = |item: &Item| match item.kind {
            ItemKind::Skill => item.name == skill.name,
            _ => prepared.protocols.iter().any(|used| used.name == item.name),
        };
        let replacing = Item::list_replacing_items(&self.catalogue)?.into_iter();
        let refused = replacing.filter(|item| is_used(item) && !trust.is_trusted(item));
        let told = refused.map(|item| {
            let Item { kind, name, origin, .. } = item;
            format!(
                "{origin} of the project replaces the built-in {kind} {name}; `cleo run` uses it after you trust what `cleo trust` shows"
            )
        });
        Ok(told.collect())
    }

    fn warnings(
        &self,
        transaction: &dyn Transaction,
        task: &Task,
        prepared: &Prepared,
        decision: &Decision,
    ) -> Result<Vec<String>> {
        let mut warnings = self.catalogue.warnings.clone();
        warnings.extend(decision.warning.clone());
        let resolution = &prepared.token_resolution;
        if !resolution.fully_resolved {
            let names = resolution.unresolved_tokens.join(", ");
            warnings.push(format!(
                "{} leaves tokens unresolved: {names}",
                decision.chosen.skill
            ));
        }
        if prepared.injected_by_force {
            warnings.push("the protocol block was missing and was added by force".to_string());
        }
        if task.is_closed() {
            warnings.push(format!("{} is {}", task.id, task.status));
        }
        let open = waiting_for(transaction, task)?;
        if !open.is_empty() {
            warnings.push(format!(
                "{} depends on {}, not done yet",
                task.id,
                id::list(&open)
            ));
        }
        Ok(warnings)
    }
}

fn describe_edit(skill: &Skill, prepared: &Prepared) -> Result<Option<String>> {
    if !skill.own_protocol || prepared.injected_by_force {
        return Ok(None);
    }
    let found = block::check_strictly(&prepared.prompt, &list_known_protocols()?);
    let change = found.iter().find(|found| found.rule == "TEXT");
    Ok(change.map(block::describe_edit))
}
