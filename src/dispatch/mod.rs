//! Chooses the skill of a task by override, label, type, keyword or default, with the reasons for it and
//! against the others. Rules: two-tier-subagents notes, section 2.

mod lead;
pub(crate) mod matrix;

use std::collections::HashSet;

use indexmap::IndexSet;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Code, Error, Result};
use crate::score::{Rank, Words, normalize};
use crate::skill::{self, Skill};
use crate::task::Task;
use crate::words::closed;
pub(crate) use matrix::Matrix;
use matrix::Rows;

/// The fields of a task that dispatch reads. Missing and null fields are allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Subject {
    /// Id, given back with the answer.
    #[serde(deserialize_with = "or_default")]
    pub(crate) id: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) title: String,
    /// Description, searched after the title.
    #[serde(deserialize_with = "or_default")]
    pub(crate) description: String,
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(crate) kind: String,
    /// Labels; their order does not matter.
    #[serde(deserialize_with = "or_default")]
    pub(crate) labels: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) files: Vec<String>,
}

fn or_default<'de, D, T>(deserializer: D) -> std::result::Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl From<&Task> for Subject {
    fn from(task: &Task) -> Subject {
        Subject {
            id: task.id.to_string(),
            title: task.title.clone(),
            description: task.description.clone(),
            kind: task.kind.to_string(),
            labels: task.labels.clone(),
            files: task.files.clone(),
        }
    }
}

/// The words of a task, read once.
struct Texts {
    title: Words,
    description: Words,
    others: Vec<Words>,
}

impl From<&Subject> for Texts {
    fn from(subject: &Subject) -> Texts {
        let others = subject.labels.iter().chain(&subject.files);
        Texts {
            title: Words::parse(&subject.title),
            description: Words::parse(&subject.description),
            others: others.map(|text| Words::parse(text)).collect(),
        }
    }
}

impl Texts {
    /// Returns whether a word of the task shows that it is work for a skill, if the skill demands that.
    fn is_work_for(&self, skill: &Skill) -> bool {
        let wanted = &skill.evidence;
        let mut texts = [&self.title, &self.description]
            .into_iter()
            .chain(&self.others);
        wanted.is_empty() || texts.any(|text| wanted.iter().any(|word| text.find(word).is_some()))
    }
}

closed! {
    /// The rule that decided, strongest first.
    Strategy, "strategy":
    /// The caller named the skill.
    Override = "override",
    /// Labels of the task equal tags of the skill.
    Label = "label",
    /// The task's type leads to the skill.
    Type = "type",
    /// A word of the title or description leads to the skill.
    Keyword = "keyword",
    /// Nothing else did.
    Default = "default",
}

/// A skill that a rule leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Candidate {
    pub(crate) skill: String,
    pub(crate) strategy: Strategy,
    /// The labels, type or word that matched.
    pub(crate) matched: Vec<String>,
    /// One sentence: why it won, or why it did not.
    pub(crate) reason: String,
    /// Place of the first tag that matched.
    #[serde(skip)]
    position: usize,
    /// True if only a word in the middle of a text leads to it.
    #[serde(skip)]
    is_doubtful: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Rejected {
    pub(crate) skill: String,
    pub(crate) reason: String,
}

/// Which skill a task gets, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decision {
    /// The task, as the caller named it.
    pub(crate) task_id: String,
    #[serde(flatten)]
    pub(crate) chosen: Candidate,
    /// All candidates, best first.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) runner_up: Option<Candidate>,
    /// Why the choice rests on little.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
    /// The other skills with the reasons; only on request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rejected: Vec<Rejected>,
}

pub(crate) fn dispatch(
    subject: &Subject,
    skills: &[Skill],
    matrix: &Matrix,
    template: Option<&str>,
) -> Result<Decision> {
    let (mut found, texts) = (Vec::new(), Texts::from(subject));
    if let Some(name) = template {
        found.push(find_named(name, skills)?);
    }
    found.extend(by_label(subject, skills));
    found.extend(by_type(subject, skills, matrix));
    found.extend(by_keyword(subject, &texts, skills, matrix));
    match fallback(skills) {
        Ok(last) => found.push(last),
        Err(error) if found.is_empty() => return Err(error),
        Err(_) => {}
    }
    let mut decision = decide(subject, found);
    decision.warning = decision.describe_doubt(&texts, skills);
    Ok(decision)
}

