//! Which version of a task comes from which. A line that was changed names the versions that it comes
//! from, itself first, by digests of their lines: `"history":["…","…"]`. So whatever git or a hand has
//! made of a file, a merge knows what each line was made from, and that version is the base of the
//! merge. If several are the latest that both sides come from, their own merge is the base. If they are
//! not known any more there is none, and every difference is a conflict.

use std::borrow::Cow;

use serde::Deserialize;

use super::copy::parse;
use crate::error::Result;
use crate::id::{TaskId, digest};
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::formats::cleo::{HISTORY, line};
use crate::transfer::merge::{Base, merge};

/// Most versions that a line names.
const NAMED_MAX: usize = 32;
/// Most versions of a task that are kept.
const KEPT_MAX: usize = 8;
/// Hexadecimal digits of a name.
const NAME: usize = 10;

/// The versions of a task that a file has held or brought, as lines, the latest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Versions(Vec<String>);

impl Versions {
    /// Reads what is known of a task of a file.
    pub(super) fn of(transaction: &dyn Transaction, file: &str, id: TaskId) -> Result<Versions> {
        let text = transaction.base(file, id)?.unwrap_or_default();
        Ok(Versions(text.lines().map(str::to_string).collect()))
    }

    /// Takes a line of a file that was never merged.
    pub(super) fn first(line: &str) -> Versions {
        Versions(vec![line.to_string()])
    }

    /// Writes them as lines; a line of a task never has an end of line in it.
    pub(super) fn text(&self) -> String {
        self.0.join("\n")
    }

