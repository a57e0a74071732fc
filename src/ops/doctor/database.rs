//! The database, the claims in it, and whether its times agree with the clock.

use chrono::{DateTime, TimeDelta};

use super::{Finding, checked};
use crate::clock::{Clock, timestamp};
use crate::error::{Result, quote};
use crate::id::{self, TaskId};
use crate::ops::Surroundings;
use crate::ops::runs::alive;
use crate::store::sqlite::SqliteStore;
use crate::workspace::Workspace;

/// Bytes of the write-ahead log above which every start is noticeably slower.
const LOG_MAX: u64 = 16 << 20;
/// How far the clock may be behind what was recorded: clocks of machines differ a little.
const SLACK: TimeDelta = TimeDelta::minutes(5);
/// Most claims that are named.
const CLAIMS_MAX: u32 = 20;
/// Most claims that are looked at for whether a run has left them.
const HELD_MAX: u32 = 1_000;

pub(super) fn look(surroundings: &Surroundings, workspace: &Workspace) -> Vec<Finding> {
    let clock = &surroundings.clock;
    let store = match workspace.open_store() {
        Ok(store) => store,
        Err(error) => return vec![Finding::of("database", error)],
    };
    let place = workspace.database().to_string_lossy().into_owned();
    let mut findings = vec![
        checked(
            "database.integrity",
            store
                .broken_pages()
                .map(|problems| whole("database.integrity", &problems)),
        ),
        checked("database.counts", counts(&store)),
        log(&store, &place),
        checked("clock", time(&store, clock)),
    ];
    match claims(&store, surroundings, workspace) {
        Ok(claims) => findings.extend(claims),
        Err(error) => findings.push(Finding::of("claims", error)),
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

/// Compares the clock with the last change. One that was ahead once and was set right leaves times
/// behind that nothing is judged by, so they are only told.
fn time(store: &SqliteStore, clock: &Clock) -> Result<Finding> {
    let (check, now) = ("clock", clock.now());
    let (last, latest) = store.operation_times()?;
    let ahead = |at: Option<String>| {
        let at = DateTime::parse_from_rfc3339(&at?).ok()?.to_utc();
        (at - now > SLACK).then(|| timestamp(at))
    };
    let time = timestamp(now);
    Ok(match (ahead(last), ahead(latest)) {
        (None, None) => Finding::ok(check, format!("it is {time}")),
        (None, Some(latest)) => {
            let message = format!("it is {time}; it was ahead once, and a change says {latest}");
            Finding::ok(check, message)
        }
        (Some(last), _) => {
            let message = format!(
                "the clock says {time}, but the last change was recorded at {last}; claims would \
                 hold too long and times mislead. If this clock is right, the other one was ahead, \
                 and the next change ends this"
            );
            let fix = match clock {
                Clock::Fixed(_) => "unset CLEO_NOW",
                Clock::System => "date",
            };
            Finding::fail(check, message, fix)
        }
    })
}

fn claims(
    store: &SqliteStore,
    surroundings: &Surroundings,
    workspace: &Workspace,
) -> Result<Vec<Finding>> {
    let clock = &surroundings.clock;
    let horizon = timestamp(clock.now().checked_add_signed(SLACK).unwrap_or(clock.now()));
    let ahead = store.claims_after(&horizon, CLAIMS_MAX)?;
    let mut stale = store.stale_claims(&clock.timestamp(), CLAIMS_MAX)?;
    let held = store.claims_after("", HELD_MAX)?;
    let holders = held.iter().map(|claim| claim.holder.as_str());
    // What is wrong with the store of runs is told by the look at it.
    let left = alive::left(surroundings, workspace, holders).unwrap_or_default();
    stale.retain(|claim| !left.iter().any(|left| left.run == claim.holder));
    if ahead.is_empty() && stale.is_empty() && left.is_empty() {
        let message = "nobody holds a task longer than agreed";
        return Ok(vec![Finding::ok("claims", message)]);
    }
    let ahead = ahead.into_iter().map(|claim| {
        let message = format!(
            "{} is held by {} since {}, which is still to come: the clock was ahead. The holder can \
             release it, and with --force anybody",
            claim.task, claim.holder, claim.since
        );
        Finding::warn("claims", message, format!("cleo show {}", claim.task))
    });
    let stale = stale.into_iter().map(|claim| {
        let message = format!(
            "{} is held by {}, whose claim ran out at {}",
            claim.task, claim.holder, claim.expires
        );
        Finding::warn("claims", message, format!("cleo claim {}", claim.task))
    });
    let left = left.iter().map(|left| {
        let tasks = held.iter().filter(|claim| claim.holder == left.run);
        let tasks: Vec<TaskId> = tasks.map(|claim| claim.task).collect();
        let (run, tasks) = (quote(&left.run), id::list(&tasks));
        let message = format!("{run} holds {tasks}, and its process is gone");
        Finding::warn("claims", message, left.way_on())
    });
    Ok(ahead.chain(stale).chain(left).collect())
}
