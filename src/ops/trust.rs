//! Trust: commands, addresses, runs, settings, skills and protocols may have come with a repository, a
//! database or an import. Nothing of them is executed, called or sent to before this user has seen it and
//! said so on this machine. The records are in the user's folder of data, for one workspace each, and hold
//! a digest of exactly what would run, so that a change asks again.

mod clients;
mod item;
mod mark;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::tokens::{NO_HOME, data_folder, default_token_path, file_name};
use super::{Context, Scope, Surroundings};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::file::{read_private, unwritable, write_private};
use crate::runner::pool;
use crate::words::closed;
use crate::workspace::Workspace;

pub(crate) use clients::list_client_items;
pub(crate) use item::{Item, ItemKind, describe_worker};
pub(crate) use mark::{
    Key, Place, digest_files, is_foreign, is_verified, judge, mark_merged, open_foreign,
};

/// Largest record that is read, in bytes.
const RECORD_MAX: u64 = 64 << 10;
/// How many records are written at the same time.
const WRITERS: usize = 32;
/// Most items that a refusal names.
const NAMED_MAX: usize = 10;
/// Most characters of an item that a refusal shows.
const SHOWN_MAX: usize = 160;

closed! {
    /// How an item was trusted.
    Registrant, "way of registering":
    /// The user of this machine, by a command or by trusting it.
    User = "user",
    /// Somebody who called cleo over HTTP.
    Http = "http",
}

closed! {
    /// Whether something may run.
    Standing, "standing":
    /// It may.
    Trusted = "trusted",
    /// It was trusted, and is now another.
    Changed = "changed",
    /// Not trusted by this user.
    Untrusted = "untrusted",
}

/// The stored record of a trusted item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    workspace: String,
    kind: ItemKind,
    digest: String,
    by: Registrant,
    at: String,
}

/// The items that this user trusts in a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    data_home: Option<PathBuf>,
    pub(in crate::ops) workspace: Workspace,
}

impl Trust {
    /// Prepares to look at the records for a workspace; looks at nothing yet.
    pub(crate) fn new(surroundings: &Surroundings, workspace: &Workspace) -> Trust {
        Trust {
            data_home: surroundings.data_home.clone(),
            workspace: workspace.clone(),
        }
    }

    fn folder(&self) -> Result<PathBuf> {
        let name = default_token_path(&self.workspace.real_root());
        Ok(data_folder(&self.data_home, "trust")?.join(name))
    }

    pub(crate) fn standing(&self, item: &Item) -> Standing {
        match self.read_record(item) {
            Some(record) if record.digest == item.digest => Standing::Trusted,
            Some(record) if record.by == Registrant::User => Standing::Changed,
            // Also an agent that another user registered over HTTP.
            _ => Standing::Untrusted,
        }
    }

    /// Returns true when an item may run.
    pub(crate) fn is_trusted(&self, item: &Item) -> bool {
        self.standing(item) == Standing::Trusted
    }

    /// Returns who trusted an item as it is now.
    pub(crate) fn registrant(&self, item: &Item) -> Option<Registrant> {
        let record = self.read_record(item)?;
        (record.digest == item.digest).then_some(record.by)
    }

    pub(crate) fn require(&self, items: &[Item]) -> Result<()> {
        let mut refused: Vec<(&Item, Standing)> = Vec::new();
        for item in items {
            let is_known = refused.iter().any(|(other, _)| other.digest == item.digest);
            match self.standing(item) {
                Standing::Trusted => {}
                standing if !is_known => refused.push((item, standing)),
                _ => {}
            }
        }
        match refused.is_empty() {
            true => Ok(()),
            false => Err(self.refusal(&refused)),
        }
    }

    pub(crate) fn trust(&self, item: &Item, by: Registrant, clock: &Clock) -> Result<()> {
        if self.registrant(item) == Some(by) {
            return Ok(());
        }
        let record = Record {
            workspace: self.workspace.identity(),
            kind: item.kind,
            digest: item.digest.clone(),
            by,
            at: clock.timestamp(),
        };
        let text = crate::document::to_json(&record).unwrap_or_default() + "\n";
        // Where the command runs, the folder may be closed to writers.
        self.prepare_key()?;
        write_private(&self.record_path(item)?, &text)
    }

    pub(crate) fn trust_all(
        &self,
        items: &[Item],
        by: Registrant,
        clock: &Clock,
    ) -> Vec<(Item, Error)> {
        // Each record waits for the disk, and the disk makes many safe at once.
        let given = pool::map_parallel(items, WRITERS, |item| self.trust(item, by, clock));
        let given = items.iter().zip(given);
        given
            .filter_map(|(item, given)| Some((item.clone(), given.err()?)))
            .collect()
    }

