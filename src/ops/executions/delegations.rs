//! Where messages went, and why.

use serde::Serialize;

use crate::error::Result;
use crate::run::{Event, RunKind};
use crate::store::agency::{Agency, RunFilter};
use crate::store::sqlite::SqliteAgency;

/// Where a message went.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delegated {
    /// Its number among all events.
    pub(crate) cursor: u64,
    pub(crate) execution_id: String,
    /// Who handed it on.
    pub(crate) from: String,
    /// To whom; `finalize` where no agent fits.
    pub(crate) to: String,
    /// Why.
    pub(crate) reason: String,
    /// The points of the agent.
    pub(crate) score: u32,
    /// How the message begins.
    pub(crate) query: String,
    /// When, RFC 3339 in UTC.
    pub(crate) timestamp: String,
}

/// Lists where messages of a user, or of all, went, newest first; before a cursor, at most `limit`; and
/// how many there are in all.
pub(crate) fn delegations(
    agency: &mut SqliteAgency,
    user: Option<&str>,
    before: Option<u64>,
    limit: u32,
) -> Result<(Vec<Delegated>, u64)> {
    let transaction = agency.read()?;
    let events = transaction.delegations(user, before, limit)?;
    let mut delegations = Vec::with_capacity(events.len());
    for event in events {
        let run = transaction.run(&event.run)?;
        delegations.push(delegated(event, run.map_or(0, |run| run.routing_score)));
    }
    let executions = RunFilter {
        user: user.map(String::from),
        kind: Some(RunKind::Execution),
        ..RunFilter::default()
    };
    Ok((delegations, transaction.runs(&executions)?.total))
}

fn delegated(event: Event, score: u32) -> Delegated {
    let word = |name: &str| {
        let word = event.detail.get(name).and_then(|word| word.as_str());
        word.unwrap_or_default().to_string()
    };
    Delegated {
        from: word("from"),
        to: word("to"),
        reason: word("reason"),
        query: word("query"),
        timestamp: word("timestamp"),
        cursor: event.cursor,
        execution_id: event.run,
        score,
    }
}
