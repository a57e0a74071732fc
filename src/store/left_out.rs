//! Damaged rows that are missing in an answer, which are reported with it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::error::{Code, Error, quote};
use crate::id::TaskId;

/// Maximum number of rows to name; a server, which never reports them, keeps no more.
const ROWS_MAX: usize = 20;
/// Name of the gate record of a task, before the task.
pub(crate) const GATES_OF: &str = "the gate record of ";
/// Name of the record of a prompt, before the number of its task.
pub(crate) const PROMPT_OF: &str = "the prompt of task";
/// Name of the claim of a task, before the number of the task.
pub(crate) const CLAIM_OF: &str = "the claim of task";
/// Name of the part of the log that lost commits were in.
pub(crate) const LOG_END: &str = "the end of the write-ahead log";
/// First words of the names of rows that `doctor --remove-damaged` removes.
const REMOVABLE: [&str; 5] = ["run", "event", "conversation", "message", "record"];

static ROWS: Mutex<BTreeSet<Damage>> = Mutex::new(BTreeSet::new());

thread_local! {
    static TIMES: Cell<u64> = const { Cell::new(0) };
}

/// The fault of a row that can be read and is part of answers.
const ALTERED: &str = "the checksum does not match";

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Damage {
    pub(crate) row: String,
    pub(crate) what: String,
}

impl Damage {
    pub(crate) fn altered(row: String) -> Damage {
        let what = ALTERED.to_string();
        Damage { row, what }
    }

    /// Returns true if the row is part of answers although it changed since it was written.
    pub(crate) fn is_altered(&self) -> bool {
        self.what == ALTERED
    }

    pub(crate) fn error(self) -> Error {
        let Damage { row, what } = &self;
        let mut message =
            format!("{row} is damaged in the database ({what}); everything else can be used");
        if let Some(way) = self.suggest_removal() {
            message += &format!(", and {way}");
        }
        Error::new(Code::RowDamaged, message).fix("cleo doctor")
    }

    /// Returns the command that repairs or removes the row, if there is one.
    pub(crate) fn suggest_removal(&self) -> Option<String> {
        let quoted = |kind: &str| self.row.strip_prefix(kind)?.strip_suffix('`');
        if let Ok(task) = self.row.parse::<TaskId>() {
            return Some(format!("`cleo delete {task}` removes it"));
        }
        if let Some(task) = self.row.strip_prefix(GATES_OF) {
            let clear = format!("cleo update {task} --clear required-gates");
            return Some(format!(
                "`{clear}` opens the gates of {task} again, with none required"
            ));
        }
        if let Some(task) = self.row.strip_prefix(PROMPT_OF) {
            let task = task.trim_start();
            return Some(format!(
                "`cleo spawn T{task} --again` asks for the work anew; then `cleo doctor --remove-damaged` removes it"
            ));
        }
        if self.row.starts_with("counter `") {
            return Some("`cleo doctor --remove-damaged` has it counted anew".to_string());
        }
        if self.row.starts_with(CLAIM_OF) {
            return Some("`cleo doctor --remove-damaged` ends it".to_string());
        }
        if let Some(agent) = quoted("agent `") {
            return Some(format!("`cleo agents remove {}` removes it", quote(agent)));
        }
        if self.row == LOG_END {
            return Some("`cleo doctor --remove-damaged` ends this warning".to_string());
        }
        let kind = self.row.split(' ').next().unwrap_or_default();
        REMOVABLE
            .contains(&kind)
            .then(|| "`cleo doctor --remove-damaged` removes it".to_string())
    }
}

/// Returns the number of rows that this thread has left out, by which a server knows that an answer is incomplete.
pub(crate) fn times() -> u64 {
    TIMES.get()
}

pub(crate) fn note(damage: Damage) {
    TIMES.set(TIMES.get() + 1);
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    if rows.len() < ROWS_MAX {
        rows.insert(damage);
    }
}

pub(crate) fn take_warnings() -> Vec<String> {
    let (altered, damaged): (Vec<Damage>, _) = take().into_iter().partition(Damage::is_altered);
    let warning = |Damage { row, what }| {
        format!("{row} is left out: it is damaged in the database ({what}); see `cleo doctor`")
    };
    let mut warnings: Vec<String> = damaged.into_iter().map(warning).collect();
    let altered: Vec<String> = altered.into_iter().map(|damage| damage.row).collect();
    if !altered.is_empty() {
        let rows = altered.join(", ");
        warnings.push(format!(
            "damaged or changed outside of cleo ({ALTERED}): {rows}; see `cleo doctor`"
        ));
    }
    warnings
}

pub(crate) fn take() -> Vec<Damage> {
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *rows).into_iter().collect()
}
