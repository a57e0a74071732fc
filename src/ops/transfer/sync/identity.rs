//! Which task is which. A task is known by the moment it was made and by the first id that it had, which
//! its line keeps in `was` once it has another one. Two copies can make tasks that have both in common,
//! where their moments are coarse: the versions that they come from, and their titles, tell these apart.

use std::collections::HashMap;

use serde_json::Value;

use super::copy::{Copy, Row};
use super::gone::Kept;
use super::versions::{canonical, names};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::require;
use crate::ops::transfer::export::each;
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::formats::cleo::line;

/// Name in `extra` of the first id of a task that has another one now.
pub(super) const WAS: &str = "was";
/// Most tasks made at one moment under one id that are told apart; a file may hold any number.
const ALIKE_MAX: usize = 8;

/// What a task keeps, whatever becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    created: Box<str>,
    first: TaskId,
}

impl Identity {
    pub(super) fn of(task: &Task, id: TaskId) -> Identity {
        let was = task.extra.get(WAS).and_then(Value::as_str);
        Identity {
            created: task.created_at.as_str().into(),
            first: was.and_then(|was| was.parse().ok()).unwrap_or(id),
        }
    }
}

/// A task that is here, or that was when the file was last merged.
pub(super) struct Known {
    /// Its id here, or then.
    pub(super) id: TaskId,
    identity: Identity,
    title: Box<str>,
    updated: Box<str>,
    pub(super) is_here: bool,
    /// Where its versions in the file are kept.
    pub(super) base: Option<Kept>,
    /// The rows about it.
    pub(super) rows: Vec<usize>,
}

impl Known {
    fn of(task: &Task) -> Known {
        Known {
            id: task.id,
            identity: Identity::of(task, task.id),
            title: task.title.as_str().into(),
            updated: task.updated_at.as_str().into(),
            is_here: false,
            base: None,
            rows: Vec::new(),
        }
    }

    /// Says whether the task is anywhere still.
    pub(super) fn is_left(&self) -> bool {
        self.is_here || !self.rows.is_empty()
    }
}

/// Whose the rows of a file are.
pub(super) struct Recognized {
    pub(super) known: Vec<Known>,
    /// Rows about tasks that nobody here knows, together where they are about one task.
    pub(super) fresh: Vec<Vec<usize>>,
}

/// How much says that a row is about a task, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// It was made at the same moment under the same id, and the file has held it before, or the
    /// moment is enough.
    Made,
    /// It has the same title as well.
    Titled,
    /// One comes from a version of the other.
    Derived,
}

/// Finds out whose the rows of a file are.
pub(super) fn recognize(
    transaction: &dyn Transaction,
    copy: &Copy,
    file: &str,
) -> Result<Recognized> {
    let mut known = known(transaction, file)?;
    let look = Look::of(transaction, copy, file, &known);
    let mut strangers = Vec::new();
    let mut alike: Vec<Vec<(usize, Likeness)>> = known.iter().map(|_| Vec::new()).collect();
    for at in 0..copy.rows.len() {
        match look.find(&known, at)? {
            Some((one, likeness)) => alike[one].push((at, likeness)),
            None => strangers.push(at),
        }
    }
    for (one, alike) in known.iter_mut().zip(alike) {
        let (own, others) = sure(one.id, &copy.rows, &alike);
        one.rows = own;
        strangers.extend(others);
    }
    strangers.sort_unstable();
    let fresh = groups(copy, &strangers)?;
    Ok(Recognized { known, fresh })
}

/// Reads all tasks that are here, by id, and then those that only were.
fn known(transaction: &dyn Transaction, file: &str) -> Result<Vec<Known>> {
    let mut known = Vec::new();
    each(transaction, |task| {
        known.push(Known {
            is_here: true,
            ..Known::of(&task)
        });
        Ok(())
    })?;
    let mut elsewhere = Vec::new();
    for kept in Kept::all(transaction, file)? {
        let Some(before) = kept.versions(transaction, file)?.latest_task()? else {
            continue;
        };
        let gone = Known {
            base: Some(kept),
            ..Known::of(&before)
        };
        let place = known.binary_search_by_key(&gone.id, |one: &Known| one.id);
        let own = known.get_mut(place.unwrap_or(usize::MAX));
        match own.filter(|one| one.base.is_none() && one.identity == gone.identity) {
            Some(one) => one.base = gone.base,
            None => elsewhere.push(gone),
        }
    }
    file_away(&mut known, elsewhere);
    Ok(known)
}

