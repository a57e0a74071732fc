//! A yes to what is no longer as it was shown: nothing is written, and a yes to what there is now is
//! asked for.

use serde_json::Value;

use super::{Doing, Talk};
use crate::chat::pending::{Difference, Pending, Settled};
use crate::chat::value::brief;
use crate::chat::{Call, Step, Tool, Wait, design, editor};

impl Talk {
    /// Returns what is confirmed.
    pub(crate) fn confirmed(&self) -> Option<&Pending> {
        match &self.doing {
            Doing::Confirmed(pending) => Some(pending),
            _ => None,
        }
    }

    /// Asks for another yes, as what was confirmed would change something else now.
    pub(crate) fn renewed(self, changes: &[Difference]) -> Talk {
        let doing = match self.doing {
            Doing::Confirmed(pending) => {
                let now = now(&pending, changes);
                Doing::Renewed(pending, now)
            }
            doing => doing,
        };
        Talk { doing, ..self }
    }
}

/// Says what is otherwise than it was shown.
fn now(pending: &Pending, changes: &[Difference]) -> String {
    let is_shown = |change: &&Difference| pending.changes.contains(change);
    let fresh = changes.iter().filter(|change| !is_shown(change));
    let fresh = fresh.map(|change| (&change.label, change.before.as_deref()));
    let has = |label: &str| changes.iter().any(|change| change.label == label);
    let gone = pending.changes.iter().filter(|change| !has(&change.label));
    let gone = gone.map(|change| (&change.label, Some(change.after.as_str())));
    let values = fresh.chain(gone).map(|(label, value)| match value {
        Some(value) => format!("{label} is \"{}\" now", brief(value)),
        None => format!("{label} is not set now"),
    });
    values.collect::<Vec<_>>().join(", ")
}

/// Says what happens next.
pub(super) fn next(pending: &Pending, results: &[Value], now: &str) -> Step {
    let note =
        |now: &str| format!("It has changed since I asked you, so nothing was written: {now}.\n");
    let step = match pending.tool {
        Tool::UpdateDesign => design::again(pending, results, &note(now)),
        Tool::DeleteComponent => match results {
            [] => Step::Call(looked(pending)),
            [found, rest @ ..] => {
                let there = found.get("components").and_then(|all| all.get(0));
                let now = there.map(editor::details).unwrap_or_default();
                editor::proceed(pending.call(), None, rest, &note(&now))
            }
        },
        _ => editor::proceed(pending.call(), None, results, &note(now)),
    };
    match step {
        Step::Say(saying) if matches!(saying.wait, Wait::Nothing) => {
            Step::Say(saying).settling(Some(Settled::Dropped))
        }
        step => step,
    }
}

/// Looks at the component that is to be deleted.
fn looked(pending: &Pending) -> Call {
    Call {
        tool: Tool::GetComponent,
        args: pending.args.clone(),
    }
}
