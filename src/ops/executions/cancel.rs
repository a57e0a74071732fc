//! Giving an execution up. Who waits for its answer is told when it comes, and keeps nothing of it.

use serde_json::json;

use super::record::detail;
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::ops::runs::no_run;
use crate::run::{Run, RunKind, RunStatus};
use crate::store::agency::{Agency, AgencyTransaction};
use crate::store::sqlite::SqliteAgency;
use crate::workspace::Workspace;

/// Gives up an execution of a user, or of anybody.
pub(crate) fn cancel(
    agency: &mut SqliteAgency,
    clock: &Clock,
    id: &str,
    user: Option<&str>,
    by: &str,
) -> Result<Run> {
    let mut transaction = agency.write()?;
    let run = transaction.run(id)?;
    let run = run.filter(|run| run.kind == RunKind::Execution);
    let run = run.filter(|run| user.is_none_or(|user| user == run.user));
    let mut run = run.ok_or_else(|| no_run(id))?;
    if run.is_over() {
        let message = format!("the execution {id} is over: {}", run.status);
        let error = Error::new(Code::StatusRefused, message);
        return Err(error.fix(format!("cleo runs show {}", quote(id))));
    }
    let now = clock.timestamp();
    run.status = RunStatus::Cancelled;
    run.error = Some(format!("cancelled by {by}"));
    run.completed_at = Some(now.clone());
    transaction.put_run(&run)?;
    let ended = detail(json!({"status": run.status}));
    transaction.add_event(id, &now, "execution_end", &ended)?;
    transaction.commit()?;
    Ok(run)
}

/// Returns a run that is over although whoever carries it out does not know: it was given up.
pub(super) fn given_up(transaction: &dyn AgencyTransaction, id: &str) -> Result<Option<Run>> {
    Ok(transaction.run(id)?.filter(Run::is_over))
}

/// Makes what says whether an execution was given up meanwhile. It opens the store when it is asked first.
pub(super) fn watch(workspace: &Workspace, id: &str) -> impl FnMut() -> bool + 'static {
    let (path, id) = (workspace.agency(), id.to_string());
    let mut opened: Option<SqliteAgency> = None;
    move || {
        if opened.is_none() {
            opened = SqliteAgency::open_or_create(&path).ok();
        }
        let run = opened
            .as_mut()
            .map(|agency| given_up(&*agency.read()?, &id));
        matches!(run, Some(Ok(Some(_))))
    }
}