/// Gives versions to tasks that have got another id since, by a merge with another file. The others are
/// of tasks that have gone.
fn file_away(known: &mut Vec<Known>, elsewhere: Vec<Known>) {
    if elsewhere.is_empty() {
        return;
    }
    let free = known
        .iter()
        .enumerate()
        .filter(|(_, one)| one.base.is_none());
    let places: HashMap<Identity, usize> =
        free.map(|(at, one)| (one.identity.clone(), at)).collect();
    for gone in elsewhere {
        match places.get(&gone.identity) {
            Some(at) if known[*at].base.is_none() => known[*at].base = gone.base,
            _ => known.push(gone),
        }
    }
}

/// Looks for the tasks of rows.
struct Look<'a> {
    transaction: &'a dyn Transaction,
    copy: &'a Copy,
    file: &'a str,
    by_identity: HashMap<Identity, Vec<usize>>,
    by_id: HashMap<TaskId, usize>,
}

impl<'a> Look<'a> {
    fn of(
        transaction: &'a dyn Transaction,
        copy: &'a Copy,
        file: &'a str,
        known: &[Known],
    ) -> Look<'a> {
        let mut by_identity: HashMap<Identity, Vec<usize>> = HashMap::new();
        let mut by_id = HashMap::new();
        for (at, one) in known.iter().enumerate() {
            by_identity
                .entry(one.identity.clone())
                .or_default()
                .push(at);
            by_id.entry(one.id).or_insert(at);
        }
        Look {
            transaction,
            copy,
            file,
            by_identity,
            by_id,
        }
    }

    /// Finds the task that a row is about, and says how much speaks for it.
    fn find(&self, known: &[Known], at: usize) -> Result<Option<(usize, Likeness)>> {
        let row = &self.copy.rows[at];
        let Some(places) = self.by_identity.get(&row.identity) else {
            return self.find_moved(known, at);
        };
        let is_at_home = |one: &Known| one.id == row.written;
        let same = |place: &usize| is_at_home(&known[*place]) && known[*place].title == row.title;
        if let Some(place) = places.iter().copied().find(same) {
            return Ok(Some((place, Likeness::Titled)));
        }
        let mut best = None;
        for place in places.iter().copied().take(ALIKE_MAX) {
            let one = &known[place];
            let Some(likeness) = self.likeness(one, at)? else {
                continue;
            };
            let rank = (likeness, is_at_home(one));
            if best.is_none_or(|(_, most)| rank > most) {
                best = Some((place, rank));
            }
        }
        Ok(best.map(|(place, (likeness, _))| (place, likeness)))
    }

    /// Finds a task of which the row tells another first id, as `was` once was the last one, or another
    /// moment, as each copy gives one to a line that has none.
    fn find_moved(&self, known: &[Known], at: usize) -> Result<Option<(usize, Likeness)>> {
        let row = &self.copy.rows[at];
        for id in [row.written, row.identity.first] {
            let Some(place) = self.by_id.get(&id).copied() else {
                continue;
            };
            let is_other = known[place].identity.created != row.identity.created;
            let least = match is_other {
                true => Likeness::Derived,
                false => Likeness::Titled,
            };
            let likeness = self.likeness(&known[place], at)?;
            if let Some(likeness) = likeness.filter(|likeness| *likeness >= least) {
                return Ok(Some((place, likeness)));
            }
        }
        Ok(None)
    }

    fn likeness(&self, one: &Known, at: usize) -> Result<Option<Likeness>> {
        let row = &self.copy.rows[at];
        let derived = names(&canonical(self.copy.text(at))?);
        if self.names(one)?.iter().any(|name| derived.contains(name)) {
            return Ok(Some(Likeness::Derived));
        }
        if one.title == row.title {
            return Ok(Some(Likeness::Titled));
        }
        let updated = [&*one.updated, &*row.updated];
        let is_made = one.base.is_some() || is_enough(&one.identity.created, updated);
        Ok(is_made.then_some(Likeness::Made))
    }

    /// Returns the names of the versions that a task comes from, and its own.
    fn names(&self, one: &Known) -> Result<Vec<String>> {
        let mut all = Vec::new();
        if let Some(base) = one.base {
            let versions = base.versions(self.transaction, self.file)?;
            all.extend(versions.latest().map(names).unwrap_or_default());
        }
        if one.is_here {
            all.extend(names(&line(&require(self.transaction, one.id)?)));
        }
        Ok(all)
    }
}

