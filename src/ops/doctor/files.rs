//! Skills, protocols and the manifest.

use super::Finding;
use crate::dispatch::Matrix;
use crate::error::quote;
use crate::ops::{Context, Surroundings, manifest, skills};
use crate::skill::Skill;

/// Most findings of one kind that are named one by one.
const NAMED_MAX: usize = 10;

pub(super) fn skills(surroundings: &Surroundings) -> Vec<Finding> {
    let catalogue = match skills::catalogue(surroundings) {
        Ok(catalogue) => catalogue,
        Err(error) => return vec![Finding::of("skills", error)],
    };
    let mut findings: Vec<Finding> = Vec::new();
    let left_out = catalogue.warnings.iter().take(NAMED_MAX);
    findings.extend(left_out.map(|text| Finding::warn("skills", text, "cleo skills validate")));
    for other in catalogue.shadowed.iter().take(NAMED_MAX) {
        let message = format!(
            "{} does not count: {} stands before it",
            other.path, other.shadowed_by
        );
        findings.push(Finding::warn(
            "skills.shadowed",
            message,
            format!("cleo skills show {}", quote(&other.name)),
        ));
    }
    let unheard = catalogue.skills.iter();
    let unheard = unheard.filter_map(|skill| unheard_of(skill, &catalogue.matrix));
    findings.extend(unheard.take(NAMED_MAX));
    match skills::validate(surroundings, &[]) {
        Ok(judged) => findings.extend(judged.iter().filter_map(fault).take(NAMED_MAX)),
        Err(error) => findings.push(Finding::of("skills.valid", error)),
    }
    if findings.is_empty() {
        let message = format!(
            "{} skills, all valid, none hidden by another",
            catalogue.skills.len()
        );
        findings.push(Finding::ok("skills", message));
    }
    findings.push(Finding::ok(
        "protocols",
        format!(
            "{} protocols and their base can be read",
            catalogue.protocols.len()
        ),
    ));
    findings
}

/// Rows of a project's manifest that lead to a skill stand for all of its own keywords, which is easily
/// overlooked.
fn unheard_of(skill: &Skill, matrix: &Matrix) -> Option<Finding> {
    let words = matrix.unheard(skill);
    let message = format!(
        "rows of skills/manifest.json stand for the keywords of {}, so these lead nowhere: {}",
        skill.name,
        words.join(", ")
    );
    let show = format!("cleo skills show {}", quote(&skill.name));
    let is_found = skill.active && !words.is_empty();
    is_found.then(|| Finding::warn("skills.keywords", message, show))
}

fn fault(judged: &skills::Validated) -> Option<Finding> {
    let fault = judged.faults.first()?;
    let message = format!(
        "{}:{}:{}: {}",
        judged.path, fault.line, fault.column, fault.message
    );
    Some(Finding::warn(
        "skills.valid",
        message,
        "cleo skills validate",
    ))
}

pub(super) fn manifest(context: &mut Context) -> Finding {
    let check = "manifest";
    match manifest::validate(context) {
        Ok(found) => match found.error {
            None => {
                let (n, noun) = match found.entries {
                    1 => (1, "entry"),
                    n => (n, "entries"),
                };
                Finding::ok(check, format!("{n} {noun}, every line whole"))
            }
            Some(error) => Finding::fail(check, error.message, mending(context)),
        },
        Err(error) => Finding::of(check, error),
    }
}

/// Chooses what to do about faulty lines: what is no entry is moved away, and a fault of an entry
/// is left to its author, who has to see it.
fn mending(context: &Context) -> &'static str {
    let movable = manifest::compact(context, true).map_or(0, |found| found.total);
    match movable {
        0 => "cleo manifest validate",
        _ => "cleo manifest compact",
    }
}
