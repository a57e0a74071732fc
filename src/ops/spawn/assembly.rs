//! Putting a prompt together, with its receipt and what the caller should know.

use super::gather::{self, Place};
use super::receipt::Parts;
use super::{Options, Receipt, Spawned};
use crate::catalogue::{Catalogue, known_protocols};
use crate::dispatch::{Decision, Subject, dispatch};
use crate::error::{Code, Error, Result};
use crate::id;
use crate::manifest::log::Latest;
use crate::ops::Surroundings;
use crate::ops::tasks::waiting_for;
use crate::ops::trust::{Item, ItemKind, Trust};
use crate::protocol::message::kind_of;
use crate::protocol::{ProtocolFile, Situation, block};
use crate::skill::Skill;
use crate::spawn::{Input, Prepared, at_fault, prepare};
use crate::store::Transaction;
use crate::task::Task;
use crate::template::Bindings;
use crate::workspace::Workspace;

pub(super) struct Assembly<'a> {
    pub(super) surroundings: &'a Surroundings,
    pub(super) workspace: &'a Workspace,
    pub(super) transaction: &'a dyn Transaction,
    /// What the dependencies found.
    pub(super) findings: &'a Latest,
    pub(super) catalogue: &'a Catalogue,
    /// The protocols that the program carries, where they are needed.
    pub(super) known: &'a [ProtocolFile],
}

impl Assembly<'_> {
    /// Chooses the skill of a task and reads what its prompt is filled with.
    pub(super) fn choose<'t>(
        &'t self,
        task: &'t Task,
        place: &Place,
        template: Option<&str>,
    ) -> Result<(Decision, Bindings, Situation<'t>)> {
        let Catalogue { skills, matrix, .. } = self.catalogue;
        if let Some(name) = template {
            self.catalogue.skill(name)?;
        }
        let decision = dispatch(&Subject::from(task), skills, matrix, template)?;
        let skill = self.catalogue.skill(&decision.chosen.skill)?;
        let mut bindings = gather::bindings(self.transaction, self.findings, task, place)?;
        bindings.set("RESULT_KIND", kind_of(skill));
        let situation = Situation {
            task,
            skill,
            session_open: gather::has_session(&bindings),
            required_gates: !self.transaction.gates(task.id)?.required.is_empty(),
        };
        Ok((decision, bindings, situation))
    }

    pub(super) fn spawned(&self, task: &Task, place: &Place, options: &Options) -> Result<Spawned> {
        let (decision, bindings, situation) =
            self.choose(task, place, options.template.as_deref())?;
        let skill = situation.skill;
        let input = Input {
            situation,
            base: &self.catalogue.base,
            protocols: &self.catalogue.protocols,
            known: self.known,
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
            self.looked_at(error, &input)
        })?;
        let parts = Parts {
            task,
            skill,
            place,
            options,
            decision: &decision,
            bindings: &bindings,
            prepared: &prepared,
        };
        let receipt = Receipt::new(&parts, self.catalogue);
        let mut warnings = self.warnings(task, &prepared, &decision)?;
        warnings.extend(self.replaced(skill, &prepared)?);
        warnings.extend(edited(skill, &prepared)?);
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

    /// Names what of the project stands in the prompt in place of a built-in skill or protocol and is not
    /// trusted.
    fn replaced(&self, skill: &Skill, prepared: &Prepared) -> Result<Vec<String>> {
        let trust = Trust::new(self.surroundings, self.workspace);
        let is_used = |item: &Item| match item.kind {
            ItemKind::Skill => item.name == skill.name,
            _ => prepared.protocols.iter().any(|used| used.name == item.name),
        };
        let replacing = Item::replacing(self.catalogue)?.into_iter();
        let refused = replacing.filter(|item| is_used(item) && !trust.is_trusted(item));
        let told = refused.map(|item| {
            let Item { kind, name, origin, .. } = item;
            format!(
                "{origin} of the project stands in place of the built-in {kind} {name}; `cleo run` uses it after you trust what `cleo trust` shows"
            )
        });
        Ok(told.collect())
    }

    fn looked_at(&self, error: Error, input: &Input<'_>) -> Error {
        let is_missing = error.code == Code::ProtocolMissing;
        let Some(file) = at_fault(input).filter(|_| is_missing) else {
            return error;
        };
        let file = self.surroundings.typed(Some(self.workspace), file);
        error.or("look at the file that lacks it", format!("cat {file}"))
    }

    fn warnings(
        &self,
        task: &Task,
        prepared: &Prepared,
        decision: &Decision,
    ) -> Result<Vec<String>> {
        let mut warnings = self.catalogue.warnings.clone();
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
        let open = waiting_for(self.transaction, task)?;
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

fn edited(skill: &Skill, prepared: &Prepared) -> Result<Option<String>> {
    if !skill.own_protocol || prepared.injected_by_force {
        return Ok(None);
    }
    let found = block::check_strictly(&prepared.prompt, &known_protocols()?);
    let change = found.iter().find(|found| found.rule == "TEXT");
    Ok(change.map(block::edited))
}