/// Parts the rows that may be about a task into those that are and others. Where one is for sure, what
/// only was made at the same moment stands under another id and is another task.
fn sure(id: TaskId, rows: &[Row], alike: &[(usize, Likeness)]) -> (Vec<usize>, Vec<usize>) {
    let written = |at: usize| rows[at].written;
    let is_sure = |likeness: Likeness| likeness > Likeness::Made;
    let mut ids: Vec<TaskId> = alike
        .iter()
        .filter(|(_, likeness)| is_sure(*likeness))
        .map(|(at, _)| written(*at))
        .collect();
    if ids.is_empty() && alike.iter().any(|(at, _)| written(*at) == id) {
        ids.push(id);
    }
    let all = alike.iter().map(|(at, _)| *at);
    all.partition(|at| ids.is_empty() || ids.contains(&written(*at)))
}

/// Puts rows together that are about one task.
fn groups(copy: &Copy, rows: &[usize]) -> Result<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places: HashMap<&Identity, Vec<usize>> = HashMap::new();
    for at in rows.iter().copied() {
        let alike = places.entry(&copy.rows[at].identity).or_default();
        let mut home = None;
        for place in alike.iter().copied().take(ALIKE_MAX) {
            if home.is_none() && is_same(copy, groups[place][0], at)? {
                home = Some(place);
            }
        }
        match home {
            Some(place) => groups[place].push(at),
            None => {
                alike.push(groups.len());
                groups.push(vec![at]);
            }
        }
    }
    Ok(groups)
}

/// Says whether two rows with the same identity are about one task.
fn is_same(copy: &Copy, one: usize, other: usize) -> Result<bool> {
    let (row, next) = (&copy.rows[one], &copy.rows[other]);
    let is_made = || is_enough(&row.identity.created, [&row.updated, &next.updated]);
    if row.title == next.title || (row.written == next.written && is_made()) {
        return Ok(true);
    }
    let names = |at: usize| canonical(copy.text(at)).map(|line| names(&line));
    let (one, other) = (names(one)?, names(other)?);
    Ok(one.iter().any(|name| other.contains(name)))
}

/// Says whether the moment at which a task was made is enough to know it by, whatever its title is now:
/// one to the millisecond is. At one second two copies may each make a task, and their titles differ
/// from the start; once either was changed, its title may have been. A day alone is a date that many
/// tasks of other programs have.
fn is_enough(created: &str, updated: [&str; 2]) -> bool {
    let Some(second) = created.strip_suffix(".000Z") else {
        return !created.is_empty();
    };
    !second.ends_with("T00:00:00") && updated.iter().any(|moment| *moment != created)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_enough_where_it_is_fine_or_the_task_was_changed() {
        let later = "2026-01-26T10:00:00.000Z";
        for (created, updated, expected) in [
            ("2026-01-26T09:00:00.001Z", "2026-01-26T09:00:00.001Z", true),
            (
                "2026-01-26T09:00:00.000Z",
                "2026-01-26T09:00:00.000Z",
                false,
            ),
            ("2026-01-26T09:00:00.000Z", later, true),
            ("2026-01-26T00:00:00.000Z", later, false),
            ("", later, false),
        ] {
            assert_eq!(
                is_enough(created, [created, updated]),
                expected,
                "{created}"
            );
            assert_eq!(
                is_enough(created, [updated, created]),
                expected,
                "{created}"
            );
        }
    }
}
