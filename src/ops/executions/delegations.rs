//! Where messages went, and why.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ops::Surroundings;
use crate::run::{Detail, RunKind};
use crate::store::Store;
use crate::store::records::RunFilter;

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Delegated {
    /// Its number among all events.
    cursor: u64,
    execution_id: String,
    score: u32,
    #[serde(flatten)]
    #[cfg_attr(feature = "schemas", schemars(with = "crate::route::Delegation"))]
    told: Detail,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Before {
    limit: u32,
    before: Option<u64>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
pub(crate) struct Delegations {
    /// Newest first.
    delegations: Vec<Delegated>,
    /// How many there are in all.
    total: u64,
}

/// Lists where messages went that the caller sees.
pub(crate) fn delegations(surroundings: &Surroundings, wanted: Before) -> Result<Delegations> {
    let Some(mut store) = surroundings.workspace()?.store_if_there()? else {
        return Ok(Delegations::default());
    };
    let transaction = store.read()?;
    let events = transaction.delegations(surroundings.only(), wanted.before, wanted.limit)?;
    let mut delegations = Vec::with_capacity(events.len());
    for event in events {
        let run = transaction.run(&event.run)?;
        delegations.push(Delegated {
            cursor: event.cursor,
            execution_id: event.run,
            score: run.map_or(0, |run| run.routing_score),
            told: event.detail,
        });
    }
    let executions = RunFilter {
        kind: Some(RunKind::Execution),
        ..RunFilter::default()
    };
    Ok(Delegations {
        delegations,
        total: transaction.runs(surroundings.only(), &executions)?.total,
    })
}