    /// Returns the latest one, as it stands in the file.
    pub(super) fn latest(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// Reads the latest one.
    pub(super) fn latest_task(&self) -> Result<Option<Task>> {
        self.latest().map(|line| parse(line.as_bytes())).transpose()
    }

    /// Says whether a line is one of them, or one that they come from.
    pub(super) fn know(&self, line: &str) -> bool {
        let name = name(&plain(line));
        self.latest()
            .is_some_and(|latest| names(latest).contains(&name))
    }

    /// Names the end of a task after its latest version. Who brings it back says that it comes from there.
    pub(super) fn end(&self) -> Option<String> {
        let latest = self.latest()?;
        Some(name(&format!("gone {latest}")))
    }

    /// Returns the versions of a task that is here again after it had gone.
    pub(super) fn back(&self) -> Versions {
        let mut versions = self.clone();
        if let (Some(latest), Some(end)) = (versions.0.first_mut(), self.end()) {
            *latest = marked(&plain(latest), [vec![end], names(latest)]);
        }
        versions
    }

    /// Returns the versions after a merge with lines of the file. A line that says the same and comes from
    /// all that is known here stays as it is.
    pub(super) fn after(&self, line: &str, rows: &[String]) -> Versions {
        let own = self.latest().map(names).unwrap_or_default();
        let latest = match rows {
            [row] if plain(row) == line && knows_all(&names(row), &own) => row.clone(),
            rows => marked(
                line,
                [own].into_iter().chain(rows.iter().map(|row| names(row))),
            ),
        };
        let mut versions = vec![latest];
        for version in rows.iter().chain(&self.0) {
            let is_new = versions.iter().all(|known| plain(known) != plain(version));
            if is_new && versions.len() < KEPT_MAX {
                versions.push(version.clone());
            }
        }
        Versions(versions)
    }

    /// Returns the base for merging what comes from some versions with what comes from others: the latest
    /// version that both come from. Several that know nothing of each other are merged.
    pub(super) fn base(&self, some: &[String], others: &[String]) -> Result<Option<Task>> {
        self.base_within(some, others, KEPT_MAX)
    }

    fn base_within(
        &self,
        some: &[String],
        others: &[String],
        steps: usize,
    ) -> Result<Option<Task>> {
        let Some(latest) = self.latest_common(some, others) else {
            return Ok(None);
        };
        let mut base: Option<(Task, Vec<String>)> = None;
        for version in latest {
            let (task, names) = (parse(version.as_bytes())?, names(version));
            base = Some(match base {
                None => (task, names),
                // Names in a file may be anything, so there is an end to this.
                Some(_) if steps == 0 => return Ok(None),
                Some((before, below)) => {
                    let base = self.base_within(&below, &names, steps - 1)?;
                    let base = base.as_ref().map_or(Base::Nothing, Base::Known);
                    let (joined, _) = merge(base, &before, &task);
                    (joined, united([below, names]))
                }
            });
        }
        Ok(base.map(|(task, _)| task))
    }

    /// Returns the versions in both that no other version in both comes from; none where one of them is
    /// not known any more.
    fn latest_common(&self, some: &[String], others: &[String]) -> Option<Vec<&str>> {
        let common: Vec<&String> = some.iter().filter(|name| others.contains(name)).collect();
        let known: Vec<(&String, &str)> = common
            .iter()
            .filter_map(|name| Some((*name, self.named(name)?)))
            .collect();
        let below: Vec<String> = known
            .iter()
            .flat_map(|(_, version)| names(version).split_off(1))
            .collect();
        let latest = common.into_iter().filter(|name| !below.contains(name));
        let find = |name: &String| known.iter().find(|(own, _)| *own == name);
        latest.map(|name| Some(find(name)?.1)).collect()
    }

    fn named(&self, wanted: &str) -> Option<&str> {
        let mut versions = self.0.iter().map(String::as_str);
        versions.find(|version| name(&plain(version)) == wanted)
    }
}

/// Says whether a line names all versions that another one comes from; one that is full need not.
fn knows_all(names: &[String], others: &[String]) -> bool {
    names.len() >= NAMED_MAX || others.iter().all(|name| names.contains(name))
}

/// Reads a line of a file that anybody may have changed, in the form in which it would be written.
pub(super) fn canonical(text: &[u8]) -> Result<String> {
    let task = parse(text)?;
    Ok(marked(&line(&task), [said(text)]))
}

/// Says whether a line names the versions that it comes from.
pub(super) fn is_marked(line: &str) -> bool {
    plain(line) != line
}

/// Returns the names of the versions that a line comes from, its own first.
pub(super) fn names(line: &str) -> Vec<String> {
    united([vec![name(&plain(line))], said(line.as_bytes())])
}

/// Joins names, those that stand first in any before those that stand later.
pub(super) fn united(all: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let all: Vec<Vec<String>> = all.into_iter().collect();
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    let mut united: Vec<String> = Vec::new();
    for at in 0..longest {
        for name in all.iter().filter_map(|names| names.get(at)) {
            if !united.contains(name) && united.len() < NAMED_MAX {
                united.push(name.clone());
            }
        }
    }
    united
}

/// Returns a line without the names of the versions that it comes from.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    if !line.ends_with("\"]}") {
        return line.into();
    }
    let mark = format!(",\"{HISTORY}\":[");
    let Some((before, names)) = line.rsplit_once(&mark) else {
        return line.into();
    };
    let is_name = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'"' | b',');
    match names.strip_suffix("]}") {
        Some(names) if names.bytes().all(is_name) => format!("{before}}}").into(),
        _ => line.into(),
    }
}

/// Writes into a line which versions it comes from; one that comes from none needs no names.
fn marked(line: &str, from: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut from = united(from);
    if from.is_empty() {
        return line.to_string();
    }
    let own = name(line);
    from.retain(|name| *name != own);
    from.truncate(NAMED_MAX - 1);
    let Some(fields) = line.strip_suffix('}').filter(|_| !from.is_empty()) else {
        return line.to_string();
    };
    format!(
        "{fields},\"{HISTORY}\":[\"{own}\",\"{}\"]}}",
        from.join("\",\"")
    )
}

fn name(line: &str) -> String {
    let digest = digest(line);
    let digits = digest.strip_prefix("sha256:").unwrap_or(&digest);
    digits.chars().take(NAME).collect()
}

/// Reads the names that stand in a line; what is no name is nothing.
fn said(line: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Marked {
        #[serde(default)]
        history: Vec<String>,
    }
    let said = serde_json::from_slice(line).map(|marked: Marked| marked.history);
    let mut names = said.unwrap_or_default();
    names.retain(|name| name.len() == NAME && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
    names.truncate(NAMED_MAX);
    names
}