impl Decision {
    fn describe_doubt(&self, texts: &Texts, skills: &[Skill]) -> Option<String> {
        let skill = active(skills, &self.chosen.skill)?;
        let (strategy, word) = (self.chosen.strategy, self.chosen.matched.join(", "));
        let why = match strategy {
            _ if self.chosen.is_doubtful => format!("a word in the middle decided, `{word}`"),
            Strategy::Label | Strategy::Type if !texts.is_work_for(skill) => {
                let wanted = skill.evidence.join(", ");
                format!("by its {strategy} {word}, but nothing names {wanted}")
            }
            _ => return None,
        };
        let (id, name) = (&self.task_id, &skill.name);
        let next = self.runner_up.as_ref();
        let next = next.map_or("<skill>", |next| next.skill.as_str());
        Some(format!(
            "{id} goes to {name}: {why}; choose another with --template {next}"
        ))
    }
}

/// Adds the reason for each skill that is not a candidate.
pub(crate) fn explain(decision: &mut Decision, skills: &[Skill]) {
    let is_candidate = |skill: &Skill| {
        let mut candidates = decision.candidates.iter();
        candidates.any(|candidate| candidate.skill == skill.name)
    };
    let others = skills.iter().filter(|skill| !is_candidate(skill));
    let rejected = others.map(|skill| Rejected {
        skill: skill.name.clone(),
        reason: match skill.active {
            true => "no label equals one of its tags, and neither type nor keyword leads to it",
            false => "it is disabled",
        }
        .to_string(),
    });
    decision.rejected = rejected.collect();
}

fn find_named(name: &str, skills: &[Skill]) -> Result<Candidate> {
    let skill = skill::require(skills, name)?;
    if !skill.active {
        let message = format!("the skill {} is disabled", skill.name);
        return Err(Error::new(Code::SkillInactive, message));
    }
    let (matched, reason) = (vec![name.to_string()], "the caller asked for it");
    Ok(candidate(skill, Strategy::Override, matched, reason))
}

fn candidate(
    skill: &Skill,
    strategy: Strategy,
    matched: Vec<String>,
    reason: impl Into<String>,
) -> Candidate {
    Candidate {
        skill: skill.name.clone(),
        strategy,
        matched,
        reason: reason.into(),
        position: 0,
        is_doubtful: false,
    }
}

/// Most matching labels first, then the matched tag that is earliest in its list, then
/// catalogue order.
fn by_label(subject: &Subject, skills: &[Skill]) -> Vec<Candidate> {
    let labels = subject.labels.iter();
    let labels: HashSet<String> = labels.map(|label| normalize(label.trim())).collect();
    if labels.is_empty() {
        return Vec::new();
    }
    let mut ranked = Vec::new();
    for (order, skill) in skills.iter().enumerate().filter(|(_, skill)| skill.active) {
        let tags: IndexSet<String> = skill.tags.iter().map(|tag| normalize(tag.trim())).collect();
        let Some(position) = tags.iter().position(|tag| labels.contains(tag)) else {
            continue;
        };
        let matched = tags.into_iter().filter(|tag| labels.contains(tag));
        let matched: Vec<String> = matched.collect();
        let rank = Rank {
            points: u32::try_from(matched.len()).unwrap_or(u32::MAX),
            position,
            order,
        };
        ranked.push((rank, skill, matched));
    }
    ranked.sort_by_key(|(rank, ..)| rank.key());
    let candidates = ranked.into_iter().map(|(rank, skill, matched)| {
        let equal = match rank.points {
            1 => "1 label equals a tag".to_string(),
            n => format!("{n} labels equal tags"),
        };
        let reason = format!("{equal} of it, the first at place {}", rank.position + 1);
        Candidate {
            position: rank.position,
            ..candidate(skill, Strategy::Label, matched, reason)
        }
    });
    candidates.collect()
}

/// `task` and `subtask` say nothing about the work.
fn by_type(subject: &Subject, skills: &[Skill], matrix: &Matrix) -> Option<Candidate> {
    let kind = normalize(subject.kind.trim());
    if kind.is_empty() || kind == "task" || kind == "subtask" {
        return None;
    }
    let skill = active(skills, matrix.by_task_type.get(&kind)?)?;
    let reason = format!("tasks of type {kind} go to it");
    Some(candidate(skill, Strategy::Type, vec![kind], reason))
}

