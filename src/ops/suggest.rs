//! What a half-typed word may become: for shells, so within bounds and safe to put on a line.

use std::ops::RangeInclusive;

use super::{Context, Surroundings, agents, conversations, manifest, runs, sessions, skills};
use crate::error::{Result, quote};
use crate::id::TaskId;
use crate::store::agency::{ConversationFilter, RunFilter};
use crate::store::{Archived, Filter, Transaction};

/// Most suggestions for a word. More than a screen of them helps nobody.
const LIMIT: u32 = 50;
/// Most archived tasks that are looked at.
const ARCHIVED_MAX: u32 = 10_000;

/// A word, with what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    /// The word.
    pub(crate) word: String,
    /// What it means: a title, a description. May hold text from strangers.
    pub(crate) meaning: String,
}

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A task.
    Task,
    /// A task that is archived.
    Archived,
    /// A label.
    Label,
    /// A phase.
    Phase,
    /// A session.
    Session,
    /// A skill.
    Skill,
    /// An agent.
    Agent,
    /// One of the last runs.
    Run,
    /// One of the last conversations.
    Conversation,
    /// One of the last entries of the manifest.
    Entry,
}

/// Suggests words that begin with `start`. Only words that a shell takes as they are.
pub(crate) fn suggest(
    surroundings: Surroundings,
    kind: Kind,
    start: &str,
) -> Result<Vec<Suggestion>> {
    let mut found = match kind {
        Kind::Task => tasks(&mut Context::open(surroundings)?, start)?,
        Kind::Archived => archived(&mut Context::open(surroundings)?, start)?,
        Kind::Label | Kind::Phase => words(&mut Context::open(surroundings)?, kind, start)?,
        Kind::Session => sessions(&mut Context::open(surroundings)?, start)?,
        Kind::Skill => named(&surroundings, start)?,
        Kind::Agent => agents(&surroundings)?,
        Kind::Run => runs(&surroundings)?,
        Kind::Conversation => conversations(&surroundings)?,
        Kind::Entry => entries(&mut Context::open(surroundings)?)?,
    };
    found.retain(|found| found.word.starts_with(start) && quote(&found.word) == found.word);
    Ok(found)
}

fn tasks(context: &mut Context, start: &str) -> Result<Vec<Suggestion>> {
    let ranges = ranges(start);
    context.read(|store| {
        let mut found = Vec::new();
        for ids in ranges {
            let room = LIMIT.saturating_sub(u32::try_from(found.len()).unwrap_or(LIMIT));
            found.extend(store.titles(ids, room)?);
        }
        let suggestions = found.into_iter().map(|(id, title)| task(id, title, start));
        Ok(suggestions.collect())
    })
}

/// Suggests a task with its id written as it was begun.
fn task(id: TaskId, title: String, start: &str) -> Suggestion {
    let letter = start.get(..1).unwrap_or("T");
    Suggestion {
        word: format!("{letter}{}", id.0),
        meaning: title,
    }
}

/// Names archived tasks, the last one first.
fn archived(context: &mut Context, start: &str) -> Result<Vec<Suggestion>> {
    let filter = Filter {
        archived: Archived::Only,
        limit: Some(ARCHIVED_MAX),
        ..Filter::default()
    };
    let page = context.read(|store| store.list(&filter))?;
    let tasks = page.tasks.into_iter().rev();
    let suggestions = tasks.map(|own| task(own.id, own.title, start));
    let fitting = suggestions.filter(|found| found.word.starts_with(start));
    Ok(fitting.take(LIMIT as usize).collect())
}

/// Returns the numbers whose digits begin as those of a half-typed id do: `T12` may become 12, 120
/// to 129, 1200 to 1299 and so on.
fn ranges(start: &str) -> Vec<RangeInclusive<u32>> {
    let digits = start.strip_prefix(['T', 't']).unwrap_or(start);
    if digits.is_empty() {
        return vec![1..=u32::MAX];
    }
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let first = digits
        .parse::<u64>()
        .ok()
        .filter(|first| is_number && *first > 0);
    let (Some(mut first), false) = (first, digits.starts_with('0')) else {
        return Vec::new();
    };
    let mut ranges = Vec::new();
    let mut last = first;
    while let Ok(from) = u32::try_from(first) {
        ranges.push(from..=u32::try_from(last).unwrap_or(u32::MAX));
        (first, last) = (first * 10, last * 10 + 9);
    }
    ranges
}

