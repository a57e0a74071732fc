//! Skills: list, show, validate, dispatch, export.

pub(crate) mod export;
mod validate;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Context, Surroundings, require};
use crate::catalogue::{Catalogue, Places, Shadowed};
use crate::dispatch::{Decision, Subject, dispatch, explain};
use crate::error::Result;
use crate::id::TaskId;
use crate::skill::{Skill, Source};
pub(crate) use export::export;
pub(crate) use validate::{SkillSent, Validated, validate, validate_text};

/// A skill as it is listed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkillInfo {
    pub(crate) name: String,
    pub(crate) tier: Option<u8>,
    pub(crate) tags: Vec<String>,
    pub(crate) types: Vec<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) chains: Vec<String>,
    pub(crate) result_kind: String,
    pub(crate) active: bool,
    pub(crate) source: Source,
    pub(crate) path: String,
    pub(crate) description: String,
    pub(crate) digest: String,
    /// Files of the same name that do not count.
    pub(crate) shadows: Vec<String>,
}

/// All skills in reach.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Listed {
    /// The skills that count, in catalogue order.
    pub(crate) skills: Vec<SkillInfo>,
    /// How many.
    pub(crate) total: usize,
    /// Skills that another of the same name stands before.
    pub(crate) shadowed: Vec<Shadowed>,
    /// Files that could not be used.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

// Which skills. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SkillQuery {
    /// Only skills of this tier
    #[arg(long, value_name = "N")]
    pub(crate) tier: Option<u8>,
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillName {
    /// Name, in any letter case, with or without ct-
    pub(crate) name: String,
}

/// A skill with its text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Shown {
    /// What dispatch knows of it.
    pub(crate) skill: SkillInfo,
    /// The text below the front matter.
    pub(crate) body: String,
}

pub(crate) fn catalogue(surroundings: &Surroundings) -> Result<Catalogue> {
    Catalogue::load(&places(surroundings)?)
}

/// Says where skills are looked for: without a workspace elsewhere, unless one was named.
fn places(surroundings: &Surroundings) -> Result<Places> {
    let workspace = surroundings.workspace();
    if surroundings.root.is_some() {
        return Ok(surroundings.places(Some(&workspace?)));
    }
    Ok(surroundings.places(workspace.ok().as_ref()))
}

pub(crate) fn list(surroundings: &Surroundings, tier: Option<u8>) -> Result<Listed> {
    let catalogue = catalogue(surroundings)?;
    let wanted = |skill: &&Skill| tier.is_none() || skill.tier == tier;
    let skills: Vec<_> = catalogue
        .skills
        .iter()
        .filter(wanted)
        .map(|skill| info(skill, &catalogue))
        .collect();
    let Catalogue {
        shadowed, warnings, ..
    } = catalogue;
    Ok(Listed {
        total: skills.len(),
        skills,
        shadowed,
        warnings,
    })
}

pub(crate) fn show(surroundings: &Surroundings, name: &str) -> Result<Shown> {
    let catalogue = catalogue(surroundings)?;
    let skill = catalogue.skill(name)?;
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
        name: skill.name.clone(),
        tier: skill.tier,
        tags: skill.tags.clone(),
        types: skill.types.clone(),
        keywords: skill.keywords.clone(),
        chains: skill.chains.clone(),
        result_kind: skill.result_kind.clone(),
        active: skill.active,
        source: skill.source,
        path: skill.path.clone(),
        description: skill.description.clone(),
        digest: skill.digest(),
        shadows: shadows.map(|other| other.path.clone()).collect(),
    }
}

/// Chooses the skill for a task of the workspace. What was wrong with the files of the catalogue
/// comes with it.
pub(crate) fn dispatch_task(
    context: &mut Context,
    task: TaskId,
    template: Option<&str>,
    with_rejected: bool,
) -> Result<(Decision, Vec<String>)> {
    let places = context.surroundings.places(Some(&context.workspace));
    let catalogue = Catalogue::load(&places)?;
    let task = context.read(|transaction| require(transaction, task))?;
    let subject = Subject::from(&task);
    let decision = dispatch_subject(&catalogue, &subject, template, with_rejected)?;
    Ok((decision, catalogue.warnings))
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