/// The beginning of the title counts first, then the rest of it, then the description; in a text the first keyword
/// wins, and a word of several rows takes the first row.
fn by_keyword(
    subject: &Subject,
    texts: &Texts,
    skills: &[Skill],
    matrix: &Matrix,
) -> Vec<Candidate> {
    let takers = skills
        .iter()
        .filter(|skill| skill.active && texts.is_work_for(skill));
    let takers: Vec<&Skill> = takers.collect();
    let take = |name: &str| takers.iter().find(|skill| skill.name == name).copied();
    let keyword = |skill, word: &str, reason| {
        candidate(skill, Strategy::Keyword, vec![word.to_string()], reason)
    };
    let lead = lead::find(&subject.title, matrix, |name| take(name).is_some());
    let title = &texts.title;
    let mut symptoms = matrix.by_symptom.iter().flat_map(|(keys, _)| keys);
    let mut has_symptom = || symptoms.any(|key| title.find(key).is_some());
    let mut found = Vec::new();
    found.extend(lead.and_then(|(name, word, how, is_doubtful)| {
        let reason = format!("the title {how} `{word}`");
        Some(Candidate {
            // A title that tells of a failure may be about its cause rather than about the thing.
            is_doubtful: is_doubtful || how == "is about" && has_symptom(),
            ..keyword(take(name)?, &word, reason)
        })
    }));
    let none = Rows::new();
    for (place, words, more) in [
        ("title", title, &matrix.by_symptom),
        ("description", &texts.description, &none),
    ] {
        let rows = matrix.by_keyword.iter().chain(more).enumerate();
        let ranked = rows.flat_map(|(order, (keys, skill))| {
            let places = keys
                .iter()
                .map(|key| Some((words.find(key)?, order, key, skill)));
            places.flatten().collect::<Vec<_>>()
        });
        let mut ranked = Vec::from_iter(ranked);
        ranked.sort_by_key(|(position, order, ..)| (*position, *order));
        found.extend(ranked.into_iter().filter_map(|(_, _, key, name)| {
            let reason = format!("the {place} holds the keyword `{key}`");
            Some(Candidate {
                is_doubtful: true,
                ..keyword(take(name)?, key, reason)
            })
        }));
    }
    found
}

fn fallback(skills: &[Skill]) -> Result<Candidate> {
    let skill = active(skills, skill::DEFAULT).ok_or_else(|| {
        let message = format!(
            "nothing else fits, and {} is disabled or missing",
            skill::DEFAULT
        );
        Error::new(Code::SkillInactive, message).fix("cleo skills list")
    })?;
    let reason = "it takes what no label, type or keyword leads elsewhere";
    Ok(candidate(skill, Strategy::Default, Vec::new(), reason))
}

fn active<'a>(skills: &'a [Skill], name: &str) -> Option<&'a Skill> {
    skills
        .iter()
        .find(|skill| skill.name == name && skill.active)
}

/// Keeps the first candidacy of each skill; the candidates are in order of strength.
fn decide(subject: &Subject, found: Vec<Candidate>) -> Decision {
    let mut candidates: Vec<Candidate> = Vec::new();
    for candidate in found {
        let is_same = |other: &Candidate| other.skill == candidate.skill;
        if !candidates.iter().any(is_same) {
            candidates.push(candidate);
        }
    }
    let winner = candidates[0].clone();
    for other in &mut candidates[1..] {
        other.reason = explain_loss(other, &winner);
    }
    Decision {
        task_id: subject.id.clone(),
        chosen: winner,
        runner_up: candidates.get(1).cloned(),
        candidates,
        warning: None,
        rejected: Vec::new(),
    }
}

fn explain_loss(other: &Candidate, winner: &Candidate) -> String {
    let name = &winner.skill;
    let why = if other.strategy != winner.strategy {
        format!("{} decides before {}", winner.strategy, other.strategy)
    } else if other.strategy == Strategy::Keyword && other.matched == winner.matched {
        format!("the row of {name} comes first")
    } else if other.strategy == Strategy::Keyword {
        format!("`{}` comes first", winner.matched.join(", "))
    } else if other.matched.len() < winner.matched.len() {
        format!("{name} has more labels")
    } else if other.position > winner.position {
        format!("{name} has the earlier tag")
    } else {
        format!("{name} is listed first")
    };
    format!("{}; {why}", other.reason)
}

#[cfg(test)]
mod tests;
