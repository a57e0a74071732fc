//! The database, the claims in it, and whether its times agree with the clock.

use chrono::{DateTime, TimeDelta};

use super::{Finding, to_finding};
use crate::claim::Claim;
use crate::clock::{Clock, timestamp};
use crate::error::{Result, quote};
use crate::id::{self, TaskId};
use crate::ops::Surroundings;
use crate::ops::runs::liveness;
use crate::store::sqlite::SqliteStore;
use crate::store::{OperationFilter, Store};
use crate::workspace::Workspace;

/// Bytes of the write-ahead log above which every start is noticeably slower.
const LOG_MAX: u64 = 16 << 20;
/// How far the clock may be behind what was recorded: clocks of machines differ a little.
const SLACK: TimeDelta = TimeDelta::minutes(5);
/// Most claims that are named.
const CLAIMS_MAX: usize = 20;

pub(super) fn look(surroundings: &Surroundings, workspace: &Workspace) -> Vec<Finding> {
    let clock = &surroundings.clock;
    let mut store = match workspace.open_store() {
        Ok(store) => store,
        Err(error) => return vec![Finding::from_error("database", error)],
    };
    let place = workspace.database().to_string_lossy().into_owned();
    let mut findings = vec![
        to_finding(
            "database.integrity",
            store
                .broken_pages()
                .map(|problems| whole("database.integrity", &problems)),
        ),
        to_finding("database.counts", counts(&store)),
        log(&store, &place),
        to_finding("clock", time(&mut store, clock)),
    ];
    match claims(&mut store, surroundings, workspace) {
        Ok(claims) => findings.extend(claims),
        Err(error) => findings.push(Finding::from_error("claims", error)),
    }
    findings
}

fn whole(check: &'static str, problems: &[String]) -> Finding {
    match problems.first() {
        None => Finding::ok(check, "every page and index is whole"),
        Some(first) => {
            let message = format!("the database is broken: {first}");
            Finding::fail(check, message, "cleo explain E_STORE_CORRUPT")
        }
    }
}

fn counts(store: &SqliteStore) -> Result<Finding> {
    let check = "database.counts";
    let problems = store.disagreements()?;
    Ok(match &problems[..] {
        [] => Finding::ok(
            check,
            "references, counts, graph and words agree with the tasks",
        ),
        problems => Finding::fail(check, problems.join("; "), "cleo explain E_STORE_CORRUPT"),
    })
}

fn log(store: &SqliteStore, place: &str) -> Finding {
    let (check, bytes) = ("database.log", store.log_bytes());
    if bytes <= LOG_MAX {
        return Finding::ok(check, format!("the write-ahead log has {bytes} bytes"));
    }
    let message = format!(
        "the write-ahead log has {bytes} bytes; some process has been reading for so long that it \
         cannot be shortened"
    );
    Finding::warn(check, message, format!("fuser -v {}", quote(place)))
}

/// Compares the clock with the last change.
fn time(store: &mut SqliteStore, clock: &Clock) -> Result<Finding> {
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

fn claims(
    store: &mut SqliteStore,
    surroundings: &Surroundings,
    workspace: &Workspace,
) -> Result<Vec<Finding>> {
    let now = surroundings.clock.now();
    // Whenever they run out.
    let held = store.read()?.expired_claims("\u{10ffff}")?;
    let ahead = held.iter().filter(|claim| claim.is_ahead_of(now));
    let ahead: Vec<&Claim> = ahead.take(CLAIMS_MAX).collect();
    let now = timestamp(now);
    let stale = held.iter().filter(|claim| claim.is_expired(&now));
    let mut stale: Vec<&Claim> = stale.take(CLAIMS_MAX).collect();
    let holders = held.iter().filter_map(|claim| claim.holder.as_deref());
    // What is wrong with the store of runs is told by the look at it.
    let left = liveness::find_abandoned_runs(surroundings, workspace, holders).unwrap_or_default();
    stale.retain(|claim| {
        !left
            .iter()
            .any(|left| claim.holder.as_ref() == Some(&left.run))
    });
    if ahead.is_empty() && stale.is_empty() && left.is_empty() {
        let message = "nobody holds a task longer than agreed";
        return Ok(vec![Finding::ok("claims", message)]);
    }
    let name = |claim: &Claim| claim.holder.clone().unwrap_or_default();
    let ahead = ahead.into_iter().map(|claim| {
        let message = format!(
            "{} is held by {} since {}, which is still to come: the clock was ahead. The holder can \
             release it, and with --force anybody",
            claim.task, name(claim), claim.since
        );
        Finding::warn("claims", message, format!("cleo show {}", claim.task))
    });
    let stale = stale.into_iter().map(|claim| {
        let message = format!(
            "{} is held by {}, whose claim ran out at {}",
            claim.task,
            name(claim),
            claim.expires
        );
        Finding::warn("claims", message, format!("cleo claim {}", claim.task))
    });
    let left = left.iter().map(|left| {
        let tasks = held
            .iter()
            .filter(|claim| claim.holder.as_ref() == Some(&left.run));
        let tasks: Vec<TaskId> = tasks.map(|claim| claim.task).collect();
        let (run, tasks) = (quote(&left.run), id::list(&tasks));
        let message = format!("{run} holds {tasks}, and its process is gone");
        Finding::warn("claims", message, left.resume_command())
    });
    Ok(ahead.chain(stale).chain(left).collect())
}
