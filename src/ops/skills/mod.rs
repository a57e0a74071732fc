//! Skills: list, show, validate, dispatch, export.

mod export;
mod validate;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Context, Notes, Surroundings, require};
use crate::catalogue::{Catalogue, Places, Shadowed};
use crate::dispatch::{Decision, Subject, dispatch, explain};
use crate::error::Result;
use crate::id::TaskId;
use crate::skill::Skill;
pub(crate) use export::{Export, Exported, export};
pub(crate) use validate::{
    SkillPaths, SkillSent, Validated, Verdicts, judge, validate, validate_text,
};

/// A skill as it is listed.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkillInfo {
    #[serde(flatten)]
    pub(crate) skill: Skill,
    pub(crate) digest: String,
    /// Files of the same name that are not used.
    pub(crate) shadows: Vec<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    /// The skills in use, in catalogue order.
    pub(crate) skills: Vec<SkillInfo>,
    pub(crate) total: usize,
    /// Skills that another of the same name takes precedence over.
    pub(crate) shadowed: Vec<Shadowed>,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SkillQuery {
    /// Only skills of this tier
    #[arg(long, value_name = "N")]
    pub(crate) tier: Option<u8>,
}

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillName {
    /// The skill, with or without ct-, ignoring case
    #[arg(value_name = "SKILL")]
    pub(crate) name: String,
}

/// A skill with its text.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    /// Its dispatch data.
    pub(crate) skill: SkillInfo,
    /// The text below the front matter.
    pub(crate) body: String,
}

pub(crate) fn catalogue(surroundings: &Surroundings) -> Result<Catalogue> {
    Catalogue::load(&places(surroundings)?)
}

/// Returns the folders of skills; fails without a workspace only if the user named one.
fn places(surroundings: &Surroundings) -> Result<Places> {
    let workspace = surroundings.workspace();
    if surroundings.root.is_some() {
        return Ok(surroundings.places(Some(&workspace?)));
    }
    Ok(surroundings.places(workspace.ok().as_ref()))
}

pub(crate) fn list(
    surroundings: &Surroundings,
    notes: &mut Notes,
    query: SkillQuery,
) -> Result<Listed> {
    let catalogue = catalogue(surroundings)?;
    let wanted = |skill: &&Skill| query.tier.is_none() || skill.tier == query.tier;
    let skills = catalogue.skills.iter().filter(wanted);
    let skills: Vec<_> = skills.map(|skill| info(skill, &catalogue)).collect();
    notes.warn(catalogue.warnings);
    Ok(Listed {
        total: skills.len(),
        skills,
        shadowed: catalogue.shadowed,
    })
}

pub(crate) fn show(surroundings: &Surroundings, _: &mut Notes, skill: SkillName) -> Result<Shown> {
    let catalogue = catalogue(surroundings)?;
    let skill = catalogue.skill(&skill.name)?;
    Ok(Shown {
        skill: info(skill, &catalogue),
        body: skill.body().to_string(),
    })
}

fn info(skill: &Skill, catalogue: &Catalogue) -> SkillInfo {
    let shadows = catalogue
        .shadowed
        .iter()
        .filter(|other| other.name == skill.name);
    SkillInfo {
        skill: skill.clone(),
        digest: skill.digest(),
        shadows: shadows.map(|other| other.path.clone()).collect(),
    }
}

/// Which task, and perhaps which skill for it.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dispatch {
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
    /// This skill instead of the one that dispatch finds.
    pub(crate) template: Option<String>,
    /// Whether to say also why each of the other skills was not chosen.
    #[serde(default)]
    pub(crate) explain: bool,
}

/// Chooses the skill for a task of the workspace.
pub(crate) fn dispatch_task(context: &mut Context, wanted: Dispatch) -> Result<Decision> {
    let places = context.surroundings.places(Some(&context.workspace));
    let catalogue = Catalogue::load(&places)?;
    let task = context.read(|transaction| require(transaction, wanted.task))?;
    let subject = Subject::from(&task);
    let template = wanted.template.as_deref();
    let decision = dispatch_subject(&catalogue, &subject, template, wanted.explain)?;
    context.notes.warn(decision.warning.clone());
    context.notes.warn(catalogue.warnings);
    Ok(decision)
}

pub(crate) fn dispatch_subject(
    catalogue: &Catalogue,
    subject: &Subject,
    template: Option<&str>,
    with_rejected: bool,
) -> Result<Decision> {
    if let Some(name) = template {
        catalogue.skill(name)?;
    }
    let mut decision = dispatch(subject, &catalogue.skills, &catalogue.matrix, template)?;
    if with_rejected {
        explain(&mut decision, &catalogue.skills);
    }
    Ok(decision)
}
