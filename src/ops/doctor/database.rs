//! The database, the claims in it, and the clock against its times.

use chrono::{DateTime, TimeDelta};

use super::Finding;
use crate::claim::Claim;
use crate::clock::{Clock, timestamp};
use crate::error::{Result, quote};
use crate::id::{self, TaskId};
use crate::ops::Surroundings;
use crate::ops::runs::liveness;
use crate::store::{Database, OperationFilter, Store};
use crate::workspace::Workspace;

/// Maximum clock skew.
const SLACK: TimeDelta = TimeDelta::minutes(5);
/// Maximum number of claims that are named.
const CLAIMS_MAX: usize = 20;

pub(super) fn check(surroundings: &Surroundings, workspace: &Workspace) -> Vec<Finding> {
    let mut store = match workspace.open_store() {
        Ok(store) => store,
        Err(error) => return vec![Finding::from_error("database", error)],
    };
    let mut findings = vec![
        check_integrity(&store),
        check_counts(&store),
        check_clock(&mut store, &surroundings.clock)
            .unwrap_or_else(|error| Finding::from_error("clock", error)),
    ];
    findings.extend(check_roles(&store));
    match check_claims(&mut store, surroundings, workspace) {
        Ok(claims) => findings.extend(claims),
        Err(error) => findings.push(Finding::from_error("claims", error)),
    }
    findings
}

fn check_integrity(store: &Database) -> Finding {
    let check = "database.integrity";
    match store.broken_pages() {
        Err(error) => Finding::from_error(check, error),
        Ok(problems) => match problems.first() {
            None => Finding::ok(check, "every page and index is whole"),
            Some(first) => {
                let message = format!("the database is broken: {first}");
                Finding::fail(check, message, "cleo doctor --fix")
            }
        },
    }
}

/// Checks what row-level security needs, which holds users of servers apart.
fn check_roles(store: &Database) -> Option<Finding> {
    match store.find_role_problem() {
        Ok(problem) => problem.map(|(message, fix)| Finding::warn("roles", message, fix)),
        Err(error) => Some(Finding::from_error("roles", error)),
    }
}

fn check_counts(store: &Database) -> Finding {
    let check = "database.counts";
    match store.disagreements() {
        Err(error) => Finding::from_error(check, error),
        Ok(problems) if problems.is_empty() => Finding::ok(
            check,
            "references, counts, graph and words agree with the tasks",
        ),
        Ok(problems) => Finding::fail(check, problems.join("; "), "cleo doctor --fix"),
    }
}

/// Compares the clock with the time of the last change.
fn check_clock(store: &mut Database, clock: &Clock) -> Result<Finding> {
    let (check, now) = ("clock", clock.now());
    let last = OperationFilter {
        limit: Some(1),
        ..OperationFilter::default()
    };
    let (last, _) = store.read()?.operations(&last)?;
    let last = last
        .first()
        .and_then(|last| DateTime::parse_from_rfc3339(&last.at).ok());
    let time = timestamp(now);
    let Some(last) = last.map(|at| at.to_utc()).filter(|at| *at - now > SLACK) else {
        return Ok(Finding::ok(check, format!("it is {time}")));
    };
    let last = timestamp(last);
    let message = format!(
        "the clock says {time}, but the last change was recorded at {last}; claims would hold too long and \
         times mislead. If this clock is right, the other one was ahead, and the next change ends this"
    );
    let fix = match clock {
        Clock::Fixed(_) => "unset CLEO_NOW",
        Clock::System => "date",
    };
    Ok(Finding::fail(check, message, fix))
}

fn check_claims(
    store: &mut Database,
    surroundings: &Surroundings,
    workspace: &Workspace,
) -> Result<Vec<Finding>> {
    let check = "claims";
    let now = surroundings.clock.now();
    let time = timestamp(now);
    // All claims, with any expiry time.
    let held = store.read()?.expired_claims("\u{10ffff}")?;
    let holders = held.iter().filter_map(|claim| claim.holder.as_deref());
    // An error of the store is reported by its own check.
    let left = liveness::find_abandoned_runs(surroundings, workspace, holders).unwrap_or_default();
    let is_of = |claim: &Claim, run: &String| claim.holder.as_ref() == Some(run);
    let holder = |claim: &Claim| claim.holder.clone().unwrap_or_default();
    let ahead = held.iter().filter(|claim| claim.is_ahead_of(now));
    let mut findings: Vec<Finding> = ahead
        .take(CLAIMS_MAX)
        .map(|claim| {
            let Claim { task, since, .. } = claim;
            let message = format!(
                "{task} is held by {} since {since}, which is in the future: the clock was ahead. The \
                 holder can release it, or any agent with --force",
                holder(claim)
            );
            Finding::warn(check, message, format!("cleo show {task}"))
        })
        .collect();
    let expired = held.iter().filter(|claim| {
        claim.is_expired(&time) && !left.iter().any(|left| is_of(claim, &left.run))
    });
    findings.extend(expired.take(CLAIMS_MAX).map(|claim| {
        let Claim { task, expires, .. } = claim;
        let message = format!(
            "{task} is held by {}, whose claim ran out at {expires}",
            holder(claim)
        );
        Finding::warn(check, message, format!("cleo claim {task}"))
    }));
    findings.extend(left.iter().map(|left| {
        let tasks = held.iter().filter(|claim| is_of(claim, &left.run));
        let tasks: Vec<TaskId> = tasks.map(|claim| claim.task).collect();
        let (run, tasks) = (quote(&left.run), id::list(&tasks));
        let message = format!("{run} holds {tasks}, and its process is gone");
        Finding::warn(check, message, left.resume_command())
    }));
    if findings.is_empty() {
        findings.push(Finding::ok(check, "no claim has expired"));
    }
    Ok(findings)
}