fn words(context: &mut Context, kind: Kind, start: &str) -> Result<Vec<Suggestion>> {
    let words = context.read(|store| match kind {
        Kind::Phase => phases(store, start),
        _ => store.label_words(start, LIMIT),
    })?;
    let suggestions = words.into_iter().map(|word| Suggestion {
        word,
        meaning: String::new(),
    });
    Ok(suggestions.collect())
}

/// Names the phases that tasks are in and those that were added.
fn phases(store: &dyn Transaction, start: &str) -> Result<Vec<String>> {
    let mut words = store.phase_words(start, LIMIT)?;
    let added = store.phases()?.into_iter().map(|phase| phase.slug);
    words.extend(added.filter(|slug| slug.starts_with(start)));
    words.sort();
    words.dedup();
    words.truncate(LIMIT as usize);
    Ok(words)
}

/// Names sessions, the last one first.
fn sessions(context: &mut Context, start: &str) -> Result<Vec<Suggestion>> {
    let sessions = sessions::list(context, None)?.sessions.into_iter().rev();
    let suggestions = sessions.map(|session| Suggestion {
        word: session.id.to_string(),
        meaning: session.name,
    });
    let fitting = suggestions.filter(|found| found.word.starts_with(start));
    Ok(fitting.take(LIMIT as usize).collect())
}

fn named(surroundings: &Surroundings, start: &str) -> Result<Vec<Suggestion>> {
    let skills = skills::list(surroundings, None)?.skills.into_iter();
    // `ct-` may be left out, and most people do.
    let bare = |name: &str| name.strip_prefix("ct-").unwrap_or(name).to_string();
    let suggestions = skills.map(|skill| Suggestion {
        word: if start.starts_with("ct") {
            skill.name
        } else {
            bare(&skill.name)
        },
        meaning: skill.description,
    });
    Ok(suggestions.collect())
}

fn agents(surroundings: &Surroundings) -> Result<Vec<Suggestion>> {
    let agents = agents::known(surroundings)?.agents.into_iter();
    let suggestions = agents.map(|agent| Suggestion {
        word: agent.id,
        meaning: agent.description,
    });
    Ok(suggestions.collect())
}

fn runs(surroundings: &Surroundings) -> Result<Vec<Suggestion>> {
    let last = RunFilter {
        limit: LIMIT,
        ..RunFilter::default()
    };
    let runs = runs::list(surroundings, &last)?.runs.into_iter();
    let suggestions = runs.map(|run| Suggestion {
        word: run.id,
        meaning: run.input,
    });
    Ok(suggestions.collect())
}

fn conversations(surroundings: &Surroundings) -> Result<Vec<Suggestion>> {
    let last = ConversationFilter {
        limit: LIMIT,
        ..ConversationFilter::default()
    };
    let found = conversations::list(surroundings, &last)?;
    let found = found.conversations.into_iter();
    let suggestions = found.map(|one| Suggestion {
        word: one.id,
        meaning: one.title.unwrap_or(one.agent),
    });
    Ok(suggestions.collect())
}

/// Names entries of the manifest, the last one first.
fn entries(context: &mut Context) -> Result<Vec<Suggestion>> {
    let last = manifest::Filter {
        limit: Some(LIMIT as usize),
        ..manifest::Filter::default()
    };
    let entries = manifest::list(context, &last)?.entries.into_iter().rev();
    let suggestions = entries.map(|entry| Suggestion {
        word: entry.id,
        meaning: entry.title,
    });
    Ok(suggestions.collect())
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn a_half_typed_id_becomes_the_ids_that_begin_so() {
        assert_eq!(ranges("T12")[..3], [12..=12, 120..=129, 1200..=1299]);
        assert_eq!(ranges("t4294967295"), [4_294_967_295..=u32::MAX]);
        assert_eq!(ranges("T").len(), 1);
        for none in ["T0", "Tx", "T-1", "T+1", "T99999999999999999999", "x"] {
            assert_eq!(ranges(none), [], "{none}");
        }
    }
}