    /// Takes trust away, if there is any.
    pub(crate) fn untrust(&self, item: &Item) -> Result<()> {
        let path = self.record_path(item)?;
        match std::fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(unwritable(&path, cause))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn take_all(&self) -> Result<()> {
        let folder = self.folder()?;
        match std::fs::remove_dir_all(&folder) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(unwritable(&folder, cause))
            }
            _ => Ok(()),
        }
    }

    fn read_record(&self, item: &Item) -> Option<Record> {
        let bytes = read_private(&self.record_path(item).ok()?, RECORD_MAX)?;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        let is_it = record.workspace == self.workspace.identity() && record.kind == item.kind;
        is_it.then_some(record)
    }

    fn record_path(&self, item: &Item) -> Result<PathBuf> {
        let folder = self.folder()?;
        let name = file_name(format!("{}\0{}", item.kind, item.name).as_bytes());
        Ok(folder.join(name).with_extension("json"))
    }

    fn refusal(&self, refused: &[(&Item, Standing)]) -> Error {
        let named = refused.iter().take(NAMED_MAX).map(|(item, standing)| {
            let changed = match standing {
                Standing::Changed => ", changed since you trusted it",
                _ => "",
            };
            format!(
                "{} ({}{changed})",
                clean_text(&item.what),
                clean_text(&item.origin)
            )
        });
        let mut named: Vec<String> = named.collect();
        if refused.len() > NAMED_MAX {
            named.push(format!("and {} more", refused.len() - NAMED_MAX));
        }
        let named = named.join("; ");
        let no_home = match self.data_home {
            Some(_) => String::new(),
            None => format!("; no trust can be stored: {NO_HOME}"),
        };
        let message = format!("you have not trusted this on this machine: {named}{no_home}");
        let error = Error::new(Code::Untrusted, message).fix("cleo trust");
        match refused {
            [(item, _)] => match item.show_command() {
                Some(look) => error.or("look at it first", look),
                None => error,
            },
            _ => error,
        }
    }
}

/// Returns the commands that a caller gives and may have run. Only an admin may give one that this user has not
/// trusted here before.
pub(crate) fn list_untrusted_given(context: &Context, items: Vec<Item>) -> Result<Vec<Item>> {
    let rights = &context.surroundings.rights;
    if rights.scope >= Scope::Admin {
        return Ok(items);
    }
    let trust = Trust::new(&context.surroundings, &context.workspace);
    match items.iter().all(|item| trust.is_trusted(item)) {
        true => Ok(Vec::new()),
        false => rights.require(Scope::Admin).map(|()| items),
    }
}

/// Trusts what the caller typed or chose on this machine. An agent of a run is not the user: its word
/// counts for nothing. Returns warnings, because what was written stays written.
pub(crate) fn trust_given(
    surroundings: &Surroundings,
    workspace: &Workspace,
    items: &[Item],
) -> Vec<String> {
    if items.is_empty() {
        return Vec::new();
    }
    let trust = Trust::new(surroundings, workspace);
    if surroundings.assignment.is_agent() || surroundings.assignment.is_verifier {
        let mut warnings = warn_of_untrusted(&trust, items, "an agent of a run gave");
        if !warnings.is_empty() {
            let then = "a part with such a command is not done in this run; `cleo cancel` removes it from the run";
            warnings.push(then.to_string());
        }
        return warnings;
    }
    let failed = trust.trust_all(items, Registrant::User, &surroundings.clock);
    let told = failed.into_iter().map(|(item, error)| {
        let what = clean_text(&item.what);
        format!("this is not trusted: {what}: {}", error.message)
    });
    told.collect()
}

/// Warns of items from a file that are not trusted yet. A file that the user names may come from a
/// third party, so naming it trusts nothing.
pub(crate) fn warn_of(
    surroundings: &Surroundings,
    workspace: &Workspace,
    items: &[Item],
) -> Vec<String> {
    match items.is_empty() {
        true => Vec::new(),
        false => warn_of_untrusted(
            &Trust::new(surroundings, workspace),
            items,
            "the file holds",
        ),
    }
}

fn warn_of_untrusted(trust: &Trust, items: &[Item], whose: &str) -> Vec<String> {
    let refused = items.iter().filter(|item| !trust.is_trusted(item));
    let digests: BTreeSet<&str> = refused.map(|item| item.digest.as_str()).collect();
    let (noun, verb) = match digests.len() {
        0 => return Vec::new(),
        1 => ("command", "runs"),
        _ => ("commands", "run"),
    };
    vec![format!(
        "{whose} {} {noun} that {verb} only after you trust what `cleo trust` shows",
        digests.len()
    )]
}

/// Returns text without characters that steer terminals, cut to what a message can hold.
fn clean_text(text: &str) -> String {
    let mut letters = text.chars();
    let mut shown = String::new();
    for letter in letters.by_ref().take(SHOWN_MAX) {
        match crate::error::is_control_character(letter) {
            true => shown.extend(letter.escape_unicode()),
            false => shown.push(letter),
        }
    }
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}
